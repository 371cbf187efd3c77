//! Pollers, those who stop and wait for them, and those who drain the queue, in many thousand random
//! orders.
//!
//! `RUSTFLAGS="--cfg mainstay_shuttle" cargo test -p mainstay-poller --all-features --test shuttle`
//! runs some thousand of each; with `-- --include-ignored` it goes deeper.
#![cfg(test)]
#![cfg(mainstay_shuttle)]

mod scenarios;
mod world;

use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, Runner};

/// How often a quick test runs its scenario.
const QUICKLY: usize = 1_000;
const DEEPLY: usize = 30_000;
/// How many changes of thread a bug may need for `PctScheduler` to look for it.
const DEPTH: usize = 4;

/// By chance, and by few changes of thread in places by chance: each finds what the other seldom does.
fn try_orders(scenario: fn(), times: usize) {
    run(scenario, RandomScheduler::new(times));
    run(scenario, PctScheduler::new(DEPTH, times));
}

fn run(scenario: fn(), scheduler: impl Scheduler + 'static) {
    let mut config = Config::new();
    config.silence_warnings = true;
    // A debug build of a poller's task needs more than the default.
    config.stack_size = 0x8_0000;
    Runner::new(scheduler, config).run(scenario);
}

macro_rules! scenarios {
    ($($name:ident)*) => {
        mod quickly {
            $(#[test]
            fn $name() {
                super::try_orders(super::scenarios::$name, super::QUICKLY);
            })*
        }

        mod deeply {
            $(#[test]
            #[ignore = "takes minutes: ./scripts/prove shuttle"]
            fn $name() {
                super::try_orders(super::scenarios::$name, super::DEEPLY);
            })*
        }
    };
}

scenarios! {
    after_stop_nothing_is_told_and_who_waits_always_wakes
    batches_are_whole_numbered_without_gaps_and_drained_once
    a_dropped_context_ends_every_poller
    a_run_reports_every_poller_and_the_first_error_in_time
    a_cancelled_run_ends_whatever_goes_on
    a_command_that_waits_for_an_event_never_misses_it
}
