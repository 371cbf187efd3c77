//! Instances that die, freeze, are cut off and come, in virtual time.
#![cfg(test)]
#![expect(
    clippy::disallowed_methods,
    reason = "a proof is told by the environment how long it may take"
)]

mod base;
mod world;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::world::{Fault, World};

/// How long things happen, and how long nothing happens after that, in ms.
const EVENTFUL: u64 = 90_000;
const QUIET: u64 = 60_000;

/// How many histories `./scripts/prove shards` makes, others in every run.
const HISTORIES: &str = "MAINSTAY_SHARD_HISTORIES";

/// The same few histories in every run, unless somebody asks for more.
fn config() -> ProptestConfig {
    let asked = std::env::var(HISTORIES).ok().and_then(|text| text.parse().ok());
    match asked {
        Some(cases) => ProptestConfig { cases, ..ProptestConfig::default() },
        None => {
            let rng_seed = RngSeed::Fixed(20_261_116);
            ProptestConfig { cases: 48, rng_seed, ..ProptestConfig::default() }
        }
    }
}

fn fault() -> impl Strategy<Value = Fault> {
    let who = 0_usize..4;
    prop_oneof![
        2 => who.clone().prop_map(Fault::Kill),
        2 => (who.clone(), 500_u64..40_000).prop_map(|(who, time)| Fault::Freeze(who, time)),
        2 => (who.clone(), 500_u64..40_000).prop_map(|(who, time)| Fault::Cut(who, time)),
        1 => who.prop_map(Fault::Stop),
        4 => Just(Fault::Join),
    ]
}

proptest! {
    #![proptest_config(config())]

    /// At every moment at most one instance polls a shard; no late write is taken; fifteen seconds after
    /// the last fault every shard is polled, by everybody's equal share in the end.
    #[test]
    fn every_shard_has_one_owner_and_is_soon_owned_again(
        seed in any::<u64>(),
        faults in prop::collection::vec((0..EVENTFUL, fault()), 0..12),
    ) {
        live_through(seed, faults);
    }
}

fn live_through(seed: u64, mut faults: Vec<(u64, Fault)>) {
    let mut world = World::new(seed, 2);
    faults.sort_by_key(|(at, _)| *at);
    let mut coming = faults.into_iter().peekable();
    while world.now < EVENTFUL + QUIET {
        while let Some((_, fault)) = coming.next_if(|(at, _)| *at <= world.now) {
            world.suffer(fault);
        }
        world.tick();
    }
    world.is_even();
}

/// Found by chance: one that was frozen while it came in looks again under the id that it has by then.
#[test]
fn one_that_is_frozen_while_it_comes_in_is_there_once() {
    let faults = vec![
        (5_724, Fault::Join),
        (14_652, Fault::Freeze(2, 22_866)),
        (15_301, Fault::Cut(0, 18_401)),
        (36_033, Fault::Join),
        (49_208, Fault::Cut(3, 39_878)),
        (61_701, Fault::Freeze(2, 8_401)),
        (73_101, Fault::Freeze(2, 8_601)),
        (88_680, Fault::Freeze(3, 8_994)),
    ];
    live_through(2_941_548_336_382_357_034, faults);
}

/// Found by chance: one that came in, was cut off before it heard of it and was found dead comes in again.
#[test]
fn one_that_was_lost_before_it_heard_that_it_had_come_in_gets_its_share() {
    let faults = vec![
        (701, Fault::Stop(2)),
        (16_968, Fault::Join),
        (21_101, Fault::Cut(1, 25_001)),
        (46_101, Fault::Freeze(1, 23_901)),
        (67_601, Fault::Join),
    ];
    live_through(930_674_353_750_233_310, faults);
}

/// Found by chance: what was released for the one that had come back was taken back before it looked,
/// again and again.
#[test]
fn what_is_handed_over_is_not_taken_back_before_the_other_looks() {
    let faults = vec![
        (25_501, Fault::Kill(0)),
        (54_501, Fault::Join),
        (67_901, Fault::Join),
        (79_601, Fault::Kill(1)),
        (88_201, Fault::Freeze(2, 25_801)),
    ];
    live_through(10_846_768_631_304_459_262, faults);
}

#[test]
fn an_instance_that_is_killed_is_replaced_within_fifteen_seconds() {
    let mut world = World::new(1, 2);
    world.run(20_000);
    world.is_even();
    world.suffer(Fault::Kill(0));
    world.run(15_000);
    assert_eq!(world.polled_by(1), 64);
}

#[test]
fn an_instance_that_stops_is_replaced_at_once() {
    let mut world = World::new(2, 2);
    world.run(20_000);
    world.suffer(Fault::Stop(0));
    world.run(3_500);
    assert_eq!(world.polled_by(1), 64);
}

#[test]
fn a_newcomer_gets_its_share_while_everything_is_polled() {
    let mut world = World::new(3, 1);
    world.run(10_000);
    assert_eq!(world.polled_by(0), 64);
    world.suffer(Fault::Join);
    world.run(30_000);
    world.is_even();
    assert!(world.longest_gap < 10_000, "{} ms", world.longest_gap);
}

#[test]
fn an_outage_of_the_database_changes_no_hands() {
    for seed in 0..20 {
        let mut world = World::new(seed, 3);
        world.run(60_000);
        let before = world.changes_of_hands();
        world.outage(20_000);
        world.run(40_000);
        assert_eq!(world.changes_of_hands(), before, "{seed}");
        world.is_even();
    }
}
