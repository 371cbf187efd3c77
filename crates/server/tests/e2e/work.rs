//! `mainstay work`, and what waits for it.

use std::process::Command;
use std::time::{Duration, Instant};

use mainstay_store::{Db, Dialect, Sql};
use mainstay_testkit::TestDatabase;
use serde_json::json;

use crate::client::{get, request};
use crate::mail::MailServer;
use crate::people::{post, set_up, signed};
use crate::process::{PATIENCE, Server, mainstay};

const PEPPER: &str = "the same pepper for both of them, and long";

fn with_mail(mut command: Command, mail: &MailServer) -> Command {
    command
        .env("TOKEN_HASH_PEPPER", PEPPER)
        .env("MAINSTAY_MAIL_SERVER", format!("smtp://127.0.0.1:{}", mail.port))
        .env("MAINSTAY_MAIL_FROM", "mainstay@example.com");
    command
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mail_outlives_the_server_and_is_sent_by_a_runner_of_its_own() {
    let mut mail = MailServer::start();
    let database = TestDatabase::new(Dialect::Postgres).await;
    let folder = tempfile::tempdir().unwrap();
    let mut command = mainstay(folder.path());
    command
        .args(["serve", "--listen", "127.0.0.1:0", "--database", &database.address()])
        .env("MAINSTAY_JOBS_EMBEDDED", "false");
    let mut server = Server::spawn(with_mail(command, &mail));
    let session = signed(&server.address, &set_up(&server));
    let body = json!({"email": "ada@example.com", "role": "editor"});
    let invited = post(&server.address, "/api/admin/invites", &session, &body);
    assert_eq!((invited.status, &invited.json()["mailed"]), (201, &json!(true)));
    let listed = request(&server.address, "GET", "/api/admin/jobs?kind=mail", &session);
    let job = listed.json()["items"][0].clone();
    assert_eq!(job["status"], "queued", "{job}");
    server.signal("KILL");
    server.wait();

    let mut command = mainstay(folder.path());
    command.args(["work", "--database", &database.address(), "--concurrency", "3"]);
    command.env("WORKER_ID", "north");
    let runner = Server::spawn_unready(with_mail(command, &mail));
    assert!(runner.await_line("running background jobs").contains("north"));
    let sent = mail.next_mail();
    let link = invited.json()["link"].as_str().unwrap().to_owned();
    assert!(sent["text"].as_str().unwrap().contains(&link), "{sent}");
    let id = sent["headers"]["Message-ID"].as_str().unwrap();
    assert!(id.contains(job["id"].as_str().unwrap()), "{id}: the same for every try");
    let log = runner.log().join("\n");
    assert!(!log.contains(link.split_once('#').unwrap().1), "{log}");
    runner.stop();
}

/// The address of a runner that says where it tells of itself.
fn told_address(line: &str) -> Option<String> {
    let (_, after) = line.split_once("telling of this runner at http://")?;
    Some(after.split('/').next()?.to_owned())
}

#[test]
fn a_runner_alone_tells_how_it_is_and_serves_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = mainstay(folder.path());
    command.args(["work", "--listen", "127.0.0.1:0"]);
    let mut runner = Server::spawn_unready(command);
    let address = runner.await_logged(told_address);
    assert_eq!(get(&address, "/healthz").json(), json!({"status": "alive"}));
    let began = Instant::now();
    let ready = loop {
        let ready = get(&address, "/readyz");
        if ready.status == 200 {
            break ready;
        }
        assert!(began.elapsed() < PATIENCE, "{}", ready.text());
        std::thread::sleep(Duration::from_millis(50));
    };
    let checks = ready.json()["checks"].clone();
    let names: Vec<_> = checks.as_array().unwrap().iter().map(|check| &check["name"]).collect();
    assert_eq!(names, ["database", "runtime", "runner"]);
    let metrics = get(&address, "/metrics");
    assert!(metrics.text().contains("mainstay_jobs_running "), "{}", metrics.text());
    for path in ["/", "/api/system", "/api/events", "/index.html"] {
        let refused = get(&address, path);
        assert_eq!((refused.status, &refused.json()["code"]), (404, &json!("not_found")), "{path}");
    }
    runner.stop();
}

#[test]
fn a_runner_that_nobody_asked_to_listen_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = mainstay(folder.path());
    command.arg("work");
    let runner = Server::spawn_unready(command);
    runner.await_line("running background jobs");
    assert!(!runner.log().iter().any(|line| told_address(line).is_some()));
    runner.stop();
}

#[test]
fn an_sqlite_file_belongs_to_one_process() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let refused = mainstay(folder.path()).arg("work").output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    let words = String::from_utf8(refused.stderr).unwrap();
    assert!(words.contains(&server.id().to_string()), "{words}");
    server.stop();

    let runner = Server::spawn_unready({
        let mut command = mainstay(folder.path());
        command.arg("work");
        command
    });
    runner.await_line("running background jobs");
    runner.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_over_is_cleaned_up_by_the_queue() {
    let database = TestDatabase::new(Dialect::Postgres).await;
    let folder = tempfile::tempdir().unwrap();
    let start = || {
        let mut command = mainstay(folder.path());
        command.args(["serve", "--listen", "127.0.0.1:0", "--database", &database.address()]);
        Server::spawn(command)
    };
    let server = start();
    let db = database.open().await;
    let schedules = "SELECT 1 AS one FROM job_schedules WHERE name = 'clean_up_accounts'";
    until(&db, schedules, true).await;
    server.stop();
    for text in [
        "INSERT INTO rate_limit_buckets (scope, subject_hash, bucket_start, count)
         VALUES ('login', 'long ago', 1, 1)",
        // As if its hour had come.
        "UPDATE job_schedules SET next_at = 1 WHERE name = 'clean_up_accounts'",
    ] {
        let sql = Sql::same("test.long_ago", text);
        assert_eq!(db.write(async |tx| tx.execute(&sql, &[]).await).await.unwrap(), 1, "{text}");
    }
    let server = start();
    until(&db, "SELECT 1 AS one FROM rate_limit_buckets", false).await;
    server.stop();
}

/// Waits until a row is there, or is no more.
async fn until(db: &Db, text: &'static str, is_there: bool) {
    let sql = Sql::same("test.until", text);
    for _ in 0..1_200 {
        if db.fetch_optional(&sql, &[]).await.unwrap().is_some() == is_there {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("it never came to this: {text} {is_there}");
}
