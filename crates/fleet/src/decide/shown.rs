//! How a location is shown: what nobody looks at any more is not known.
//!
//! | the worker | the net | the last finding | shown |
//! |---|---|---|---|
//! | not ready | | | unknown since the worker left |
//! | ready | not loaded | | unknown since the net was unloaded |
//! | ready | loaded | none yet | unknown |
//! | ready | loaded | older than a few runs and sweeps | unknown since it should have come |
//! | ready | loaded | fresh | what was found |

use std::time::Duration;

use mainstay_base::Timestamp;

use crate::model::location::{Location, LocationStatus};
use crate::model::{LoadState, WorkerStatus};

/// Runs that may be missed before a finding is old.
const MISSED_RUNS: u32 = 3;
/// Sweeps that may be missed.
const MISSED_SWEEPS: u32 = 2;

/// What does not answer is asked less and less often, at last so often.
const LONGEST_BACKOFF: Duration = Duration::from_secs(300);

/// Where a location's worker and net stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// The worker,
    pub worker: WorkerStatus,
    /// since when.
    pub worker_since: Timestamp,
    /// The net,
    pub net: LoadState,
    /// since when.
    pub net_since: Timestamp,
}

/// How a location is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// How it is.
    pub status: LocationStatus,
    /// Since when.
    pub since: Timestamp,
    /// What is wrong, or why nobody knows.
    pub error: Option<String>,
}

/// How a location is shown at `now`, where results are collected every `sweep`.
#[must_use]
pub fn shown(location: &Location, standing: Standing, sweep: Duration, now: Timestamp) -> Shown {
    let unknown = |since: Timestamp, why: String| Shown {
        status: LocationStatus::Unknown,
        since,
        error: Some(why),
    };
    if standing.worker != WorkerStatus::Ready {
        let why = format!("the worker is {}, so nothing is checked there", standing.worker.name());
        return unknown(standing.worker_since, why);
    }
    if standing.net != LoadState::Loaded {
        let why = match standing.net {
            LoadState::Error => "the net could not be loaded",
            _ => "the net is not loaded",
        };
        return unknown(standing.net_since, format!("{why}, so nothing is checked there"));
    }
    let Some(checked_at) = location.checked_at.filter(|at| *at >= standing.net_since) else {
        let why = "nothing was found since the net was loaded; findings come with the next sweep";
        return unknown(standing.net_since, why.to_owned());
    };
    let patience = patience(location, sweep);
    if now.since(checked_at) > patience {
        let why = format!("nothing was found for more than {} s", patience.as_secs());
        return unknown(checked_at.plus(patience), why);
    }
    Shown {
        status: location.status,
        // What was before, nobody has seen without a gap.
        since: location.status_since.max(standing.net_since),
        error: location.error.clone(),
    }
}

/// How old a finding may be: it comes with a sweep, a run may be late, and what is down is left in peace.
fn patience(location: &Location, sweep: Duration) -> Duration {
    let runs = location.check.every.saturating_mul(MISSED_RUNS);
    let backoff = match location.status {
        LocationStatus::Down => LONGEST_BACKOFF,
        _ => Duration::ZERO,
    };
    runs.saturating_add(sweep.saturating_mul(MISSED_SWEEPS)).saturating_add(backoff)
}

#[cfg(test)]
#[path = "shown_tests.rs"]
mod tests;
