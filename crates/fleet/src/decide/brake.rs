//! The mass-failure brake: when most workers fail in one sweep, it is likelier that we are cut off.

use std::collections::BTreeSet;

use mainstay_base::Id;

/// The brake is for at least so many failures,
pub const LEAST_FAILURES: usize = 3;
/// and at least this share of those that were asked.
pub const SHARE_PERCENT: usize = 55;

/// Remembers whom the last sweep suspected.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Brake {
    suspects: BTreeSet<Id>,
    is_pulled: bool,
}

impl Brake {
    /// Whether so many failures are for the brake.
    #[must_use]
    pub const fn is_mass(asked: usize, failed: usize) -> bool {
        failed >= LEAST_FAILURES
            && failed.saturating_mul(100) >= asked.saturating_mul(SHARE_PERCENT)
    }

    /// Judges a sweep that asked so many and lost these: tells which have failed. `is_connected` tells whether something else
    /// could be reached. What fails under the brake is lost only if the next sweep agrees.
    #[must_use]
    pub fn judge(
        &mut self,
        asked: usize,
        failed: BTreeSet<Id>,
        is_connected: bool,
    ) -> BTreeSet<Id> {
        if !Self::is_mass(asked, failed.len()) || is_connected {
            *self = Self::default();
            return failed;
        }
        let lost = failed.intersection(&self.suspects).copied().collect();
        (self.suspects, self.is_pulled) = (failed, true);
        lost
    }

    /// Whether the last sweep pulled it.
    #[must_use]
    pub const fn is_pulled(&self) -> bool {
        self.is_pulled
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::fixture::id;

    fn ids(numbers: impl IntoIterator<Item = u32>) -> BTreeSet<Id> {
        numbers.into_iter().map(id).collect()
    }

    #[test]
    fn few_failures_are_believed_and_many_are_not() {
        for (asked, failed, is_mass) in [
            (1, 1, false),
            (2, 2, false),
            (3, 3, true),
            (5, 3, true),
            (6, 3, false),
            (20, 10, false),
            (20, 11, true),
            (100, 54, false),
            (100, 55, true),
            (0, 0, false),
        ] {
            assert_eq!(Brake::is_mass(asked, failed), is_mass, "{failed} of {asked}");
        }
    }

    #[test]
    fn the_next_sweep_must_agree_on_each_one() {
        let mut brake = Brake::default();
        let first = brake.judge(4, ids(1..=4), false);
        assert_eq!((first, brake.is_pulled()), (ids([]), true));
        let second = brake.judge(4, ids(2..=4), false);
        assert_eq!((second, brake.is_pulled()), (ids(2..=4), true));
    }

    #[test]
    fn one_that_failed_only_the_second_time_waits_for_the_third() {
        let mut brake = Brake::default();
        let _ = brake.judge(4, ids(1..=3), false);
        let second = brake.judge(4, ids(2..=4), false);
        assert_eq!(second, ids([2, 3]));
        let third = brake.judge(4, ids([1, 2, 4]), false);
        assert_eq!(third, ids([2, 4]));
    }

    #[test]
    fn who_can_reach_something_else_is_not_cut_off() {
        let mut brake = Brake::default();
        let lost = brake.judge(4, ids(1..=4), true);
        assert_eq!((lost, brake.is_pulled()), (ids(1..=4), false));
    }

    #[test]
    fn a_good_sweep_forgets_and_a_later_one_begins_anew() {
        let mut brake = Brake::default();
        assert_eq!((brake.judge(4, ids(1..=4), false), brake.is_pulled()), (ids([]), true));
        assert_eq!((brake.judge(4, ids([]), false), brake.is_pulled()), (ids([]), false));
        assert_eq!((brake.judge(4, ids(1..=4), false), brake.is_pulled()), (ids([]), true));
    }
}
