//! What people ask of whoever polls: why a service is polled or not, a poll at once, one call.

use std::future::Future;
use std::pin::Pin;

use mainstay_base::{Moment, Timestamp};
use mainstay_breaker::State;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::engine::PollNowError;
use crate::failure::PollFailure;
use crate::report::DependencyStatus;
use crate::roster::Schedule;
use crate::sink::StatusChange;
use crate::views::Service;
use crate::watch::ServiceNumber;

/// A future that a trait object gives.
pub type Answering<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The engine, as people ask it.
pub trait Polling: Send + Sync + 'static {
    /// What stands between a service and its next poll; `None` when it is not polled here.
    fn schedule(&self, number: ServiceNumber) -> Option<ScheduleView>;

    /// Polls a service now and waits until that is recorded.
    fn poll_now(&self, number: ServiceNumber) -> Answering<'_, Result<PollAnswer, PollNowError>>;
}

/// The outside world, as far as people may name it.
pub trait Fetch: Send + Sync + 'static {
    /// Whether an address may be called, as far as that is known before it is.
    fn judge<'a>(&'a self, url: &'a str) -> Answering<'a, Result<(), PollFailure>>;

    /// The body of what is there, by the rules of a poll.
    fn fetch<'a>(&'a self, url: &'a str) -> Answering<'a, Result<Vec<u8>, PollFailure>>;
}

/// What stands between a service and its next poll.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = Schedule)]
pub struct ScheduleView {
    /// Why it is polled now or not, in a sentence.
    pub reason: String,
    /// When it is due.
    #[schema(value_type = String, format = DateTime)]
    pub due_at: Timestamp,
    /// Since when a poll is under way.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    pub in_flight_since: Option<Timestamp>,
    /// The state of its breaker.
    pub breaker: CircuitState,
    /// Failures in a row, as the breaker counts them.
    pub failures: u32,
    /// When the breaker lets the next poll through.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    pub retry_at: Option<Timestamp>,
    /// Failures in a row, as the backoff counts them.
    pub backoff_attempt: u32,
    /// Whether it waits for a slot of its host.
    pub waits_for_host: bool,
    /// How many polls its host has in flight; `null` where another instance polls it, which alone knows.
    #[schema(required)]
    pub host_in_flight: Option<usize>,
}

/// What a poll brought.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PollAnswer {
    /// Whether the endpoint answered, and its answer could be read.
    pub success: bool,
    /// How many dependencies the answer named.
    pub dependencies_updated: usize,
    /// Which of them changed their status.
    pub status_changes: Vec<StatusChangeView>,
    /// How long the request took.
    pub latency_ms: f64,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<PollErrorView>,
    /// What of the answer could not be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub warnings: Vec<String>,
}

/// A dependency that changed its status.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = StatusChange)]
pub struct StatusChangeView {
    /// Its name.
    pub dependency_name: String,
    /// What it was; `null` for one that was not known before.
    #[schema(required)]
    pub previous: Option<DependencyStatus>,
    /// What it is.
    pub current: DependencyStatus,
}

/// The state of a breaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CircuitState {
    /// Polls are let through.
    Closed,
    /// None is.
    Open,
    /// One is, to see whether the endpoint answers again.
    HalfOpen,
}

impl CircuitState {
    /// The state of this name; what is none lets polls through.
    pub(crate) fn from_name(name: &str) -> Self {
        match name {
            "open" => Self::Open,
            "half_open" => Self::HalfOpen,
            _ => Self::Closed,
        }
    }
}

/// Why a poll failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = PollError)]
pub struct PollErrorView {
    /// In a stable word: `dns`, `connect_refused`, `connect_timeout`, `tls`, `timeout`,
    /// `http_status`, `too_large`, `redirect_blocked`, `blocked_address` or `bad_body`.
    #[schema(example = "timeout")]
    pub kind: String,
    /// In a sentence.
    pub message: String,
}

impl ScheduleView {
    /// The roster's words, by the clock on the wall: `now` is the same instant on both clocks.
    #[must_use]
    pub fn new(schedule: &Schedule, now: (Moment, Timestamp)) -> Self {
        let (moment, wall) = now;
        let ahead = |at: Moment| wall.plus(at.since(moment));
        let behind = |at: Moment| {
            let ago = i64::try_from(moment.since(at).as_millis()).unwrap_or(i64::MAX);
            Timestamp::from_millis(wall.as_millis().saturating_sub(ago))
        };
        let due_at = if schedule.due > moment { ahead(schedule.due) } else { behind(schedule.due) };
        Self {
            reason: reason(schedule, moment).to_owned(),
            due_at,
            in_flight_since: schedule.in_flight_since.map(behind),
            breaker: schedule.breaker.into(),
            failures: schedule.failures,
            retry_at: schedule.retry_at.map(ahead),
            backoff_attempt: schedule.backoff_attempt,
            waits_for_host: schedule.waits_for_host,
            host_in_flight: Some(schedule.host_in_flight),
        }
    }

