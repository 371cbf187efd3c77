#![cfg(test)]
//! What a person reads, and what is written and read back.

mod support;

use std::error::Error;
use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use mainstay_breaker::{
    Breaker, Breakers, CallError, Cause, FailureKind, MAX_SAVED_GENERATION, Rejected, Saved, State,
    TooManyListeners,
};
use support::{SECOND, build};

fn text(shown: impl Display) -> String {
    shown.to_string()
}

#[test]
fn a_refusal_says_why_and_when_to_ask_again() {
    let millis = Duration::from_millis;
    let open = Rejected { state: State::Open, retry_after: Some(millis(1_500)) };
    assert_eq!(text(open), "the circuit breaker is open: ask again after 1.5s");
    let half_open = Rejected { state: State::HalfOpen, retry_after: Some(millis(20)) };
    assert_eq!(text(half_open), "the circuit breaker is half-open: ask again after 20ms");
    let forced = Rejected { state: State::Open, retry_after: None };
    let says = "it was forced open and stays so until it is reset";
    assert_eq!(text(forced), format!("the circuit breaker is open: {says}"));
}

#[test]
fn an_error_of_a_call_says_what_happened_to_what() {
    let name: Arc<str> = Arc::from("payments");
    let (state, retry_after) = (State::Open, Some(SECOND));
    let open: CallError<std::io::Error> = CallError::Open { name, state, retry_after };
    assert_eq!(text(&open), "payments: the circuit breaker is open: ask again after 1s");
    assert!(open.is_rejection() && open.source().is_none() && open.into_inner().is_none());

    let timeout: CallError<std::io::Error> = CallError::Timeout { after: 2 * SECOND };
    assert_eq!(text(&timeout), "the call did not end within 2s and was dropped");
    assert!(!timeout.is_rejection());
    let no_time: CallError<std::io::Error> = CallError::Timeout { after: Duration::ZERO };
    assert_eq!(text(&no_time), "the call had no time left and was not made");

    let cancelled: CallError<std::io::Error> = CallError::Cancelled;
    assert_eq!(text(&cancelled), "the call was cancelled");

    let inner = CallError::Inner(std::io::Error::other("no route to the host"));
    assert_eq!(text(&inner), "no route to the host");
    assert_eq!(text(inner.into_inner().unwrap()), "no route to the host");
}

#[test]
fn a_refused_call_names_the_breaker() {
    let (breaker, _clock) = build(|builder| builder);
    breaker.force_open();
    let refused = breaker.run(|| Ok::<_, std::io::Error>(())).unwrap_err();
    assert_eq!(
        text(refused),
        "payments: the circuit breaker is open: it was forced open and stays so until it is reset"
    );
}

#[test]
fn the_other_errors_say_what_to_do() {
    assert_eq!(
        text(TooManyListeners),
        "the circuit breaker has 64 listeners already: drop a subscription first"
    );
    let (breaker, _clock) = build(|builder| builder);
    let generation = MAX_SAVED_GENERATION + 1;
    let saved = Saved { generation, ..breaker.export() };
    assert_eq!(
        text(breaker.restore(&saved).unwrap_err()),
        "the saved generation 281474976710657 is beyond 281474976710656: it was not written by a \
         breaker; start without it"
    );
    assert_eq!(breaker.snapshot().generation, 0, "nothing has changed");
}

#[test]
fn states_and_causes_read_well() {
    let states = [State::Closed, State::Open, State::HalfOpen];
    assert_eq!(states.map(text), ["closed", "open", "half-open"]);
    let causes = [
        (Cause::Tripped, "the detector's limit was reached"),
        (Cause::Waited, "it had been open for long enough"),
        (Cause::ProbesSucceeded, "the probes succeeded"),
        (Cause::ProbesFailed, "the probes failed"),
        (Cause::OperatorProbe, "an operator's probe was let through"),
        (Cause::OperatorProbeGone, "the operator's probe ended without a result"),
        (Cause::Forced, "it was forced"),
        (Cause::Reset, "it was reset"),
        (Cause::Restored, "it was restored"),
    ];
    for (cause, says) in causes {
        assert_eq!(text(cause), says);
    }
    use FailureKind::{Error, Panic, Slow, Timeout};
    assert_eq!([Error, Timeout, Panic, Slow].map(text), ["error", "timeout", "panic", "slow"]);
}

#[test]
fn who_prints_a_breaker_for_debugging_sees_its_name_and_does_not_wait() {
    let (breaker, _clock) = build(|builder| builder);
    let permit = breaker.enter().unwrap();
    assert_eq!(format!("{breaker:?}"), "Breaker { name: \"payments\", .. }");
    assert_eq!(format!("{permit:?}"), "Permit { breaker: \"payments\", .. }");
}

fn assert_names_itself(name: &str, printed: &impl std::fmt::Debug) {
    let printed = format!("{printed:?}");
    assert!(printed.starts_with(&format!("{name} {{")), "{printed}");
}

