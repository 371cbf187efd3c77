//! Reports by the real binary: runners that die or stand still in the middle of one, and the demo's own.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use mainstay_reports::llm::fake;
use mainstay_standins::llm::{Behaviour, LlmServer};
use mainstay_store::Dialect;
use mainstay_testkit::TestDatabase;
use serde_json::{Value, json};

use crate::client::{Answer, request, send};
use crate::people::{set_up, signed};
use crate::process::{PATIENCE, Server, mainstay};

const PEPPER: &str = "the same pepper for all of them, and long";
const CALL: &str = "Ada: Checkout is down.\nLinus: It was caused by the deploy, I rolled back.\n";
/// How long a runner may be silent.
const TTL: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(20);

/// A site without a runner, a storage, and a provider of a language model.
struct World {
    folder: tempfile::TempDir,
    database: TestDatabase,
    llm: LlmServer,
    site: Server,
    session: String,
}

impl World {
    async fn start(script: &[Behaviour]) -> Self {
        let llm = LlmServer::start(script.iter().copied(), fake::report).await.unwrap();
        let database = TestDatabase::new(Dialect::Postgres).await;
        let folder = tempfile::tempdir().unwrap();
        let mut command = mainstay(folder.path());
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--database", &database.address()])
            .env("MAINSTAY_JOBS_EMBEDDED", "false");
        let site = Server::spawn(with_llm(command, &llm));
        let session = signed(&site.address, &set_up(&site));
        Self { folder, database, llm, site, session }
    }

    fn runner(&self, name: &str) -> Server {
        let mut command = mainstay(self.folder.path());
        command
            .args(["work", "--database", &self.database.address()])
            .env("WORKER_ID", name)
            .env("WORKER_POLL_MS", "100")
            .env("MAINSTAY_JOB_LOCK_TTL_SECONDS", TTL.as_secs().to_string());
        let runner = Server::spawn_unready(with_llm(command, &self.llm));
        runner.await_line("running background jobs");
        runner
    }

    fn upload(&self) -> String {
        let answer = upload(&self.site.address, &self.session);
        assert_eq!(answer.status, 201, "{}", answer.text());
        answer.json()["file_id"].as_str().unwrap().to_owned()
    }

    fn file(&self, id: &str) -> Value {
        request(&self.site.address, "GET", &format!("/api/files/{id}"), &self.session).json()
    }

    /// Waits until the provider was asked so often.
    fn until_asked(&self, count: usize) {
        let began = Instant::now();
        while self.llm.asked().len() < count {
            assert!(began.elapsed() < PATIENCE, "it was asked {} times", self.llm.asked().len());
            std::thread::sleep(LOOK);
        }
    }

    fn until_succeeded(&self, id: &str) -> Value {
        let began = Instant::now();
        loop {
            let file = self.file(id);
            if file["status"] == "succeeded" {
                return file;
            }
            assert!(began.elapsed() < PATIENCE, "there is no report: {file}");
            std::thread::sleep(LOOK);
        }
    }

    /// One report, one word of it, and nothing in the storage that nothing refers to.
    fn has_one_report(&self, id: &str) {
        let path = format!("/api/files/{id}/report");
        let report = request(&self.site.address, "GET", &path, &self.session);
        assert_eq!(report.status, 200, "{}", report.text());
        let history = request(&self.site.address, "GET", "/api/events/history", &self.session);
        let ready = history.text().matches("report_ready").count();
        assert_eq!(ready, 1, "{}", history.text());
        let began = Instant::now();
        let stored = self.folder.path().join("mainstay-data/blobs/objects/users");
        while files_below(&stored) != 2 {
            assert!(began.elapsed() < PATIENCE, "there are {} objects", files_below(&stored));
            std::thread::sleep(LOOK);
        }
    }
}

fn with_llm(mut command: Command, llm: &LlmServer) -> Command {
    command
        .env("TOKEN_HASH_PEPPER", PEPPER)
        .env("LLM_PROVIDER", "openai")
        .env("LLM_BASE_URL", llm.base_url());
    command
}

fn upload(address: &str, session: &str) -> Answer {
    let body = format!(
        "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"call.txt\"\r\n\r\n{CALL}\r\n--b--\r\n"
    );
    let text = format!(
        "POST /api/files/upload HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-type: \
         multipart/form-data; boundary=b\r\ncontent-length: {}\r\n{session}\r\n{body}",
        body.len()
    );
    send(address, text.as_bytes()).unwrap()
}

fn files_below(folder: &Path) -> usize {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let count = |entry: std::fs::DirEntry| match entry.path() {
        path if path.is_dir() => files_below(&path),
        _ => 1,
    };
    entries.flatten().map(count).sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_report_of_a_runner_that_is_killed_is_made_by_another() {
    let world = World::start(&[Behaviour::Silent, Behaviour::Good]).await;
    let mut first = world.runner("first");
    let id = world.upload();
    world.until_asked(1);
    let second = world.runner("second");
    let killed = Instant::now();
    first.signal("KILL");
    first.wait();
    world.until_asked(2);
    let taken_over = killed.elapsed();
    assert!(taken_over < TTL + Duration::from_secs(5), "it took {taken_over:?}");
    let file = world.until_succeeded(&id);
    assert_eq!(file["attempts"], json!(2));
    world.has_one_report(&id);
    second.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_runner_that_stood_still_past_its_lease_writes_nothing_when_it_goes_on() {
    let world = World::start(&[Behaviour::Slow(TTL), Behaviour::Good]).await;
    let first = world.runner("first");
    let id = world.upload();
    world.until_asked(1);
    first.signal("STOP");
    let second = world.runner("second");
    let file = world.until_succeeded(&id);
    assert_eq!(file["attempts"], json!(2));
    // By now the answer waits for the one that stands still.
    first.signal("CONT");
    first.stop();
    assert_eq!(world.file(&id), file, "nothing is changed by the late one");
    world.has_one_report(&id);
    second.stop();
}

#[test]
fn a_server_without_a_model_says_how_to_switch_reports_on() {
    let folder = tempfile::tempdir().unwrap();
    let site = Server::start(folder.path());
    let session = signed(&site.address, &set_up(&site));
    let refused = upload(&site.address, &session);
    assert_eq!(refused.status, 503);
    assert_eq!(refused.json()["code"], "reports_not_configured");
    assert!(refused.json()["detail"].as_str().unwrap().contains("LLM_API_KEY"));
    site.stop();
}

#[test]
fn on_sqlite_a_transcript_becomes_a_report_with_nothing_set_but_the_provider() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = mainstay(folder.path());
    command.args(["serve", "--listen", "127.0.0.1:0"]).env("LLM_PROVIDER", "fake");
    let site = Server::spawn(command);
    let session = signed(&site.address, &set_up(&site));
    let uploaded = upload(&site.address, &session).json();
    let id = uploaded["file_id"].as_str().unwrap();
    let began = Instant::now();
    let report = loop {
        let report = request(&site.address, "GET", &format!("/api/files/{id}/report"), &session);
        if report.status == 200 {
            break report.json();
        }
        assert_eq!(report.json()["error"], "report_not_ready");
        assert!(began.elapsed() < PATIENCE, "{:#?}", site.log());
        std::thread::sleep(LOOK);
    };
    assert!(report["report"]["title"].is_string(), "{report}");
    assert!(!site.log().join("\n").contains("caused by the deploy"), "what was said is not logged");
    site.stop();
}
