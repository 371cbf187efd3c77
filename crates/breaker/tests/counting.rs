//! What counts, as what, and when the detector looks at it.
#![cfg(test)]

mod common;

use common::{OPEN_FOR, Rig, builder, millis, read};
use mainstay_breaker::{
    Detector, Event, FailureKind, HalfOpenPolicy, ManualClock, Settled, State, Verdict,
};

fn windows() -> [Detector; 2] {
    [Detector::rolling(millis(60_000), 4, 0.5), Detector::ring(10, 4, 0.5)]
}

#[test]
fn the_detector_is_judged_after_a_success_too() {
    for detector in windows() {
        let rig = Rig::with(|builder| builder.detector(detector.clone()));
        rig.fail();
        rig.fail();
        rig.succeed();
        assert_eq!(rig.state(), State::Closed, "{detector:?}");
        // The fourth sample is a success, and with it half of enough samples are failures.
        rig.succeed();
        assert_eq!(rig.state(), State::Open, "{detector:?}");
        assert_eq!(rig.snapshot().opened_total, 1);
    }
}

#[test]
fn a_success_below_the_rate_does_not_open() {
    for detector in windows() {
        let rig = Rig::with(|builder| builder.detector(detector.clone()));
        rig.fail();
        (0..9).for_each(|_| rig.succeed());
        assert_eq!(rig.state(), State::Closed, "{detector:?}");
    }
}

#[test]
fn any_of_several_detectors_opens() {
    let both = Detector::any_of([Detector::consecutive(3), Detector::ring(10, 4, 0.5)]);
    let rig = Rig::with(|builder| builder.detector(both.clone()));
    (0..3).for_each(|_| rig.fail());
    assert_eq!(rig.state(), State::Open, "by three in a row");

    let rig = Rig::with(|builder| builder.detector(both));
    (0..2).for_each(|_| {
        rig.fail();
        rig.succeed();
    });
    assert_eq!(rig.state(), State::Open, "by half of four");
}

#[test]
fn closing_resets_the_detector_and_not_the_totals() {
    let detectors = Detector::any_of([
        Detector::consecutive(3),
        Detector::rolling(millis(60_000), 20, 0.5),
        Detector::ring(10, 10, 0.5),
    ]);
    let rig = Rig::with(|builder| builder.detector(detectors));
    rig.trip();
    let before = rig.snapshot();
    assert_eq!(before.rolling.unwrap().failures, 3);
    rig.clock.advance(OPEN_FOR);
    rig.succeed();
    rig.succeed();
    let after = rig.snapshot();
    assert_eq!(after.state, State::Closed);
    assert_eq!(after.consecutive_failures, Some(0));
    assert_eq!(after.rolling.unwrap().samples, 0);
    assert_eq!(after.ring.unwrap().samples, 0);
    assert_eq!((after.failure_total, after.success_total), (3, 2));
    assert_eq!((after.opened_total, after.closed_total), (1, 1));
}

#[test]
fn after_closing_it_takes_the_whole_count_to_open_again() {
    let rig = Rig::waited();
    rig.succeed();
    rig.succeed();
    rig.fail();
    rig.fail();
    assert_eq!(rig.state(), State::Closed);
    rig.fail();
    assert_eq!(rig.state(), State::Open);
}

#[test]
fn probes_are_no_samples_of_the_next_closed_time() {
    let rig = Rig::with(|builder| {
        builder.detector(Detector::ring(10, 4, 0.5)).half_open(HalfOpenPolicy::success_rate(4, 0.5))
    });
    (0..4).for_each(|_| rig.fail());
    rig.clock.advance(OPEN_FOR);
    rig.fail();
    rig.succeed();
    rig.succeed();
    let snapshot = rig.snapshot();
    assert_eq!((snapshot.state, snapshot.ring.unwrap().samples), (State::Closed, 0));
}

