//! One server behind many addresses that notes when each service was asked.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// What every service answers.
const BODY: &str = r#"[{"name":"db","healthy":true,"health":{"state":0,"code":200,"latency":3}}]"#;

/// When each service was asked.
#[derive(Debug, Default)]
pub(super) struct Notes {
    asked: Mutex<Vec<(usize, Instant)>>,
}

/// Notes who is asked when. It ends with the test.
pub(super) struct Upstream {
    port: u16,
    notes: Arc<Notes>,
}

impl Upstream {
    pub(super) fn start() -> Self {
        let listener = TcpListener::bind("0.0.0.0:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let notes = Arc::new(Notes::default());
        let shared = Arc::clone(&notes);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || answer_all(stream, &shared));
            }
        });
        Self { port, notes }
    }

    /// Where a service is asked: five of them on each host.
    pub(super) fn address(&self, service: usize) -> String {
        format!("http://127.0.0.{}:{}/{service}", service / 5 + 1, self.port)
    }

    /// When a service was asked.
    pub(super) fn asked(&self, service: usize) -> Vec<Instant> {
        let asked = self.notes.asked.lock().unwrap();
        asked.iter().filter(|(one, _)| *one == service).map(|(_, at)| *at).collect()
    }
}

fn answer_all(mut stream: TcpStream, notes: &Notes) {
    let (mut seen, mut buffer) = (Vec::new(), [0_u8; 4096]);
    let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{BODY}", BODY.len());
    while let Ok(read @ 1..) = stream.read(&mut buffer) {
        seen.extend_from_slice(&buffer[..read]);
        while let Some(end) = seen.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&seen[..end]).into_owned();
            seen.drain(..end + 4);
            let path = head.split(' ').nth(1).and_then(|path| path[1..].parse().ok());
            if let Some(service) = path {
                notes.asked.lock().unwrap().push((service, Instant::now()));
            }
            if stream.write_all(answer.as_bytes()).is_err() {
                return;
            }
        }
    }
}
