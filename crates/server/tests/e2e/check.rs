//! `mainstay check` against an endpoint of the test's own.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};

use mainstay_testkit::ClosedPort;

use crate::process::run;

const HEALTHY: &str = r#"[{"name":"orders-db","healthy":true,"latencyMs":3.25},
    {"name":"mail","health":{"skipped":true}}]"#;
const SICK: &str = r#"[{"name":"orders-db","healthy":true},{"healthy":true},
    {"name":"payments","healthy":false,"healthCode":504,"errorMessage":"timed \u001b[31mout"},
    {"name":"search","healthy":true,"health":{"state":1}}]"#;

/// Answers every call alike; gives its URL, and what it was asked.
pub(crate) fn endpoint(status: &str, body: &str) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/health", listener.local_addr().unwrap());
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    let (heard, asked) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let _ = heard.send(read_head(&stream));
            let _ = (&stream).write_all(answer.as_bytes());
        }
    });
    (url, asked)
}

fn read_head(mut stream: &TcpStream) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read_exact(&mut byte).is_ok() {
        head.push(byte[0]);
    }
    String::from_utf8(head).unwrap()
}

/// Runs `check` with these arguments in an empty folder.
fn check(arguments: &[&str]) -> (Option<i32>, String, String) {
    check_in(tempfile::tempdir().unwrap().path(), arguments)
}

fn check_in(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let all: Vec<&str> = ["check"].iter().chain(arguments).copied().collect();
    run(folder, &all)
}

#[test]
fn a_healthy_endpoint_is_shown_and_ends_with_0() {
    let folder = tempfile::tempdir().unwrap();
    let (url, _asked) = endpoint("200 OK", HEALTHY);
    let (code, out, error) = check_in(folder.path(), &[&url]);
    assert_eq!((code, error.as_str()), (Some(0), ""), "{out}");
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0], "NAME       STATUS   STATE  CODE  LATENCY  MESSAGE");
    assert_eq!(lines[1], "orders-db  healthy  0      200   3.2 ms");
    assert_eq!(lines[2], "mail       skipped  0      200   -");
    assert_eq!(lines[3], "");
    assert!(
        lines[4].starts_with("2 dependencies: 1 healthy, 1 skipped; answered 200 in "),
        "{out}"
    );
    assert_eq!(lines.len(), 5, "{out}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn a_dependency_that_is_not_healthy_ends_with_1() {
    let (url, _asked) = endpoint("200 OK", SICK);
    let (code, out, error) = check(&[&url]);
    assert_eq!((code, error.as_str()), (Some(1), ""), "{out}");
    assert!(out.contains("payments   down      2      504   -        timed  [31mout\n"), "{out}");
    assert!(out.contains("search     degraded  1      200   -\n"), "{out}");
    assert!(out.contains("3 dependencies: 1 down, 1 degraded, 1 healthy;"), "{out}");
    assert!(out.ends_with("warning: index 1: \"name\" is missing\n"), "{out}");
    assert!(!out.contains('\u{1b}'), "no escape code of somebody else reaches the screen");
}

#[test]
fn json_holds_everything() {
    let (url, _asked) = endpoint("200 OK", SICK);
    let (code, out, error) = check(&[&url, "--json"]);
    assert_eq!((code, error.as_str()), (Some(1), ""), "{out}");
    let value: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(value["success"], true);
    assert_eq!(value["healthy"], false);
    assert_eq!(value["http_status"], 200);
    assert_eq!(value["dependencies"][1]["name"], "payments");
    assert_eq!(value["dependencies"][1]["status"], "down");
    assert_eq!(value["dependencies"][1]["error_message"], "timed \u{1b}[31mout");
    assert_eq!(value["warnings"][0]["reason"], "\"name\" is missing");
    assert_eq!(value["error"], serde_json::Value::Null);
    let (url, _asked) = endpoint("503 Service Unavailable", "{}");
    let (code, out, error) = check(&[&url, "--json"]);
    assert_eq!((code, error.as_str()), (Some(1), ""), "{out}");
    let value: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (&value["success"], &value["error"]["kind"]),
        (&false.into(), &"http_status".into())
    );
}

