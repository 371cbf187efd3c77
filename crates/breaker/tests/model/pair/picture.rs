//! What can be seen of a breaker: both sides draw one, and they must be equal.

use std::time::Duration;

use mainstay_breaker::{Breaker, Moment, Rejected, RestoreError, Saved, Settled, State};

/// What an operation answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    Nothing,
    Entered,
    Rejected(Rejected),
    Settled(Settled),
    Saved(Saved),
    Restored(Result<(), RestoreError>),
    /// Whether the call that blocks ran.
    Ran(bool),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Picture {
    pub(crate) state: State,
    pub(crate) would_reject: Option<Rejected>,
    pub(crate) forced: bool,
    pub(crate) generation: u64,
    pub(crate) counts: Counts,
    pub(crate) in_flight: u64,
    pub(crate) consecutive_failures: Option<u32>,
    /// Samples, failures, rate.
    pub(crate) rolling: Option<(u64, u64, f64)>,
    pub(crate) ring: Option<(u64, u64, f64)>,
    /// How many, mean, longest.
    pub(crate) latency: (u32, Duration, Duration),
    pub(crate) in_state_for: Duration,
    pub(crate) last_state_change_at: Moment,
}

/// The totals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Counts {
    pub(crate) opened: u64,
    pub(crate) half_opened: u64,
    pub(crate) closed: u64,
    pub(crate) allowed: u64,
    pub(crate) rejected: u64,
    pub(crate) success: u64,
    pub(crate) failure: u64,
    pub(crate) timeout: u64,
    pub(crate) slow: u64,
    pub(crate) ignored: u64,
    pub(crate) cancelled: u64,
    pub(crate) stale: u64,
    pub(crate) probe_success: u64,
    pub(crate) probe_failure: u64,
    pub(crate) probe_lost: u64,
    pub(crate) untold: u64,
    pub(crate) listener_panics: u64,
}

impl Picture {
    pub(crate) fn of(breaker: &Breaker) -> Self {
        let (state, would_reject) = (breaker.state(), breaker.would_reject());
        let seen = breaker.snapshot();
        assert_eq!(seen.state, state, "the state of the snapshot");
        let retry_after = would_reject.and_then(|rejected| rejected.retry_after);
        assert_eq!(seen.retry_after, retry_after, "when to ask again by the snapshot");
        let window = |window: mainstay_breaker::WindowSnapshot| {
            (window.samples, window.failures, window.error_rate)
        };
        Self {
            state,
            would_reject,
            forced: seen.forced,
            generation: seen.generation,
            counts: Counts {
                opened: seen.opened_total,
                half_opened: seen.half_opened_total,
                closed: seen.closed_total,
                allowed: seen.allowed_total,
                rejected: seen.rejected_total,
                success: seen.success_total,
                failure: seen.failure_total,
                timeout: seen.timeout_total,
                slow: seen.slow_total,
                ignored: seen.ignored_total,
                cancelled: seen.cancelled_total,
                stale: seen.stale_total,
                probe_success: seen.probe_success_total,
                probe_failure: seen.probe_failure_total,
                probe_lost: seen.probe_lost_total,
                untold: seen.untold_events_total,
                listener_panics: seen.listener_panics_total,
            },
            in_flight: seen.in_flight,
            consecutive_failures: seen.consecutive_failures,
            rolling: seen.rolling.map(window),
            ring: seen.ring.map(window),
            latency: (seen.latency.measured, seen.latency.mean, seen.latency.max),
            in_state_for: seen.in_state_for,
            last_state_change_at: seen.last_state_change_at,
        }
    }
}
