//! `mainstay work`, and what waits for it.

use std::process::Command;

use mainstay_store::Dialect;
use mainstay_testkit::TestDatabase;
use serde_json::json;

use crate::client::request;
use crate::mail::MailServer;
use crate::people::{post, set_up, signed};
use crate::process::{Server, mainstay};

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

#[test]
fn what_is_over_is_cleaned_up_by_the_queue() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let session = signed(&server.address, &set_up(&server));
    let summary = request(&server.address, "GET", "/api/admin/jobs/summary", &session).json();
    assert_eq!(summary["kinds"][0]["kind"], "clean_up_accounts", "{summary}");
    server.stop();
}
