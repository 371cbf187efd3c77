//! What people do to a breaker: force it, reset it, send a probe of their own.
#![cfg(test)]

mod common;

use std::mem::forget;

use common::{HALF_OPEN_FOR, HOUR, OPEN_FOR, Rig, millis, read};
use mainstay_breaker::{Cause, Event, HalfOpenPolicy, Permit, Settled, State};

fn causes(events: Vec<Event>) -> Vec<(State, Cause)> {
    let change = |event| match event {
        Event::StateChange { to, cause, .. } => Some((to, cause)),
        _ => None,
    };
    events.into_iter().filter_map(change).collect()
}

/// Every state, with a permit from it where there is one.
fn everywhere() -> [Rig; 6] {
    let half_open = Rig::waited();
    half_open.succeed();
    let forced_open = Rig::new();
    forced_open.breaker.force_open();
    let forced_closed = Rig::open();
    forced_closed.breaker.force_closed();
    [Rig::new(), Rig::open(), Rig::waited(), half_open, forced_open, forced_closed]
}

#[test]
fn forced_open_refuses_every_call_until_a_reset_however_long() {
    for rig in everywhere() {
        rig.breaker.force_open();
        rig.clock.advance(HOUR);
        let rejected = rig.breaker.enter().unwrap_err();
        assert_eq!((rejected.state, rejected.retry_after), (State::Open, None));
        assert!(rejected.to_string().contains("forced"), "{rejected}");
        assert_eq!(rig.admitted_of(10), 0);
        assert!(rig.breaker.enter_probe().is_err(), "not even an operator's");
        assert!(rig.snapshot().forced);
        rig.breaker.reset();
        assert_eq!(rig.admitted_of(10), 10);
        assert!(!rig.snapshot().forced);
    }
}

#[test]
fn forced_closed_lets_every_call_through_whatever_comes_back() {
    for rig in everywhere() {
        rig.breaker.force_closed();
        let failures = rig.snapshot().failure_total;
        (0..50).for_each(|_| rig.fail());
        let snapshot = rig.snapshot();
        assert_eq!((snapshot.state, snapshot.forced), (State::Closed, true));
        assert_eq!(snapshot.failure_total, failures + 50, "they are counted all the same");
        rig.breaker.reset();
        rig.fail();
        rig.fail();
        assert_eq!(rig.state(), State::Closed, "what came back meanwhile is forgotten");
        rig.fail();
        assert_eq!(rig.state(), State::Open);
    }
}

#[test]
fn a_reset_closes_from_everywhere_and_keeps_the_totals() {
    for rig in everywhere() {
        let before = rig.snapshot();
        rig.breaker.reset();
        let after = rig.snapshot();
        assert_eq!((after.state, after.forced), (State::Closed, false));
        assert_eq!(after.consecutive_failures, Some(0));
        assert_eq!(after.generation, before.generation + 1);
        assert_eq!(
            (after.failure_total, after.success_total, after.opened_total, after.rejected_total),
            (
                before.failure_total,
                before.success_total,
                before.opened_total,
                before.rejected_total
            )
        );
        assert_eq!(rig.admitted_of(10), 10);
    }
}

#[test]
fn a_reset_of_a_closed_breaker_forgets_its_failures() {
    let rig = Rig::new();
    rig.fail();
    rig.fail();
    rig.breaker.reset();
    assert_eq!(rig.snapshot().closed_total, 0, "it was closed before");
    rig.fail();
    assert_eq!(rig.state(), State::Closed);
}

#[test]
fn calls_in_flight_count_no_more_after_any_of_them() {
    let steers: [fn(&Rig); 3] = [
        |rig| rig.breaker.force_open(),
        |rig| rig.breaker.force_closed(),
        |rig| rig.breaker.reset(),
    ];
    for steer in steers {
        for rig in [Rig::new(), Rig::waited()] {
            let early = rig.enter();
            steer(&rig);
            assert_eq!(early.failure(), Settled::Stale);
            assert_eq!(rig.snapshot().in_flight, 0);
        }
    }
}

#[test]
fn each_is_told_with_its_cause_where_the_state_changes() {
    let rig = Rig::new();
    let mut events = rig.breaker.subscribe().unwrap();
    rig.breaker.force_open();
    rig.breaker.force_open();
    rig.breaker.force_closed();
    rig.breaker.force_open();
    rig.breaker.reset();
    rig.breaker.reset();
    assert_eq!(
        causes(read(&mut events)),
        [
            (State::Open, Cause::Forced),
            (State::Closed, Cause::Forced),
            (State::Open, Cause::Forced),
            (State::Closed, Cause::Reset),
        ]
    );
    assert_eq!((rig.snapshot().opened_total, rig.snapshot().closed_total), (2, 2));
}

