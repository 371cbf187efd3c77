//! What is counted, what is logged, and what never is.

use std::io;
use std::process::Command;
use std::sync::{Arc, Mutex};

use mainstay_base::Secret;
use mainstay_outbound::Web;
use mainstay_outbound::web::measure;
use metrics_exporter_prometheus::PrometheusBuilder;

use crate::server::{Server, answer};
use crate::{SHORT, failed, fetch, get, options, web};

/// Keeps what is logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

async fn some_calls() -> Web {
    let secret = || Secret::new("hunter2".to_owned());
    let well = Server::well().await;
    let hanging = Server::start(|mut peer| async move { peer.until_hung_up().await }).await;
    let garbled = Server::saying_once("hunter2 is no HTTP\r\n\r\n").await;
    let moved = answer("302 x", "Location: http://u:hunter2@169.254.169.254/\r\n", "");
    let moved = Server::saying(moved).await;
    let web = Web::new(&options()).unwrap();
    let with_secrets = |server: &Server| {
        let url = format!("http://user:hunter2@127.0.0.1:{}/?key=hunter2", server.port);
        get(&url).header("X-Key", secret())
    };
    for _ in 0..3 {
        fetch(&web, with_secrets(&well)).await.unwrap();
    }
    assert_eq!(failed(fetch(&web, with_secrets(&hanging).timeout(SHORT)).await).0, "timeout");
    assert_eq!(failed(fetch(&web, with_secrets(&garbled)).await).0, "bad_body");
    assert_eq!(failed(fetch(&web, with_secrets(&moved)).await).0, "redirect_blocked");
    web
}

#[test]
fn every_end_is_counted_and_no_secret_is_told() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    let recorder =
        PrometheusBuilder::new().set_buckets(measure::DURATION_BUCKETS).unwrap().build_recorder();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let while_open = tracing::subscriber::with_default(subscriber, || {
        metrics::with_local_recorder(&recorder, || {
            measure::describe_metrics();
            let web = runtime.block_on(some_calls());
            let told = recorder.handle().render();
            drop(web);
            told
        })
    });
    for told in [
        "mainstay_outbound_requests_total{purpose=\"test\",outcome=\"ok\"} 3",
        "mainstay_outbound_requests_total{purpose=\"test\",outcome=\"timeout\"} 1",
        "mainstay_outbound_requests_total{purpose=\"test\",outcome=\"bad_body\"} 1",
        "mainstay_outbound_requests_total{purpose=\"test\",outcome=\"redirect_blocked\"} 1",
        "mainstay_outbound_requests_total{purpose=\"test\",outcome=\"dns\"} 0",
        "mainstay_outbound_request_seconds_count{purpose=\"test\"} 6",
        "mainstay_outbound_connections{state=\"idle\"} 2",
        "mainstay_outbound_connections{state=\"busy\"} 0",
    ] {
        assert!(while_open.contains(told), "{told}\n{while_open}");
    }
    let after = recorder.handle().render();
    assert!(after.contains("mainstay_outbound_connections{state=\"idle\"} 0"), "{after}");
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(!log.contains("hunter2") && !log.contains("aHVudGVyMg"), "{log}");
}

/// A call that a proxy would not let through: see the next test.
#[tokio::test]
async fn a_call_goes_straight_to_its_host() {
    let server = Server::well().await;
    for url in [server.url("/"), format!("http://some.example:{}/", server.port)] {
        assert_eq!(fetch(&web(), get(&url)).await.unwrap().body, "well");
    }
    assert!(server.heads().iter().all(|head| head.starts_with("GET / HTTP/1.1\r\n")));
}

#[test]
fn proxies_of_the_environment_are_ignored() {
    let nowhere = "http://127.0.0.1:1";
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "telling::a_call_goes_straight_to_its_host"]);
    for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
    {
        child.env(name, nowhere);
    }
    let ran = child.output().unwrap();
    let told = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success() && told.contains("1 passed"), "{told}");
}
