//! Accounts on the real binary: the first one, the command line, two instances, mail.

use std::io::Write as _;
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::Duration;

use mainstay_base::{Clock as _, SystemClock};
use mainstay_store::Dialect;
use mainstay_testkit::TestDatabase;
use serde_json::json;

use crate::client::{get, request};
use crate::people::{EMAIL, PASSWORD, post, set_up, sign_in, signed};
use crate::process::{Server, mainstay, send_signal};

/// Runs `mainstay admin …` with a password on standard input.
fn admin(folder: &Path, arguments: &[&str], password: &str) -> (Option<i32>, String, String) {
    let mut command = mainstay(folder);
    command.arg("admin").args(arguments).stdin(Stdio::piped());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // One that does not want a password may have ended already.
    let _ = child.stdin.take().unwrap().write_all(format!("{password}\n").as_bytes());
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

fn create(folder: &Path, email: &str, password: &str) -> (Option<i32>, String, String) {
    admin(folder, &["create", "--email", email, "--password-stdin"], password)
}

#[test]
fn the_first_start_prints_a_link_that_makes_the_first_account() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    assert_eq!(get(&server.address, "/api/auth/setup").json(), json!({"needed": true}));
    assert_eq!(get(&server.address, "/api/system").status, 401);
    let made = set_up(&server);
    assert_eq!(
        (made.status, &made.json()["user"]["role"]),
        (200, &json!("admin")),
        "{}",
        made.text()
    );
    let session = signed(&server.address, &made);
    let me = request(&server.address, "GET", "/api/auth/me", &session).json();
    assert_eq!(me["user"]["email"], EMAIL);
    assert_eq!(set_up(&server).json()["code"], "setup_done", "it works once");
    // Killed, not stopped: what was answered is kept.
    send_signal(server.id(), "KILL");
    drop(server);
    let again = Server::start(folder.path());
    let session = session.lines().next().unwrap().to_owned() + "\r\n";
    assert_eq!(request(&again.address, "GET", "/api/auth/me", &session).status, 200);
    assert!(!again.log().iter().any(|line| line.contains("/setup#")), "{:#?}", again.log());
    assert_eq!(get(&again.address, "/api/auth/setup").json(), json!({"needed": false}));
    again.stop();
}

#[test]
fn a_page_without_a_session_leads_to_signing_in() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let page = request(&server.address, "GET", "/system?filter=a%20b", "accept: text/html\r\n");
    assert_eq!(page.status, 303);
    assert_eq!(page.header("location"), Some("/login?next=%2Fsystem%3Ffilter%3Da%2520b"));
    assert_eq!(request(&server.address, "GET", "/login", "accept: text/html\r\n").status, 200);
}

#[test]
fn the_command_line_makes_an_admin_and_never_shows_the_password() {
    let folder = tempfile::tempdir().unwrap();
    let (code, out, _) = create(folder.path(), " Root@Example.com", PASSWORD);
    assert_eq!((code, out.as_str()), (Some(0), "root@example.com is an admin and can sign in\n"));
    let (code, out, _) = create(folder.path(), EMAIL, "another long password");
    assert_eq!(code, Some(0));
    assert!(out.contains("is an admin already; nothing was changed"), "{out}");
    for (email, password, told) in [
        ("nobody", PASSWORD, "not an e-mail address"),
        ("\u{430}da@example.com", PASSWORD, "only ASCII"),
        ("ada@example.com", "hunter2", "at least 12 characters"),
        ("ada@example.com", "", "at least 12 characters"),
        ("ada@example.com", &"hunter2".repeat(1000), "at most 256 characters"),
    ] {
        let (code, _, error) = create(folder.path(), email, password);
        assert_eq!(code, Some(2), "{error}");
        assert!(error.contains(told) && !error.contains("hunter2"), "{error}");
    }
    let (code, _, error) = admin(folder.path(), &["create", "--email", EMAIL], PASSWORD);
    assert_eq!(code, Some(2), "{error}");
    let server = Server::start(folder.path());
    assert_eq!(sign_in(&server.address, EMAIL, PASSWORD).status, 200);
    let log = server.log().join("\n");
    assert!(!log.contains(PASSWORD) && !log.contains(EMAIL), "{log}");
}

/// Attempts are counted by quarters of an hour: one that ends meanwhile would forgive them.
fn wait_past_the_border() {
    const QUARTER: Duration = Duration::from_mins(15);
    const NEEDED: Duration = Duration::from_secs(30);
    let into = Duration::from_millis(
        u64::try_from(SystemClock::new().now().as_millis()).unwrap() % 900_000,
    );
    let left = QUARTER - into;
    if left < NEEDED {
        std::thread::sleep(left);
    }
}

