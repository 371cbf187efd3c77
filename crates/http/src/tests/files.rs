//! Files as their owners see them: uploads, reports, shares, and who gets none of it.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use mainstay_accounts::{Role, Scope};
use mainstay_jobs::{Handler, Runner, RunnerOptions};
use mainstay_reports::llm::FakeLlm;
use mainstay_reports::prompt::RecordedTimeline;
use mainstay_reports::{LlmWriter, Pen, ReportMaker, TimelineError, Timelines, Window};
use mainstay_store::Sql;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use super::house::{House, Plan};
use super::people::{Person, bearer};
use super::raw::{Answer, request};

const CALL: &str =
    "Ada: Checkout is down, customers see errors.\nLinus: It was caused by the deploy.\n";
const NOBODY: &str = "019a8b3c-0000-7000-8000-000000000000";

/// One part of a form.
pub(super) fn part(name: &str, file: Option<&str>, body: &str) -> String {
    let file = file.map(|file| format!("; filename=\"{file}\"")).unwrap_or_default();
    format!("--b\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\r\n{body}\r\n")
}

pub(super) fn form(parts: &[String]) -> String {
    format!("{}--b--\r\n", parts.concat())
}

pub(super) async fn send(house: &House, credential: &str, body: &str) -> Answer {
    let headers = format!("{credential}Content-Type: multipart/form-data; boundary=b\r\n");
    request(house.address, "POST", "/api/files/upload", &headers, body).await
}

pub(super) async fn upload(house: &House, person: &Person, name: &str) -> String {
    let answer = send(house, &person.cookie(), &form(&[part("file", Some(name), CALL)])).await;
    assert_eq!(answer.status, 201, "{}", String::from_utf8_lossy(&answer.body));
    let told = answer.json();
    assert_eq!((&told["ok"], &told["status"]), (&json!(true), &json!("queued")));
    told["file_id"].as_str().unwrap().to_owned()
}

async fn rows(house: &House, sql: &'static str) -> i64 {
    let sql = Sql::same("test.count", sql);
    house.events.db().fetch_one(&sql, &[]).await.unwrap().get("n").unwrap()
}

struct Nothing;

impl Timelines for Nothing {
    fn recorded(&self, window: Window) -> BoxFuture<'_, Result<RecordedTimeline, TimelineError>> {
        let entries = Vec::new();
        Box::pin(async move { Ok(RecordedTimeline { window, covered: None, entries }) })
    }
}

