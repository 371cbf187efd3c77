#![cfg(test)]
//! Windows slide: what is old counts no more, whether anybody writes or only reads.

mod support;

use std::time::Duration;

use mainstay_breaker::{Detector, Ring, Rolling, Snapshot, State};
use support::{SECOND, TICK, build, fail, succeed, trip};

use State::{Closed, HalfOpen, Open};

const WINDOW: Duration = Duration::from_secs(10);

/// Samples, failures and rate of the rolling window.
fn rolling(snapshot: &Snapshot) -> (u64, u64, f64) {
    let window = snapshot.rolling.unwrap();
    (window.samples, window.failures, window.error_rate)
}

/// The same of the ring.
fn ring(snapshot: &Snapshot) -> (u64, u64, f64) {
    let window = snapshot.ring.unwrap();
    (window.samples, window.failures, window.error_rate)
}

#[test]
fn a_thousand_successes_of_long_ago_do_not_hide_an_outage() {
    let (breaker, clock) = build(|builder| builder.detector(Detector::rolling(WINDOW, 5, 0.5)));
    for _ in 0..1_000 {
        succeed(&breaker);
    }
    clock.advance(WINDOW);
    for failures in 1..5 {
        fail(&breaker);
        assert_eq!(breaker.state(), Closed, "{failures} of them are below min_samples");
    }
    fail(&breaker);
    assert_eq!(breaker.state(), Open);
}

#[test]
fn a_thousand_successes_of_just_now_outweigh_a_few_failures() {
    let (breaker, clock) = build(|builder| builder.detector(Detector::rolling(WINDOW, 5, 0.5)));
    for _ in 0..1_000 {
        succeed(&breaker);
    }
    clock.advance(WINDOW - SECOND);
    for _ in 0..5 {
        fail(&breaker);
    }
    assert_eq!(breaker.state(), Closed);
    assert_eq!(rolling(&breaker.snapshot()), (1_005, 5, 5.0 / 1_005.0));
}

#[test]
fn the_window_slides_with_the_traffic() {
    let (breaker, clock) = build(|builder| builder.detector(Detector::rolling(WINDOW, 99, 1.0)));
    for second in 0..3_600 {
        if second % 2 == 0 {
            fail(&breaker);
        } else {
            succeed(&breaker);
        }
        let (samples, failures, _) = rolling(&breaker.snapshot());
        let most = 10.min(second + 1);
        assert!(samples <= most && samples + 1 >= most, "{samples} after {second} seconds");
        assert!(failures.abs_diff(samples - failures) <= 1, "{failures} of {samples}");
        clock.advance(SECOND);
    }
}

#[test]
fn old_failures_expire_by_reading() {
    let (breaker, clock) = build(|builder| builder.detector(Detector::rolling(WINDOW, 5, 0.5)));
    for _ in 0..4 {
        fail(&breaker);
    }
    clock.advance(WINDOW - TICK);
    assert_eq!(rolling(&breaker.snapshot()), (4, 4, 1.0));
    clock.advance(TICK);
    assert_eq!(rolling(&breaker.snapshot()), (0, 0, 0.0));
}

#[test]
fn old_failures_expire_by_writing() {
    let (breaker, clock) = build(|builder| builder.detector(Detector::rolling(WINDOW, 5, 0.5)));
    for _ in 0..4 {
        fail(&breaker);
    }
    clock.advance(WINDOW);
    fail(&breaker);
    assert_eq!(breaker.state(), Closed, "the fifth failure within the window would have opened it");
    assert_eq!(rolling(&breaker.snapshot()), (1, 1, 1.0));
}

#[test]
fn an_idle_breaker_does_not_report_the_error_rate_of_the_last_hour() {
    let (breaker, clock) = build(|builder| builder.detector(Detector::rolling(WINDOW, 100, 0.5)));
    for _ in 0..99 {
        fail(&breaker);
    }
    clock.advance(Duration::from_secs(3_600));
    assert_eq!(rolling(&breaker.snapshot()), (0, 0, 0.0));
    clock.advance(Duration::MAX);
    assert_eq!(rolling(&breaker.snapshot()), (0, 0, 0.0));
}

