//! What is told of the graph.

use std::time::Duration;

use mainstay_graph::Graph;

/// The buckets of this room's histograms.
pub const METRIC_BUCKETS: &[(&str, &[f64])] = &[
    ("mainstay_graph_update_seconds", &[0.000_01, 0.000_1, 0.001, 0.01, 0.1, 1.0]),
    ("mainstay_graph_picture_seconds", &[0.001, 0.005, 0.025, 0.1, 0.25, 1.0]),
];

/// Names what the metrics mean.
pub fn describe_metrics() {
    let seconds = metrics::Unit::Seconds;
    metrics::describe_counter!(
        "mainstay_graph_updates_total",
        "Services that were read again for the graph, by why: event, or reload."
    );
    metrics::describe_counter!(
        "mainstay_graph_trouble_total",
        "Times that the graph could not be brought up to date because the database failed."
    );
    metrics::describe_histogram!(
        "mainstay_graph_update_seconds",
        seconds,
        "How long the difference of a few services took to apply."
    );
    metrics::describe_histogram!(
        "mainstay_graph_picture_seconds",
        seconds,
        "How long it took to find root causes and places of a new version."
    );
    metrics::describe_gauge!("mainstay_graph_nodes", "Nodes of the graph.");
    metrics::describe_gauge!("mainstay_graph_edges", "Edges of the graph.");
    metrics::describe_gauge!(
        "mainstay_graph_age_seconds",
        seconds,
        "How long ago the graph was last brought up to date, by an event or by reading everything."
    );
}

/// Some services were read again and applied.
#[expect(clippy::cast_precision_loss, reason = "counts of nodes are small")]
pub(super) fn updated(why: &'static str, services: usize, took: Duration, graph: &Graph) {
    let services = u64::try_from(services).unwrap_or(u64::MAX);
    metrics::counter!("mainstay_graph_updates_total", "why" => why).increment(services);
    if why == EVENT {
        metrics::histogram!("mainstay_graph_update_seconds").record(took.as_secs_f64());
    }
    metrics::gauge!("mainstay_graph_nodes").set(graph.nodes() as f64);
    metrics::gauge!("mainstay_graph_edges").set(graph.edges() as f64);
}

pub(super) const EVENT: &str = "event";
pub(super) const RELOAD: &str = "reload";

pub(super) fn trouble() {
    metrics::counter!("mainstay_graph_trouble_total").increment(1);
}

pub(super) fn pictured(took: Duration) {
    metrics::histogram!("mainstay_graph_picture_seconds").record(took.as_secs_f64());
}

pub(super) fn age(age: Duration) {
    metrics::gauge!("mainstay_graph_age_seconds").set(age.as_secs_f64());
}
