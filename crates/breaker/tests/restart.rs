//! A restart: what is saved goes by durations, and what is restored goes on from there.
#![cfg(test)]

mod common;

use std::mem::forget;
use std::time::Duration;

use common::{HALF_OPEN_FOR, HOUR, OPEN_FOR, Rig, millis, read};
use mainstay_breaker::{
    Cause, Detector, Event, MAX_SAVED_GENERATION, RestoreError, Saved, Settled, State,
};

const CLOSED: Saved = Saved {
    state: State::Closed,
    forced: false,
    failures: 0,
    open_remaining: Duration::ZERO,
    generation: 40,
};

/// A breaker in a process of its own: its clock has another origin.
fn restored(saved: Saved) -> Rig {
    let rig = Rig::new();
    rig.clock.advance(HOUR * 77);
    rig.breaker.restore(&saved).unwrap();
    rig
}

#[test]
fn what_is_saved_says_state_failures_and_what_is_left() {
    let rig = Rig::new();
    rig.fail();
    rig.fail();
    let saved = rig.breaker.export();
    assert_eq!(saved, Saved { failures: 2, generation: saved.generation, ..CLOSED });

    let rig = Rig::open();
    rig.clock.advance(millis(600));
    let saved = rig.breaker.export();
    assert_eq!((saved.state, saved.open_remaining), (State::Open, millis(400)));
    assert_eq!(saved.generation, rig.snapshot().generation);

    rig.clock.advance(millis(400));
    let saved = rig.breaker.export();
    assert_eq!((saved.state, saved.open_remaining), (State::HalfOpen, Duration::ZERO));
}

#[test]
fn a_detector_that_counts_no_consecutive_failures_saves_none() {
    let rig = Rig::with(|builder| builder.detector(Detector::ring(10, 5, 0.5)));
    rig.fail();
    assert_eq!(rig.breaker.export().failures, 0);
}

#[test]
fn what_is_saved_agrees_with_what_the_next_call_is_told() {
    let operator_lost = || {
        let rig = Rig::with(|builder| builder.open_for(HALF_OPEN_FOR * 2));
        rig.trip();
        forget(rig.breaker.enter_probe().unwrap());
        rig.clock.advance(HALF_OPEN_FOR);
        rig
    };
    for rig in [Rig::new(), Rig::open(), Rig::waited(), operator_lost()] {
        let saved = rig.breaker.export();
        assert_eq!(saved.state, rig.state());
        let is_open = saved.state == State::Open;
        let left = rig.retry_after().filter(|_| is_open).unwrap_or_default();
        assert_eq!(saved.open_remaining, left, "{saved:?}");
    }
}

#[test]
fn closed_comes_back_closed_with_its_failures() {
    let rig = restored(Saved { failures: 2, ..CLOSED });
    assert_eq!(rig.snapshot().consecutive_failures, Some(2));
    assert_eq!(rig.state(), State::Closed);
    rig.fail();
    assert_eq!(rig.state(), State::Open, "the third in a row");
}

#[test]
fn more_failures_than_it_takes_now_open_with_the_next_and_not_before() {
    let rig = restored(Saved { failures: u32::MAX, ..CLOSED });
    assert_eq!(rig.state(), State::Closed);
    rig.fail();
    assert_eq!(rig.state(), State::Open);

    let rig = restored(Saved { failures: 9, ..CLOSED });
    rig.succeed();
    rig.fail();
    assert_eq!(rig.state(), State::Closed, "a success began the count anew");
}

#[test]
fn open_comes_back_open_for_what_was_left() {
    let rig = restored(Saved { state: State::Open, open_remaining: millis(400), ..CLOSED });
    assert_eq!((rig.state(), rig.retry_after()), (State::Open, Some(millis(400))));
    rig.clock.advance(millis(400));
    assert_eq!(rig.state(), State::HalfOpen);
    assert_eq!(rig.admitted_of(10), 2);
}

#[test]
fn what_was_left_is_shortened_where_open_is_shorter_now() {
    for left in [OPEN_FOR * 50, Duration::MAX] {
        let rig = restored(Saved { state: State::Open, open_remaining: left, ..CLOSED });
        assert_eq!(rig.retry_after(), Some(OPEN_FOR));
    }
}

#[test]
fn half_open_comes_back_as_open_with_nothing_remaining() {
    let rig = Rig::waited();
    forget(rig.enter());
    forget(rig.enter());
    let rig = restored(rig.breaker.export());
    let before = rig.snapshot();
    assert_eq!((before.state, before.half_opened_total), (State::HalfOpen, 0));
    assert_eq!(rig.admitted_of(10), 2, "the probes of the other process hold no slot here");
    assert_eq!(rig.snapshot().half_opened_total, 1);
    rig.succeed();
    rig.succeed();
    assert_eq!(rig.state(), State::Closed);
}

