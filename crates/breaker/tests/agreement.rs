//! What the breaker says of itself and what the next call finds never disagree.
#![cfg(test)]

mod common;

use std::mem::forget;
use std::time::Duration;

use common::{HALF_OPEN_FOR, OPEN_FOR, Rig, TICK, millis};
use mainstay_breaker::{
    Breaker, Detector, HalfOpenPolicy, ManualClock, Permit, Rejected, Rolling, State,
};
use proptest::prelude::*;

type SetUp = fn() -> Rig;

/// Where a breaker can stand, the state it must show, and whether a call goes through.
const SITUATIONS: &[(&str, SetUp, State, bool)] = &[
    ("closed", Rig::new, State::Closed, true),
    ("closed with failures", failing, State::Closed, true),
    ("open", Rig::open, State::Open, false),
    ("open, a tick before its time", nearly_waited, State::Open, false),
    ("open, its time over", Rig::waited, State::HalfOpen, true),
    ("half-open with a free slot", one_probe, State::HalfOpen, true),
    ("half-open and full", full, State::HalfOpen, false),
    ("half-open and full, a tick before they are lost", nearly_lost, State::HalfOpen, false),
    ("half-open with lost probes", lost, State::HalfOpen, true),
    ("an operator's probe in flight", operator, State::HalfOpen, false),
    ("an operator's probe in flight, open's time over", operator_late, State::HalfOpen, false),
    ("an operator's probe lost before open's time is over", operator_lost, State::Open, false),
    ("an operator's probe lost, open's time over", operator_lost_late, State::HalfOpen, true),
    ("an operator's probe given up", operator_gone, State::Open, false),
    ("forced open", forced_open, State::Open, false),
    ("forced open for an hour", forced_open_long, State::Open, false),
    ("forced closed", forced_closed, State::Closed, true),
    ("forced closed with failures", forced_closed_failing, State::Closed, true),
];

/// Open for longer than a probe may take.
fn open_for_long() -> Rig {
    let rig = Rig::with(|builder| builder.open_for(HALF_OPEN_FOR * 2));
    rig.trip();
    rig
}

fn failing() -> Rig {
    let rig = Rig::new();
    rig.fail();
    rig
}

fn nearly_waited() -> Rig {
    let rig = Rig::open();
    rig.clock.advance(OPEN_FOR - TICK);
    rig
}

fn one_probe() -> Rig {
    let rig = Rig::waited();
    forget(rig.enter());
    rig
}

fn full() -> Rig {
    let rig = one_probe();
    forget(rig.enter());
    rig
}

fn nearly_lost() -> Rig {
    let rig = full();
    rig.clock.advance(HALF_OPEN_FOR - TICK);
    rig
}

fn lost() -> Rig {
    let rig = full();
    rig.clock.advance(HALF_OPEN_FOR);
    rig
}

fn operator() -> Rig {
    let rig = Rig::open();
    forget(rig.breaker.enter_probe().unwrap());
    rig
}

fn operator_late() -> Rig {
    let rig = operator();
    rig.clock.advance(OPEN_FOR);
    rig
}

fn operator_lost() -> Rig {
    let rig = open_for_long();
    forget(rig.breaker.enter_probe().unwrap());
    rig.clock.advance(HALF_OPEN_FOR);
    rig
}

fn operator_lost_late() -> Rig {
    let rig = operator();
    rig.clock.advance(HALF_OPEN_FOR);
    rig
}

fn operator_gone() -> Rig {
    let rig = Rig::open();
    drop(rig.breaker.enter_probe().unwrap());
    rig
}

fn forced_open() -> Rig {
    let rig = Rig::new();
    rig.breaker.force_open();
    rig
}

fn forced_open_long() -> Rig {
    let rig = forced_open();
    rig.clock.advance(common::HOUR);
    rig
}

fn forced_closed() -> Rig {
    let rig = Rig::open();
    rig.breaker.force_closed();
    rig
}

fn forced_closed_failing() -> Rig {
    let rig = forced_closed();
    (0..10).for_each(|_| rig.fail());
    rig
}

#[test]
fn every_situation_shows_the_state_that_the_next_call_finds() {
    for (name, set_up, state, _) in SITUATIONS {
        let rig = set_up();
        assert_eq!(rig.state(), *state, "state() when {name}");
        assert_eq!(rig.snapshot().state, *state, "snapshot() when {name}");
        let found = rig.breaker.enter().map(forget).map_err(|rejected| rejected.state);
        assert_eq!(found.err().unwrap_or(rig.state()), *state, "enter() when {name}");
    }
}

#[test]
fn every_situation_foretells_what_the_next_call_is_told() {
    for (name, set_up, _, goes_through) in SITUATIONS {
        let rig = set_up();
        let foretold = rig.breaker.would_reject();
        let retry_after = rig.snapshot().retry_after;
        let told = rig.breaker.enter().map(forget).err();
        assert_eq!(told.is_none(), *goes_through, "{name}");
        assert_eq!(foretold, told, "{name}");
        assert_eq!(retry_after, told.and_then(|rejected| rejected.retry_after), "{name}");
    }
}

#[test]
fn looking_changes_nothing() {
    for (name, set_up, ..) in SITUATIONS {
        let rig = set_up();
        let before = rig.snapshot();
        for _ in 0..3 {
            let _ = (rig.state(), rig.breaker.would_reject(), rig.breaker.export());
        }
        assert_eq!(rig.snapshot(), before, "{name}");
    }
}

