//! Traces reach a collector, and the last ones leave when the program stops.
#![cfg(feature = "otel")]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a helper of a test fails by panicking"
)]

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread;

use mainstay::config::log::filter;
use mainstay::telemetry::{otel, subscriber};

/// Takes one request, answers it and gives back its head and body.
fn collector() -> (String, thread::JoinHandle<(String, Vec<u8>)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let received = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut bytes = Vec::new();
        let mut chunk = [0; 4096];
        loop {
            let read = stream.read(&mut chunk).unwrap();
            assert_ne!(read, 0, "the request ended early");
            bytes.extend_from_slice(&chunk[..read]);
            let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else {
                continue;
            };
            let head = String::from_utf8(bytes[..end].to_vec()).unwrap().to_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if bytes.len() >= end + 4 + length.unwrap().parse::<usize>().unwrap() {
                let answer = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
                stream.write_all(answer.as_bytes()).unwrap();
                return (head, bytes[end + 4..].to_vec());
            }
        }
    });
    (endpoint, received)
}

fn holds(body: &[u8], text: &str) -> bool {
    body.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn stopping_sends_the_last_spans_of_mainstay_alone() {
    let (endpoint, received) = collector();
    let exporter = otel::start(&endpoint).unwrap();
    let subscriber = subscriber(filter("info").unwrap(), vec![exporter.layer()]);
    tracing::subscriber::with_default(subscriber, || {
        tracing::info_span!(target: "mainstay_http", "answering", route = "/healthz").in_scope(
            || {
                tracing::info_span!(target: "hyper", "foreign").in_scope(|| {});
            },
        );
    });
    exporter.stop();

    let (head, body) = received.join().unwrap();
    assert!(head.starts_with("post /v1/traces http/1.1"), "{head}");
    assert!(head.contains("content-type: application/x-protobuf"), "{head}");
    for text in ["answering", "/healthz", "service.name", "mainstay", "service.version"] {
        assert!(holds(&body, text), "{text}");
    }
    assert!(!holds(&body, "foreign"));
}

#[test]
fn a_collector_that_is_not_there_keeps_nothing_up() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let exporter = otel::start(&format!("http://{address}")).unwrap();
    let subscriber = subscriber(filter("info").unwrap(), vec![exporter.layer()]);
    tracing::subscriber::with_default(subscriber, || {
        tracing::info_span!(target: "mainstay_http", "lost").in_scope(|| {});
    });
    exporter.stop();
}