#[test]
fn a_success_can_open_too_when_it_makes_the_samples_enough() {
    for detector in [Detector::rolling(WINDOW, 4, 0.5), Detector::ring(8, 4, 0.5)] {
        let (breaker, _clock) = build(|builder| builder.detector(detector.clone()));
        fail(&breaker);
        fail(&breaker);
        succeed(&breaker);
        assert_eq!(breaker.state(), Closed);
        succeed(&breaker);
        assert_eq!(breaker.state(), Open, "{detector:?}");
    }
}

#[test]
fn below_min_samples_there_is_no_rate_to_speak_of() {
    for min_samples in [1, 2, 19, 20, 21, 64, 65] {
        for detector in
            [Detector::rolling(WINDOW, min_samples, 0.01), Detector::ring(100, min_samples, 0.01)]
        {
            let (breaker, _clock) = build(|builder| builder.detector(detector.clone()));
            for _ in 1..min_samples {
                fail(&breaker);
            }
            assert_eq!(breaker.state(), Closed, "{detector:?}");
            fail(&breaker);
            assert_eq!(breaker.state(), Open, "{detector:?}");
        }
    }
}

#[test]
fn the_rate_that_is_given_is_enough() {
    for (error_rate, failures, state) in
        [(0.3, 2, Closed), (0.3, 3, Open), (1.0, 9, Closed), (1.0, 10, Open), (0.0, 1, Open)]
    {
        for detector in
            [Detector::rolling(WINDOW, 10, error_rate), Detector::ring(10, 10, error_rate)]
        {
            let (breaker, _clock) = build(|builder| builder.detector(detector.clone()));
            for _ in failures..10 {
                succeed(&breaker);
            }
            for _ in 0..failures {
                assert_eq!(breaker.state(), Closed, "{detector:?}");
                fail(&breaker);
            }
            assert_eq!(breaker.state(), state, "{failures} of 10 and {detector:?}");
        }
    }
}

#[test]
fn a_rate_of_zero_does_not_open_without_a_failure() {
    for detector in [Detector::rolling(WINDOW, 1, 0.0), Detector::ring(10, 1, 0.0)] {
        let (breaker, _clock) = build(|builder| builder.detector(detector));
        for _ in 0..20 {
            succeed(&breaker);
        }
        assert_eq!(breaker.state(), Closed);
        fail(&breaker);
        assert_eq!(breaker.state(), Open);
    }
}

#[test]
fn a_ring_holds_the_last_results_however_old_they_are() {
    let (breaker, clock) = build(|builder| builder.detector(Detector::ring(4, 4, 0.75)));
    fail(&breaker);
    fail(&breaker);
    clock.advance(Duration::from_secs(86_400));
    assert_eq!(ring(&breaker.snapshot()), (2, 2, 1.0));
    for _ in 0..3 {
        succeed(&breaker);
    }
    assert_eq!(ring(&breaker.snapshot()), (4, 1, 0.25), "the oldest failure made room");
    succeed(&breaker);
    assert_eq!(ring(&breaker.snapshot()), (4, 0, 0.0));
    fail(&breaker);
    fail(&breaker);
    assert_eq!(breaker.state(), Closed);
    fail(&breaker);
    assert_eq!(breaker.state(), Open);
}

#[test]
fn any_of_several_detectors_opens_it() {
    let detector = Detector::any_of([
        Detector::consecutive(3),
        Detector::any_of([Detector::rolling(WINDOW, 10, 0.5)]),
        Detector::ring(100, 50, 0.2),
    ]);
    let (breaker, clock) = build(|builder| builder.detector(detector));
    for _ in 0..3 {
        fail(&breaker);
    }
    assert_eq!(breaker.state(), Open, "three in a row");

    breaker.reset();
    for _ in 0..5 {
        assert_eq!(breaker.state(), Closed);
        fail(&breaker);
        succeed(&breaker);
    }
    assert_eq!(breaker.state(), Open, "half of ten within the window");

    breaker.reset();
    for _ in 0..10 {
        assert_eq!(breaker.state(), Closed);
        fail(&breaker);
        clock.advance(WINDOW);
        for _ in 0..4 {
            succeed(&breaker);
        }
    }
    assert_eq!(breaker.state(), Open, "a fifth of the last fifty");
}

