//! Uploads to the real binary: the largest one, one whose sender is signed out before it ends, and one whose
//! server is killed.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use mainstay_base::SystemClock;
use mainstay_store::{Db, Sql, StoreOptions, Target};
use serde_json::json;

use super::world::{until, uploading};
use crate::client::{connect, read, request, send};
use crate::people::{EMAIL, PASSWORD, post, set_up, sign_in, signed};
use crate::process::{Server, database_file, mainstay};

/// The most bytes of a transcript.
const MOST: usize = 10_485_760;

/// Uploads are given up when they are older than ten minutes.
const AGE: Sql = Sql::same("test.age", "UPDATE files SET created_at = created_at - 660000");
const SWEEP_NOW: Sql = Sql::same(
    "test.sweep_now",
    "UPDATE job_schedules SET next_at = 1 WHERE name = 'sweep_uploads'",
);

/// A site that takes transcripts and makes no reports: they stay as they came.
fn site(folder: &Path) -> Server {
    site_with(folder, "false")
}

/// A site that takes transcripts, with or without a runner of its own.
fn site_with(folder: &Path, has_runner: &str) -> Server {
    let mut command = mainstay(folder);
    command
        .args(["serve", "--listen", "127.0.0.1:0"])
        .env("LLM_PROVIDER", "fake")
        .env("MAINSTAY_JOBS_EMBEDDED", has_runner);
    Server::spawn(command)
}

/// Eleven minutes pass while the site is down.
async fn let_time_pass(folder: &Path) {
    let target = Target::Sqlite { path: database_file(folder) };
    let options = StoreOptions::new(target, Arc::new(SystemClock::new()));
    let db = Db::open(options).await.unwrap();
    let passed = db.write(async |tx| {
        tx.execute(&SWEEP_NOW, &[]).await?;
        tx.execute(&AGE, &[]).await
    });
    assert_eq!(passed.await.unwrap(), 1);
    db.close().await;
}

/// The sizes of what is stored, whole or not.
fn stored(folder: &Path) -> Vec<u64> {
    let mut folders = vec![folder.join("mainstay-data").join("blobs")];
    let mut sizes = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else {
                sizes.push(entry.metadata().unwrap().len());
            }
        }
    }
    sizes
}

#[test]
fn the_largest_transcript_is_taken_whole_and_one_byte_more_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let site = site(folder.path());
    let session = signed(&site.address, &set_up(&site));
    let upload = |size: usize| {
        let text = uploading(&site.address, &session, &"x".repeat(size));
        send(&site.address, text.as_bytes()).unwrap()
    };
    let refused = upload(MOST + 1);
    assert_eq!((refused.status, &refused.json()["code"]), (413, &json!("file_too_large")));
    assert_eq!(refused.json()["limit_bytes"], json!(MOST));
    assert_eq!(stored(folder.path()), Vec::<u64>::new());
    let taken = upload(MOST);
    assert_eq!(taken.status, 201, "{}", taken.text());
    let files = request(&site.address, "GET", "/api/files", &session).json();
    assert_eq!(files["items"].as_array().unwrap().len(), 1, "{files}");
    assert_eq!(files["items"][0]["size_bytes"], json!(MOST));
    assert_eq!(stored(folder.path()), [u64::try_from(MOST).unwrap()]);
    site.stop();
}

#[test]
fn an_upload_whose_sender_is_signed_out_before_it_ends_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let site = site(folder.path());
    let session = signed(&site.address, &set_up(&site));
    let other = signed(&site.address, &sign_in(&site.address, EMAIL, PASSWORD));
    let ask = |path: &str| request(&site.address, "GET", path, &other).json();
    let files = || ask("/api/files");
    let text = uploading(&site.address, &session, &"x".repeat(1_000_000));
    let (first, rest) = text.split_at(text.len() / 2);
    let mut stream = connect(&site.address);
    stream.write_all(first.as_bytes()).unwrap();
    until(|| files()["items"][0]["status"] == "processing", || files().to_string());
    let left = post(&site.address, "/api/auth/logout", &session, &json!({}));
    assert_eq!(left.status, 204, "{}", left.text());
    stream.write_all(rest.as_bytes()).unwrap();
    let answer = read(&mut stream).unwrap();
    assert_eq!(answer.status, 401, "{}", answer.text());
    assert_eq!(files()["items"], json!([]));
    assert_eq!(ask("/api/admin/jobs?kind=report")["items"], json!([]));
    assert_eq!(stored(folder.path()), Vec::<u64>::new());
    site.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_whose_server_is_killed_is_given_up_once_it_is_old() {
    let folder = tempfile::tempdir().unwrap();
    let mut site = site_with(folder.path(), "true");
    let session = signed(&site.address, &set_up(&site));
    let text = uploading(&site.address, &session, &"x".repeat(1_000_000));
    let mut stream = connect(&site.address);
    stream.write_all(&text.as_bytes()[..text.len() / 2]).unwrap();
    let files = || request(&site.address, "GET", "/api/files", &session).json();
    until(|| files()["items"][0]["status"] == "processing", || files().to_string());
    let id = files()["items"][0]["id"].as_str().unwrap().to_owned();
    site.signal("KILL");
    site.wait();
    assert!(read(&mut stream).is_none(), "nobody says that it was taken");
    let_time_pass(folder.path()).await;
    let site = site_with(folder.path(), "true");
    let session = signed(&site.address, &sign_in(&site.address, EMAIL, PASSWORD));
    let ask = |path: &str| request(&site.address, "GET", path, &session).json();
    let file = || ask(&format!("/api/files/{id}"));
    until(|| file()["status"] == "failed", || file().to_string());
    assert_eq!(file()["last_error"]["code"], "upload_interrupted");
    assert_eq!(ask("/api/admin/jobs?kind=report")["items"], json!([]));
    site.stop();
}
