//! A client that sends exactly the bytes it is told to.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Longer than any limit of a test: reaching it means that the server hangs.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// An answer, taken apart.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) head: String,
    pub(super) body: Vec<u8>,
}

impl Answer {
    pub(super) fn parse(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
        let end = end.unwrap_or_else(|| panic!("no head in {:?}", String::from_utf8_lossy(bytes)));
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Self { status, head, body: bytes[end + 4..].to_vec() }
    }

    /// The only value of a header.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().skip(1).filter_map(|line| line.split_once(": "));
        let value = lines.by_ref().find(|(key, _)| key.eq_ignore_ascii_case(name))?.1;
        assert!(!lines.any(|(key, _)| key.eq_ignore_ascii_case(name)), "{name} is there twice");
        Some(value)
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// Checks that this is an error of our shape, and gives its code.
    pub(super) fn code(&self) -> String {
        let body = self.json();
        for name in ["error", "code", "detail", "request_id"] {
            assert!(body[name].as_str().is_some_and(|text| !text.is_empty()), "{name}: {body}");
        }
        assert_eq!(self.header("content-type"), Some("application/json"));
        assert_eq!(self.header("x-request-id"), body["request_id"].as_str());
        assert!(self.body.len() < 2048, "an error is short: {}", self.body.len());
        body["code"].as_str().unwrap().to_owned()
    }
}

/// Everything the server says until it closes; `None` when it resets without a word.
pub(super) async fn read_to_end(stream: &mut TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    // A reset after some bytes still leaves those bytes.
    let _ = timeout(PATIENCE, stream.read_to_end(&mut bytes)).await.expect("the server hangs");
    bytes
}

/// Sends `bytes`, reads until the server closes.
pub(super) async fn exchange(address: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // The server may refuse and close before it has read all.
    let _ = timeout(PATIENCE, stream.write_all(bytes)).await.expect("the server takes nothing");
    read_to_end(&mut stream).await
}

/// One request with `Connection: close`. `extra` are whole header lines.
pub(super) async fn request(
    address: SocketAddr,
    method: &str,
    target: &str,
    extra: &str,
    body: &str,
) -> Answer {
    let length = body.len();
    let text = format!(
        "{method} {target} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\
         Content-Length: {length}\r\n{extra}\r\n{body}"
    );
    Answer::parse(&exchange(address, text.as_bytes()).await)
}

pub(super) async fn get(address: SocketAddr, target: &str) -> Answer {
    request(address, "GET", target, "", "").await
}

pub(super) async fn post_json(address: SocketAddr, target: &str, body: &str) -> Answer {
    request(address, "POST", target, "Content-Type: application/json\r\n", body).await
}