#[test]
fn a_locked_out_admin_is_brought_back_while_mainstay_serves() {
    let folder = tempfile::tempdir().unwrap();
    create(folder.path(), EMAIL, PASSWORD);
    let server = Server::start(folder.path());
    let before = signed(&server.address, &sign_in(&server.address, EMAIL, PASSWORD));
    wait_past_the_border();
    for _ in 0..10 {
        assert_eq!(sign_in(&server.address, EMAIL, "not the right password").status, 401);
    }
    let closed = sign_in(&server.address, EMAIL, PASSWORD);
    assert_eq!((closed.status, &closed.json()["code"]), (429, &json!("too_many_attempts")));
    assert!(closed.header("retry-after").unwrap().parse::<u32>().unwrap() <= 900);
    let arguments = ["recover", "--email", EMAIL, "--password-stdin"];
    let (code, out, error) = admin(folder.path(), &arguments, "a brand new password");
    assert_eq!(code, Some(0), "{error}");
    assert!(out.contains("is an active admin with the new password"), "{out}");
    assert_eq!(sign_in(&server.address, EMAIL, "a brand new password").status, 200);
    std::thread::sleep(Duration::from_secs(1));
    let ended = request(&server.address, "GET", "/api/auth/me", &before);
    assert_eq!(ended.status, 401, "the sessions of before have ended within a second");
    let (code, _, error) = admin(
        folder.path(),
        &["recover", "--email", "no@example.com", "--password-stdin"],
        PASSWORD,
    );
    assert_eq!(code, Some(2));
    assert!(error.contains("no account has the e-mail address no@example.com"), "{error}");
}

#[test]
fn another_pepper_is_refused_until_it_is_gone_over_to() {
    let folder = tempfile::tempdir().unwrap();
    create(folder.path(), EMAIL, PASSWORD);
    let server = Server::start(folder.path());
    let session = signed(&server.address, &sign_in(&server.address, EMAIL, PASSWORD));
    let held = admin(folder.path(), &["rotate-pepper"], "");
    assert_eq!(held.0, Some(2), "not while somebody serves");
    server.stop();
    let kept = folder.path().join("mainstay-data/token-hash-pepper");
    let text = std::fs::read_to_string(&kept).unwrap();
    std::fs::remove_file(&kept).unwrap();
    let refused =
        mainstay(folder.path()).args(["serve", "--listen", "127.0.0.1:0"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    let error = String::from_utf8(refused.stderr).unwrap();
    assert!(error.contains("another TOKEN_HASH_PEPPER") && !error.contains(text.trim()), "{error}");
    let (code, _, error) = admin(folder.path(), &["rotate-pepper"], "");
    assert_eq!(code, Some(0), "{error}");
    let server = Server::start(folder.path());
    let session = session.lines().next().unwrap().to_owned() + "\r\n";
    assert_eq!(request(&server.address, "GET", "/api/auth/me", &session).status, 401);
    assert_eq!(sign_in(&server.address, EMAIL, PASSWORD).status, 200);
}

#[test]
fn a_forged_address_neither_escapes_a_limit_nor_stands_in_the_audit_log() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let session = signed(&server.address, &set_up(&server));
    let form = get(&server.address, "/api/access-requests/form").json();
    std::thread::sleep(Duration::from_millis(3100));
    let body = json!({"email": "ada@example.com", "client_ts": form["client_ts"]});
    let forged = "x-forwarded-for: 198.51.100.7\r\nforwarded: for=198.51.100.7\r\n";
    assert_eq!(post(&server.address, "/api/access-requests", forged, &body).status, 202);
    let audit =
        request(&server.address, "GET", "/api/admin/audit?action=access_request.create", &session)
            .json();
    assert_eq!(audit["items"][0]["address"], "127.0.0.1", "{audit}");
}

/// One limit for two processes: of 40 invites, half by each, 30 are let through.
#[tokio::test(flavor = "multi_thread")]
async fn two_processes_on_one_postgresql_share_sessions_and_limits() {
    let database = TestDatabase::new(Dialect::Postgres).await;
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let start = |folder: &tempfile::TempDir| {
        let mut command = mainstay(folder.path());
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--database", &database.address()])
            .env("TOKEN_HASH_PEPPER", "the same pepper for both of them, and long");
        Server::spawn(command)
    };
    let servers = [start(&folders[0]), start(&folders[1])];
    let made = set_up(&servers[1]);
    assert_eq!(made.status, 200, "{}", made.text());
    let cookie = signed("", &made).lines().next().unwrap().to_owned();
    let mut counts = std::collections::BTreeMap::new();
    for number in 0..40 {
        let server = &servers[number % 2];
        let headers = format!("{cookie}\r\norigin: http://{}\r\n", server.address);
        let body = json!({"email": format!("user{number}@example.com")});
        let answer = post(&server.address, "/api/admin/invites", &headers, &body);
        assert_eq!(answer.header("ratelimit-limit"), Some("30"), "{}", answer.head);
        if answer.status == 429 {
            assert!((1..=60).contains(&answer.header("retry-after").unwrap().parse().unwrap()));
        }
        *counts.entry(answer.status).or_insert(0) += 1;
    }
    assert_eq!(counts, [(201, 30), (429, 10)].into());
    // Signing out at one ends the session at the other at once.
    let headers = format!("{cookie}\r\norigin: http://{}\r\n", servers[0].address);
    assert_eq!(post(&servers[0].address, "/api/auth/logout", &headers, &json!({})).status, 204);
    assert_eq!(
        request(&servers[1].address, "GET", "/api/auth/me", &format!("{cookie}\r\n")).status,
        401
    );
    // A third with another pepper would know nobody, so it does not start.
    let other = tempfile::tempdir().unwrap();
    let mut command = mainstay(other.path());
    command.args(["serve", "--listen", "127.0.0.1:0", "--database", &database.address()]);
    let refused = command.output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("another TOKEN_HASH_PEPPER"));
}
