//! A service that is watched by the real binary, from its first poll to a restart.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mainstay_store::Dialect;
use mainstay_testkit::TestDatabase;
use serde_json::{Value, json};

use crate::client::request;
use crate::people::{post, set_up, signed};
use crate::process::{Server, mainstay};

const KEY: &str = "hunter2";

/// A health endpoint that answers who has the key as it is told, and counts how often it is asked.
struct Upstream {
    address: String,
    state: Arc<Mutex<(String, usize)>>,
}

impl Upstream {
    fn start(answer: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let state = Arc::new(Mutex::new((answer.to_owned(), 0)));
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || answer_all(stream, &shared));
            }
        });
        Self { address, state }
    }

    fn say(&self, answer: &str) {
        self.state.lock().unwrap().0 = answer.to_owned();
    }

    fn asked(&self) -> usize {
        self.state.lock().unwrap().1
    }
}

fn answer_all(mut stream: std::net::TcpStream, state: &Mutex<(String, usize)>) {
    let mut seen = Vec::new();
    let mut buffer = [0_u8; 4096];
    while let Ok(read @ 1..) = stream.read(&mut buffer) {
        seen.extend_from_slice(&buffer[..read]);
        while let Some(end) = seen.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&seen[..end]).to_lowercase();
            seen.drain(..end + 4);
            let answer = {
                let mut state = state.lock().unwrap();
                state.1 += 1;
                if head.contains(&format!("x-key: {KEY}")) { state.0.clone() } else { unknown() }
            };
            if stream.write_all(answer.as_bytes()).is_err() {
                return;
            }
        }
    }
}

fn ok(body: &Value) -> String {
    let body = body.to_string();
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn unknown() -> String {
    "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n".to_owned()
}

fn unavailable() -> String {
    "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n".to_owned()
}

fn start(folder: &Path, database: Option<&str>) -> Server {
    let mut command = mainstay(folder);
    command.args(["serve", "--listen", "127.0.0.1:0"]);
    if let Some(database) = database {
        command.args(["--database", database]);
    }
    command.env("MAINSTAY_POLL_CYCLE_MS", "50");
    Server::spawn(command)
}

/// Asks again until the service is as it should be.
fn until(
    address: &str,
    session: &str,
    id: &str,
    what: &str,
    holds: impl Fn(&Value) -> bool,
) -> Value {
    let mut last = Value::Null;
    for _ in 0..1_200 {
        last = request(address, "GET", &format!("/api/services/{id}"), session).json();
        if holds(&last) {
            return last;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("it never came to this: {what}; last: {last:#}");
}

fn watch(folder: &Path, database: Option<&str>) {
    let healthy = json!([{ "name": "orders-db", "healthy": true, "health": { "latency": 3 } }]);
    let upstream = Upstream::start(&ok(&healthy));
    let server = start(folder, database);
    let session = signed(&server.address, &set_up(&server));
    let body = json!({
        "name": "Orders", "health_endpoint": format!("http://{}/health", upstream.address),
        // No poll of its own falls between the one that is asked for and the server's second start.
        "poll_interval_ms": 15000, "headers": { "X-Key": KEY },
    });
    let created = post(&server.address, "/api/services", &session, &body);
    assert_eq!(created.status, 201, "{}", created.text());
    assert!(!created.text().contains(KEY));
    let id = created.json()["id"].as_str().unwrap().to_owned();
    let first = until(&server.address, &session, &id, "healthy", |one| one["status"] == "healthy");
    assert_eq!(first["dependencies"][0]["name"], "orders-db");
    assert_eq!(first["dependencies"][0]["latency_ms"], 3.0);
    assert_eq!(first["header_names"], json!(["X-Key"]));
    assert_eq!(first["schedule"]["breaker"], "closed");

    upstream.say(&unavailable());
    let poll = post(&server.address, &format!("/api/services/{id}/poll"), &session, &json!({}));
    assert_eq!(poll.status, 200, "{}", poll.text());
    assert_eq!(poll.json()["error"]["kind"], "http_status");
    let down = request(&server.address, "GET", &format!("/api/services/{id}"), &session).json();
    assert_eq!(down["status"], "down", "{down:#}");
    assert_eq!(
        down["dependencies"][0]["status"], "unknown",
        "nothing is green that is not known to be"
    );
    assert_eq!(down["breaker"]["failures"], 1);
    let told = request(&server.address, "GET", "/api/events/history", &session).json();
    let kinds: Vec<_> = told["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect();
    for kind in ["service:started", "service:status", "poll:error"] {
        assert!(kinds.contains(&kind), "{kind} in {kinds:?}");
    }
    let log = server.log().join("\n");
    assert!(!log.contains(KEY), "{log}");

    // Killed in the middle: what was recorded is still there, and goes on from where it was.
    let mut server = server;
    server.signal("KILL");
    server.wait();
    let asked = upstream.asked();
    let again = start(folder, database);
    let session = session.replace(&server.address, &again.address);
    let kept = request(&again.address, "GET", &format!("/api/services/{id}"), &session).json();
    assert_eq!(
        (&kept["status"], &kept["breaker"]["failures"]),
        (&json!("down"), &json!(1)),
        "{kept:#}"
    );
    upstream.say(&ok(&healthy));
    let back =
        until(&again.address, &session, &id, "healthy again", |one| one["status"] == "healthy");
    assert_eq!(back["dependencies"][0]["status"], "healthy");
    assert!(upstream.asked() > asked);
    let removed = request(&again.address, "DELETE", &format!("/api/services/{id}"), &session);
    assert_eq!(removed.status, 204, "{}", removed.text());
    again.stop();
    assert!(!is_written(folder), "the key is sealed wherever it is kept");
}

/// Whether the key stands in a file.
fn is_written(folder: &Path) -> bool {
    std::fs::read_dir(folder).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        let holds_key = |text: Vec<u8>| text.windows(KEY.len()).any(|some| some == KEY.as_bytes());
        if path.is_dir() { is_written(&path) } else { std::fs::read(path).is_ok_and(holds_key) }
    })
}

#[test]
fn a_service_is_watched_from_its_first_poll_to_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    watch(folder.path(), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_is_watched_on_postgres_too() {
    let folder = tempfile::tempdir().unwrap();
    let database = TestDatabase::new(Dialect::Postgres).await;
    let address = database.address();
    let path = folder.path().to_owned();
    tokio::task::spawn_blocking(move || watch(&path, Some(&address))).await.unwrap();
}
