//! Logs and metrics: outcomes and times, and nothing of what was asked or answered.

use std::io;
use std::sync::{Arc, Mutex};

use mainstay_reports::llm::measure;
use mainstay_standins::llm::Behaviour;
use metrics_exporter_prometheus::PrometheusBuilder;

use crate::{ask, open, server, settings};

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
async fn outcomes_are_counted_and_logged_without_a_word_of_the_call() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(move || writer.clone())
        .finish();
    let _logging = tracing::subscriber::set_default(subscriber);
    let recorder = PrometheusBuilder::new().build_recorder();
    let _recording = metrics::set_default_local_recorder(&recorder);
    measure::describe_metrics();
    let script = [
        Behaviour::NoSchemas,
        Behaviour::NoSchemas,
        Behaviour::NotJson,
        Behaviour::RateLimited(None),
    ];
    let server = server(&script).await;
    let model = open(settings(&server.base_url()));
    for _ in 0..3 {
        let _ = ask(&model).await;
    }
    let told = recorder.handle().render();
    for line in [
        "mainstay_llm_calls_total{outcome=\"ok\"} 1",
        "mainstay_llm_calls_total{outcome=\"llm_output_invalid_json\"} 1",
        "mainstay_llm_calls_total{outcome=\"llm_rate_limited\"} 1",
        "mainstay_llm_calls_total{outcome=\"llm_left_alone\"} 0",
        "mainstay_llm_formats_refused_total 1",
        "mainstay_llm_call_duration_seconds_count 3",
    ] {
        assert!(told.contains(line), "{line}\n{told}");
    }
    let logged = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    for event in
        ["llm_answered", "llm_format_refused", "llm_output_invalid_json", "llm_rate_limited"]
    {
        assert!(logged.contains(event), "{event}\n{logged}");
    }
    for word in ["hunter2", "checkout", "migration"] {
        assert!(!logged.contains(word), "{word}\n{logged}");
    }
}
