//! Half-open: how many probes go through, what they decide, and what becomes of lost ones.
#![cfg(test)]

mod common;

use std::mem::forget;

use common::{HALF_OPEN_FOR, HOUR, OPEN_FOR, Rig, TICK, millis};
use mainstay_breaker::{ClosePolicy, HalfOpenPolicy, Settled, State};

/// Half-open by this policy, with no probe yet.
fn waited(policy: HalfOpenPolicy) -> Rig {
    let rig = Rig::with(|builder| builder.half_open(policy));
    rig.trip();
    rig.clock.advance(OPEN_FOR);
    rig
}

/// Gives one result for each letter: `s`uccess or `f`ailure.
fn play(rig: &Rig, results: &str) {
    for result in results.chars() {
        if result == 's' { rig.succeed() } else { rig.fail() }
    }
}

#[test]
fn of_ten_calls_at_once_only_as_many_as_there_are_trials_go_through() {
    let rig = waited(HalfOpenPolicy::all(2));
    assert_eq!(rig.admitted_of(10), 2);
    assert_eq!(rig.snapshot().rejected_total, 8);
}

#[test]
fn a_slot_is_taken_by_the_admission_and_freed_by_the_end() {
    let rig = waited(HalfOpenPolicy::all(3).at_once(1));
    let probe = rig.enter();
    assert!(rig.is_refused(), "before it has ended");
    assert_eq!(probe.success(), Settled::Counted);
    assert!(!rig.is_refused(), "after it has ended");
}

#[test]
fn fewer_at_once_still_asks_for_every_trial() {
    let rig = waited(HalfOpenPolicy::all(3).at_once(1));
    for _ in 0..3 {
        assert_eq!(rig.state(), State::HalfOpen);
        assert_eq!(rig.admitted_of(10), 1);
        rig.succeed();
    }
    assert_eq!(rig.state(), State::Closed);
}

#[test]
fn it_closes_with_the_last_of_its_trials_and_not_before() {
    for trials in 1..5 {
        let rig = waited(HalfOpenPolicy::all(trials));
        for _ in 1..trials {
            rig.succeed();
            assert_eq!(rig.state(), State::HalfOpen, "of {trials}");
        }
        rig.succeed();
        assert_eq!(rig.state(), State::Closed, "of {trials}");
    }
}

#[test]
fn trials_that_run_together_count_like_those_one_after_another() {
    let rig = waited(HalfOpenPolicy::all(2));
    let (first, second) = (rig.enter(), rig.enter());
    second.success();
    assert_eq!(rig.state(), State::HalfOpen);
    first.success();
    assert_eq!(rig.state(), State::Closed);
    assert_eq!(rig.snapshot().probe_success_total, 2);
}

#[test]
fn any_failure_opens_again_at_once_and_for_the_whole_time() {
    let rig = waited(HalfOpenPolicy::all(3));
    rig.clock.advance(millis(300));
    let (first, second, third) = (rig.enter(), rig.enter(), rig.enter());
    first.success();
    assert_eq!(second.failure(), Settled::Counted);
    assert_eq!(rig.state(), State::Open);
    assert_eq!(rig.retry_after(), Some(OPEN_FOR));
    assert_eq!(third.success(), Settled::Stale);
    assert_eq!(rig.state(), State::Open);
}

#[test]
fn a_success_before_the_failure_does_not_help_the_next_cycle() {
    let rig = waited(HalfOpenPolicy::all(2));
    play(&rig, "sf");
    rig.clock.advance(OPEN_FOR);
    rig.succeed();
    assert_eq!(rig.state(), State::HalfOpen, "the tally began anew");
    rig.succeed();
    assert_eq!(rig.state(), State::Closed);
}

#[test]
fn fewer_successes_than_trials_close_where_that_was_asked_for() {
    let rig = waited(HalfOpenPolicy::successes(5, 2));
    assert_eq!(rig.admitted_of(10), 5);
    rig.succeed();
    assert_eq!(rig.state(), State::HalfOpen);
    rig.succeed();
    assert_eq!(rig.state(), State::Closed);

    let rig = waited(HalfOpenPolicy::successes(5, 2));
    rig.fail();
    assert_eq!(rig.state(), State::Open);
}

#[test]
fn a_success_rate_decides_at_both_ends_as_soon_as_it_is_certain() {
    for (results, state) in [
        ("s", State::HalfOpen),
        ("ss", State::HalfOpen),
        ("sss", State::Closed),
        ("f", State::HalfOpen),
        ("fs", State::HalfOpen),
        ("fss", State::HalfOpen),
        ("fsss", State::Closed),
        ("ssfs", State::Closed),
        ("ff", State::Open),
        ("sff", State::Open),
        ("ssff", State::Open),
    ] {
        let rig = waited(HalfOpenPolicy::success_rate(4, 0.75));
        play(&rig, results);
        assert_eq!(rig.state(), state, "{results}");
    }
}

