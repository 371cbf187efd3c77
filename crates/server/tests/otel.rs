//! Traces reach a collector, and the last ones leave when the program stops.
#![cfg(feature = "otel")]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a helper of a test fails by panicking"
)]

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use futures_util::future::BoxFuture;
use mainstay::config::log::filter;
use mainstay::telemetry::{otel, subscriber};
use mainstay_base::{Clock, IdSource, SystemClock, SystemRng};
use mainstay_events::{Events, EventsOptions};
use mainstay_jobs::{
    Claimed, Context, Handler, JobError, Jobs, JobsOptions, Kind, NewJob, Runner, RunnerOptions,
    Status,
};
use mainstay_store::Dialect;
use mainstay_testkit::{ClosedPort, TestDatabase};
use serde_json::json;
use tokio_util::sync::CancellationToken;

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

/// The bytes of a number in hexadecimal digits.
fn bytes(digits: &str) -> Vec<u8> {
    let pairs = digits.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap());
    pairs.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect()
}

struct Work;

impl Handler for Work {
    fn kind(&self) -> Kind {
        Kind::new("exported_work").unwrap()
    }

    fn run<'a>(&'a self, _: &'a Claimed, _: &'a Context) -> BoxFuture<'a, Result<(), JobError>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

/// Runs one job that was asked for in `trace`, on a database of its own.
async fn run_one_job(trace: &str) {
    let database = TestDatabase::new(Dialect::Sqlite).await;
    let (db, stop) = (database.open_migrated().await, CancellationToken::new());
    let (clock, rng) = (Arc::new(SystemClock::new()) as Arc<dyn Clock>, Arc::new(SystemRng));
    let options = EventsOptions::default();
    let starting = Events::start(db, options, Arc::clone(&clock), rng.clone(), stop.clone());
    let (events, tasks) = starting.await.unwrap();
    let ids = IdSource::new(Arc::clone(&clock), rng.clone());
    let jobs = Jobs::new(events.clone(), clock, ids, rng, JobsOptions::default());
    let new = NewJob { traceparent: Some(trace.to_owned()), ..NewJob::new(Work.kind(), json!(1)) };
    let writing = events.write(async |tx, _| jobs.enqueue(tx, new).await);
    let id = writing.await.unwrap().id;
    let options = RunnerOptions::new("r");
    let runner =
        Runner::start(jobs.clone(), vec![Arc::new(Work)], vec![], options, stop.child_token());
    while jobs.find(id).await.unwrap().unwrap().status != Status::Succeeded {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    stop.cancel();
    runner.finished().await;
    tasks.finished().await;
}

#[test]
fn a_job_is_exported_as_a_part_of_the_trace_that_asked_for_it() {
    let (trace, caller) = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7");
    let (endpoint, received) = collector();
    let exporter = otel::start(&endpoint).unwrap();
    let subscriber = subscriber(filter("info").unwrap(), vec![exporter.layer()]);
    tracing::subscriber::with_default(subscriber, || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(run_one_job(&format!("00-{trace}-{caller}-01")));
    });
    exporter.stop();

    let (_, body) = received.join().unwrap();
    for text in ["job", "exported_work", "attempt"] {
        assert!(holds(&body, text), "{text}");
    }
    for id in [trace, caller] {
        let id = bytes(id);
        assert!(body.windows(id.len()).any(|window| window == id), "{id:02x?}");
    }
}

#[test]
fn a_collector_that_is_not_there_keeps_nothing_up() {
    let nobody = ClosedPort::new();
    let exporter = otel::start(&format!("http://{}", nobody.address())).unwrap();
    let subscriber = subscriber(filter("info").unwrap(), vec![exporter.layer()]);
    tracing::subscriber::with_default(subscriber, || {
        tracing::info_span!(target: "mainstay_http", "lost").in_scope(|| {});
    });
    exporter.stop();
}
