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
/// The most jobs that a runner has at once, begun or not.
pub const MAX_HELD: u32 = 1_000;
/// A runner marks as begun what it begins within this time.
const START_AHEAD: Duration = Duration::from_millis(2);
/// A runner fetches what it will begin within this time, and no more: others may be idle.
const FETCH_AHEAD: Duration = Duration::from_millis(50);

/// What a full runner has and has not begun after this time is given back: it was fetched too far
/// ahead, because jobs take longer than they did.
pub const READY_WAITS: Duration = Duration::from_secs(1);
/// A job that a runner died of so often is run alone: until then it may as well be a neighbour of the
/// one that is to blame, and a dead runner's jobs must not hold up all others one after another.
pub const ALONE_FROM: u32 = 2;
/// A runner that is busy leaves a job that is to be run alone to others for so long; then it lets its
/// jobs end and takes nothing else until that one has been run.
pub const SUSPECT_WAITS: Duration = Duration::from_mins(2);

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
    /// How often a runner has died while the first one ran, the death that its claim finds included.
    pub crashes: u32,
}

impl Bucket {
    /// Whether the first one is to be run alone.
    #[must_use]
    pub const fn runs_alone(&self) -> bool {
        self.crashes >= ALONE_FROM
    }
}

/// How busy a runner is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Load {
    /// Jobs that it has and has not done, begun or not.
    pub held: u32,
    /// How many it runs at once.
    pub concurrency: u32,
    /// A job that is to be run alone is running.
    pub runs_alone: bool,
}

/// What a runner does after a look at the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Plan {
    /// Claims jobs.
    Claim(ClaimPlan),
    /// Claims nothing until all that it has is done: a job has waited too long to be run alone.
    Drain,
    /// Something is due and there is no room for it: the next look is after a job has ended.
    Full,
    /// Nothing is due; the next is after this time, if anything is queued.
    Wait(Option<Duration>),
}

/// Which jobs are claimed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimPlan {
    /// The kind.
    pub kind: Kind,
    /// The priority.
    pub priority: i64,
    /// How many at most.
    pub limit: u32,
    /// Which of those that a runner died of; each is claimed by itself.
    pub suspects: Suspects,
}

/// Which jobs a claim takes of those that a runner died of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Suspects {
    /// None.
    Left,
    /// One that may run beside others.
    BesideOthers,
    /// Any one: the runner has nothing else.
    Any,
}

impl Suspects {
    /// How often a runner may have died of a job that is taken.
    pub(crate) const fn most_crashes(self) -> u32 {
        match self {
            Self::Left => 0,
            Self::BesideOthers => ALONE_FROM - 1,
            Self::Any => u32::MAX,
        }
    }
}

/// What a runner claims next: the smallest priority first, then what has been due the longest. What
/// is to be run alone is for a runner that has nothing else; a busy one takes what stands behind it.
/// `mean` tells how long a job of a kind takes it, as far as is known.
#[must_use]
pub fn plan(buckets: &[Bucket], load: Load, mean: impl Fn(&Kind) -> Option<Duration>) -> Plan {
    let due = buckets.iter().filter(|bucket| bucket.due_for.is_some());
    let first = due.min_by_key(|bucket| (bucket.priority, std::cmp::Reverse(bucket.due_for)));
    let Some(first) = first else {
        return Plan::Wait(buckets.iter().map(|bucket| bucket.due_in).min());
    };
    let room = claim_limit(load, mean(&first.kind));
    if room == 0 {
        return Plan::Full;
    }
    let is_busy = load.held > 0;
    if first.runs_alone() && is_busy && first.due_for >= Some(SUSPECT_WAITS) {
        return Plan::Drain;
    }
    let suspects = match first.crashes {
        0 => Suspects::Left,
        1..ALONE_FROM => Suspects::BesideOthers,
        _ if is_busy => Suspects::Left,
        _ => Suspects::Any,
    };
    Plan::Claim(ClaimPlan {
        kind: first.kind.clone(),
        priority: first.priority,
        limit: if suspects == Suspects::Left { room } else { 1 },
        suspects,
    })
}

/// How many jobs a runner may claim now: what it has room for, and when jobs are quick, what it will
/// begin within a moment.
#[must_use]
pub fn claim_limit(load: Load, mean: Option<Duration>) -> u32 {
    if load.runs_alone {
        return 0;
    }
    let ahead = mean.map_or(0, |mean| begun_within(FETCH_AHEAD, load.concurrency, mean));
    let wanted = load.concurrency.saturating_add(ahead).min(MAX_HELD);
    let room = wanted.saturating_sub(load.held);
    // Fetched ahead is for the next claim too: a small one is not worth its statement.
    let is_idle = load.held < load.concurrency;
    if is_idle || room >= (wanted / 4).min(MAX_BATCH) { room.min(MAX_BATCH) } else { 0 }
}

/// How many jobs are marked as begun at once: what there are places for, and when jobs are quick,
/// what gets a place within a moment.
#[must_use]
pub fn start_limit(concurrency: u32, mean: Option<Duration>) -> u32 {
    let ahead = mean.map_or(0, |mean| begun_within(START_AHEAD, concurrency, mean));
    concurrency.saturating_add(ahead).min(MAX_BATCH)
}

/// How many of a runner's places the kinds that wait long may have together: all but one, which is for the others.
#[must_use]
pub const fn long_places(concurrency: u32) -> u32 {
    if concurrency > 1 { concurrency - 1 } else { concurrency }
}

fn begun_within(span: Duration, concurrency: u32, mean: Duration) -> u32 {
    let count = span.as_nanos().saturating_mul(u128::from(concurrency)) / mean.as_nanos().max(1);
    u32::try_from(count).unwrap_or(u32::MAX)
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
