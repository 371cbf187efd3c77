#![cfg(test)]
//! A configuration that can't work is refused when the breaker is built, by the name of its field;
//! one that is accepted never comes to grief later.

mod support;

use std::fmt::Display;
use std::time::Duration;

use mainstay_breaker::{
    Breaker, Breakers, Builder, ClosePolicy, ConfigError, Detector, HalfOpenPolicy, LatencyOf,
    MAX_DETECTORS, MAX_LISTENERS, MAX_NAME, MAX_REGISTRY, MAX_RING, Problem, Ring, Rolling,
};
use support::{SECOND, TICK, soon};

fn new() -> Builder {
    Breaker::builder("payments")
}

fn close(max_trials: u32, close: ClosePolicy) -> Builder {
    new().half_open(HalfOpenPolicy { max_trials, at_once: None, close })
}

fn rate(trials: u32, success_rate: f64) -> ClosePolicy {
    ClosePolicy::SuccessRate { trials, success_rate }
}

fn rolling(change: impl FnOnce(&mut Rolling)) -> Builder {
    let mut rolling = Rolling::default();
    change(&mut rolling);
    new().detector(rolling)
}

fn slow(limit: Duration) -> Detector {
    Rolling { slow_call: Some(limit), ..Rolling::default() }.into()
}

fn listened_to(listeners: usize) -> Builder {
    (0..listeners).fold(new(), |builder, _| builder.on_event(|_| {}))
}

fn text(shown: impl Display) -> String {
    shown.to_string()
}

/// The builder, the field that is wrong, and what the error says behind its name.
fn impossible() -> Vec<(Builder, &'static str, &'static str)> {
    let zero = "is zero: it must be at least one unit";
    let nan = "is NaN: it must be within 0 and 1";
    let trials = "at most 3 can be, because no more probes are allowed: see max_trials";
    let trials = format!("is 4: {trials}").leak();
    let empty = "is empty: it must not be";
    let control = "holds control characters: leave them out";
    vec![
        (Breaker::builder(""), "name", empty),
        (Breaker::builder(" \u{2003}"), "name", empty),
        (Breaker::builder("pay\nments"), "name", control),
        (Breaker::builder("pay\u{7f}ments"), "name", control),
        (
            Breaker::builder("x".repeat(MAX_NAME + 1)),
            "name",
            "is 201 bytes long: it may be 200 bytes long",
        ),
        (new().detector(Detector::consecutive(0)), "detector.consecutive", zero),
        (new().detector(Detector::any_of([])), "detector", empty),
        (new().detector(Detector::any_of([Detector::any_of([])])), "detector", empty),
        (
            new().detector(Detector::any_of(vec![Detector::default(); MAX_DETECTORS + 1])),
            "detector",
            "is 9: at most 8 can be, because each of them costs every call",
        ),
        (
            new().detector(Detector::any_of([Detector::consecutive(1), Detector::ring(0, 1, 0.5)])),
            "detector.ring.size",
            zero,
        ),
        (rolling(|rolling| rolling.window = Duration::ZERO), "detector.rolling.window", zero),
        (rolling(|rolling| rolling.min_samples = 0), "detector.rolling.min_samples", zero),
        (
            rolling(|rolling| rolling.error_rate = 1.01),
            "detector.rolling.error_rate",
            "is 1.01: it must be within 0 and 1",
        ),
        (
            rolling(|rolling| rolling.error_rate = -0.5),
            "detector.rolling.error_rate",
            "is -0.5: it must be within 0 and 1",
        ),
        (
            rolling(|rolling| rolling.error_rate = f64::INFINITY),
            "detector.rolling.error_rate",
            "is inf: it must be within 0 and 1",
        ),
        (rolling(|rolling| rolling.error_rate = f64::NAN), "detector.rolling.error_rate", nan),
        (new().detector(slow(Duration::ZERO)), "detector.rolling.slow_call", zero),
        (
            new().detector(Detector::any_of([slow(SECOND), slow(2 * SECOND)])),
            "detector.rolling.slow_call",
            "is given more than once: only one can hold",
        ),
        (new().detector(Detector::ring(9, 0, 0.5)), "detector.ring.min_samples", zero),
        (
            new().detector(Detector::ring(9, 10, 0.5)),
            "detector.ring.min_samples",
            "is 10: at most 9 can be, because the ring never holds more results",
        ),
        (
            new().detector(Detector::ring(MAX_RING + 1, 1, 0.5)),
            "detector.ring.size",
            "is 1048577: at most 1048576 can be, because memory is bounded",
        ),
        (new().detector(Detector::ring(9, 9, f64::NAN)), "detector.ring.error_rate", nan),
        (new().open_for(Duration::ZERO), "open_for", zero),
        (new().half_open_for(Duration::ZERO), "half_open_for", zero),
        (new().half_open(HalfOpenPolicy::all(0)), "half_open.max_trials", zero),
        (new().half_open(HalfOpenPolicy::all(3).at_once(0)), "half_open.at_once", zero),
        (
            new().half_open(HalfOpenPolicy::all(3).at_once(4)),
            "half_open.at_once",
            "is 4: at most 3 can be, because there are no more trials",
        ),
        (close(3, ClosePolicy::Successes(0)), "half_open.successes", zero),
        (close(3, ClosePolicy::Successes(4)), "half_open.successes", trials),
        (close(3, rate(0, 0.5)), "half_open.trials", zero),
        (close(3, rate(4, 0.5)), "half_open.trials", trials),
        (close(3, rate(3, 1.5)), "half_open.success_rate", "is 1.5: it must be within 0 and 1"),
        (close(3, rate(3, f64::NAN)), "half_open.success_rate", nan),
        (
            listened_to(MAX_LISTENERS + 1),
            "on_event",
            "is 65: at most 64 can be, because each of them runs within a call",
        ),
    ]
}

