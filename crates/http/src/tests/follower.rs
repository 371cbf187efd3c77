//! A client that follows a stream of events, block by block.

use std::net::SocketAddr;

use axum::body::Body;
use axum::http::{HeaderMap, Request};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::raw::PATIENCE;

/// One block of a stream, taken apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) id: Option<String>,
    pub(super) event: Option<String>,
    pub(super) data: Option<String>,
    pub(super) retry: Option<u64>,
    pub(super) comment: Option<String>,
}

impl Block {
    fn parse(text: &str) -> Self {
        let mut block = Self::default();
        for line in text.lines() {
            let (field, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value).to_owned();
            match field {
                "" => block.comment = Some(value),
                "id" => block.id = Some(value),
                "event" => block.event = Some(value),
                "data" => block.data = Some(value),
                "retry" => block.retry = Some(value.parse().unwrap()),
                other => panic!("no such field: {other}"),
            }
        }
        block
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_str(self.data.as_deref().unwrap()).unwrap()
    }
}

/// An open stream.
pub(super) struct Follower {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    body: Incoming,
    buffer: String,
    driving: JoinHandle<()>,
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.driving.abort();
    }
}

impl Follower {
    /// Asks for `target`; `extra` are whole header lines.
    pub(super) async fn open(address: SocketAddr, target: &str, extra: &str) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream));
        let (mut sender, connection) = handshake.await.unwrap();
        let driving = tokio::spawn(async move {
            // How a connection ends is seen by its stream.
            let _ = connection.await;
        });
        let mut request = Request::get(target).header("host", address.to_string());
        for line in extra.lines() {
            let (name, value) = line.split_once(": ").unwrap();
            request = request.header(name, value);
        }
        let request = request.body(Body::empty()).unwrap();
        let answer = timeout(PATIENCE, sender.send_request(request)).await.expect("no answer");
        let (head, body) = answer.unwrap().into_parts();
        let status = head.status.as_u16();
        Self { status, headers: head.headers, body, buffer: String::new(), driving }
    }

    /// The next block; `None` once the stream has ended.
    pub(super) async fn next(&mut self) -> Option<Block> {
        loop {
            if let Some((block, rest)) = self.buffer.split_once("\n\n") {
                let (block, rest) = (Block::parse(block), rest.to_owned());
                self.buffer = rest;
                return Some(block);
            }
            let frame = timeout(PATIENCE, self.body.frame()).await.expect("the stream hangs")?;
            let bytes = frame.ok()?.into_data().unwrap();
            self.buffer.push_str(std::str::from_utf8(&bytes).unwrap());
        }
    }

    /// The next event that is no comment and no id alone.
    pub(super) async fn next_event(&mut self) -> Block {
        loop {
            let block = self.next().await.expect("the stream has ended");
            if block.data.is_some() {
                return block;
            }
        }
    }

    /// The numbers of the next `count` events.
    pub(super) async fn numbers(&mut self, count: usize) -> Vec<u64> {
        let mut numbers = Vec::with_capacity(count);
        while numbers.len() < count {
            numbers.push(self.next_event().await.json()["number"].as_u64().unwrap());
        }
        numbers
    }

    /// The rest of the stream, which must end.
    pub(super) async fn rest(&mut self) -> Vec<Block> {
        let mut blocks = Vec::new();
        while let Some(block) = self.next().await {
            blocks.push(block);
        }
        blocks
    }
}
