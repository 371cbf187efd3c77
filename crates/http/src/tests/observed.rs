//! What operators see: log lines and metrics.

use std::cell::RefCell;
use std::io;
use std::sync::Once;

use serde_json::Value;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::house::{House, Plan};
use super::raw::{Answer, PATIENCE, exchange, get, post_json, request};
use crate::{Limits, Site};

thread_local! {
    static LINES: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Keeps log lines by thread: a test and the surface it opened share one.
struct ThisThread;

impl io::Write for ThisThread {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LINES.with_borrow_mut(|lines| lines.extend_from_slice(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn listen() {
    static SUBSCRIBER: Once = Once::new();
    SUBSCRIBER.call_once(|| {
        let builder = tracing_subscriber::fmt().json().with_max_level(tracing::Level::DEBUG);
        builder.with_writer(|| ThisThread).init();
    });
}

fn logged() -> String {
    String::from_utf8(LINES.with_borrow(Clone::clone)).unwrap()
}

/// The request lines so far, each with its level.
fn requests() -> Vec<(String, Value)> {
    let text = logged();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines
        .filter(|line| line["fields"]["message"] == "request")
        .map(|line| (line["level"].as_str().unwrap().to_owned(), line["fields"].clone()))
        .collect()
}

#[tokio::test]
async fn each_request_is_one_line_with_its_route_and_its_id() {
    listen();
    let house = House::open().await;
    let answer = get(house.address, "/api/test/text/private-words").await;
    let lines = requests();
    assert_eq!(lines.len(), 1);
    let (level, fields) = &lines[0];
    assert_eq!(level, "INFO");
    assert_eq!(fields["method"], "GET");
    assert_eq!(fields["route"], "/api/test/text/{text}");
    assert_eq!(fields["status"], 200);
    let duration = fields["duration_ms"].to_string();
    assert!(duration.parse::<f64>().unwrap() >= 0.0);
    let decimals = duration.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    assert!(decimals <= 3, "{duration}");
    assert_eq!(fields["request_id"].as_str(), answer.header("x-request-id"));
    assert!(!format!("{fields}").contains("private-words"));
}

#[tokio::test]
async fn probes_and_assets_are_quiet_and_failures_are_loud() {
    listen();
    let limits = Limits { request_time: std::time::Duration::from_millis(20), ..Limits::default() };
    let house = House::limited(limits).await;
    for (target, level, route) in [
        ("/healthz", "DEBUG", "/healthz"),
        ("/readyz", "DEBUG", "/readyz"),
        ("/metrics", "DEBUG", "/metrics"),
        ("/assets/app-abc.js", "DEBUG", "asset"),
        ("/", "DEBUG", "dashboard"),
        ("/readyz/", "DEBUG", "unmatched"),
        ("/missing.js", "DEBUG", "unmatched"),
        ("/api/nothing", "INFO", "unmatched"),
        ("/api/test/stuck", "WARN", "/api/test/stuck"),
        ("/api/test/internal", "ERROR", "/api/test/internal"),
        ("/api/test/panic", "ERROR", "/api/test/panic"),
    ] {
        let before = requests().len();
        get(house.address, target).await;
        let lines = requests();
        assert_eq!(lines.len(), before + 1, "{target}");
        assert_eq!(lines[before].0, level, "{target}");
        assert_eq!(lines[before].1["route"], route, "{target}");
    }
}

#[tokio::test]
async fn the_cause_of_a_failure_is_in_the_log_once() {
    listen();
    let house = House::open().await;
    get(house.address, "/api/test/internal").await;
    get(house.address, "/api/test/panic").await;
    let lines = requests();
    let cause = |index: usize| lines[index].1["cause"].as_str().unwrap().to_owned();
    assert_eq!(cause(0), "postgres://user:secret@10.0.0.7 refused");
    assert_eq!(cause(1), "the handler panicked: the handler's secret words");
    assert_eq!(logged().matches("10.0.0.7").count(), 1);
}

#[tokio::test]
async fn a_client_that_hangs_up_is_seen() {
    listen();
    let house = House::open().await;
    let mut stream = TcpStream::connect(house.address).await.unwrap();
    let text = format!("GET /api/test/abandoned HTTP/1.1\r\nHost: {}\r\n\r\n", house.address);
    stream.write_all(text.as_bytes()).await.unwrap();
    house.world.waiting.notified().await;
    drop(stream);
    timeout(PATIENCE, house.world.dropped.notified()).await.expect("the handler goes on");
    let metrics = metrics_of(&house).await;
    let line = "mainstay_http_requests_total{method=\"GET\",route=\"/api/test/abandoned\",\
                status=\"499\"} 1";
    assert!(metrics.contains(line), "{metrics}");
    let (level, fields) = requests().swap_remove(0);
    assert_eq!((level.as_str(), fields["status"].as_u64()), ("INFO", Some(499)));
}

async fn metrics_of(house: &House) -> String {
    String::from_utf8(get(house.address, "/metrics").await.body).unwrap()
}

#[tokio::test]
async fn labels_are_bounded_whatever_clients_make_up() {
    let house = House::open().await;
    for number in 0..50 {
        let method = format!("MADEUP{number}");
        request(house.address, &method, &format!("/api/made-up/{number}"), "", "").await;
        get(house.address, &format!("/made-up/{number}")).await;
    }
    let metrics = metrics_of(&house).await;
    let word = "method=\"other\",route=\"unmatched\",status=\"404\"";
    assert!(metrics.contains(word), "{metrics}");
    assert!(!metrics.to_lowercase().contains("made-up") && !metrics.contains("MADEUP"));
}

#[tokio::test]
async fn every_metric_has_its_help_and_its_buckets() {
    let house = House::open().await;
    post_json(house.address, "/api/test/json", "{").await;
    exchange(house.address, b"garbage\r\n\r\n").await;
    let metrics = metrics_of(&house).await;
    for line in metrics.lines().filter(|line| line.starts_with("# TYPE mainstay_http_")) {
        let name = line.split(' ').nth(2).unwrap();
        assert!(metrics.contains(&format!("# HELP {name} ")), "{name}");
    }
    for part in [
        "mainstay_http_refusals_total{code=\"malformed_json\"}",
        "mainstay_http_connection_errors_total{reason=\"malformed\"}",
        "mainstay_http_request_duration_seconds_bucket{method=\"POST\",route=\"/api/test/json\",le=\"0.0005\"}",
        "mainstay_http_connections ",
        "mainstay_http_requests_in_flight ",
    ] {
        assert!(metrics.contains(part), "{part} in {metrics}");
    }
}

#[tokio::test]
async fn metrics_of_a_site_for_others_name_no_host() {
    let site =
        Site { alone: false, https: false, origin: None, metrics_public: true, ..Site::default() };
    let house = House::build(Plan { site, ..Plan::default() }).await;
    let text = "GET /api/nothing HTTP/1.1\r\nHost: inner.example\r\nConnection: close\r\n\r\n";
    let answer = Answer::parse(&exchange(house.address, text.as_bytes()).await);
    assert_eq!(answer.status, 404);
    assert!(!metrics_of(&house).await.contains("inner.example"));
}
