//! Whatever was saved, by whomever: what is restored works, and what it saves in its turn can be
//! restored again.
#![cfg(test)]

mod common;

use std::time::Duration;

use common::{OPEN_FOR, Rig};
use mainstay_breaker::{Detector, MAX_SAVED_GENERATION, Rolling, Saved, State};

const STATES: [State; 3] = [State::Closed, State::Open, State::HalfOpen];
const DURATIONS: [Duration; 4] = [Duration::ZERO, Duration::from_nanos(1), OPEN_FOR, Duration::MAX];
const GENERATIONS: [u64; 5] =
    [0, 1, MAX_SAVED_GENERATION / 2, MAX_SAVED_GENERATION - 1, MAX_SAVED_GENERATION];

/// Everything that a file may hold and a breaker takes.
fn everything() -> impl Iterator<Item = Saved> {
    let mut all = Vec::new();
    for state in STATES {
        for forced in [false, true] {
            for failures in [0, 1, 2, 3, u32::MAX - 1, u32::MAX] {
                for open_remaining in DURATIONS {
                    all.extend(GENERATIONS.map(|generation| Saved {
                        state,
                        forced,
                        failures,
                        open_remaining,
                        generation,
                    }));
                }
            }
        }
    }
    all.into_iter()
}

fn rigs() -> [Rig; 3] {
    let slow = Rolling { slow_call: Some(OPEN_FOR), ..Rolling::default() };
    [
        Rig::new(),
        Rig::with(|builder| builder.detector(Detector::ring(5, 2, 0.5))),
        Rig::with(|builder| {
            builder.detector(Detector::any_of([Detector::consecutive(3), slow.into()]))
        }),
    ]
}

#[test]
fn what_the_next_call_is_told_agrees_with_what_is_shown() {
    for saved in everything() {
        for rig in rigs() {
            rig.breaker.restore(&saved).unwrap();
            let (state, refused) = (rig.state(), rig.breaker.would_reject());
            assert_eq!(rig.snapshot().state, state, "{saved:?}");
            assert_eq!(rig.breaker.enter().map(drop).err(), refused, "{saved:?}");
            assert_eq!(rig.snapshot().in_flight, 0);
        }
    }
}

#[test]
fn it_opens_closes_and_is_reset_as_ever_until_the_end_of_time() {
    for saved in everything() {
        for rig in rigs() {
            rig.breaker.restore(&saved).unwrap();
            rig.clock.advance(Duration::MAX);
            let _ = rig.breaker.enter().map(mainstay_breaker::Permit::failure);
            rig.breaker.reset();
            assert_eq!(rig.state(), State::Closed, "{saved:?}");
            rig.succeed();
        }
    }
}

#[test]
fn what_it_saves_can_be_restored_by_itself_and_by_the_next_process_for_ever() {
    for saved in everything() {
        let mut last = saved;
        for _ in 0..5 {
            for rig in rigs() {
                rig.breaker.restore(&last).unwrap();
                assert!(rig.snapshot().generation > last.generation, "{saved:?}");
                rig.breaker.reset();
                rig.breaker.force_open();
                let own = rig.breaker.export();
                assert_eq!(rig.breaker.restore(&own), Ok(()), "{saved:?}");
                last = rig.breaker.export();
            }
        }
        assert!(last.generation <= MAX_SAVED_GENERATION);
    }
}

#[test]
fn what_was_in_flight_before_is_stale_also_at_the_limit() {
    for generation in GENERATIONS {
        let rig = Rig::new();
        let saved = Saved { generation, ..rig.breaker.export() };
        for _ in 0..3 {
            let early = rig.enter();
            rig.breaker.restore(&saved).unwrap();
            rig.breaker.restore(&rig.breaker.export()).unwrap();
            assert_eq!(early.failure(), mainstay_breaker::Settled::Stale, "{generation}");
        }
    }
}
