//! A breaker's state and counters at one moment.

use std::time::Duration;

use crate::machine::{LatencyTally, Machine, Reading, Rules};
use crate::moment::Moment;
use crate::state::State;

/// A breaker's state and counters at one moment. Totals only grow, also over a reset.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Snapshot {
    /// The state that the next call would find.
    pub state: State,
    /// Whether somebody forced it.
    pub forced: bool,
    /// How often the state began anew.
    pub generation: u64,
    /// How often it opened.
    pub opened_total: u64,
    /// How often it became half-open.
    pub half_opened_total: u64,
    /// How often it closed again.
    pub closed_total: u64,
    /// Calls that were let through.
    pub allowed_total: u64,
    /// Calls that were refused.
    pub rejected_total: u64,
    /// Calls that counted as a success.
    pub success_total: u64,
    /// Calls that counted as a failure, for whatever reason.
    pub failure_total: u64,
    /// Calls that did not end in time. Each is a failure too.
    pub timeout_total: u64,
    /// Calls that took too long or are in flight for too long. Each is a failure too.
    pub slow_total: u64,
    /// Calls that the classifier said do not count.
    pub ignored_total: u64,
    /// Calls whose caller went away, and attempts that were outrun. One that was too slow or stale by
    /// then counts as that instead.
    pub cancelled_total: u64,
    /// Calls that ended when the generation that let them through was over, however they ended: by a
    /// result, a timeout, or because their caller went away. A probe that was lost is among them too.
    pub stale_total: u64,
    /// Probes that counted as a success.
    pub probe_success_total: u64,
    /// Probes that counted as a failure.
    pub probe_failure_total: u64,
    /// Probes that were given up because they did not end within `half_open_for`.
    pub probe_lost_total: u64,
    /// Calls that were let through and have not ended.
    pub in_flight: u64,
    /// How many consecutive failures there are, where the detector counts them.
    pub consecutive_failures: Option<u32>,
    /// What the rolling window holds, where the detector has one; of several, the first.
    pub rolling: Option<WindowSnapshot>,
    /// What the ring of results holds, where the detector has one; of several, the first.
    pub ring: Option<WindowSnapshot>,
    /// How long the measured calls took.
    pub latency: LatencySnapshot,
    /// When a refused call may ask again, if calls are refused and time alone can change that.
    pub retry_after: Option<Duration>,
    /// For how long it has been in this state.
    pub in_state_for: Duration,
    /// When the state last changed, by the breaker's clock.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub last_state_change_at: Moment,
    /// Events that were not told because a listener took too long.
    pub untold_events_total: u64,
    /// Panics of listeners.
    pub listener_panics_total: u64,
}

/// What a window of results holds.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct WindowSnapshot {
    /// How many results.
    pub samples: u64,
    /// How many of them are failures.
    pub failures: u64,
    /// Their share, or 0 where there is no result.
    pub error_rate: f64,
}

/// How long the measured calls took since the breaker was made: those that counted as a success or as a failure, and of them
/// the ones that [`LatencyOf`](crate::LatencyOf) says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct LatencySnapshot {
    /// How many were measured.
    pub measured: u32,
    /// Their mean.
    pub mean: Duration,
    /// The longest of them.
    pub max: Duration,
}

/// Where a snapshot comes from.
pub(crate) struct Sources<'a> {
    pub(crate) machine: &'a mut Machine,
    pub(crate) rules: &'a Rules,
    pub(crate) now: Moment,
    pub(crate) is_forced: bool,
    pub(crate) entered: u64,
    pub(crate) in_flight: u64,
    /// Successes that were counted without the lock.
    pub(crate) quiet_successes: u64,
    pub(crate) rejected: u64,
    /// Untold events and panics of listeners.
    pub(crate) losses: (u64, u64),
}

impl Snapshot {
    pub(crate) fn new(sources: Sources<'_>) -> Self {
        let Sources { machine, now, .. } = sources;
        let totals = machine.totals();
        let readings = machine.readings(now);
        let refusal = machine.would_refuse(now, sources.rules);
        Self {
            state: machine.state(now),
            forced: sources.is_forced,
            generation: machine.generation(),
            opened_total: totals.opened,
            half_opened_total: totals.half_opened,
            closed_total: totals.closed,
            allowed_total: sources.entered,
            rejected_total: sources.rejected,
            success_total: sources.quiet_successes.saturating_add(totals.success),
            failure_total: totals.failure,
            timeout_total: totals.timeout,
            slow_total: totals.slow,
            ignored_total: totals.ignored,
            cancelled_total: totals.cancelled,
            stale_total: totals.stale,
            probe_success_total: totals.probe_success,
            probe_failure_total: totals.probe_failure,
            probe_lost_total: totals.probe_lost,
            in_flight: sources.in_flight,
            consecutive_failures: readings.consecutive,
            rolling: readings.rolling.map(WindowSnapshot::from),
            ring: readings.ring.map(WindowSnapshot::from),
            latency: machine.latency().into(),
            retry_after: refusal.and_then(|refusal| refusal.retry_after),
            in_state_for: now.since(machine.changed_at(now)),
            last_state_change_at: machine.changed_at(now),
            untold_events_total: sources.losses.0,
            listener_panics_total: sources.losses.1,
        }
    }
}

impl From<Reading> for WindowSnapshot {
    fn from(reading: Reading) -> Self {
        let Reading { samples, failures } = reading;
        Self { samples, failures, error_rate: reading.error_rate() }
    }
}

impl From<LatencyTally> for LatencySnapshot {
    fn from(tally: LatencyTally) -> Self {
        let mean = tally.sum_micros.checked_div(u64::from(tally.measured)).unwrap_or(0);
        Self {
            measured: tally.measured,
            mean: Duration::from_micros(mean),
            max: Duration::from_micros(tally.max_micros.into()),
        }
    }
}
