//! The rules, pure: what becomes of a job after its handler, what a runner claims next, and when a
//! lease counts as lost.

use std::time::Duration;

use crate::handler::JobError;
use crate::model::{Failure, Kind};
use crate::text;

/// The waits before the second, third and fourth attempt; later ones wait as long as the last.
pub const RETRY_WAITS: [Duration; 3] =
    [Duration::from_secs(30), Duration::from_secs(120), Duration::from_secs(480)];
/// A wait is longer or shorter by up to this share of it.
const JITTER_PERCENT: u64 = 20;
/// The longest wait that a handler can ask for.
pub const MAX_WAIT: Duration = Duration::from_hours(7 * 24);
/// The most jobs that one claim takes.
pub const MAX_BATCH: u32 = 500;
/// A runner fetches what it will begin within this time, and no more: others may be idle.
const FETCH_AHEAD: Duration = Duration::from_millis(50);

/// What becomes of a job after its handler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is tried again after a wait.
    Retry {
        /// The wait.
        wait: Duration,
        /// What went wrong.
        failure: Failure,
    },
    /// It waits, and the attempt does not count.
    PutOff {
        /// The wait.
        wait: Duration,
    },
    /// It is given up.
    Fail {
        /// What went wrong.
        failure: Failure,
    },
}

/// What becomes of a job whose handler failed in its `attempt`th of `max_attempts`. `chance` is any
/// number.
#[must_use]
pub fn after_error(error: &JobError, attempt: u32, max_attempts: u32, chance: u64) -> Verdict {
    match error {
        JobError::PutOff { wait } => Verdict::PutOff { wait: (*wait).min(MAX_WAIT) },
        JobError::Fatal { code, message } => {
            Verdict::Fail { failure: text::failure(code, message) }
        }
        JobError::Retriable { code, message, retry_after } => {
            let failure = text::failure(code, message);
            if attempt >= max_attempts {
                return Verdict::Fail { failure };
            }
            Verdict::Retry { wait: retry_wait(attempt, *retry_after, chance), failure }
        }
    }
}

/// The wait after the `attempt`th attempt: the schedule with jitter, and never less than the
/// provider asked for.
#[must_use]
pub fn retry_wait(attempt: u32, retry_after: Option<Duration>, chance: u64) -> Duration {
    let step = usize::try_from(attempt.saturating_sub(1)).unwrap_or(usize::MAX);
    let last = RETRY_WAITS.len().saturating_sub(1);
    let base = RETRY_WAITS.get(step.min(last)).copied().unwrap_or_default();
    let millis = u64::try_from(base.as_millis()).unwrap_or(u64::MAX);
    let reach = millis.saturating_mul(JITTER_PERCENT) / 100;
    let offset = chance % reach.saturating_mul(2).saturating_add(1);
    let jittered = millis.saturating_sub(reach).saturating_add(offset);
    Duration::from_millis(jittered).max(retry_after.unwrap_or_default()).min(MAX_WAIT)
}

/// Jobs of one kind and priority, as a look at the queue finds them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bucket {
    /// The kind.
    pub kind: Kind,
    /// The priority.
    pub priority: i64,
    /// How long the first has been due; nothing when it is not yet.
    pub due_for: Option<Duration>,
    /// How long until the first is due; zero when it is.
    pub due_in: Duration,
    /// A runner died while the first one ran: it is to be run alone.
    pub is_suspect: bool,
}

/// How busy a runner is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Load {
    /// Jobs that it has, begun or not.
    pub held: u32,
    /// How many it runs at once.
    pub concurrency: u32,
    /// How long a job takes it, as far as is known.
    pub mean: Option<Duration>,
    /// A job that is to be run alone is running.
    pub runs_suspect: bool,
}

/// What a runner does after a look at the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Plan {
    /// Claims up to `limit` jobs of one kind and priority.
    Claim {
        /// The kind.
        kind: Kind,
        /// The priority.
        priority: i64,
        /// How many at most.
        limit: u32,
        /// Takes one suspect alone; otherwise suspects are left.
        alone: bool,
    },
    /// Claims nothing until all that it has is done: a suspect waits to be run alone.
    Drain,
    /// Nothing is due; the next is after this time, if anything is queued.
    Wait(Option<Duration>),
}

/// What a runner claims next: the smallest priority first, then what has been due the longest.
#[must_use]
pub fn plan(buckets: &[Bucket], load: Load) -> Plan {
    let room = claim_limit(load);
    if load.runs_suspect || room == 0 {
        return Plan::Wait(None);
    }
    let due = buckets.iter().filter(|bucket| bucket.due_for.is_some());
    let first = due.min_by_key(|bucket| (bucket.priority, std::cmp::Reverse(bucket.due_for)));
    match first {
        None => Plan::Wait(buckets.iter().map(|bucket| bucket.due_in).min()),
        Some(bucket) if bucket.is_suspect && load.held > 0 => Plan::Drain,
        Some(bucket) => Plan::Claim {
            kind: bucket.kind.clone(),
            priority: bucket.priority,
            limit: if bucket.is_suspect { 1 } else { room },
            alone: bucket.is_suspect,
        },
    }
}

/// How many jobs a runner may claim now: what it has room for, and when jobs are quick, what it will
/// begin within a moment.
#[must_use]
pub fn claim_limit(load: Load) -> u32 {
    let ahead = load.mean.map_or(0, |mean| {
        let each = mean.as_nanos().max(1);
        let count = FETCH_AHEAD.as_nanos().saturating_mul(u128::from(load.concurrency)) / each;
        u32::try_from(count).unwrap_or(u32::MAX)
    });
    let wanted = load.concurrency.saturating_add(ahead);
    let room = wanted.saturating_sub(load.held);
    // Below a part of the whole it is not worth a statement: the next claim will be fuller.
    if room < wanted.min(MAX_BATCH) / 4 && load.held >= load.concurrency { 0 } else { room.min(MAX_BATCH) }
}

/// How often a runner says that it is alive.
#[must_use]
pub fn heartbeat_every(ttl: Duration) -> Duration {
    ttl / 3
}

/// After how long without a heartbeat that succeeded a handler is cancelled: before another runner
/// may have the job.
#[must_use]
pub fn lease_trusted_for(ttl: Duration) -> Duration {
    ttl - margin(ttl)
}

/// How long a cancelled handler has to end by itself: it is dropped before the lease's end.
#[must_use]
pub fn cancel_patience(ttl: Duration) -> Duration {
    margin(ttl) / 2
}

fn margin(ttl: Duration) -> Duration {
    ttl / 6
}

#[cfg(test)]
#[path = "decide_tests.rs"]
mod tests;