#[test]
fn an_operators_probe_while_open_goes_through_alone() {
    let rig = Rig::open();
    let probe = rig.breaker.enter_probe().unwrap();
    assert_eq!(rig.state(), State::HalfOpen);
    assert_eq!(rig.admitted_of(10), 0, "nobody else goes through beside it");
    assert!(rig.breaker.enter_probe().is_err(), "nor does another operator");
    rig.clock.advance(OPEN_FOR);
    assert_eq!(rig.admitted_of(10), 0, "also when open would be over without it");
    assert_eq!(probe.success(), Settled::Counted);
    assert_eq!(rig.admitted_of(10), 2, "its success begins half-open for all");
    rig.succeed();
    assert_eq!(rig.state(), State::Closed, "and counts as a probe's");
}

#[test]
fn an_operators_probe_that_is_enough_closes() {
    let rig = Rig::with(|builder| builder.half_open(HalfOpenPolicy::all(1)));
    rig.trip();
    assert_eq!(rig.breaker.enter_probe().unwrap().success(), Settled::Counted);
    assert_eq!(rig.state(), State::Closed);
}

#[test]
fn an_operators_probe_that_fails_opens_anew() {
    let rig = Rig::open();
    rig.clock.advance(millis(700));
    assert_eq!(rig.breaker.enter_probe().unwrap().failure(), Settled::Counted);
    assert_eq!((rig.state(), rig.retry_after()), (State::Open, Some(OPEN_FOR)));
    assert_eq!(rig.snapshot().probe_failure_total, 1);
}

#[test]
fn an_operators_probe_that_ends_without_a_result_leaves_it_open_as_it_was() {
    let ends: [fn(Permit<'_>); 3] = [
        |permit| drop(permit),
        |permit| assert_eq!(permit.ignore(), Settled::Counted),
        |permit| assert_eq!(permit.cancel(), Settled::Counted),
    ];
    for end in ends {
        let rig = Rig::open();
        rig.clock.advance(millis(300));
        let mut events = rig.breaker.subscribe().unwrap();
        let probe = rig.breaker.enter_probe().unwrap();
        rig.clock.advance(millis(300));
        end(probe);
        assert_eq!((rig.state(), rig.retry_after()), (State::Open, Some(millis(400))));
        assert_eq!(
            causes(read(&mut events)),
            [(State::HalfOpen, Cause::OperatorProbe), (State::Open, Cause::OperatorProbeGone)]
        );
        rig.clock.advance(millis(400));
        assert_eq!(rig.admitted_of(10), 2);
    }
}

#[test]
fn an_operators_probe_that_ends_without_a_result_too_late_leaves_it_half_open() {
    let rig = Rig::open();
    let probe = rig.breaker.enter_probe().unwrap();
    rig.clock.advance(OPEN_FOR);
    drop(probe);
    assert_eq!(rig.state(), State::HalfOpen);
    assert_eq!(rig.admitted_of(10), 2);
}

#[test]
fn an_operators_probe_that_is_lost_leaves_it_open_as_it_was() {
    let rig = Rig::with(|builder| builder.open_for(HALF_OPEN_FOR * 3));
    rig.trip();
    let probe = rig.breaker.enter_probe().unwrap();
    rig.clock.advance(HALF_OPEN_FOR);
    assert_eq!((rig.state(), rig.retry_after()), (State::Open, Some(HALF_OPEN_FOR * 2)));
    assert!(rig.is_refused());
    assert_eq!(rig.snapshot().probe_lost_total, 1);
    assert_eq!(probe.success(), Settled::Stale, "it comes too late");
    assert_eq!(rig.state(), State::Open);
    assert_eq!(rig.breaker.enter_probe().unwrap().success(), Settled::Counted, "another may go");
}

#[test]
fn an_operators_call_anywhere_else_is_a_call_like_any_other() {
    let rig = Rig::new();
    assert_eq!(rig.breaker.enter_probe().unwrap().success(), Settled::Counted);
    assert_eq!((rig.state(), rig.snapshot().generation), (State::Closed, 0));

    let rig = Rig::waited();
    forget(rig.breaker.enter_probe().unwrap());
    assert_eq!(rig.admitted_of(10), 1, "one of two slots of half-open is left");
    forget(rig.breaker.enter_probe().unwrap());
    let rejected = rig.breaker.enter_probe().unwrap_err();
    assert_eq!((rejected.state, rejected.retry_after), (State::HalfOpen, Some(HALF_OPEN_FOR)));

    rig.breaker.force_closed();
    assert_eq!(rig.breaker.enter_probe().unwrap().failure(), Settled::Counted);
    assert_eq!(rig.state(), State::Closed);
}