#[test]
fn a_timeout_counts_as_both_and_is_told_as_both() {
    let rig = Rig::with(|builder| builder.detector(Detector::consecutive(1)));
    let mut events = rig.breaker.subscribe().unwrap();
    assert_eq!(rig.enter().timeout(), Settled::Counted);
    let snapshot = rig.snapshot();
    assert_eq!((snapshot.timeout_total, snapshot.failure_total), (1, 1));
    match read(&mut events)[..] {
        [
            Event::Timeout,
            Event::Failure { kind: FailureKind::Timeout, .. },
            Event::StateChange { to: State::Open, .. },
        ] => {}
        ref other => panic!("{other:?}"),
    }
}

#[test]
fn a_timed_out_probe_opens_again() {
    let rig = Rig::waited();
    rig.enter().timeout();
    let snapshot = rig.snapshot();
    assert_eq!((snapshot.state, snapshot.probe_failure_total), (State::Open, 1));
}

#[test]
fn a_caller_that_goes_away_is_neither_a_success_nor_a_failure() {
    let rig = Rig::new();
    rig.fail();
    rig.fail();
    drop(rig.enter());
    assert_eq!(rig.enter().cancel(), Settled::Counted);
    let snapshot = rig.snapshot();
    assert_eq!(snapshot.consecutive_failures, Some(2), "neither one more nor begun anew");
    assert_eq!((snapshot.success_total, snapshot.failure_total), (0, 2));
    assert_eq!((snapshot.cancelled_total, snapshot.in_flight), (2, 0));
    rig.fail();
    assert_eq!(rig.state(), State::Open);
}

#[test]
fn an_ignored_result_is_neither_a_success_nor_a_failure() {
    let rig = Rig::with(|builder| builder.detector(Detector::ring(10, 3, 0.5)));
    rig.fail();
    rig.fail();
    assert_eq!(rig.enter().ignore(), Settled::Counted);
    let snapshot = rig.snapshot();
    assert_eq!((snapshot.state, snapshot.ring.unwrap().samples), (State::Closed, 2));
    assert_eq!((snapshot.ignored_total, snapshot.in_flight), (1, 0));
}

#[test]
fn the_classifier_says_what_an_error_is() {
    let clock = ManualClock::new();
    let breaker = builder(&clock)
        .classify_errors(|status: &u16| match status {
            500.. => Verdict::Failure,
            404 => Verdict::Success,
            _ => Verdict::Ignore,
        })
        .build()
        .unwrap();
    for status in [503, 500, 400, 404, 502] {
        assert_eq!(breaker.run(|| Err::<(), u16>(status)).unwrap_err().into_inner(), Some(status));
    }
    let snapshot = breaker.snapshot();
    assert_eq!((snapshot.failure_total, snapshot.success_total, snapshot.ignored_total), (3, 1, 1));
    assert_eq!(snapshot.consecutive_failures, Some(1));
}

#[test]
fn the_classifier_may_call_an_answer_a_failure() {
    let clock = ManualClock::new();
    let breaker = builder(&clock)
        .classifier(|result: &Result<u16, ()>| match result {
            Ok(..500) => Verdict::Success,
            _ => Verdict::Failure,
        })
        .build()
        .unwrap();
    (0..3).for_each(|_| assert_eq!(breaker.run(|| Ok(503)), Ok(503)));
    assert_eq!(breaker.state(), State::Open);
}

#[test]
fn every_call_let_through_ends_in_exactly_one_total() {
    let rig = Rig::new();
    let early = rig.enter();
    rig.succeed();
    drop(rig.enter());
    rig.enter().ignore();
    rig.trip();
    early.failure();
    rig.clock.advance(OPEN_FOR);
    rig.enter().timeout();
    let snapshot = rig.snapshot();
    let ended = snapshot.success_total
        + snapshot.failure_total
        + snapshot.ignored_total
        + snapshot.cancelled_total
        + snapshot.stale_total;
    assert_eq!((snapshot.allowed_total, ended, snapshot.in_flight), (8, 8, 0));
}
