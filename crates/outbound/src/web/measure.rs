//! What calls tell about themselves: outcomes, times, and how many connections there are.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use metrics::{
    Counter, Gauge, Histogram, Unit, counter, describe_counter, describe_gauge, describe_histogram,
    gauge, histogram,
};

use super::error::{FetchError, FetchErrorKind};

/// The histogram of calls; the recorder needs [`DURATION_BUCKETS`] for it.
pub const REQUEST_DURATION: &str = "mainstay_outbound_request_seconds";
const REQUESTS: &str = "mainstay_outbound_requests_total";
const CONNECTIONS: &str = "mainstay_outbound_connections";

/// The upper ends of the histogram's buckets, in seconds.
pub const DURATION_BUCKETS: &[f64] =
    &[0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];

/// The most purposes that are told apart.
const MAX_PURPOSES: usize = 16;

/// What all further purposes are called.
const OTHER: &str = "other";

/// Gives each metric its help text. Call it once, after the recorder is installed.
pub fn describe_metrics() {
    describe_counter!(REQUESTS, "Calls by HTTP, by purpose and outcome: ok, or the kind of error.");
    describe_histogram!(REQUEST_DURATION, Unit::Seconds, "Time of a whole call, by purpose.");
    describe_gauge!(CONNECTIONS, "Connections to others: idle (kept for the next call) or busy.");
}

/// The handles, looked up once.
pub(crate) struct Measures {
    purposes: RwLock<Vec<Arc<Purpose>>>,
    connections: Arc<Connections>,
}

struct Purpose {
    name: &'static str,
    seconds: Histogram,
    ok: Counter,
    errors: Vec<(FetchErrorKind, Counter)>,
}

pub(crate) struct Connections {
    idle: Gauge,
    busy: Gauge,
}

/// A connection's place among those that are counted. It is busy until it is laid to rest.
pub(crate) struct Counted {
    connections: Arc<Connections>,
    is_idle: bool,
}

impl Measures {
    pub(crate) fn new() -> Self {
        let idle = gauge!(CONNECTIONS, "state" => "idle");
        let busy = gauge!(CONNECTIONS, "state" => "busy");
        let connections = Arc::new(Connections { idle, busy });
        Self { purposes: RwLock::new(Vec::new()), connections }
    }

    /// One more connection, busy.
    pub(crate) fn connection(&self) -> Counted {
        let connections = Arc::clone(&self.connections);
        connections.busy.increment(1);
        Counted { connections, is_idle: false }
    }

    /// A call ended.
    pub(crate) fn ended<T>(
        &self,
        purpose: &'static str,
        outcome: &Result<T, FetchError>,
        took: Duration,
    ) {
        let purpose = self.purpose(purpose);
        purpose.seconds.record(took.as_secs_f64());
        match outcome {
            Ok(_) => purpose.ok.increment(1),
            Err(error) => {
                let mut errors = purpose.errors.iter();
                if let Some((_, counter)) = errors.find(|(kind, _)| *kind == error.kind()) {
                    counter.increment(1);
                }
            }
        }
    }

    fn purpose(&self, name: &'static str) -> Arc<Purpose> {
        let known = self.purposes.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.iter().find(|one| one.name == name) {
            return Arc::clone(found);
        }
        drop(known);
        self.add(name)
    }

    fn add(&self, name: &'static str) -> Arc<Purpose> {
        let mut known = self.purposes.write().unwrap_or_else(PoisonError::into_inner);
        let name = if known.len() < MAX_PURPOSES { name } else { OTHER };
        if let Some(found) = known.iter().find(|one| one.name == name) {
            return Arc::clone(found);
        }
        let added = Arc::new(Purpose::new(name));
        known.push(Arc::clone(&added));
        added
    }
}

impl Purpose {
    fn new(name: &'static str) -> Self {
        let outcome = |outcome: &'static str| {
            let counter = counter!(REQUESTS, "purpose" => name, "outcome" => outcome);
            // Each is shown from the start: a rate needs the zero before the first failure.
            counter.increment(0);
            counter
        };
        let errors = FetchErrorKind::ALL.iter().map(|kind| (*kind, outcome(kind.name()))).collect();
        let seconds = histogram!(REQUEST_DURATION, "purpose" => name);
        Self { name, seconds, ok: outcome("ok"), errors }
    }
}

impl Counted {
    pub(crate) fn set_idle(&mut self, is_idle: bool) {
        if self.is_idle != is_idle {
            self.gauge().decrement(1);
            self.is_idle = is_idle;
            self.gauge().increment(1);
        }
    }

    fn gauge(&self) -> &Gauge {
        if self.is_idle { &self.connections.idle } else { &self.connections.busy }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.gauge().decrement(1);
    }
}

impl fmt::Debug for Counted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Counted").field("is_idle", &self.is_idle).finish_non_exhaustive()
    }
}