/// Has every report made that is queued, and waits (bounded) for this one.
async fn make(house: &House, person: &Person, id: &str) -> Value {
    let pen = Pen {
        writer: Arc::new(LlmWriter(Arc::new(FakeLlm))),
        timelines: Arc::new(Nothing),
        time: Duration::from_secs(60),
    };
    let maker: Arc<dyn Handler> =
        Arc::new(ReportMaker::new(house.reports.clone(), Some(pen)).unwrap());
    let (stop, options) = (CancellationToken::new(), RunnerOptions::new("test"));
    let runner = Runner::start(house.jobs.clone(), vec![maker], vec![], options, stop.clone());
    let file = 'made: {
        for _ in 0..1_000 {
            let file = person.get(&format!("/api/files/{id}")).await.json();
            if ["succeeded", "failed"].contains(&file["status"].as_str().unwrap()) {
                break 'made file;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("the report was never made");
    };
    stop.cancel();
    runner.finished().await;
    file
}

#[tokio::test]
async fn a_transcript_becomes_a_report_that_its_owner_and_whoever_it_is_shared_with_can_read() {
    let house = House::open().await;
    let admin = house.admin().await;
    let viewer = house.user(&admin, "v@example.com", Role::Viewer).await;
    let window = [
        part("from", None, "2026-01-01T00:00:00Z"),
        part("file", Some("../звонок.txt"), CALL),
        part("to", None, "2026-01-01T01:00:00Z"),
    ];
    let answer = send(&house, &viewer.cookie(), &form(&window)).await;
    assert_eq!(answer.status, 201, "{}", String::from_utf8_lossy(&answer.body));
    let id = answer.json()["file_id"].as_str().unwrap().to_owned();
    let report = format!("/api/files/{id}/report");
    let early = viewer.get(&report).await;
    assert_eq!((early.status, &early.json()["error"]), (409, &json!("report_not_ready")));
    let file = make(&house, &viewer, &id).await;
    assert_eq!((&file["status"], &file["name"]), (&json!("succeeded"), &json!("звонок.txt")));
    assert_eq!(file["made_with"]["model"], "fake");
    let read = viewer.get(&report).await.json();
    assert!(read["report"]["title"].is_string(), "{read}");
    assert_eq!(read["evidence_not_found"], json!([]), "{read}");
    assert_eq!(read["transcript_lines_left_out"], json!(0), "{read}");
    assert_eq!(read["recorded_timeline"]["from"], "2026-01-01T00:00:00.000Z");
    assert_eq!(read["recorded_timeline"]["covered"], json!(null));

    let shares = format!("/api/files/{id}/shares");
    let made = viewer.send("POST", &shares, "{}").await;
    assert_eq!(made.status, 201);
    let made = made.json();
    let token = made["token"].as_str().unwrap();
    assert!(made["link"].as_str().unwrap().ends_with(&format!("/shared#{token}")));
    let shared = format!("/api/shares/{token}");
    assert_eq!(admin.get(&shared).await.json()["report"], read["report"]);
    let stranger = request(house.address, "GET", &shared, "", "").await;
    assert_eq!(stranger.status, 401);
    let listed = viewer.get(&shares).await.json();
    assert!(!listed.to_string().contains(token), "the token is shown once");
    let share = made["item"]["id"].as_str().unwrap();
    assert_eq!(admin.send("DELETE", &format!("{shares}/{share}"), "").await.status, 404);
    assert_eq!(viewer.send("DELETE", &format!("{shares}/{share}"), "").await.status, 204);
    let gone = admin.get(&shared).await;
    assert_eq!((gone.status, gone.code().as_str()), (410, "share_revoked"));
    let unknown = admin.get(&format!("/api/shares/{}", "A".repeat(43))).await;
    assert_eq!(unknown.status, 404);
    for (body, code) in
        [("{\"expires_in\":59}", "invalid_expires_in"), ("{\"a\":1}", "invalid_body")]
    {
        let refused = viewer.send("POST", &shares, body).await;
        assert_eq!((refused.status, refused.code().as_str()), (400, code));
    }

    let retry = viewer.send("POST", &format!("/api/files/{id}/retry"), "").await;
    assert_eq!((retry.status, retry.code().as_str()), (409, "file_not_failed"));
    let path = format!("/api/files/{id}");
    assert_eq!(viewer.send("DELETE", &path, "").await.status, 204);
    assert_eq!(viewer.get(&path).await.status, 404);
    let audit = admin.get("/api/admin/audit?limit=50").await.json().to_string();
    for action in ["file.upload", "file.share", "file.revoke_share", "file.delete"] {
        assert!(audit.contains(action), "{action}");
    }
}

#[tokio::test]
async fn what_is_no_upload_is_refused_and_leaves_nothing() {
    let house = House::open().await;
    let admin = house.admin().await;
    let file = || part("file", Some("call.txt"), CALL);
    let with = |name: &str, text: &str| form(&[file(), part(name, None, text)]);
    let (from, to) = ("2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z");
    let window =
        |from: &str, to: &str| form(&[part("from", None, from), file(), part("to", None, to)]);
    let cases = [
        (form(&[part("file", Some("call.pdf"), CALL)]), "invalid_file_type"),
        (form(&[part("file", None, CALL)]), "invalid_file_type"),
        (form(&[part("file", Some("call.txt"), "")]), "empty_file"),
        (form(&[]), "invalid_multipart"),
        (form(&[part("other", None, "x")]), "invalid_multipart"),
        (form(&[file(), file()]), "invalid_multipart"),
        (with("user_id", NOBODY), "invalid_multipart"),
        (file(), "invalid_multipart"),
        (format!("--b\r\nContent-Disposition: form-data\r\n\r\n{CALL}"), "invalid_multipart"),
        ("nonsense".to_owned(), "invalid_multipart"),
        (String::new(), "invalid_multipart"),
        (with("from", from), "invalid_window"),
        (window(to, from), "invalid_window"),
        (window("yesterday", to), "invalid_window"),
        (window("1970-01-01T00:00:00Z", to), "invalid_window"),
        (window(from, "2999-01-01T00:00:00Z"), "invalid_window"),
    ];
    for (body, code) in cases {
        let refused = send(&house, &admin.cookie(), &body).await;
        assert_eq!((refused.status, refused.code().as_str()), (400, code), "{body}");
    }
    let headers = format!("{}Content-Type: application/json\r\n", admin.cookie());
    let refused = request(house.address, "POST", "/api/files/upload", &headers, "{}").await;
    assert_eq!(refused.status, 415);
    assert_eq!(rows(&house, "SELECT count(*) AS n FROM files").await, 0);
    assert_eq!(rows(&house, "SELECT count(*) AS n FROM jobs").await, 0);
}

#[tokio::test]
async fn a_file_that_is_too_large_is_refused_whether_it_says_so_or_not() {
    let house = House::open().await;
    let admin = house.admin().await;
    let body = form(&[part("file", Some("call.txt"), &"x".repeat(10 * 1024 * 1024 + 1))]);
    let refused = send(&house, &admin.cookie(), &body).await;
    assert_eq!((refused.status, refused.code().as_str()), (413, "file_too_large"));
    assert_eq!(refused.json()["limit_bytes"], 10_485_760);
    let mut stream = TcpStream::connect(house.address).await.unwrap();
    let head = format!(
        "POST /api/files/upload HTTP/1.1\r\nHost: {}\r\n{}Content-Type: multipart/form-data; \
         boundary=b\r\nContent-Length: 99999999\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n",
        house.address,
        admin.cookie()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let answer = Answer::parse(&super::raw::read_to_end(&mut stream).await);
    assert_eq!(answer.status, 413, "before a byte of it was sent");
    house.reports.landed().await;
    assert_eq!(rows(&house, "SELECT count(*) AS n FROM files").await, 0);
}

#[tokio::test]
async fn a_body_that_is_longer_than_it_says_is_no_form() {
    let house = House::open().await;
    let admin = house.admin().await;
    let body = form(&[part("file", Some("call.txt"), CALL)]);
    let mut stream = TcpStream::connect(house.address).await.unwrap();
    let text = format!(
        "POST /api/files/upload HTTP/1.1\r\nHost: {}\r\n{}Content-Type: multipart/form-data; \
         boundary=b\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        house.address,
        admin.cookie(),
        body.len() - 20
    );
    stream.write_all(text.as_bytes()).await.unwrap();
    let answer = Answer::parse(&super::raw::read_to_end(&mut stream).await);
    assert_eq!((answer.status, answer.code().as_str()), (400, "invalid_multipart"));
    house.reports.landed().await;
    assert_eq!(rows(&house, "SELECT count(*) AS n FROM files").await, 0);
}

#[tokio::test]
async fn what_holds_no_words_is_taken_and_told_apart() {
    let house = House::open().await;
    let admin = house.admin().await;
    for (body, code) in [
        (" \n\t ", "empty_original_transcript"),
        ("PK\u{3}\u{4}\u{14}\0\0\0\u{8}\0\0\0\0\0", "original_not_text"),
    ] {
        let answer =
            send(&house, &admin.cookie(), &form(&[part("file", Some("a.txt"), body)])).await;
        assert_eq!(answer.status, 201);
        let id = answer.json()["file_id"].as_str().unwrap().to_owned();
        let file = make(&house, &admin, &id).await;
        assert_eq!(
            (&file["status"], &file["last_error"]["code"]),
            (&json!("failed"), &json!(code))
        );
        assert_eq!(file["attempts"], 1);
    }
}

#[tokio::test]
async fn an_upload_that_is_cut_in_the_middle_leaves_nothing() {
    let house = House::open().await;
    let admin = house.admin().await;
    let mut stream = TcpStream::connect(house.address).await.unwrap();
    let head = format!(
        "POST /api/files/upload HTTP/1.1\r\nHost: {}\r\n{}Content-Type: multipart/form-data; \
         boundary=b\r\nContent-Length: 1000000\r\n\r\n{}",
        house.address,
        admin.cookie(),
        part("file", Some("call.txt"), CALL)
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    for _ in 0..500 {
        if rows(&house, "SELECT count(*) AS n FROM files").await == 1 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(
        rows(&house, "SELECT count(*) AS n FROM files WHERE status = 'processing'").await,
        1
    );
    drop(stream);
    house.reports.landed().await;
    assert_eq!(rows(&house, "SELECT count(*) AS n FROM files").await, 0);
    assert_eq!(rows(&house, "SELECT count(*) AS n FROM jobs").await, 0);
}

#[tokio::test]
async fn nobody_sees_the_files_of_another_not_even_an_admin() {
    let house = House::open().await;
    let admin = house.admin().await;
    let viewer = house.user(&admin, "v@example.com", Role::Viewer).await;
    let id = upload(&house, &viewer, "call.vtt").await;
    for id in [id.as_str(), NOBODY] {
        for (method, rest) in [
            ("GET", ""),
            ("DELETE", ""),
            ("GET", "/report"),
            ("POST", "/retry"),
            ("GET", "/shares"),
            ("POST", "/shares"),
        ] {
            let body = if rest == "/shares" && method == "POST" { "{}" } else { "" };
            let answer = admin.send(method, &format!("/api/files/{id}{rest}"), body).await;
            assert_eq!(
                (answer.status, answer.code().as_str()),
                (404, "not_found"),
                "{method} {rest}"
            );
        }
    }
    assert_eq!(admin.get("/api/files").await.json()["items"], json!([]));
    for (target, code) in [
        ("/api/files?cursor=garbage", "invalid_query"),
        ("/api/files?limit=0", "invalid_query"),
        ("/api/files?owner=me", "invalid_query"),
        ("/api/files/1", "invalid_path"),
    ] {
        let answer = viewer.get(target).await;
        assert_eq!((answer.status, answer.code().as_str()), (400, code), "{target}");
    }
    upload(&house, &viewer, "other.txt").await;
    let first = viewer.get("/api/files?limit=1").await.json();
    assert_eq!(first["items"][0]["name"], "other.txt");
    let cursor = first["next_cursor"].as_str().unwrap();
    let second = viewer.get(&format!("/api/files?limit=1&cursor={cursor}")).await.json();
    assert_eq!((&second["items"][0]["id"], &second["next_cursor"]), (&json!(id), &Value::Null));
}

#[tokio::test]
async fn a_token_uploads_when_it_may_write() {
    let house = House::open().await;
    let admin = house.admin().await;
    let (reads, writes) =
        (house.token(&admin, Scope::Read).await, house.token(&admin, Scope::Write).await);
    let body = form(&[part("file", Some("call.txt"), CALL)]);
    let refused = send(&house, &bearer(&reads), &body).await;
    assert_eq!((refused.status, refused.code().as_str()), (403, "scope_missing"));
    assert_eq!(send(&house, &bearer(&writes), &body).await.status, 201);
    assert_eq!(send(&house, "", &body).await.status, 401);
}

#[tokio::test]
async fn one_user_uploads_only_so_often() {
    let house = House::open().await;
    let admin = house.admin().await;
    let viewer = house.user(&admin, "v@example.com", Role::Viewer).await;
    let empty = form(&[part("file", Some("call.txt"), "")]);
    for _ in 0..20 {
        assert_eq!(send(&house, &viewer.cookie(), &empty).await.status, 400);
    }
    let limited = send(&house, &viewer.cookie(), &empty).await;
    assert_eq!((limited.status, limited.code().as_str()), (429, "rate_limited"));
    assert!(limited.header("retry-after").is_some());
    assert_eq!(send(&house, &admin.cookie(), &empty).await.status, 400, "others may");
}

#[tokio::test]
async fn without_a_language_model_uploads_are_refused_and_the_rest_runs() {
    let house = House::build(Plan { reports: false, ..Plan::default() }).await;
    let admin = house.admin().await;
    let refused = send(&house, &admin.cookie(), &form(&[part("file", Some("a.txt"), CALL)])).await;
    assert_eq!((refused.status, refused.code().as_str()), (503, "reports_not_configured"));
    let told = admin.get("/api/reports").await.json();
    assert_eq!(told["configured"], json!(false));
    assert!(told["how_to_configure"].as_str().unwrap().contains("LLM_API_KEY"));
    assert_eq!(admin.get("/api/files").await.status, 200);
}
