//! Time: a change is one step, a clock that goes back is held, and the ends of time hold.
#![cfg(test)]

mod common;

use std::mem::forget;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use common::{HALF_OPEN_FOR, HOUR, OPEN_FOR, Rig, TICK, millis};
use mainstay_breaker::{
    Breaker, Clock, Detector, Event, HalfOpenPolicy, ManualClock, Moment, Rolling, Settled,
    Snapshot, State,
};

type Step = fn(&Rig);

/// Every state change is one of a generation of its own, where nothing else makes generations.
fn changes(snapshot: &Snapshot) -> u64 {
    snapshot.opened_total + snapshot.half_opened_total + snapshot.closed_total
}

#[test]
fn state_generation_time_and_count_change_together() {
    let rig = Rig::new();
    let mut events = rig.breaker.subscribe().unwrap();
    let steps: [(Step, State); 5] = [
        (Rig::trip, State::Open),
        (|rig| drop(rig.enter()), State::HalfOpen),
        (Rig::fail, State::Open),
        (|rig| drop(rig.enter()), State::HalfOpen),
        (
            |rig| {
                rig.succeed();
                rig.succeed();
            },
            State::Closed,
        ),
    ];
    let mut generation = rig.snapshot().generation;
    for (step, state) in steps {
        rig.clock.advance(OPEN_FOR);
        step(&rig);
        generation += 1;
        let snapshot = rig.snapshot();
        assert_eq!((snapshot.state, snapshot.generation), (state, generation));
        assert_eq!(snapshot.last_state_change_at, rig.clock.now());
        assert_eq!(snapshot.in_state_for, Duration::ZERO);
        assert_eq!(changes(&snapshot), generation);
        let told = common::read(&mut events).into_iter().rev().find_map(|event| match event {
            Event::StateChange { to, generation, at, .. } => Some((to, generation, at)),
            _ => None,
        });
        assert_eq!(told, Some((state, generation, rig.clock.now())));
    }
}

#[test]
fn the_time_in_a_state_grows_with_the_clock() {
    let rig = Rig::open();
    rig.clock.advance(millis(700));
    assert_eq!(rig.snapshot().in_state_for, millis(700));
}

#[test]
fn nobody_sees_half_of_a_change() {
    const CYCLES: u64 = 2_000;
    let rig = Rig::with(|builder| {
        builder.detector(Detector::consecutive(1)).half_open(HalfOpenPolicy::all(1))
    });
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut last = rig.snapshot();
            while !is_over.load(Ordering::Relaxed) {
                let seen = rig.snapshot();
                assert_eq!(changes(&seen), seen.generation);
                assert!(seen.generation >= last.generation);
                // Open that is over is half-open in its own generation, until it is written down.
                let is_same = (seen.generation, seen.state) == (last.generation, last.state);
                let (before, now) = (last.last_state_change_at, seen.last_state_change_at);
                assert!(if is_same { now == before } else { now >= before }, "{seen:?}");
                assert!(seen.in_flight <= 1, "{seen:?}");
                last = seen;
            }
        });
        for _ in 0..CYCLES {
            rig.clock.advance(TICK);
            rig.fail();
            rig.clock.advance(OPEN_FOR);
            let probe = rig.enter();
            rig.clock.advance(TICK);
            probe.success();
        }
        is_over.store(true, Ordering::Relaxed);
        watcher.join().unwrap();
    });
    assert_eq!(rig.snapshot().generation, CYCLES * 3);
}

