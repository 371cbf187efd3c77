//! Half-open has a longest duration for each probe: none is lost before its own time, and none holds
//! its slot after it, whoever comes beside it.
#![cfg(test)]

mod common;

use std::mem::forget;
use std::time::Duration;

use common::{HALF_OPEN_FOR, OPEN_FOR, Rig, TICK};
use mainstay_breaker::{HalfOpenPolicy, Rolling, Settled, State};

const SLOW: Duration = Duration::from_secs(90);

/// Half-open with two slots and no probe yet. Under the second, slow calls count, and later than
/// probes are lost.
fn rigs() -> [Rig; 2] {
    let slow = Rolling {
        window: Duration::from_secs(600),
        min_samples: 3,
        error_rate: 0.5,
        slow_call: Some(SLOW),
    };
    [Rig::new(), Rig::with(|builder| builder.detector(slow))].map(|rig| {
        rig.trip();
        rig.clock.advance(OPEN_FOR);
        rig
    })
}

#[test]
fn none_of_those_in_flight_together_is_lost_before_its_own_time() {
    for rig in rigs() {
        forget(rig.enter());
        rig.clock.advance(HALF_OPEN_FOR / 2);
        let second = rig.enter();
        assert_eq!(rig.retry_after(), Some(HALF_OPEN_FOR / 2), "the first is lost then");
        rig.clock.advance(HALF_OPEN_FOR / 2);
        let third = rig.enter();
        assert_eq!(rig.snapshot().probe_lost_total, 1);
        assert_eq!(rig.retry_after(), Some(HALF_OPEN_FOR / 2));
        rig.clock.advance(HALF_OPEN_FOR / 2 - TICK);
        assert!(rig.is_refused());
        assert_eq!(second.success(), Settled::Counted);
        assert_eq!(third.success(), Settled::Counted);
        assert_eq!((rig.state(), rig.snapshot().probe_lost_total), (State::Closed, 1));
    }
}

#[test]
fn probes_that_overlap_without_end_are_none_of_them_lost_before_its_time() {
    for rig in rigs() {
        let mut current = rig.enter();
        for _ in 0..20 {
            rig.clock.advance(HALF_OPEN_FOR * 2 / 3);
            let next = rig.enter();
            rig.clock.advance(TICK);
            assert_eq!(current.ignore(), Settled::Counted);
            current = next;
        }
        assert_eq!(rig.admitted_of(10), 1);
        assert_eq!(current.success(), Settled::Counted);
        assert_eq!(rig.snapshot().probe_lost_total, 0);
    }
}

#[test]
fn a_probe_that_hangs_is_lost_after_the_longest_duration_of_half_open_whoever_comes_beside_it() {
    for rig in rigs() {
        let hangs = rig.enter();
        for _ in 0..3 {
            rig.clock.advance(HALF_OPEN_FOR / 4);
            assert_eq!(rig.enter().ignore(), Settled::Counted);
            assert_eq!(rig.snapshot().probe_lost_total, 0);
        }
        rig.clock.advance(HALF_OPEN_FOR / 4 - TICK);
        assert_eq!(rig.admitted_of(10), 1, "a moment before");
        rig.clock.advance(TICK);
        assert_eq!(rig.admitted_of(10), 2, "its slot is free again");
        assert_eq!(rig.snapshot().probe_lost_total, 1);
        assert_eq!(hangs.failure(), Settled::Stale, "and what it says now moves nothing");
        assert_eq!(rig.state(), State::HalfOpen);
        assert_eq!(rig.snapshot().stale_total, 1);
    }
}

#[test]
fn those_who_are_left_keep_their_slots_when_one_is_lost() {
    for rig in rigs() {
        forget(rig.enter());
        rig.clock.advance(TICK);
        let young = rig.enter();
        rig.clock.advance(HALF_OPEN_FOR - TICK);
        let fresh = rig.enter();
        assert!(rig.is_refused(), "two are in flight");
        assert_eq!((young.success(), fresh.success()), (Settled::Counted, Settled::Counted));
        assert_eq!(rig.state(), State::Closed);
    }
}