#[test]
fn a_mapping_is_read_from_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let mapping = r#"{"root":"components","fields":{"name":"$key","healthy":"status"}}"#;
    std::fs::write(folder.path().join("spring.json"), mapping).unwrap();
    let body = r#"{"status":"UP","components":{"db":{"status":"UP"},"redis":{"status":"DOWN"}}}"#;
    let (url, _asked) = endpoint("200 OK", body);
    let (code, out, error) = check_in(folder.path(), &[&url, "--schema", "spring.json"]);
    assert_eq!((code, error.as_str()), (Some(1), ""), "{out}");
    assert!(out.contains("redis  down"), "{out}");
    let (code, out, _) = check(&[&url, "--format", "status"]);
    assert_eq!(code, Some(0), "{out}");
    assert!(out.starts_with("no dependencies; answered 200 in "), "{out}");
}

#[test]
fn an_endpoint_that_fails_is_told_and_ends_with_1() {
    let nobody = ClosedPort::new();
    let deaf = TcpListener::bind("127.0.0.1:0").unwrap();
    let (sick, _asked) = endpoint("503 Service Unavailable", "[]");
    let (object, _asked) = endpoint("200 OK", "{}");
    for (url, kind, words) in [
        (sick, "http_status", "status 503"),
        (object, "bad_body", "expected an array of dependencies"),
        (format!("http://{}/", nobody.address()), "connect_refused", ""),
        (format!("http://{}/", deaf.local_addr().unwrap()), "timeout", ""),
        ("http://169.254.169.254/latest/meta-data/".to_owned(), "blocked_address", "never called"),
    ] {
        let limit = if kind == "timeout" { "0.5" } else { "30" };
        let (code, out, error) = check(&[&url, "--timeout", limit]);
        assert_eq!((code, out.as_str()), (Some(1), ""), "{url}: {error}");
        assert_eq!(error.lines().count(), 1, "{error}");
        assert!(error.contains(&format!("failed ({kind}): ")) && error.contains(words), "{error}");
    }
}

#[test]
fn headers_are_sent_along() {
    let (url, asked) = endpoint("200 OK", "[]");
    let (code, out, error) =
        check(&[&url, "--header", "Authorization: Bearer abc", "--header", "X-Team:  orders "]);
    assert_eq!(code, Some(0), "{out}{error}");
    let head = asked.recv().unwrap().to_lowercase();
    assert!(head.contains("authorization: bearer abc\r\n"), "{head}");
    assert!(
        head.contains("x-team: orders\r\n") && head.contains("user-agent: mainstay/"),
        "{head}"
    );
}

#[test]
fn wrong_use_ends_with_2_and_repeats_no_secret() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("wrong.json", r#"{"root":"","fields":{"name":"n","healthy":"h","latencyMs":"l"}}"#);
    write("large.json", &" ".repeat(20_000));
    let url = "http://127.0.0.1:1/";
    for (arguments, words) in [
        (&[][..], "<URL>"),
        (&["ftp://user:hunter2@example.com/"], "http"),
        (&["http://user:hunter2@:x/"], "https://orders.internal/health"),
        (&["orders.internal"], "https://orders.internal/health"),
        (&[url, "--format", "yaml"], "proactive-deps"),
        (&[url, "--format", "schema"], "--schema FILE"),
        (&[url, "--format", "status", "--schema", "wrong.json"], "leave out"),
        (&[url, "--schema", "missing.json"], "missing.json can't be read"),
        (&[url, "--schema", "wrong.json"], "schema_config.fields.latencyMs is not known"),
        (&[url, "--schema", "large.json"], "at most 16384"),
        (&[url, "--timeout", "31"], "from 0.001 to 30"),
        (&[url, "--timeout", "-1"], ""),
        (&[url, "--timeout", "NaN"], "from 0.001 to 30"),
        (&[url, "--header", "hunter2"], "'Name: value'"),
        (&[url, "--header", "Host: hunter2"], "host"),
        (&[url, "--header", "X-Key: hunter2\nX-Other: 1"], "x-key"),
        (&[url, "--ca-file", "missing.pem"], "missing.pem"),
    ] {
        let (code, out, error) = check_in(folder.path(), arguments);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{arguments:?}: {error}");
        assert!(error.contains(words), "{arguments:?}: {error}");
        assert!(!error.contains("hunter2"), "{error}");
    }
}
