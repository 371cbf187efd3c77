//! What is tried in many orders.

use std::time::Duration;

use mainstay_breaker::{
    Breaker, CallError, Detector, Event, HalfOpenPolicy, LatencyOf, ManualClock, Settled, State,
};
use shuttle::future::{JoinHandle, block_on, spawn, yield_now};
use shuttle::rand::{Rng, thread_rng};

use crate::calls::{Fate, Tally, any_call, patience, tick, work};
use crate::given_up::{Ended, PATIENT, given_up_after};

const OPEN_FOR: Duration = Duration::from_secs(5);
const TIMEOUT: Duration = Duration::from_secs(3);
const LOST_AFTER: Duration = Duration::from_secs(20);
const CALLERS: usize = 3;
const CALLS_EACH: usize = 3;

fn breaker(failures: u32, probes: u32) -> (Breaker, ManualClock) {
    let clock = ManualClock::new();
    let breaker = Breaker::builder("shuttled")
        .detector(Detector::consecutive(failures))
        .open_for(OPEN_FOR)
        .half_open(HalfOpenPolicy::all(probes))
        .half_open_for(LOST_AFTER)
        .timeout(TIMEOUT)
        .latency(LatencyOf::Nothing)
        .clock(clock.clone())
        .build()
        .unwrap();
    (breaker, clock)
}

/// Open, with the time to be open over.
fn due_for_probes(probes: u32) -> (Breaker, ManualClock) {
    let (breaker, clock) = breaker(1, probes);
    breaker.enter().unwrap().failure();
    clock.advance(OPEN_FOR);
    (breaker, clock)
}

/// Everything that was let through has ended, and was counted once.
fn assert_adds_up(breaker: &Breaker, ran: u64) {
    let seen = breaker.snapshot();
    let ended = seen.success_total
        + seen.failure_total
        + seen.ignored_total
        + seen.cancelled_total
        + seen.stale_total;
    assert_eq!((seen.in_flight, seen.allowed_total, ended), (0, ran, ran), "{seen:?}");
}

fn assert_all_slots_free(breaker: &Breaker, probes: u32) {
    let held: Vec<_> = (0..probes).map(|_| breaker.enter().unwrap()).collect();
    assert_eq!(breaker.enter().unwrap_err().state, State::HalfOpen);
    drop(held);
}

pub(crate) fn whatever_becomes_of_calls_they_add_up_and_the_breaker_recovers() {
    block_on(async {
        let (breaker, clock) = breaker(2, 2);
        let mut events = breaker.subscribe().unwrap();
        let tally = Tally::default();
        let callers = [(); CALLERS].map(|()| {
            let (breaker, tally) = (breaker.clone(), tally.clone());
            spawn(async move {
                for _ in 0..CALLS_EACH {
                    any_call(&breaker, &tally).await;
                }
            })
        });
        let person = spawn(meddle(breaker.clone()));
        tick(&clock, || !callers.iter().all(JoinHandle::is_finished)).await;
        person.await.unwrap();
        assert_eq!(tally.running(), 0, "what was given up has stopped");
        assert_adds_up(&breaker, tally.ran());
        let seen = breaker.snapshot();
        assert_eq!(seen.rejected_total, tally.refused());
        let told = follow(&mut events);
        assert_eq!(told, (seen.success_total, seen.failure_total));
        // What is stale counts as neither.
        let ended = tally.ended();
        assert!(told.0 <= ended.0 && told.1 <= ended.1, "{told:?} {ended:?}");
        recover(&breaker, &clock);
    });
}

/// Somebody who looks, and now and then resets.
async fn meddle(breaker: Breaker) {
    for _ in 0..CALLS_EACH {
        let seen = breaker.snapshot();
        let ended = seen.success_total + seen.failure_total + seen.cancelled_total;
        assert!(ended + seen.stale_total + seen.in_flight <= seen.allowed_total, "{seen:?}");
        if thread_rng().gen_bool(0.3) {
            breaker.reset();
        }
        yield_now().await;
    }
}

/// Reads what was told: each change follows from the one before it.
fn follow(events: &mut mainstay_breaker::Events) -> (u64, u64) {
    let (mut state, mut generation) = (State::Closed, 0);
    let (mut successes, mut failures) = (0, 0);
    while let Some(event) = events.try_next() {
        match event {
            Event::Success { .. } => successes += 1,
            Event::Failure { .. } => failures += 1,
            Event::StateChange { from, to, generation: next, .. } => {
                assert_eq!(from, state);
                assert!(next > generation);
                (state, generation) = (to, next);
            }
            _ => {}
        }
    }
    (successes, failures)
}