#[test]
fn as_many_threads_as_like_get_no_more_probes_than_there_are() {
    let rig = Rig::waited();
    let admitted: usize = thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| {
                scope
                    .spawn(|| (0..100).filter_map(|_| rig.breaker.enter().ok()).map(forget).count())
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(admitted, 2);
    assert_eq!(rig.snapshot().half_opened_total, 1);
}

#[test]
fn a_step_back_while_open_neither_shortens_nor_lengthens_what_is_left() {
    let rig = Rig::open();
    rig.clock.step_back(HOUR / 2);
    assert_eq!(rig.state(), State::Open);
    assert_eq!(rig.retry_after(), Some(OPEN_FOR));
    assert_eq!(rig.breaker.enter().unwrap_err().retry_after, Some(OPEN_FOR));
    assert_eq!(rig.breaker.export().open_remaining, OPEN_FOR);
    rig.clock.advance(HOUR / 2 + OPEN_FOR);
    assert_eq!(rig.state(), State::HalfOpen);
}

#[test]
fn a_step_back_is_held_even_if_nobody_has_looked_since_the_trip() {
    let rig = Rig::new();
    for _ in 0..3 {
        rig.fail();
    }
    rig.clock.step_back(HOUR / 2);
    assert_eq!(rig.breaker.enter().unwrap_err().retry_after, Some(OPEN_FOR));
}

#[test]
fn a_step_back_after_open_is_over_does_not_open_again() {
    let rig = Rig::waited();
    assert_eq!(rig.state(), State::HalfOpen);
    rig.clock.step_back(HOUR / 2);
    assert_eq!(rig.state(), State::HalfOpen);
    rig.succeed();
    rig.succeed();
    assert_eq!(rig.state(), State::Closed);
}

#[test]
fn a_step_back_while_half_open_neither_loses_probes_nor_keeps_them_for_longer() {
    let rig = Rig::waited();
    forget(rig.enter());
    forget(rig.enter());
    rig.clock.advance(HALF_OPEN_FOR / 2);
    assert_eq!(rig.retry_after(), Some(HALF_OPEN_FOR / 2));
    rig.clock.step_back(HOUR / 2);
    assert_eq!(rig.retry_after(), Some(HALF_OPEN_FOR / 2));
    rig.clock.advance(HOUR / 2 + HALF_OPEN_FOR / 2);
    assert!(!rig.is_refused());
    assert_eq!(rig.snapshot().probe_lost_total, 2);
}

#[test]
fn a_step_back_leaves_the_rolling_window_as_it_is() {
    let rig = Rig::with(|builder| builder.detector(Detector::rolling(millis(10_000), 4, 0.5)));
    rig.fail();
    rig.fail();
    rig.clock.step_back(HOUR / 2);
    assert_eq!(rig.snapshot().rolling.unwrap().samples, 2);
    rig.fail();
    assert_eq!(rig.snapshot().rolling.unwrap().samples, 3);
    rig.clock.advance(HOUR / 2 + millis(10_000));
    assert_eq!(rig.snapshot().rolling.unwrap().samples, 0);
}

#[test]
fn the_time_of_the_last_change_never_goes_back() {
    let rig = Rig::new();
    let before = rig.snapshot().last_state_change_at;
    rig.clock.step_back(HOUR / 2);
    rig.trip();
    let snapshot = rig.snapshot();
    assert!(snapshot.last_state_change_at >= before);
    assert_eq!(snapshot.in_state_for, Duration::ZERO);
}

#[test]
fn a_latency_over_a_step_back_is_nothing() {
    let rig = Rig::new();
    let call = rig.enter();
    rig.clock.step_back(HOUR / 2);
    call.success();
    let latency = rig.snapshot().latency;
    assert_eq!((latency.measured, latency.max), (1, Duration::ZERO));
}

/// Everything that can be as long as can be.
fn endless(clock: &ManualClock) -> Breaker {
    let detector = Rolling {
        window: Duration::MAX,
        min_samples: 3,
        error_rate: 0.5,
        slow_call: Some(Duration::MAX),
    };
    Breaker::builder("endless")
        .detector(detector)
        .open_for(Duration::MAX)
        .half_open_for(Duration::MAX)
        .half_open(HalfOpenPolicy::all(2))
        .clock(clock.clone())
        .build()
        .unwrap()
}

#[test]
fn the_longest_durations_mean_for_ever_and_overflow_nowhere() {
    let clock = ManualClock::new();
    let breaker = endless(&clock);
    for _ in 0..3 {
        assert_eq!(breaker.enter().unwrap().failure(), Settled::Counted);
    }
    for _ in 0..100 {
        clock.advance(HOUR * 24 * 365);
        assert_eq!(breaker.state(), State::Open);
        assert!(breaker.would_reject().unwrap().retry_after.unwrap() > HOUR);
    }
    let probe = breaker.enter_probe().unwrap();
    clock.advance(HOUR * 24 * 365);
    assert!(breaker.enter().is_err(), "the operator's probe is not lost");
    assert_eq!(probe.success(), Settled::Counted);
    assert_eq!(breaker.enter().unwrap().success(), Settled::Counted);
    assert_eq!(breaker.state(), State::Closed);
}

#[test]
fn at_the_end_of_time_everything_still_answers() {
    let clock = ManualClock::new();
    let breaker = endless(&clock);
    (0..3).for_each(|_| drop(breaker.run(|| Err::<(), _>("down"))));
    clock.advance(Duration::MAX);
    assert_eq!(clock.now(), Moment::from_nanos(u64::MAX));
    let answer = breaker.would_reject();
    assert_eq!(breaker.enter().map(forget).err(), answer);
    for _ in 0..5 {
        drop(breaker.enter());
        drop(breaker.enter_probe());
        breaker.reset();
        (0..3).for_each(|_| drop(breaker.run(|| Err::<(), _>("down"))));
    }
    let saved = breaker.export();
    assert!(breaker.restore(&saved).is_ok());
    assert_eq!(breaker.snapshot().in_flight, 1, "the one that was forgotten");
}

#[test]
fn the_shortest_durations_hold_too() {
    let rig = Rig::with(|builder| builder.open_for(TICK).half_open_for(TICK));
    rig.trip();
    rig.clock.advance(TICK);
    let (first, second) = (rig.enter(), rig.enter());
    assert!(rig.is_refused());
    rig.clock.advance(TICK);
    assert_eq!(rig.admitted_of(5), 2);
    assert_eq!((first.success(), second.success()), (Settled::Stale, Settled::Stale));
}