#[test]
fn a_tally_is_not_carried_over() {
    let rig = Rig::waited();
    rig.succeed();
    let rig = restored(rig.breaker.export());
    rig.succeed();
    assert_eq!(rig.state(), State::HalfOpen);
}

#[test]
fn forced_states_come_back_forced() {
    let rig = Rig::new();
    rig.breaker.force_open();
    let rig = restored(rig.breaker.export());
    rig.clock.advance(HOUR);
    assert!(rig.snapshot().forced);
    assert_eq!(rig.breaker.enter().unwrap_err().retry_after, None);
    rig.breaker.reset();
    assert!(!rig.is_refused());

    let rig = Rig::open();
    rig.breaker.force_closed();
    let rig = restored(rig.breaker.export());
    (0..10).for_each(|_| rig.fail());
    assert_eq!((rig.state(), rig.snapshot().forced), (State::Closed, true));
}

#[test]
fn the_generation_is_higher_than_the_saved_one_and_than_its_own() {
    for state in [State::Closed, State::Open, State::HalfOpen] {
        for generation in [0, 1, 40, MAX_SAVED_GENERATION] {
            let rig = Rig::new();
            let own = rig.snapshot().generation;
            rig.breaker.restore(&Saved { state, generation, ..CLOSED }).unwrap();
            let now = rig.snapshot().generation;
            assert!(now > generation && now > own, "{now} after {generation} and {own}");
        }
    }
}

#[test]
fn the_highest_generation_that_can_be_restored_leaves_room_to_work() {
    let rig = restored(Saved { generation: MAX_SAVED_GENERATION, ..CLOSED });
    let early = rig.enter();
    rig.trip();
    rig.clock.advance(OPEN_FOR);
    rig.succeed();
    rig.succeed();
    assert_eq!(early.failure(), Settled::Stale);
    assert_eq!(rig.state(), State::Closed);
    assert_eq!(rig.snapshot().generation, MAX_SAVED_GENERATION + 4);
}

#[test]
fn calls_from_before_the_restore_are_stale_even_if_the_saved_generation_is_lower() {
    for rig in [Rig::new(), Rig::waited()] {
        let early = rig.enter();
        let generation = rig.snapshot().generation.saturating_sub(1);
        rig.breaker.restore(&Saved { generation, ..CLOSED }).unwrap();
        assert_eq!(early.failure(), Settled::Stale);
        assert_eq!(rig.snapshot().consecutive_failures, Some(0));
    }
}

#[test]
fn an_absurd_generation_is_refused_and_nothing_has_changed() {
    for rig in [Rig::new(), Rig::open(), Rig::waited()] {
        let early = rig.breaker.enter().ok();
        let (before, told) = (rig.snapshot(), rig.breaker.would_reject());
        for generation in [MAX_SAVED_GENERATION + 1, u64::MAX] {
            let saved = Saved { state: State::Open, failures: 2, generation, ..CLOSED };
            let error = rig.breaker.restore(&saved).unwrap_err();
            assert_eq!(error, RestoreError { generation });
            assert!(error.to_string().contains(&generation.to_string()), "{error}");
        }
        assert_eq!((rig.snapshot(), rig.breaker.would_reject()), (before, told));
        let settled = early.map(mainstay_breaker::Permit::success);
        assert_eq!(settled.unwrap_or(Settled::Counted), Settled::Counted);
    }
}

#[test]
fn what_happened_before_is_told_as_restored_and_not_counted_again() {
    let rig = Rig::new();
    let mut events = rig.breaker.subscribe().unwrap();
    let saved = Saved { state: State::Open, open_remaining: OPEN_FOR, ..CLOSED };
    rig.breaker.restore(&saved).unwrap();
    assert_eq!(rig.snapshot().opened_total, 0);
    match read(&mut events)[..] {
        [Event::StateChange { to: State::Open, cause: Cause::Restored, generation: 41, .. }] => {}
        ref other => panic!("{other:?}"),
    }
}

#[test]
fn a_breaker_that_is_restored_and_saved_again_says_the_same() {
    for rig in [Rig::new(), Rig::open()] {
        let first = rig.breaker.export();
        let second = restored(first).breaker.export();
        assert_eq!(second, Saved { generation: first.generation + 1, ..first });
    }
}

#[cfg(feature = "serde")]
#[test]
fn what_is_saved_can_be_written_and_read() {
    let rig = Rig::open();
    rig.clock.advance(millis(250));
    let saved = rig.breaker.export();
    let text = serde_json::to_string(&saved).unwrap();
    assert_eq!(serde_json::from_str::<Saved>(&text).unwrap(), saved);
    assert!(text.contains(r#""state":"open""#), "{text}");
    assert!(serde_json::from_str::<Saved>(&text.replace("failures", "failuers")).is_err());
}