fn recover(breaker: &Breaker, clock: &ManualClock) {
    clock.advance(LOST_AFTER);
    for _ in 0..2 {
        breaker.run(|| Ok::<_, ()>(())).unwrap();
    }
    assert_eq!(breaker.state(), State::Closed);
}

pub(crate) fn probes_without_a_result_give_their_slots_back_and_never_share_one() {
    const PROBES: u32 = 2;
    block_on(async {
        let (breaker, _clock) = due_for_probes(PROBES);
        let tally = Tally::default();
        let callers = [(); CALLERS].map(|()| {
            let (breaker, tally) = (breaker.clone(), tally.clone());
            spawn(async move {
                for _ in 0..CALLS_EACH {
                    let polls = patience().min(5);
                    let call = breaker.call(work(tally.clone(), Fate::Hangs));
                    let ended = given_up_after(polls, call).await;
                    assert!(!matches!(ended, Ended::Done(Ok(()))), "{ended:?}");
                }
            })
        });
        for caller in callers {
            caller.await.unwrap();
        }
        assert!(tally.most() <= PROBES.into(), "{} at once", tally.most());
        assert_adds_up(&breaker, tally.ran() + 1);
        assert_eq!(breaker.snapshot().generation, 2);
        assert_all_slots_free(&breaker, PROBES);
    });
}

pub(crate) fn a_reader_of_events_wakes_for_every_change() {
    block_on(async {
        let (breaker, _clock) = breaker(1, 1);
        let mut events = breaker.subscribe().unwrap();
        let reader = spawn(async move { [events.next().await, events.next().await] });
        breaker.force_open();
        breaker.reset();
        let states = reader.await.unwrap().map(|event| match event {
            Some(Event::StateChange { from, to, .. }) => (from, to),
            other => panic!("{other:?}"),
        });
        assert_eq!(states, [(State::Closed, State::Open), (State::Open, State::Closed)]);
    });
}

pub(crate) fn of_several_attempts_one_counts_and_the_others_are_stopped() {
    let (breaker, _clock) = breaker(5, 1);
    let (tally, hedge) = (Tally::default(), breaker.hedge());
    let attempt =
        |fate, polls| block_on(given_up_after(polls, hedge.call(work(tally.clone(), fate))));
    let attempt = &attempt;
    shuttle::thread::scope(|scope| {
        let good = scope.spawn(move || attempt(Fate::Succeeds, PATIENT));
        let bad = scope.spawn(move || attempt(Fate::Fails, patience()));
        // Nothing else would ever end it: it has no timeout, for its clock stands still.
        assert_eq!(attempt(Fate::Hangs, PATIENT), Ended::Done(Err(CallError::Cancelled)));
        // One that is done by the time it would be stopped keeps its answer, and does not count.
        let good = good.join().unwrap();
        assert!(matches!(good, Ended::Done(Ok(()) | Err(CallError::Cancelled))), "{good:?}");
        bad.join().unwrap();
    });
    assert!(hedge.is_decided());
    assert_eq!(tally.running(), 0);
    let seen = breaker.snapshot();
    assert_eq!(seen.success_total + seen.failure_total, 1, "{seen:?}");
    assert_adds_up(&breaker, tally.ran());
}

pub(crate) fn a_call_given_up_for_lost_leaves_its_slot_to_one_other() {
    block_on(async {
        let (breaker, clock) = due_for_probes(1);
        let lost = breaker.enter_owned().unwrap();
        clock.advance(LOST_AFTER);
        let late = spawn(async move { lost.ignore() });
        let others = [(); 2].map(|()| {
            let breaker = breaker.clone();
            spawn(async move { breaker.enter_owned() })
        });
        let [first, second] = others;
        let entered = [first.await.unwrap(), second.await.unwrap()];
        let late = late.await.unwrap();
        assert_eq!(entered.iter().filter(|entered| entered.is_ok()).count(), 1);
        let lost = breaker.snapshot().probe_lost_total;
        assert_eq!(lost, u64::from(late == Settled::Stale));
        drop(entered);
        assert_all_slots_free(&breaker, 1);
        let seen = breaker.snapshot();
        assert_eq!((seen.in_flight, seen.state), (0, State::HalfOpen));
    });
}
