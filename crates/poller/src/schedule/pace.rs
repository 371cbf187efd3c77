//! Decides when the next poll is, or that there is none. Pure: time since the start and chance are
//! arguments.

use std::time::Duration;

use super::{MIN_INTERVAL, Rhythm, Schedule};
use crate::timeout::Limit;

/// How far a poller is.
#[derive(Debug, Clone)]
pub(crate) struct Pace {
    /// When the last poll was due by the fixed rate, since the start.
    due: Duration,
    /// The interval as backoff left it.
    interval: Duration,
    /// The last look was taken that comes after skipped polls.
    has_looked_last: bool,
}

/// What the last poll brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// An event.
    Event,
    /// Nothing.
    Nothing,
    /// It was not made.
    Skipped,
}

/// What is to be done next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Poll then, since the start.
    PollAt(Duration),
    /// Give up then, since the start.
    GiveUpAt(Duration, Limit),
}

/// What has come since the last step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen {
    /// Since the start.
    pub(crate) now: Duration,
    pub(crate) polls: u64,
    pub(crate) progress: Progress,
    /// How long the other side asked not to be asked.
    pub(crate) retry_after: Option<Duration>,
    /// From 0 to 1.
    pub(crate) chance: f64,
}

impl Pace {
    pub(crate) fn new(schedule: &Schedule) -> Self {
        Self { due: Duration::ZERO, interval: schedule.interval, has_looked_last: false }
    }

    /// What comes after a poll.
    pub(crate) fn after(&mut self, schedule: &Schedule, seen: Seen) -> Step {
        if schedule.max_polls.is_some_and(|most| seen.polls >= most) {
            return Step::GiveUpAt(seen.now, Limit::Polls);
        }
        self.adapt(schedule, seen.progress);
        let jittered = jittered(self.interval, schedule.jitter, seen.chance);
        let due = match schedule.rhythm {
            Rhythm::Delay => seen.now.saturating_add(jittered),
            Rhythm::Rate => {
                self.due = next_tick(self.due, self.interval, seen.now);
                self.due.saturating_add(jittered).saturating_sub(self.interval).max(seen.now)
            }
        };
        let floor = seen.now.saturating_add(seen.retry_after.unwrap_or_default());
        let due = due.max(floor);
        if due < schedule.within {
            return Step::PollAt(due);
        }
        self.last_look(schedule, seen).unwrap_or(Step::GiveUpAt(schedule.within, Limit::Time))
    }

    /// Nobody looked where the last poll was skipped: half of what is left is the guard's, half is there for an answer.
    fn last_look(&mut self, schedule: &Schedule, seen: Seen) -> Option<Step> {
        let left = schedule.within.saturating_sub(seen.now);
        if seen.progress != Progress::Skipped || self.has_looked_last || left.is_zero() {
            return None;
        }
        self.has_looked_last = true;
        Some(Step::PollAt(seen.now.saturating_add(left / 2)))
    }

    fn adapt(&mut self, schedule: &Schedule, progress: Progress) {
        let Some(backoff) = schedule.backoff else { return };
        self.interval = match progress {
            Progress::Event => schedule.interval,
            Progress::Nothing => {
                let longer = self.interval.as_secs_f64() * backoff.factor;
                let longest = backoff.max.as_secs_f64();
                Duration::from_secs_f64(longer.min(longest)).min(backoff.max)
            }
            Progress::Skipped => self.interval,
        };
    }
}

/// The first tick after `due` that has not passed.
fn next_tick(due: Duration, interval: Duration, now: Duration) -> Duration {
    let passed = now.saturating_sub(due).as_nanos();
    let interval = interval.as_nanos().max(1);
    let ticks = passed.div_ceil(interval).max(1);
    let since = u64::try_from(ticks.saturating_mul(interval)).unwrap_or(u64::MAX);
    due.saturating_add(Duration::from_nanos(since))
}

