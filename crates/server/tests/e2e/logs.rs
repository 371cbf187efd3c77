//! What the log tells, and that a log that nobody reads does not stop the server.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use mainstay::telemetry::lines::MAX_WAITING_LINES;
use mainstay_testkit::quiet_port;

use crate::client::{connect, get};
use crate::process::{PATIENCE, Server, mainstay, send_signal};

/// More than the pipe and the queue hold together.
const REQUESTS: usize = 2 * MAX_WAITING_LINES;
const GRACE: Duration = Duration::from_secs(10);

/// Killed when the test ends.
struct Unread(Child);

impl Drop for Unread {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_stalled_reader_costs_lines_and_stops_neither_requests_nor_signals() {
    let (mut server, address, _folder) = unread();
    flood(&address);
    assert_eq!(get(&address, "/healthz").status, 200);
    assert!(dropped(&address) > 0, "every line fitted");
    let asked = Instant::now();
    send_signal(server.0.id(), "TERM");
    assert_eq!(wait(&mut server.0), Some(0));
    assert!(asked.elapsed() < GRACE, "{:?}", asked.elapsed());
}

#[test]
fn a_reader_that_comes_back_learns_how_many_lines_it_missed() {
    let (mut server, address, _folder) = unread();
    flood(&address);
    let mut lines = BufReader::new(server.0.stderr.take().unwrap()).lines().map(Result::unwrap);
    // Once a full queue was read, the last lines find room.
    let mut log: Vec<String> = lines.by_ref().take(MAX_WAITING_LINES).collect();
    send_signal(server.0.id(), "TERM");
    log.extend(lines);
    assert_eq!(wait(&mut server.0), Some(0));
    let told = log.iter().find(|line| line.contains("log lines were dropped"));
    let told: serde_json::Value = serde_json::from_str(told.expect("a line about it")).unwrap();
    assert_eq!(told["level"], "WARN");
    assert!(told["dropped"].as_u64().unwrap() > 0, "{told}");
    assert!(log.last().unwrap().contains("\"stopped\""), "the end is there");
}

#[test]
fn the_bound_address_is_told_beside_the_public_one() {
    let folder = tempfile::tempdir().unwrap();
    let public = ["--public-url", "https://mainstay.example.com"];
    let server = Server::start_with(folder.path(), &public);
    assert_eq!(server.address, "mainstay.example.com");
    assert_eq!(get(&server.logged("address"), "/healthz").status, 200);
    server.stop();
}

/// A server whose standard error is a pipe that nobody reads.
fn unread() -> (Unread, String, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let address = format!("127.0.0.1:{}", quiet_port());
    let child = mainstay(folder.path())
        .args(["serve", "--listen", &address])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let server = Unread(child);
    let began = Instant::now();
    while std::net::TcpStream::connect(&address).is_err() {
        assert!(began.elapsed() < PATIENCE, "it does not listen");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(get(&address, "/healthz").status, 200);
    (server, address, folder)
}

/// Makes more lines than there is room for.
fn flood(address: &str) {
    let one = format!("GET /api/x HTTP/1.1\r\nhost: {address}\r\n\r\n");
    for _ in 0..REQUESTS / 100 {
        let mut stream = connect(address);
        stream.write_all(one.repeat(99).as_bytes()).unwrap();
        let last = one.replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n");
        stream.write_all(last.as_bytes()).unwrap();
        let answers = std::io::read_to_string(stream).unwrap();
        assert_eq!(answers.matches("HTTP/1.1 404").count(), 100);
    }
}

fn dropped(address: &str) -> u64 {
    let metrics = get(address, "/metrics").text();
    let value = metrics
        .lines()
        .find_map(|line| line.strip_prefix("mainstay_log_lines_dropped_total ").map(str::to_owned));
    value.expect("the metric is there").parse().unwrap()
}

fn wait(child: &mut Child) -> Option<i32> {
    let began = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        assert!(began.elapsed() < PATIENCE, "it does not end");
        std::thread::sleep(Duration::from_millis(10));
    }
}