#[test]
fn a_success_rate_of_nothing_takes_one_success_and_of_everything_takes_all() {
    for (rate, results, state) in [
        (0.0, "fff", State::HalfOpen),
        (0.0, "fffs", State::Closed),
        (0.0, "ffff", State::Open),
        (1.0, "sss", State::HalfOpen),
        (1.0, "ssss", State::Closed),
        (1.0, "f", State::Open),
    ] {
        let rig = waited(HalfOpenPolicy::success_rate(4, rate));
        play(&rig, results);
        assert_eq!(rig.state(), state, "{results} with {rate}");
    }
}

#[test]
fn a_success_rate_may_be_over_fewer_trials_than_go_through_at_once() {
    let close = ClosePolicy::SuccessRate { trials: 2, success_rate: 0.5 };
    let rig = waited(HalfOpenPolicy { max_trials: 6, at_once: None, close });
    assert_eq!(rig.admitted_of(10), 6);
    play(&rig, "fs");
    assert_eq!(rig.state(), State::Closed);
}

#[test]
fn one_probe_an_hour_closes_in_the_end_because_the_tally_does_not_expire() {
    let rig = waited(HalfOpenPolicy::all(3));
    for _ in 0..3 {
        assert_eq!(rig.state(), State::HalfOpen);
        rig.succeed();
        rig.clock.advance(HOUR);
    }
    assert_eq!(rig.state(), State::Closed);
    assert_eq!(rig.snapshot().probe_lost_total, 0);
}

#[test]
fn a_failed_trial_of_a_success_rate_does_not_expire_either() {
    let rig = waited(HalfOpenPolicy::success_rate(4, 0.75));
    rig.fail();
    rig.clock.advance(HOUR);
    rig.fail();
    assert_eq!(rig.state(), State::Open);
}

#[test]
fn probes_that_do_not_end_are_lost_and_fresh_ones_may_start() {
    let rig = waited(HalfOpenPolicy::all(2));
    forget(rig.enter());
    forget(rig.enter());
    rig.clock.advance(HALF_OPEN_FOR - TICK);
    assert_eq!(rig.retry_after(), Some(TICK));
    assert_eq!((rig.is_refused(), rig.snapshot().probe_lost_total), (true, 0));
    rig.clock.advance(TICK);
    assert_eq!(rig.admitted_of(10), 2);
    let snapshot = rig.snapshot();
    assert_eq!((snapshot.probe_lost_total, snapshot.half_opened_total), (2, 1));
    assert_eq!(snapshot.state, State::HalfOpen);
}

#[test]
fn losing_probes_keeps_what_the_others_had_said() {
    let rig = waited(HalfOpenPolicy::all(2));
    rig.succeed();
    forget(rig.enter());
    rig.clock.advance(HALF_OPEN_FOR);
    rig.succeed();
    assert_eq!(rig.state(), State::Closed);
    assert_eq!(rig.snapshot().probe_lost_total, 1);
}

#[test]
fn a_probe_that_ends_in_time_is_not_lost_with_the_next() {
    let rig = waited(HalfOpenPolicy::all(2));
    rig.succeed();
    rig.clock.advance(HALF_OPEN_FOR - TICK);
    let second = rig.enter();
    rig.clock.advance(HALF_OPEN_FOR - TICK);
    assert_eq!(second.success(), Settled::Counted, "its own time is not over");
    assert_eq!(rig.state(), State::Closed);
}

#[test]
fn what_a_lost_probe_says_at_last_is_stale_and_frees_no_slot() {
    let rig = waited(HalfOpenPolicy::all(2));
    let lost = [rig.enter(), rig.enter()];
    rig.clock.advance(HALF_OPEN_FOR);
    let fresh = [rig.enter(), rig.enter()];
    let [first, second] = lost;
    assert_eq!(first.failure(), Settled::Stale);
    assert_eq!(second.success(), Settled::Stale);
    assert_eq!(rig.state(), State::HalfOpen);
    assert!(rig.is_refused(), "both slots are taken by the fresh ones");
    for probe in fresh {
        assert_eq!(probe.success(), Settled::Counted);
    }
    assert_eq!(rig.state(), State::Closed);
    assert_eq!(rig.snapshot().stale_total, 2);
}

#[test]
fn probes_can_be_lost_again_and_again_without_a_wedge() {
    let rig = waited(HalfOpenPolicy::all(2));
    for _ in 0..50 {
        forget(rig.enter());
        forget(rig.enter());
        rig.clock.advance(HALF_OPEN_FOR);
    }
    rig.succeed();
    rig.succeed();
    let snapshot = rig.snapshot();
    assert_eq!((snapshot.state, snapshot.probe_lost_total), (State::Closed, 100));
}
