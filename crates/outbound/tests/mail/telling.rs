//! What is logged and counted, and what never is.

use std::io;
use std::sync::{Arc, Mutex};

use mainstay_outbound::Mail;
use mainstay_outbound::mail::config::FAILURES_TO_OPEN;
use mainstay_outbound::mail::measure;
use metrics_exporter_prometheus::PrometheusBuilder;

use crate::server::Server;
use crate::{config, reason, start};

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

impl Log {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

async fn four_ends() {
    let login = ["--login", "me:hunter2"];
    let well = Server::start(&login).await;
    let post = start(&config(&format!("smtp://me:hunter2@127.0.0.1:{}", well.port)));
    let text = "Your link: https://example.org/invite#token-of-somebody";
    let mail = |to: &str| Mail::new(to, "A subject", text).unwrap();
    post.send_mail(&mail("ada@good.example")).await.unwrap();

    let refusing = Server::start(&["--refuse"]).await;
    let other = start(&config(&refusing.address()));
    let refused = other.send_mail(&mail("eve@bad.example")).await.unwrap_err();
    assert!(!refused.to_string().contains("eve"), "{refused}");

    well.rest().await;
    for _ in 0..FAILURES_TO_OPEN {
        post.send_mail(&mail("bob@late.example")).await.unwrap_err();
    }
    assert_eq!(reason(post.send_mail(&mail("bob@left.example")).await), "left_alone");
}

#[test]
fn every_end_is_logged_and_counted_and_no_secret_is() {
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
    tracing::subscriber::with_default(subscriber, || {
        metrics::with_local_recorder(&recorder, || {
            measure::describe_metrics();
            runtime.block_on(four_ends());
        });
    });

    let log = log.text();
    for told in [
        "outcome=\"sent\"",
        "domain=good.example",
        "outcome=\"failed\" reason=\"refused\"",
        "the server refused it with 550",
        "domain=bad.example",
        "outcome=\"put_off\" reason=\"unreachable\"",
        "domain=late.example",
        "smtp://[secret]@127.0.0.1:",
    ] {
        assert!(log.contains(told), "{told}\n{log}");
    }
    for secret in
        ["hunter2", "token-of", "A subject", "ada", "eve@", "bob", "aHVudGVy", "left.example"]
    {
        assert!(!log.contains(secret), "{secret}\n{log}");
    }

    let metrics = recorder.handle().render();
    assert!(!metrics.contains("_count{outcome=\"left_alone\"}"), "it was not tried\n{metrics}");
    for told in [
        "mainstay_mail_total{outcome=\"sent\"} 1",
        "mainstay_mail_total{outcome=\"failed\"} 1",
        "mainstay_mail_total{outcome=\"put_off\"} 3",
        "mainstay_mail_total{outcome=\"left_alone\"} 1",
        "mainstay_mail_attempt_duration_seconds_count{outcome=\"sent\"} 1",
        "mainstay_mail_attempt_duration_seconds_count{outcome=\"put_off\"} 3",
    ] {
        assert!(metrics.contains(told), "{told}\n{metrics}");
    }
}
