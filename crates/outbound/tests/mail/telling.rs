//! What is logged and counted, and what never is.

use std::io;
use std::sync::{Arc, Mutex};

use mainstay_outbound::Mail;
use mainstay_outbound::mail::measure;
use metrics_exporter_prometheus::PrometheusBuilder;

use crate::server::Server;
use crate::{config, start};

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

async fn three_ends() {
    let login = ["--login", "me:hunter2"];
    let well = Server::start(&login).await;
    let post = start(&config(&format!("smtp://me:hunter2@127.0.0.1:{}", well.port)));
    let text = "Your link: https://example.org/invite#token-of-somebody";
    post.mailer.send(Mail::new("ada@good.example", "A subject", text).unwrap()).unwrap();
    post.until_empty().await;

    let refusing = Server::start(&["--refuse"]).await;
    let other = start(&config(&refusing.address()));
    other.mailer.send(Mail::new("eve@bad.example", "A subject", text).unwrap()).unwrap();
    other.until_empty().await;

    well.rest().await;
    post.mailer.send(Mail::new("bob@late.example", "A subject", text).unwrap()).unwrap();
    let mailer = post.mailer.clone();
    post.stopped().await;
    let late = Mail::new("bob@late.example", "A subject", text).unwrap();
    assert!(mailer.send(late).is_err());
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
            runtime.block_on(three_ends());
        });
    });

    let log = log.text();
    for told in [
        "outcome=\"sent\"",
        "domain=good.example",
        "outcome=\"failed\" reason=\"refused\"",
        "the server refused it with 550",
        "domain=bad.example",
        "outcome=\"dropped\" reason=\"stopped\"",
        "smtp://[secret]@127.0.0.1:",
    ] {
        assert!(log.contains(told), "{told}\n{log}");
    }
    for secret in ["hunter2", "token-of", "A subject", "ada", "eve@", "bob", "aHVudGVy"] {
        assert!(!log.contains(secret), "{secret}\n{log}");
    }

    let metrics = recorder.handle().render();
    for told in [
        "mainstay_mail_total{outcome=\"sent\"} 1",
        "mainstay_mail_total{outcome=\"failed\"} 1",
        "mainstay_mail_total{outcome=\"dropped\"} 2",
        "mainstay_mail_queued 0",
        "mainstay_mail_attempt_duration_seconds_count{outcome=\"sent\"} 1",
    ] {
        assert!(metrics.contains(told), "{told}\n{metrics}");
    }
}