#[test]
fn what_is_printed_for_debugging_has_its_own_name() {
    let (breaker, _clock) = build(|builder| builder);
    let registry = || Breakers::<u32>::builder(Breaker::builder("hosts"));
    assert_names_itself("Builder", &Breaker::builder("payments"));
    assert_names_itself("Hedge", &breaker.hedge());
    assert_names_itself("Subscription", &breaker.on_event(|_| {}).unwrap());
    assert_names_itself("BreakersBuilder", &registry());
    assert_names_itself("Breakers", &registry().build().unwrap());
}

#[cfg(feature = "async")]
#[test]
fn so_has_a_call() {
    let (breaker, _clock) = build(|builder| builder);
    assert_names_itself("Call", &breaker.call(async { Ok::<_, ()>(()) }));
    let options = mainstay_breaker::CallOptions::default();
    assert_names_itself("Limited", &breaker.limited(options));
}

#[cfg(feature = "tower")]
#[test]
fn so_has_the_answer_of_a_service() {
    use tower::{Layer, Service};

    let (breaker, _clock) = build(|builder| builder);
    let inner = tower::service_fn(|()| async { Ok::<_, ()>(()) });
    let mut service = mainstay_breaker::BreakerLayer::new(breaker).layer(inner);
    assert_names_itself("ResponseFuture", &service.call(()));
}

#[cfg(feature = "serde")]
mod written {
    use serde_json::{Value, from_value, json, to_value};

    use super::*;
    use crate::support::{fail, trip};

    #[test]
    fn what_is_saved_is_read_back() {
        let (breaker, clock) = build(|builder| builder);
        for state in [State::Closed, State::Open, State::HalfOpen] {
            match state {
                State::Closed => drop(Box::new(fail(&breaker))),
                State::Open => trip(&breaker),
                State::HalfOpen => clock.advance(5 * SECOND),
            }
            let saved = breaker.export();
            assert_eq!(saved.state, state);
            assert_eq!(from_value::<Saved>(to_value(saved).unwrap()).unwrap(), saved);
        }
        breaker.force_open();
        let saved = breaker.export();
        assert!(saved.forced);
        assert_eq!(from_value::<Saved>(to_value(saved).unwrap()).unwrap(), saved);
    }

    fn written() -> Value {
        json!({
            "state": "half_open",
            "failures": 3,
            "open_remaining": { "secs": 1, "nanos": 5 },
            "generation": 7,
        })
    }

    #[test]
    fn what_was_written_without_a_word_on_force_was_not_forced() {
        let saved: Saved = from_value(written()).unwrap();
        assert_eq!((saved.state, saved.forced, saved.failures), (State::HalfOpen, false, 3));
        assert_eq!((saved.open_remaining, saved.generation), (Duration::new(1, 5), 7));
    }

    #[test]
    fn what_nobody_has_written_is_refused() {
        let mut unknown = written();
        unknown["open_untill"] = json!(1);
        let error = from_value::<Saved>(unknown).unwrap_err();
        assert!(text(&error).starts_with("unknown field `open_untill`"), "{error}");
        for (field, value) in
            [("state", json!("ajar")), ("failures", json!(-1)), ("generation", json!(null))]
        {
            let mut wrong = written();
            wrong[field] = value;
            assert!(from_value::<Saved>(wrong).is_err(), "{field}");
            let mut missing = written();
            missing.as_object_mut().unwrap().remove(field);
            let error = text(from_value::<Saved>(missing).unwrap_err());
            assert_eq!(error, format!("missing field `{field}`"));
        }
    }

    #[test]
    fn a_snapshot_is_written_with_all_its_fields() {
        let (breaker, clock) = build(|builder| builder);
        trip(&breaker);
        clock.advance(SECOND);
        let snapshot = to_value(breaker.snapshot()).unwrap();
        let expected = json!({
            "state": "open",
            "forced": false,
            "generation": 1,
            "opened_total": 1,
            "half_opened_total": 0,
            "closed_total": 0,
            "allowed_total": 5,
            "rejected_total": 0,
            "success_total": 0,
            "failure_total": 5,
            "timeout_total": 0,
            "slow_total": 0,
            "ignored_total": 0,
            "cancelled_total": 0,
            "stale_total": 0,
            "probe_success_total": 0,
            "probe_failure_total": 0,
            "probe_lost_total": 0,
            "in_flight": 0,
            "consecutive_failures": 5,
            "rolling": null,
            "ring": null,
            "latency": {
                "measured": 5,
                "mean": { "secs": 0, "nanos": 0 },
                "max": { "secs": 0, "nanos": 0 },
            },
            "retry_after": { "secs": 4, "nanos": 0 },
            "in_state_for": { "secs": 1, "nanos": 0 },
            "untold_events_total": 0,
            "listener_panics_total": 0,
        });
        assert_eq!(snapshot, expected);
    }
}
