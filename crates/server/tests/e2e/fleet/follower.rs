//! Follows the events of the fleet, as a page does.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::process::PATIENCE;

const PATH: &str = "/api/events?types=worker_state_changed,net_state_changed";
/// A stream in which nothing comes for so long is lost.
const SILENCE: Duration = Duration::from_secs(120);

/// Follows from the moment that it is made.
pub(crate) struct Follower {
    events: Receiver<Value>,
}

impl Follower {
    pub(crate) fn new(address: &str, token: &str) -> Self {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(SILENCE)).unwrap();
        // HTTP/1.0, so that no chunks stand between the lines.
        let head = format!("GET {PATH} HTTP/1.0\r\nhost: {address}\r\n");
        write!(stream, "{head}authorization: Bearer {token}\r\n\r\n").unwrap();
        let mut lines = BufReader::new(stream).lines();
        // What happens after the snapshot is told.
        let is_snapshot = |line: &std::io::Result<String>| {
            line.as_ref().is_ok_and(|line| line.starts_with("event: snapshot"))
        };
        assert!(lines.any(|line| is_snapshot(&line)), "no snapshot came");
        let (sender, events) = channel();
        std::thread::spawn(move || pass_on(lines, &sender));
        Self { events }
    }

    /// The next event.
    pub(crate) fn next(&self) -> Value {
        self.events.recv_timeout(PATIENCE).expect("an event comes in time")
    }

    /// Everything up to the first event that `is_last` takes, that one included.
    pub(crate) fn until(&self, is_last: impl Fn(&Value) -> bool) -> Vec<Value> {
        let began = Instant::now();
        let mut seen = Vec::new();
        loop {
            let event = self.next();
            let is_over = is_last(&event);
            seen.push(event);
            if is_over {
                return seen;
            }
            assert!(began.elapsed() < PATIENCE, "it never came: {seen:#?}");
        }
    }
}

fn pass_on(lines: impl Iterator<Item = std::io::Result<String>>, sender: &Sender<Value>) {
    for line in lines.map_while(Result::ok) {
        let Some(data) = line.strip_prefix("data: {\"type\"") else { continue };
        let event = serde_json::from_str(&format!("{{\"type\"{data}")).unwrap();
        if sender.send(event).is_err() {
            return;
        }
    }
}

/// Whether an event says that a worker has come to `status`, and that nothing is done to it.
pub(crate) fn is_worker(event: &Value, worker: &str, status: &str) -> bool {
    event["worker_id"] == worker
        && event["type"] == "worker_state_changed"
        && event["status"] == status
        && event["operation"].is_null()
}

/// What events say, in short: which thing, and where it stands.
pub(crate) fn told(events: &[Value]) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let one = |event: &Value| match event["type"].as_str() {
        Some("worker_state_changed") => (text(&event["worker_id"]), text(&event["status"])),
        _ => (text(&event["net_id"]), text(&event["load_state"])),
    };
    let mut told: Vec<_> = events.iter().map(one).collect();
    told.sort();
    told
}

/// The same of what is expected.
pub(crate) fn expected(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    let mut expected: Vec<_> =
        pairs.iter().map(|(id, state)| ((*id).to_owned(), (*state).to_owned())).collect();
    expected.sort();
    expected
}
