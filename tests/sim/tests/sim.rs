//! What must hold however many services there are.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that can't be set up must stop with the reason"
)]

use std::collections::HashMap;
use std::time::Duration;

use mainstay_monitor::PollPolicy;
use mainstay_monitor::policy::GRID;
use mainstay_sim::{Poll, Script, World, WorldOptions};

const TICK: Duration = Duration::from_secs(5);

/// How many services: 20 000 in the quick tests, more by `./scripts/prove sim`.
fn services() -> u64 {
    let given = std::env::var("MAINSTAY_SIM_SERVICES").ok();
    given.map_or(20_000, |text| text.parse().expect("a number of services"))
}

fn options(script: Script) -> WorldOptions {
    WorldOptions {
        services: services(),
        interval: Duration::from_secs(30),
        script,
        policy: PollPolicy::new(TICK, 5, 10_000).unwrap(),
    }
}

#[test]
fn every_service_is_polled_on_time() {
    let mut world = World::new(&options(Script { flaky_per_mille: 5, ..Script::new(7) }));
    let mut last: HashMap<u64, Poll> = HashMap::new();
    let mut polls = 0_u64;
    world.run(Duration::from_secs(91), |poll| {
        polls += 1;
        if let Some(before) = last.insert(poll.number, *poll)
            && before.succeeded
        {
            let between = poll.began.checked_sub(before.began).unwrap();
            assert_eq!(between, Duration::from_secs(30), "service {}", poll.number);
        }
    });
    assert_eq!(last.len() as u64, services(), "everybody was polled");
    assert!(polls >= 3 * services(), "{polls}");
    assert!(world.latest() <= TICK, "{:?}", world.latest());
}

#[test]
fn waits_and_cooldowns_are_exact_to_the_millisecond() {
    let script = Script { dead_per_mille: 200, ..Script::new(11) };
    let mut world = World::new(&WorldOptions { services: services() / 10, ..options(script) });
    let mut failures: HashMap<u64, Vec<Poll>> = HashMap::new();
    world.run(Duration::from_secs(2_000), |poll| {
        if script.is_dead(poll.number) {
            assert!(!poll.succeeded);
            failures.entry(poll.number).or_default().push(*poll);
        }
    });
    assert!(failures.len() as u64 > services() / 100);
    for (number, polls) in failures {
        for (turn, pair) in polls.windows(2).enumerate() {
            check_wait(number, turn + 1, &pair[0], &pair[1]);
        }
    }
    assert!(world.latest() <= TICK, "{:?}", world.latest());
}

/// When the poll after `failed` failures in a row begins: it takes 10 s to fail, of an interval of 30 s.
fn check_wait(number: u64, failed: usize, before: &Poll, after: &Poll) {
    let what = format!("service {number}, failure {failed}");
    let wait = match failed {
        1..=5 => {
            // Shorter than the interval, which runs from the due time; a crowded point of the grid puts
            // a start off to the next.
            let between = after.began.checked_sub(before.began).unwrap_or_default();
            let off = between.abs_diff(Duration::from_secs(30));
            assert!(off <= GRID * 2, "{what}: {between:?}");
            return;
        }
        6..=9 => Duration::from_secs(1 << (failed - 1)),
        _ => Duration::from_secs(300),
    };
    assert_eq!(before.due_in, wait, "{what}");
    let late = after.began.checked_sub(before.ended).and_then(|waited| waited.checked_sub(wait));
    assert!(late.is_some_and(|late| late < GRID * 3), "{what}: late by {late:?}");
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let small = WorldOptions {
        services: 500,
        ..options(Script { dead_per_mille: 50, flaky_per_mille: 100, ..Script::new(3) })
    };
    let run = || {
        let mut polls = Vec::new();
        World::new(&small).run(Duration::from_secs(600), |poll| polls.push(*poll));
        polls
    };
    assert_eq!(run(), run());
}