#[test]
fn the_way_from_open_to_half_open_is_written_down_by_the_next_call_alone() {
    let rig = Rig::waited();
    let before = rig.snapshot();
    assert_eq!((before.state, before.half_opened_total), (State::HalfOpen, 0));
    drop(rig.enter());
    let after = rig.snapshot();
    assert_eq!((after.state, after.half_opened_total), (State::HalfOpen, 1));
    assert_eq!(after.generation, before.generation + 1);
}

#[test]
fn the_advice_of_a_refusal_is_right_to_the_nanosecond() {
    for (name, set_up, ..) in SITUATIONS {
        let rig = set_up();
        let Some(Rejected { retry_after: Some(retry_after), .. }) = rig.breaker.would_reject()
        else {
            continue;
        };
        rig.clock.advance(retry_after - TICK);
        assert!(rig.is_refused(), "{name}");
        rig.clock.advance(TICK);
        assert!(!rig.is_refused(), "{name}");
    }
}

/// What can be done to a breaker.
#[derive(Debug, Clone)]
enum Step {
    Enter,
    EnterProbe,
    Success(usize),
    Failure(usize),
    Ignore(usize),
    Drop(usize),
    Forget(usize),
    Advance(Duration),
    GoBack(Duration),
    ForceOpen,
    ForceClosed,
    Reset,
}

fn step() -> impl Strategy<Value = Step> {
    let duration = (0_u64..70_000).prop_map(millis);
    prop_oneof![
        12 => Just(Step::Enter),
        2 => Just(Step::EnterProbe),
        4 => any::<usize>().prop_map(Step::Success),
        6 => any::<usize>().prop_map(Step::Failure),
        1 => any::<usize>().prop_map(Step::Ignore),
        1 => any::<usize>().prop_map(Step::Drop),
        1 => any::<usize>().prop_map(Step::Forget),
        3 => Just(Step::Advance(OPEN_FOR)),
        2 => duration.clone().prop_map(Step::Advance),
        1 => duration.prop_map(Step::GoBack),
        1 => Just(Step::ForceOpen),
        1 => Just(Step::ForceClosed),
        1 => Just(Step::Reset),
    ]
}

fn pick<'a>(held: &mut Vec<Permit<'a>>, which: usize) -> Option<Permit<'a>> {
    if held.is_empty() { None } else { Some(held.swap_remove(which % held.len())) }
}

/// Looks at the breaker, then enters it: both must have seen the same.
fn enter_as_foretold<'a>(
    breaker: &'a Breaker,
    held: &mut Vec<Permit<'a>>,
) -> Result<(), TestCaseError> {
    let (state, foretold) = (breaker.state(), breaker.would_reject());
    let snapshot = breaker.snapshot();
    prop_assert_eq!(snapshot.state, state);
    prop_assert_eq!(snapshot.retry_after, foretold.and_then(|rejected| rejected.retry_after));
    match breaker.enter() {
        Ok(permit) => {
            prop_assert_eq!(foretold, None);
            prop_assert_eq!(breaker.state(), state);
            held.push(permit);
        }
        Err(rejected) => {
            prop_assert_eq!(foretold, Some(rejected));
            prop_assert_eq!(rejected.state, state);
        }
    }
    Ok(())
}

fn take<'a>(
    step: &Step,
    breaker: &'a Breaker,
    clock: &ManualClock,
    held: &mut Vec<Permit<'a>>,
) -> Result<(), TestCaseError> {
    match *step {
        Step::Enter => enter_as_foretold(breaker, held)?,
        Step::EnterProbe => held.extend(breaker.enter_probe()),
        Step::Success(which) => drop(pick(held, which).map(Permit::success)),
        Step::Failure(which) => drop(pick(held, which).map(Permit::failure)),
        Step::Ignore(which) => drop(pick(held, which).map(Permit::ignore)),
        Step::Drop(which) => drop(pick(held, which)),
        Step::Forget(which) => pick(held, which).into_iter().for_each(forget),
        Step::Advance(duration) => clock.advance(duration),
        Step::GoBack(duration) => clock.step_back(duration),
        Step::ForceOpen => breaker.force_open(),
        Step::ForceClosed => breaker.force_closed(),
        Step::Reset => breaker.reset(),
    }
    Ok(())
}

fn detector() -> impl Strategy<Value = Detector> {
    let slow_call = prop::option::of(Just(millis(2_000)));
    prop_oneof![
        Just(Detector::consecutive(3)),
        slow_call.prop_map(|slow_call| {
            let window = millis(10_000);
            Detector::from(Rolling { window, min_samples: 4, error_rate: 0.5, slow_call })
        }),
    ]
}

proptest! {
    #[test]
    fn no_history_makes_them_disagree(
        detector in detector(),
        policy in prop_oneof![
            Just(HalfOpenPolicy::all(2)),
            Just(HalfOpenPolicy::all(3).at_once(1)),
            Just(HalfOpenPolicy::success_rate(4, 0.5)),
        ],
        steps in prop::collection::vec(step(), 1..120),
    ) {
        let Rig { clock, breaker } =
            Rig::with(|builder| builder.detector(detector).half_open(policy));
        let mut held = Vec::new();
        for step in &steps {
            take(step, &breaker, &clock, &mut held)?;
        }
        enter_as_foretold(&breaker, &mut held)?;
    }
}