#[test]
fn what_can_not_work_is_refused_by_the_name_of_its_field() {
    for (builder, field, says) in impossible() {
        let described = format!("{builder:?}");
        let error = builder.build().expect_err(&described);
        assert_eq!(error.field, field, "{described}");
        assert_eq!(text(&error), format!("breaker {:?}: {field} {says}", error.breaker));
    }
}

#[test]
fn detectors_within_detectors_are_those_at_the_bottom_however_deep_they_stand() {
    let bottom = Detector::any_of([Detector::consecutive(2), slow(SECOND)]);
    let nest = |mut detector: Detector, depth: u32| {
        for _ in 0..depth {
            detector = Detector::any_of([detector]);
        }
        detector
    };
    assert_eq!(nest(bottom.clone(), 100_000), bottom);
    assert!(new().detector(nest(bottom, 3_000)).build().is_ok());
    let error = new().detector(nest(Detector::any_of([]), 3_000)).build().unwrap_err();
    assert_eq!((error.field, error.problem), ("detector", Problem::Empty));
}

#[test]
fn more_detectors_than_can_be_are_refused_however_they_are_put_together() {
    let mut detector = Detector::consecutive(1);
    for _ in 0..100 {
        detector = Detector::any_of([detector.clone(), detector]);
    }
    let error = new().detector(detector).build().unwrap_err();
    assert_eq!(error.field, "detector");
    assert!(matches!(error.problem, Problem::TooMany { given: 9, most: 8, .. }), "{error}");
}

#[test]
fn a_registry_refuses_what_its_breakers_could_not_work_with() {
    for (builder, field, _) in impossible() {
        let error = Breakers::<u32>::builder(builder).build().unwrap_err();
        assert_eq!(error.field, field);
    }
}

#[cfg(feature = "async")]
#[test]
fn a_timeout_must_be_some_time_and_end_before_a_probe_is_lost() {
    let error = new().timeout(Duration::ZERO).build().unwrap_err();
    assert_eq!((error.field, error.problem), ("timeout", Problem::Zero));
    let error = new().timeout(2 * SECOND).half_open_for(2 * SECOND).build().unwrap_err();
    assert_eq!(error.field, "half_open_for");
    assert_eq!(
        text(error),
        "breaker \"payments\": half_open_for is 2s: it must be longer than 2s, \
         because a probe must not be lost before its timeout"
    );
    assert!(new().timeout(2 * SECOND - TICK).half_open_for(2 * SECOND).build().is_ok());
}

