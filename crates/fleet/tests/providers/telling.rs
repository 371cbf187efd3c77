//! Metrics and logs: outcomes, and no token.

use std::io;
use std::sync::{Arc, Mutex};

use mainstay_fleet::providers::Provider as _;
use metrics_exporter_prometheus::PrometheusBuilder;

use crate::{fly_pair, key, order};

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

#[tokio::test]
async fn calls_are_counted_and_logged_with_flys_name_for_them_and_without_a_token() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(move || writer.clone())
        .finish();
    let _logging = tracing::subscriber::set_default(subscriber);
    let recorder = PrometheusBuilder::new().build_recorder();
    let _recording = metrics::set_default_local_recorder(&recorder);
    mainstay_fleet::describe_metrics();
    let (server, provider) = fly_pair().await;
    let machine = provider.create(&order(1)).await.unwrap();
    server.switch(|switches| switches.everything = Some((503, "hunter2".to_owned())));
    let _ = provider.look(&machine).await;
    let told = recorder.handle().render();
    for line in [
        "mainstay_fleet_provider_calls_total{provider=\"fly\",outcome=\"ok\"} 2",
        "mainstay_fleet_provider_calls_total{provider=\"fly\",outcome=\"failed\"} 1",
        "mainstay_fleet_provider_calls_total{provider=\"sprite\",outcome=\"left_alone\"} 0",
        "mainstay_fleet_agent_calls_total{action=\"health\",outcome=\"foreign\"} 0",
        "mainstay_fleet_provider_call_duration_seconds_count{provider=\"fly\"} 3",
    ] {
        assert!(told.contains(line), "{line}\n{told}");
    }
    let logged = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(logged.contains("provider_refused") && logged.contains("01STANDIN-"), "{logged}");
    let token = key().token(&order(1).name());
    for secret in ["fly-standin-token", "hunter2", token.expose().as_str()] {
        assert!(!logged.contains(secret), "{secret}\n{logged}");
    }
}
