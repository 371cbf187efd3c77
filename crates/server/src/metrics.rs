//! The recorder behind `/metrics`.

use std::sync::Arc;

use anyhow::Context as _;
use mainstay_http::measure::{DURATION_BUCKETS, REQUEST_DURATION};
use mainstay_monitor::{engine, graph, recorder, shards};
use mainstay_outbound::blobs::measure as blobs;
use mainstay_outbound::mail::measure as mail;
use mainstay_outbound::web::measure as web;
use mainstay_reports::llm::measure as llm;
use metrics::{describe_gauge, gauge};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use metrics_process::Collector;

use crate::saturation;
use crate::telemetry::lines;

/// The store's timings share a prefix and buckets.
const STORE_TIMINGS: &str = "mainstay_store_";

/// The queue's timings share a prefix and buckets.
const JOB_TIMINGS: &str = "mainstay_jobs_";

const BUILD_INFO: &str = "mainstay_build_info";

/// Collects what the whole process measures.
#[derive(Clone)]
pub(crate) struct Recorder {
    handle: PrometheusHandle,
    process: Collector,
}

impl Recorder {
    /// Installs the recorder for the whole process and describes every metric.
    pub(crate) fn install() -> anyhow::Result<Self> {
        let handle = PrometheusBuilder::new()
            .set_buckets_for_metric(Matcher::Full(REQUEST_DURATION.to_owned()), &DURATION_BUCKETS)
            .and_then(|builder| {
                let store = Matcher::Prefix(STORE_TIMINGS.to_owned());
                builder.set_buckets_for_metric(store, mainstay_store::METRIC_BUCKETS)
            })
            .and_then(|builder| {
                let lag = Matcher::Full(saturation::LAG.to_owned());
                builder.set_buckets_for_metric(lag, &saturation::LAG_BUCKETS)
            })
            .and_then(|builder| {
                let mail = Matcher::Full(mail::ATTEMPT_DURATION.to_owned());
                builder.set_buckets_for_metric(mail, mail::DURATION_BUCKETS)
            })
            .and_then(|builder| {
                let lag = Matcher::Full(mainstay_events::DELIVERY_LAG.to_owned());
                builder.set_buckets_for_metric(lag, mainstay_events::METRIC_BUCKETS)
            })
            .and_then(|builder| {
                let jobs = Matcher::Prefix(JOB_TIMINGS.to_owned());
                builder.set_buckets_for_metric(jobs, mainstay_jobs::METRIC_BUCKETS)
            })
            .and_then(|builder| {
                let calls: &[(&str, &[f64])] = &[
                    (web::REQUEST_DURATION, web::DURATION_BUCKETS),
                    (blobs::CALL_DURATION, blobs::DURATION_BUCKETS),
                    (llm::CALL_DURATION, llm::DURATION_BUCKETS),
                ];
                let rooms = [
                    engine::METRIC_BUCKETS,
                    graph::METRIC_BUCKETS,
                    recorder::METRIC_BUCKETS,
                    mainstay_fleet::METRIC_BUCKETS,
                    calls,
                ];
                rooms.into_iter().flatten().try_fold(builder, |builder, (name, buckets)| {
                    builder.set_buckets_for_metric(Matcher::Full((*name).to_owned()), buckets)
                })
            })
            .and_then(PrometheusBuilder::install_recorder)
            .context("the metrics can't be recorded; start Mainstay once in a process")?;
        let process = Collector::default();
        process.describe();
        mainstay_http::measure::describe();
        mainstay_store::describe_metrics();
        mainstay_events::describe_metrics();
        mainstay_jobs::describe_metrics();
        mainstay_accounts::describe_metrics();
        mail::describe_metrics();
        web::describe_metrics();
        blobs::describe_metrics();
        llm::describe_metrics();
        mainstay_journeys::describe_metrics();
        mainstay_reports::describe_metrics();
        mainstay_fleet::describe_metrics();
        engine::describe_metrics();
        graph::describe_metrics();
        recorder::describe_metrics();
        shards::describe_metrics();
        saturation::describe();
        lines::describe();
        describe_gauge!(BUILD_INFO, "Always 1; the labels tell which Mainstay this is.");
        gauge!(
            BUILD_INFO,
            "version" => env!("CARGO_PKG_VERSION"),
            "commit" => crate::COMMIT.unwrap_or("unknown"),
        )
        .set(1.0);
        Ok(Self { handle, process })
    }

    /// Everything, as Prometheus reads it. `refresh` brings the gauges up to date first.
    pub(crate) fn renderer(
        &self,
        refresh: impl Fn() + Send + Sync + 'static,
    ) -> Arc<dyn Fn() -> String + Send + Sync> {
        let recorder = self.clone();
        Arc::new(move || {
            refresh();
            recorder.process.collect();
            recorder.handle.render()
        })
    }

    /// Folds what histograms have gathered; without it their buffers grow until somebody reads.
    pub(crate) fn upkeep(&self) {
        self.handle.run_upkeep();
    }
}
