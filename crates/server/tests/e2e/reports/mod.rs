//! Reports by the real binary, behind a real object storage, and by runners that die or stand still.

mod faults;
mod storage;
mod uploads;
mod world;

use std::time::Instant;

use crate::client::request;
use crate::people::{set_up, signed};
use crate::process::{PATIENCE, Server, mainstay};
use world::{LOOK, upload};

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
