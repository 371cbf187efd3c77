#![cfg(test)]
//! A limiter asks what a call would be told, and spends nothing of the breaker by asking.

mod support;

use mainstay_breaker::{Breaker, Detector, HalfOpenPolicy, Rejected, State};
use support::{Heard, SECOND, TICK, build, fail, trip};

use State::{HalfOpen, Open};

fn ask_often(breaker: &Breaker) -> Option<Rejected> {
    let answers: Vec<_> = (0..100).map(|_| breaker.would_reject()).collect();
    assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "asking changes nothing");
    answers[0]
}

#[test]
fn a_closed_breaker_would_reject_nothing() {
    let (breaker, _clock) = build(|builder| builder);
    assert_eq!(ask_often(&breaker), None);
    assert_eq!(breaker.snapshot().allowed_total, 0);
}

#[test]
fn an_open_breaker_gives_its_reason_and_counts_no_reject() {
    let heard = Heard::default();
    let (breaker, clock) = build(|builder| builder.on_event(heard.listener()));
    trip(&breaker);
    heard.take();
    for elapsed in 0..5 {
        let retry_after = Some((5 - elapsed) * SECOND);
        assert_eq!(ask_often(&breaker), Some(Rejected { state: Open, retry_after }));
        clock.advance(SECOND);
    }
    assert_eq!(ask_often(&breaker), None);
    let snapshot = breaker.snapshot();
    assert_eq!((snapshot.rejected_total, snapshot.half_opened_total), (0, 0));
    assert_eq!(heard.take(), [], "nobody was refused");
}

#[test]
fn the_last_moment_of_open_still_rejects() {
    let (breaker, clock) = build(|builder| builder);
    trip(&breaker);
    clock.advance(5 * SECOND - TICK);
    let rejected = Rejected { state: Open, retry_after: Some(TICK) };
    assert_eq!(breaker.would_reject(), Some(rejected));
    assert_eq!(breaker.enter().unwrap_err(), rejected);
    clock.advance(TICK);
    assert_eq!(breaker.would_reject(), None);
    assert!(breaker.enter().is_ok());
}

#[test]
fn asking_takes_no_probe() {
    let (breaker, clock) = build(|builder| builder.half_open(HalfOpenPolicy::all(2)));
    trip(&breaker);
    clock.advance(5 * SECOND);
    assert_eq!(ask_often(&breaker), None);
    let first = breaker.enter().unwrap();
    assert_eq!(ask_often(&breaker), None);
    let _second = breaker.enter().unwrap();
    clock.advance(SECOND);
    let full = Rejected { state: HalfOpen, retry_after: Some(59 * SECOND) };
    assert_eq!(ask_often(&breaker), Some(full), "at the latest when the first is lost");
    drop(first);
    assert_eq!(ask_often(&breaker), None);
    let snapshot = breaker.snapshot();
    assert_eq!((snapshot.rejected_total, snapshot.in_flight), (0, 1));
}

#[test]
fn lost_probes_make_room_and_asking_does_not_write_it_down() {
    let (breaker, clock) = build(|builder| builder.half_open(HalfOpenPolicy::all(1)));
    trip(&breaker);
    clock.advance(5 * SECOND);
    let _hangs = breaker.enter().unwrap();
    clock.advance(60 * SECOND);
    assert_eq!(ask_often(&breaker), None);
    assert_eq!(breaker.snapshot().probe_lost_total, 0);
    assert!(breaker.enter().is_ok());
    assert_eq!(breaker.snapshot().probe_lost_total, 1);
}

#[test]
fn only_a_person_ends_what_was_forced_open() {
    let (breaker, clock) = build(|builder| builder);
    breaker.force_open();
    let forced = Rejected { state: Open, retry_after: None };
    assert_eq!(ask_often(&breaker), Some(forced));
    clock.advance(86_400 * SECOND);
    assert_eq!(ask_often(&breaker), Some(forced));
    breaker.force_closed();
    assert_eq!(ask_often(&breaker), None);
    breaker.reset();
    assert_eq!(ask_often(&breaker), None);
}

#[test]
fn what_is_said_is_what_enter_does() {
    let (breaker, clock) = build(|builder| {
        builder
            .detector(Detector::consecutive(2))
            .half_open(HalfOpenPolicy::all(3).at_once(1))
            .half_open_for(2 * SECOND)
    });
    let mut kept = Vec::new();
    for step in 0..400_u32 {
        clock.advance(SECOND / 4);
        let said = breaker.would_reject();
        match breaker.enter() {
            Ok(permit) => {
                assert_eq!(said, None, "step {step}");
                match step % 5 {
                    0 => kept.push(permit),
                    1 | 2 => drop(permit.failure()),
                    3 => drop(permit.success()),
                    _ => drop(permit),
                }
            }
            Err(rejected) => assert_eq!(said, Some(rejected), "step {step}"),
        }
        if step % 7 == 0 {
            kept.pop();
        }
    }
    assert!(breaker.snapshot().rejected_total > 20);
    assert!(breaker.snapshot().allowed_total > 20);
}

#[test]
fn after_the_retry_time_the_next_call_is_let_through() {
    let (breaker, clock) = build(|builder| builder);
    for _ in 0..5 {
        fail(&breaker);
    }
    let retry_after = breaker.would_reject().unwrap().retry_after.unwrap();
    clock.advance(retry_after);
    assert!(breaker.enter().is_ok());
}