fn jittered(interval: Duration, share: f64, chance: f64) -> Duration {
    if share <= 0.0 {
        return interval;
    }
    let factor = 1.0 + share * (2.0 * chance.clamp(0.0, 1.0) - 1.0);
    interval.mul_f64(factor.max(0.0)).max(MIN_INTERVAL)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    fn seen(now: u64) -> Seen {
        Seen { now: ms(now), polls: 1, progress: Progress::Nothing, retry_after: None, chance: 0.5 }
    }

    fn schedule() -> Schedule {
        Schedule::every(ms(500)).within(ms(30_000))
    }

    /// When polls come if the one before ends at each of these moments.
    fn polls(schedule: &Schedule, ends: &[u64]) -> Vec<u64> {
        let mut pace = Pace::new(schedule);
        let step = |end: &u64| match pace.after(schedule, seen(*end)) {
            Step::PollAt(due) => u64::try_from(due.as_millis()).unwrap(),
            Step::GiveUpAt(..) => panic!("it gave up after {end}"),
        };
        ends.iter().map(step).collect()
    }

    #[test]
    fn a_fixed_delay_is_counted_from_the_end_of_the_poll_before() {
        assert_eq!(polls(&schedule(), &[0, 510, 2_000]), [500, 1_010, 2_500]);
    }

    #[test]
    fn a_fixed_rate_is_counted_from_the_start_and_leaves_out_what_was_missed() {
        let rate = schedule().at_fixed_rate();
        assert_eq!(polls(&rate, &[0, 510, 1_499]), [500, 1_000, 1_500]);
        assert_eq!(polls(&rate, &[0, 1_700, 2_000]), [500, 2_000, 2_500]);
        assert_eq!(polls(&rate, &[0, 1_000]), [500, 1_000]);
    }

    #[test]
    fn backoff_grows_to_its_bound_and_begins_anew_after_an_event() {
        let backoff = schedule().backoff(2.0, ms(1_500));
        let mut pace = Pace::new(&backoff);
        let mut delay = |progress| {
            let seen = Seen { progress, ..seen(0) };
            match pace.after(&backoff, seen) {
                Step::PollAt(due) => due,
                Step::GiveUpAt(..) => Duration::ZERO,
            }
        };
        assert_eq!(delay(Progress::Nothing), ms(1_000));
        assert_eq!(delay(Progress::Skipped), ms(1_000));
        assert_eq!(delay(Progress::Nothing), ms(1_500));
        assert_eq!(delay(Progress::Nothing), ms(1_500));
        assert_eq!(delay(Progress::Event), ms(500));
        assert_eq!(delay(Progress::Nothing), ms(1_000));
    }

    #[test]
    fn jitter_goes_both_ways_and_does_not_move_the_rate() {
        for (chance, due) in [(0.0, 400), (0.25, 450), (0.5, 500), (1.0, 600)] {
            let mut pace = Pace::new(&schedule());
            let step = pace.after(&schedule().jitter(0.2), Seen { chance, ..seen(0) });
            assert_eq!(step, Step::PollAt(ms(due)));
        }
        let rate = schedule().at_fixed_rate().jitter(0.2);
        let mut pace = Pace::new(&rate);
        assert_eq!(pace.after(&rate, Seen { chance: 1.0, ..seen(0) }), Step::PollAt(ms(600)));
        assert_eq!(pace.after(&rate, Seen { chance: 0.5, ..seen(600) }), Step::PollAt(ms(1_000)));
        assert_eq!(pace.after(&rate, Seen { chance: 0.0, ..seen(1_450) }), Step::PollAt(ms(1_450)));
    }

    #[test]
    fn after_a_skipped_poll_there_is_one_last_look_before_the_end() {
        let schedule = schedule();
        let mut pace = Pace::new(&schedule);
        let mut after = |now, progress| pace.after(&schedule, Seen { progress, ..seen(now) });
        let end = Step::GiveUpAt(ms(30_000), Limit::Time);
        assert_eq!(after(29_600, Progress::Nothing), end);
        assert_eq!(after(29_600, Progress::Skipped), Step::PollAt(ms(29_800)));
        assert_eq!(after(29_800, Progress::Skipped), end, "the last look is the last");
        let mut pace = Pace::new(&schedule);
        let late = pace.after(&schedule, Seen { progress: Progress::Skipped, ..seen(30_000) });
        assert_eq!(late, end);
    }

    #[test]
    fn retry_after_is_a_floor_and_no_more() {
        for (retry_after, due) in [(None, 600), (Some(ms(499)), 600), (Some(ms(2_000)), 2_100)] {
            let mut pace = Pace::new(&schedule());
            let step = pace.after(&schedule(), Seen { retry_after, ..seen(100) });
            assert_eq!(step, Step::PollAt(ms(due)));
        }
    }

    #[test]
    fn what_is_due_at_the_deadline_or_later_is_given_up_there() {
        let mut pace = Pace::new(&schedule());
        let end = Step::GiveUpAt(ms(30_000), Limit::Time);
        assert_eq!(pace.after(&schedule(), seen(29_499)), Step::PollAt(ms(29_999)));
        assert_eq!(pace.after(&schedule(), seen(29_500)), end);
        let asked = Seen { retry_after: Some(ms(60_000)), ..seen(100) };
        assert_eq!(pace.after(&schedule(), asked), end);
    }

    #[test]
    fn after_the_last_poll_it_is_given_up_at_once() {
        let few = schedule().max_polls(2);
        let mut pace = Pace::new(&few);
        assert_eq!(pace.after(&few, seen(0)), Step::PollAt(ms(500)));
        let last = Seen { polls: 2, ..seen(700) };
        assert_eq!(pace.after(&few, last), Step::GiveUpAt(ms(700), Limit::Polls));
    }
}