    /// What is recorded of a service that is not polled here; `None` when it was never polled.
    #[must_use]
    pub(crate) fn recorded(service: &Service, backoff_attempt: u32) -> Option<Self> {
        let breaker = &service.breaker;
        let due_at = service.next_poll_at.filter(|_| service.is_active)?;
        Some(Self {
            reason: RECORDED.to_owned(),
            due_at,
            in_flight_since: None,
            breaker: breaker.state,
            failures: u32::try_from(breaker.failures).unwrap_or_default(),
            retry_at: breaker.retry_at,
            backoff_attempt,
            waits_for_host: false,
            host_in_flight: None,
        })
    }
}

/// Why a service is polled or not that this instance does not poll.
const RECORDED: &str =
    "The instance that answers does not poll it: this is what was recorded with its last poll.";

/// The first gate that it stands before.
fn reason(schedule: &Schedule, now: Moment) -> &'static str {
    if schedule.in_flight_since.is_some() {
        return "A poll is under way.";
    }
    match schedule.breaker {
        State::Open if schedule.retry_at.is_some_and(|at| at > now) => {
            "It failed too often in a row: its breaker is open, and a probe follows when the time is over."
        }
        _ if schedule.due > now && schedule.backoff_attempt > 0 => {
            "It failed, and waits before it is asked again."
        }
        _ if schedule.due > now => "It is not due yet.",
        _ if schedule.waits_for_host => {
            "It is due and waits for a slot: its host has as many polls in flight as it may have."
        }
        _ => "It is due and starts with the next group of polls that has room for it.",
    }
}

impl From<State> for CircuitState {
    fn from(state: State) -> Self {
        match state {
            State::Closed => Self::Closed,
            State::Open => Self::Open,
            State::HalfOpen => Self::HalfOpen,
        }
    }
}

impl From<&PollFailure> for PollErrorView {
    fn from(failure: &PollFailure) -> Self {
        Self { kind: failure.kind.name().to_owned(), message: failure.message.clone() }
    }
}

impl From<&StatusChange> for StatusChangeView {
    fn from(change: &StatusChange) -> Self {
        Self {
            dependency_name: change.dependency_name.clone(),
            previous: change.previous,
            current: change.current,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn at(seconds: u64) -> Moment {
        Moment::from_origin(Duration::from_secs(seconds))
    }

    fn schedule() -> Schedule {
        Schedule {
            due: at(130),
            in_flight_since: None,
            breaker: State::Closed,
            failures: 0,
            retry_at: None,
            backoff_attempt: 0,
            waits_for_host: false,
            host_in_flight: 0,
        }
    }

    fn view(schedule: Schedule) -> ScheduleView {
        ScheduleView::new(&schedule, (at(100), Timestamp::from_millis(1_000_000)))
    }

    #[test]
    fn moments_are_told_by_the_clock_on_the_wall() {
        let ahead = view(Schedule { retry_at: Some(at(150)), ..schedule() });
        assert_eq!(ahead.due_at, Timestamp::from_millis(1_030_000));
        assert_eq!(ahead.retry_at, Some(Timestamp::from_millis(1_050_000)));
        let behind = view(Schedule { due: at(98), in_flight_since: Some(at(99)), ..schedule() });
        assert_eq!(behind.due_at, Timestamp::from_millis(998_000));
        assert_eq!(behind.in_flight_since, Some(Timestamp::from_millis(999_000)));
    }

    #[test]
    fn the_reason_is_the_first_gate_that_is_shut() {
        let open = Schedule { breaker: State::Open, retry_at: Some(at(150)), ..schedule() };
        for (schedule, says) in [
            (Schedule { in_flight_since: Some(at(99)), ..open }, "under way"),
            (open, "breaker is open"),
            (Schedule { backoff_attempt: 1, ..schedule() }, "waits before"),
            (schedule(), "not due yet"),
            (Schedule { due: at(99), waits_for_host: true, ..schedule() }, "slot"),
            (Schedule { due: at(99), ..schedule() }, "next group"),
        ] {
            let view = view(schedule);
            assert!(view.reason.contains(says), "{view:?}");
        }
    }
}