#[test]
fn an_error_names_the_breaker_and_not_more_of_it_than_fits() {
    let error = Breaker::builder("é".repeat(1_000)).build().unwrap_err();
    assert_eq!(error.breaker.chars().count(), MAX_NAME);
    assert!(matches!(error.problem, Problem::TooLong { given: 2_000, most: 200 }));
    let error = new().open_for(Duration::ZERO).build().unwrap_err();
    let expected =
        ConfigError { breaker: "payments".to_owned(), field: "open_for", problem: Problem::Zero };
    assert_eq!(error, expected);
}

#[test]
fn a_registry_has_a_capacity_and_a_time_to_be_idle() {
    let builder = || Breakers::<u32>::builder(new());
    for (builder, says) in [
        (builder().capacity(0), "registry.capacity is zero: it must be at least one unit"),
        (
            builder().capacity(MAX_REGISTRY + 1),
            "registry.capacity is 16777217: at most 16777216 can be, because memory is bounded",
        ),
        (
            builder().idle_for(Duration::ZERO),
            "registry.idle_for is zero: it must be at least one unit",
        ),
    ] {
        assert_eq!(text(builder.build().unwrap_err()), format!("breaker \"payments\": {says}"));
    }
    assert!(builder().capacity(1).idle_for(TICK).build().is_ok());
    assert!(builder().capacity(MAX_REGISTRY).idle_for(Duration::MAX).build().is_ok());
}

#[test]
fn the_edges_of_what_is_possible_are_accepted() {
    let all = soon(|| {
        let everything = vec![
            Breaker::builder("x"),
            Breaker::builder("x".repeat(MAX_NAME)),
            Breaker::builder("日本 🦀"),
            new().detector(Detector::consecutive(1)),
            new().detector(Detector::consecutive(u32::MAX)),
            new().detector(Detector::any_of(vec![Detector::default(); MAX_DETECTORS])),
            new().detector(Detector::rolling(TICK, 1, 0.0)),
            new().detector(Detector::rolling(Duration::MAX, u32::MAX, 1.0)),
            new().detector(slow(TICK)),
            new().detector(slow(Duration::MAX)),
            new().detector(Detector::any_of([slow(SECOND), slow(SECOND)])),
            new().detector(Detector::ring(1, 1, 0.0)),
            new().detector(Detector::ring(MAX_RING, MAX_RING, 1.0)),
            new().detector(Ring::default()),
            new().open_for(TICK),
            new().open_for(Duration::MAX),
            new().half_open_for(TICK),
            new().half_open_for(Duration::MAX),
            new().half_open(HalfOpenPolicy::all(1)),
            new().half_open(HalfOpenPolicy::all(u32::MAX).at_once(1)),
            new().half_open(HalfOpenPolicy::all(u32::MAX).at_once(u32::MAX)),
            close(3, ClosePolicy::Successes(3)),
            close(3, rate(3, 0.0)),
            close(3, rate(1, 1.0)),
            close(u32::MAX, rate(u32::MAX, 1.0)),
            close(u32::MAX, rate(u32::MAX, 0.999_999)),
            new().latency(LatencyOf::Every),
            listened_to(MAX_LISTENERS),
        ];
        everything.into_iter().map(Builder::build).all(|built| built.is_ok())
    });
    assert!(all);
}

#[test]
fn the_defaults_are_those_that_the_methods_name() {
    let (breaker, clock) = support::build(|builder| builder);
    for _ in 0..5 {
        assert_eq!(breaker.would_reject(), None);
        support::fail(&breaker);
    }
    assert_eq!(breaker.would_reject().unwrap().retry_after, Some(5 * SECOND));
    clock.advance(5 * SECOND);
    let probes: Vec<_> = (0..3).map(|_| breaker.enter().unwrap()).collect();
    assert_eq!(breaker.enter().unwrap_err().retry_after, Some(60 * SECOND));
    probes.into_iter().for_each(|probe| drop(Box::new(probe.success())));
    assert_eq!(breaker.snapshot().closed_total, 1);
}
