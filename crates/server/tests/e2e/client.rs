//! The plainest HTTP client: bytes out, bytes in.

use std::io::Write as _;
use std::net::TcpStream;
use std::time::Duration;

const TIME: Duration = Duration::from_secs(30);

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("no JSON: {}", self.text()))
    }
}

/// Gets a path.
pub(crate) fn get(address: &str, path: &str) -> Answer {
    request(address, "GET", path, "")
}

/// Sends a request without a body; `headers` end with a line break each.
pub(crate) fn request(address: &str, method: &str, path: &str, headers: &str) -> Answer {
    let text = format!(
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n{headers}\r\n"
    );
    send(address, text.as_bytes()).unwrap_or_else(|| panic!("no answer to {method} {path}"))
}

/// Sends raw bytes and reads until the server closes. `None` when it closed without an answer.
pub(crate) fn send(address: &str, bytes: &[u8]) -> Option<Answer> {
    let mut stream = connect(address);
    // A server that refuses early may close while this still writes.
    let _ = stream.write_all(bytes);
    read(&mut stream)
}

/// Reads an answer until the server closes.
pub(crate) fn read(stream: &mut impl std::io::Read) -> Option<Answer> {
    let mut whole = Vec::new();
    let mut chunk = [0; 16 * 1024];
    while let Ok(length @ 1..) = stream.read(&mut chunk) {
        whole.extend_from_slice(&chunk[..length]);
    }
    let end = whole.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&whole[..end]).into_owned();
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some(Answer { status, head, body: whole[end + 4..].to_vec() })
}

pub(crate) fn connect(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).expect("the server listens");
    stream.set_read_timeout(Some(TIME)).unwrap();
    stream.set_write_timeout(Some(TIME)).unwrap();
    stream
}