#[test]
fn a_snapshot_shows_the_windows_that_there_are() {
    let all = Detector::any_of([
        Detector::consecutive(9),
        Rolling::default().into(),
        Ring::default().into(),
    ]);
    for (detector, shown) in [
        (Detector::consecutive(9), (true, false, false)),
        (Rolling::default().into(), (false, true, false)),
        (Ring::default().into(), (false, false, true)),
        (all, (true, true, true)),
    ] {
        let (breaker, _clock) = build(|builder| builder.detector(detector));
        fail(&breaker);
        let snapshot = breaker.snapshot();
        let Snapshot { consecutive_failures, rolling, ring, .. } = snapshot;
        assert_eq!((consecutive_failures.is_some(), rolling.is_some(), ring.is_some()), shown);
        let windows = [rolling, ring].into_iter().flatten();
        let counts =
            windows.map(|window| window.failures).chain(consecutive_failures.map(u64::from));
        assert!(counts.into_iter().all(|failures| failures == 1));
    }
}

#[test]
fn closing_empties_the_windows_and_keeps_the_totals() {
    let detector = Detector::any_of([Detector::rolling(WINDOW, 2, 1.0), Detector::ring(9, 9, 1.0)]);
    let (breaker, clock) = build(|builder| builder.detector(detector));
    trip(&breaker);
    clock.advance(5 * SECOND);
    for _ in 0..3 {
        assert_eq!(breaker.state(), HalfOpen);
        succeed(&breaker);
    }
    let snapshot = breaker.snapshot();
    assert_eq!(snapshot.state, Closed);
    assert_eq!(rolling(&snapshot), (0, 0, 0.0), "probes are no samples either");
    assert_eq!(ring(&snapshot), (0, 0, 0.0));
    assert_eq!((snapshot.failure_total, snapshot.success_total), (2, 3));
    fail(&breaker);
    assert_eq!(breaker.state(), Closed, "one failure after closing is one failure");
}

#[test]
fn what_does_not_count_is_no_sample() {
    let detector = Detector::any_of([Detector::rolling(WINDOW, 2, 1.0), Detector::ring(9, 9, 1.0)]);
    let (breaker, _clock) = build(|builder| builder.detector(detector));
    for _ in 0..20 {
        breaker.enter().unwrap().ignore();
        breaker.enter().unwrap().cancel();
    }
    let snapshot = breaker.snapshot();
    assert_eq!((rolling(&snapshot), ring(&snapshot)), ((0, 0, 0.0), (0, 0, 0.0)));
}

#[test]
fn a_clock_that_steps_back_neither_revives_nor_loses_results() {
    let (breaker, clock) = build(|builder| builder.detector(Detector::rolling(WINDOW, 9, 1.0)));
    fail(&breaker);
    clock.step_back(5 * SECOND);
    fail(&breaker);
    assert_eq!(rolling(&breaker.snapshot()), (2, 2, 1.0));
    clock.advance(5 * SECOND + WINDOW - TICK);
    assert_eq!(rolling(&breaker.snapshot()), (2, 2, 1.0));
    clock.advance(TICK);
    assert_eq!(rolling(&breaker.snapshot()), (0, 0, 0.0));
    clock.step_back(5 * SECOND);
    assert_eq!(rolling(&breaker.snapshot()), (0, 0, 0.0));
}

#[test]
fn detectors_that_say_open_together_open() {
    let detectors = [
        Detector::consecutive(4),
        Detector::ring(8, 4, 0.5),
        Detector::rolling(WINDOW, 4, 0.5),
        Detector::ring(4, 4, 1.0),
    ];
    for count in 2..=detectors.len() {
        let any = Detector::any_of(detectors.iter().take(count).cloned());
        let (breaker, _clock) = build(|builder| builder.detector(any));
        for _ in 0..3 {
            fail(&breaker);
            assert_eq!(breaker.state(), Closed);
        }
        fail(&breaker);
        assert_eq!(breaker.state(), Open, "{count} of them at once");
    }
}