#[test]
fn probes_of_one_moment_are_each_their_own() {
    let rig = rigs().into_iter().next().unwrap();
    let (first, second) = (rig.enter(), rig.enter());
    drop(first);
    let third = rig.enter();
    assert_eq!((second.success(), third.success()), (Settled::Counted, Settled::Counted));
    assert_eq!(rig.state(), State::Closed);
}

#[test]
fn what_is_lost_is_not_counted_as_slow_afterwards() {
    let [_, rig] = rigs();
    let lost = rig.enter();
    rig.clock.advance(HALF_OPEN_FOR);
    let fresh = rig.enter();
    rig.clock.advance(SLOW - HALF_OPEN_FOR + TICK);
    let snapshot = rig.snapshot();
    assert_eq!((snapshot.state, snapshot.slow_total), (State::HalfOpen, 0));
    assert_eq!((lost.success(), fresh.success()), (Settled::Stale, Settled::Counted));
}

#[test]
fn a_policy_that_sends_one_after_the_other_goes_on_after_each_that_hangs() {
    let rig = Rig::with(|builder| builder.half_open(HalfOpenPolicy::all(2).at_once(1)));
    rig.trip();
    rig.clock.advance(OPEN_FOR);
    for lost in 1..=5 {
        forget(rig.enter());
        assert_eq!(rig.retry_after(), Some(HALF_OPEN_FOR));
        rig.clock.advance(HALF_OPEN_FOR);
        assert_eq!(rig.admitted_of(10), 1);
        assert_eq!(rig.snapshot().probe_lost_total, lost);
    }
}

#[cfg(feature = "async")]
mod with_a_timeout_of_its_own {
    use std::task::Poll;

    use mainstay_breaker::CallOptions;

    use super::*;
    use crate::common::{millis, poll};

    /// The call belongs to its caller: the breaker goes on without it, and stops nobody's work.
    #[test]
    fn a_call_that_may_take_longer_than_half_open_has_its_answer_and_is_lost_as_a_probe() {
        let rig = Rig::waited();
        let options = CallOptions::default().timeout(HALF_OPEN_FOR * 3);
        let slow = async {
            tokio::task::yield_now().await;
            Ok::<_, &str>("paid")
        };
        let mut call = Box::pin(rig.breaker.limited(options).call(slow));
        assert!(poll(&mut call).is_pending());
        rig.clock.advance(HALF_OPEN_FOR * 2);
        assert_eq!(rig.admitted_of(10), 2);
        assert_eq!(poll(&mut call), Poll::Ready(Ok("paid")));
        let snapshot = rig.snapshot();
        assert_eq!((snapshot.probe_lost_total, snapshot.stale_total), (1, 1));
        assert_eq!((snapshot.timeout_total, snapshot.probe_success_total), (0, 0));
    }

    #[test]
    fn a_call_within_the_time_of_half_open_is_never_lost_before_its_timeout() {
        let rig = Rig::waited();
        forget(rig.enter());
        rig.clock.advance(HALF_OPEN_FOR - millis(1));
        let timeout = HALF_OPEN_FOR - millis(1);
        let options = CallOptions::default().timeout(timeout);
        let hangs = std::future::pending::<Result<(), &str>>();
        let mut call = Box::pin(rig.breaker.limited(options).call(hangs));
        assert!(poll(&mut call).is_pending());
        rig.clock.advance(timeout);
        drop(rig.breaker.enter());
        assert!(poll(&mut call).is_ready());
        let snapshot = rig.snapshot();
        assert_eq!((snapshot.timeout_total, snapshot.state), (1, State::Open), "it counted");
    }
}

#[test]
fn after_an_operators_lost_probe_it_is_open_since_that_was_lost() {
    let rig = Rig::with(|builder| builder.open_for(10 * HALF_OPEN_FOR));
    rig.trip();
    rig.clock.advance(HALF_OPEN_FOR);
    forget(rig.breaker.enter_probe().unwrap());
    rig.clock.advance(HALF_OPEN_FOR + 3 * TICK);
    let snapshot = rig.snapshot();
    assert_eq!((snapshot.state, snapshot.in_state_for), (State::Open, 3 * TICK));
    assert_eq!(snapshot.retry_after, Some(8 * HALF_OPEN_FOR - 3 * TICK));
}
