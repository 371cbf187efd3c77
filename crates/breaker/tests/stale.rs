//! A result from another generation moves nothing: no slot, no tally, no deadline, no state.
#![cfg(test)]

mod common;

use std::mem::forget;

use common::{HALF_OPEN_FOR, OPEN_FOR, Rig, millis};
use mainstay_breaker::{Detector, Event, Permit, Settled, State};

/// What the breaker said, where it said anything.
type End = fn(Permit<'_>) -> Option<Settled>;

/// Every way in which a call can end.
const FORMS: &[(&str, End)] = &[
    ("success", |permit| Some(permit.success())),
    ("failure", |permit| Some(permit.failure())),
    ("timeout", |permit| Some(permit.timeout())),
    ("ignore", |permit| Some(permit.ignore())),
    ("cancel", |permit| Some(permit.cancel())),
    ("drop", |permit| {
        drop(permit);
        None
    }),
];

/// Puts a rig where a stale result is to arrive: `enter` is called where the late call begins.
type Scene = fn(&Rig, &mut dyn FnMut());

const SCENES: &[(&str, Scene)] = &[
    ("from before the trip, while open", |rig, enter| {
        enter();
        rig.trip();
        rig.clock.advance(millis(400));
    }),
    ("from before the trip, while half-open with a probe", |rig, enter| {
        enter();
        rig.trip();
        rig.clock.advance(OPEN_FOR);
        forget(rig.enter());
    }),
    ("from before the trip, while half-open with a success", |rig, enter| {
        enter();
        rig.trip();
        rig.clock.advance(OPEN_FOR);
        rig.succeed();
    }),
    ("from before the trip, after closing", |rig, enter| {
        enter();
        rig.trip();
        rig.clock.advance(OPEN_FOR);
        rig.succeed();
        rig.succeed();
        rig.fail();
    }),
    ("a probe of the first cycle, while open", |rig, enter| {
        rig.trip();
        rig.clock.advance(OPEN_FOR);
        enter();
        rig.fail();
        rig.clock.advance(millis(400));
    }),
    ("a probe of the first cycle, in the second", |rig, enter| {
        rig.trip();
        rig.clock.advance(OPEN_FOR);
        enter();
        rig.fail();
        rig.clock.advance(OPEN_FOR);
        rig.succeed();
    }),
    ("a probe of the first cycle, in the second that is full", |rig, enter| {
        rig.trip();
        rig.clock.advance(OPEN_FOR);
        enter();
        rig.fail();
        rig.clock.advance(OPEN_FOR);
        forget(rig.enter());
        forget(rig.enter());
    }),
    ("a lost probe beside fresh ones", |rig, enter| {
        rig.trip();
        rig.clock.advance(OPEN_FOR);
        enter();
        rig.clock.advance(HALF_OPEN_FOR);
        forget(rig.enter());
        forget(rig.enter());
    }),
    ("from before it was forced open", |rig, enter| {
        enter();
        rig.breaker.force_open();
    }),
    ("from before it was forced closed", |rig, enter| {
        enter();
        rig.breaker.force_closed();
    }),
    ("from before a reset", |rig, enter| {
        enter();
        rig.fail();
        rig.breaker.reset();
        rig.fail();
    }),
];

/// A rig in the scene, and the late call.
fn set<'a>(rig: &'a Rig, scene: Scene) -> Permit<'a> {
    let mut late = None;
    scene(rig, &mut || late = Some(rig.enter()));
    late.unwrap()
}

#[test]
fn it_is_told_so_and_changes_no_counter_but_its_own() {
    for (name, scene) in SCENES {
        for (form, end) in FORMS {
            let rig = Rig::new();
            let late = set(&rig, *scene);
            let mut expected = rig.snapshot();
            let settled = end(late);
            assert_eq!(settled.unwrap_or(Settled::Stale), Settled::Stale, "{form} {name}");
            expected.stale_total += 1;
            expected.in_flight -= 1;
            assert_eq!(rig.snapshot(), expected, "{form} {name}");
        }
    }
}

/// What a breaker lets through and how it decides from here on.
fn future_of(rig: &Rig) -> Vec<(State, usize, Option<std::time::Duration>)> {
    let mut seen = Vec::new();
    for _ in 0..4 {
        seen.push((rig.state(), rig.admitted_of(5), rig.retry_after()));
        if let Ok(permit) = rig.breaker.enter() {
            permit.success();
        }
        seen.push((rig.state(), rig.admitted_of(5), rig.retry_after()));
        if let Ok(permit) = rig.breaker.enter() {
            permit.failure();
        }
        rig.clock.advance(millis(350));
    }
    seen
}

#[test]
fn the_breaker_goes_on_as_if_it_had_never_come() {
    for (name, scene) in SCENES {
        for (form, end) in FORMS {
            let (rig, twin) = (Rig::new(), Rig::new());
            end(set(&rig, *scene));
            forget(set(&twin, *scene));
            assert_eq!(future_of(&rig), future_of(&twin), "{form} {name}");
        }
    }
}

#[test]
fn a_crowd_of_stale_successes_does_not_close() {
    let rig = Rig::new();
    let early: Vec<_> = (0..20).map(|_| rig.enter()).collect();
    rig.trip();
    rig.clock.advance(OPEN_FOR);
    let probe = rig.enter();
    for permit in early {
        assert_eq!(permit.success(), Settled::Stale);
    }
    assert_eq!(rig.state(), State::HalfOpen);
    assert_eq!(probe.success(), Settled::Counted);
    assert_eq!(rig.state(), State::HalfOpen, "one of two has succeeded");
}

#[test]
fn late_failures_in_open_never_push_the_deadline_back() {
    let rig = Rig::new();
    let early: Vec<_> = (0..9).map(|_| rig.enter()).collect();
    rig.trip();
    for (late, waited) in early.into_iter().zip(1..) {
        rig.clock.advance(millis(100));
        late.failure();
        assert_eq!(rig.retry_after(), Some(OPEN_FOR - millis(100 * waited)));
    }
    rig.clock.advance(millis(100));
    assert_eq!(rig.state(), State::HalfOpen);
    assert_eq!(rig.snapshot().opened_total, 1);
}

#[test]
fn a_crowd_of_stale_failures_leaves_the_windows_of_a_closed_breaker_alone() {
    for detector in [
        Detector::consecutive(3),
        Detector::rolling(millis(60_000), 3, 0.5),
        Detector::ring(10, 3, 0.5),
    ] {
        let rig = Rig::with(|builder| builder.detector(detector.clone()));
        let early: Vec<_> = (0..20).map(|_| rig.enter()).collect();
        rig.trip();
        rig.clock.advance(OPEN_FOR);
        rig.succeed();
        rig.succeed();
        for permit in early {
            assert_eq!(permit.failure(), Settled::Stale);
        }
        let snapshot = rig.snapshot();
        assert_eq!(snapshot.state, State::Closed, "{detector:?}");
        assert_eq!(snapshot.consecutive_failures.unwrap_or(0), 0, "{detector:?}");
        assert_eq!(snapshot.rolling.map_or(0, |window| window.samples), 0, "{detector:?}");
        assert_eq!(snapshot.ring.map_or(0, |window| window.samples), 0, "{detector:?}");
    }
}

#[test]
fn listeners_hear_that_it_was_stale_and_nothing_else() {
    for (form, end) in FORMS {
        let rig = Rig::new();
        let late = rig.enter();
        rig.trip();
        let mut events = rig.breaker.subscribe().unwrap();
        end(late);
        assert_eq!(common::read(&mut events), [Event::Stale], "{form}");
    }
}
