//! What is told of polling.

use std::time::Duration;

use mainstay_base::Moment;
use metrics::{Counter, Gauge, Histogram};

use crate::failure::{FailureKind, PollFailure};
use crate::report::Report;
use crate::roster::{Begun, Roster};

/// The buckets of this room's histograms.
pub const METRIC_BUCKETS: &[(&str, &[f64])] = &[
    ("mainstay_poll_lateness_seconds", &[0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0]),
    (
        "mainstay_poll_seconds",
        &[0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0],
    ),
];

/// Names what the metrics mean.
pub fn describe_metrics() {
    let seconds = metrics::Unit::Seconds;
    metrics::describe_counter!(
        "mainstay_polls_total",
        "Polls that ended, by outcome: success, or the kind of failure."
    );
    metrics::describe_histogram!(
        "mainstay_poll_lateness_seconds",
        seconds,
        "How long after it was due a poll began."
    );
    metrics::describe_histogram!(
        "mainstay_poll_seconds",
        seconds,
        "How long the requests of polls took."
    );
    metrics::describe_counter!(
        "mainstay_polls_refused_total",
        "Polls that waited: for a bound of their host, of all, or of what is not recorded yet, or for \
         a lease that could not be renewed."
    );
    metrics::describe_counter!(
        "mainstay_polls_dropped_total",
        "Results of services that were edited or removed while they were polled."
    );
    metrics::describe_gauge!("mainstay_polls_in_flight", "Requests of polls that are under way.");
    metrics::describe_gauge!("mainstay_poll_services", "Services that this instance polls.");
    metrics::describe_gauge!("mainstay_poll_backlog", "Services that are due and not begun.");
    metrics::describe_gauge!("mainstay_poll_breakers", "Breakers of services, by state.");
}

/// The metrics of polling, looked up once.
pub(super) struct Meters {
    success: Counter,
    failures: Vec<Counter>,
    lateness: Histogram,
    seconds: Histogram,
    refused_by_host: Counter,
    refused_by_all: Counter,
    held_back: Counter,
    lapsed: Counter,
    dropped: Counter,
    in_flight: Gauge,
    services: Gauge,
    backlog: Gauge,
    closed: Gauge,
    open: Gauge,
    half_open: Gauge,
}

impl Meters {
    pub(super) fn new() -> Self {
        let polls =
            |outcome: &'static str| metrics::counter!("mainstay_polls_total", "outcome" => outcome);
        let refused = |bound: &'static str| metrics::counter!("mainstay_polls_refused_total", "bound" => bound);
        let breakers =
            |state: &'static str| metrics::gauge!("mainstay_poll_breakers", "state" => state);
        Self {
            success: polls("success"),
            failures: FailureKind::ALL.into_iter().map(|kind| polls(kind.name())).collect(),
            lateness: metrics::histogram!("mainstay_poll_lateness_seconds"),
            seconds: metrics::histogram!("mainstay_poll_seconds"),
            refused_by_host: refused("host"),
            refused_by_all: refused("all"),
            held_back: refused("recorder"),
            lapsed: refused("lease"),
            dropped: metrics::counter!("mainstay_polls_dropped_total"),
            in_flight: metrics::gauge!("mainstay_polls_in_flight"),
            services: metrics::gauge!("mainstay_poll_services"),
            backlog: metrics::gauge!("mainstay_poll_backlog"),
            closed: breakers("closed"),
            open: breakers("open"),
            half_open: breakers("half_open"),
        }
    }

    pub(super) fn begun(&self, begun: &Begun) {
        for late in &begun.lateness {
            self.lateness.record(late.as_secs_f64());
        }
        self.refused_by_host.increment(count(begun.refused_by_host));
        self.refused_by_all.increment(count(begun.refused_by_all));
    }

    pub(super) fn polled(&self, outcome: &Result<Report, PollFailure>, latency: Duration) {
        self.seconds.record(latency.as_secs_f64());
        let counter = match outcome {
            Ok(_) => Some(&self.success),
            Err(failure) => {
                let place = FailureKind::ALL.iter().position(|kind| *kind == failure.kind);
                place.and_then(|place| self.failures.get(place))
            }
        };
        if let Some(counter) = counter {
            counter.increment(1);
        }
    }

    pub(super) fn dropped(&self, results: usize) {
        self.dropped.increment(count(results));
    }

    pub(super) fn held_back(&self) {
        self.held_back.increment(1);
    }

    pub(super) fn lapsed(&self) {
        self.lapsed.increment(1);
    }

    #[expect(clippy::cast_precision_loss, reason = "counts of services are small")]
    pub(super) fn roster(&self, roster: &Roster, now: Moment) {
        self.in_flight.set(roster.in_flight() as f64);
        self.services.set(roster.len() as f64);
        self.backlog.set(roster.backlog(now) as f64);
        let circuits = roster.circuits();
        self.closed.set(circuits.closed as f64);
        self.open.set(circuits.open as f64);
        self.half_open.set(circuits.half_open as f64);
    }
}

fn count(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
