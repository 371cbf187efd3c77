//! Asynchronous calls among others that fail, time out, panic and are given up at any await, in
//! many thousand random orders.
//!
//! `RUSTFLAGS="--cfg mainstay_shuttle" cargo test -p mainstay-breaker --all-features --test shuttle`
//! runs some thousand of each; with `-- --include-ignored` it goes deeper.
#![cfg(test)]
#![cfg(mainstay_shuttle)]

mod calls;
mod given_up;
mod scenarios;

use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, Runner};

/// How often a quick test runs its scenario.
const QUICKLY: usize = 2_000;
const DEEPLY: usize = 30_000;
/// How many changes of thread a bug may need for `PctScheduler` to look for it.
const DEPTH: usize = 4;

fn run(scenario: fn(), scheduler: impl Scheduler + 'static) {
    let mut config = Config::new();
    // Orders are what is looked for here. Loom looks for what weak atomics allow besides.
    config.silence_warnings = true;
    // A debug build of an asynchronous call needs more than the default.
    config.stack_size = 0x4_0000;
    Runner::new(scheduler, config).run(scenario);
}

macro_rules! scenarios {
    ($($name:ident)*) => {
        mod quickly {
            $(#[test]
            fn $name() {
                super::run(super::scenarios::$name, super::RandomScheduler::new(super::QUICKLY));
            })*
        }

        mod deeply {
            $(#[test]
            #[ignore = "takes minutes: ./scripts/prove shuttle"]
            fn $name() {
                super::run(super::scenarios::$name, super::RandomScheduler::new(super::DEEPLY));
                let scheduler = super::PctScheduler::new(super::DEPTH, super::DEEPLY);
                super::run(super::scenarios::$name, scheduler);
            })*
        }
    };
}

scenarios! {
    whatever_becomes_of_calls_they_add_up_and_the_breaker_recovers
    probes_without_a_result_give_their_slots_back_and_never_share_one
    a_reader_of_events_wakes_for_every_change
    of_several_attempts_one_counts_and_the_others_are_stopped
    a_call_given_up_for_lost_leaves_its_slot_to_one_other
}
