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

/// What a sweep may do with its failures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// These have failed.
    pub lost: BTreeSet<Id>,
    /// The brake was pulled now, and was not before: somebody should know.
    pub alerts: bool,
}

impl Brake {
    /// Whether so many failures are for the brake.
    #[must_use]
    pub const fn is_mass(asked: usize, failed: usize) -> bool {
        failed >= LEAST_FAILURES
            && failed.saturating_mul(100) >= asked.saturating_mul(SHARE_PERCENT)
    }

    /// Judges a sweep that asked so many and lost these. `is_connected` tells whether something else
    /// could be reached. What fails under the brake is lost only if the next sweep agrees.
    #[must_use]
    pub fn judge(&mut self, asked: usize, failed: BTreeSet<Id>, is_connected: bool) -> Verdict {
        if !Self::is_mass(asked, failed.len()) || is_connected {
            *self = Self::default();
            return Verdict { lost: failed, alerts: false };
        }
        let lost = failed.intersection(&self.suspects).copied().collect();
        let alerts = !self.is_pulled;
        (self.suspects, self.is_pulled) = (failed, true);
        Verdict { lost, alerts }
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
        assert_eq!(first, Verdict { lost: ids([]), alerts: true });
        let second = brake.judge(4, ids(2..=4), false);
        assert_eq!(second, Verdict { lost: ids(2..=4), alerts: false });
    }

    #[test]
    fn one_that_failed_only_the_second_time_waits_for_the_third() {
        let mut brake = Brake::default();
        let _ = brake.judge(4, ids(1..=3), false);
        let second = brake.judge(4, ids(2..=4), false);
        assert_eq!(second.lost, ids([2, 3]));
        let third = brake.judge(4, ids([1, 2, 4]), false);
        assert_eq!(third.lost, ids([2, 4]));
    }

    #[test]
    fn who_can_reach_something_else_is_not_cut_off() {
        let mut brake = Brake::default();
        let verdict = brake.judge(4, ids(1..=4), true);
        assert_eq!((verdict.lost, verdict.alerts, brake.is_pulled()), (ids(1..=4), false, false));
    }

    #[test]
    fn a_good_sweep_forgets_and_a_later_one_alerts_anew() {
        let mut brake = Brake::default();
        assert!(brake.judge(4, ids(1..=4), false).alerts);
        assert!(!brake.judge(4, ids([]), false).alerts);
        let verdict = brake.judge(4, ids(1..=4), false);
        assert_eq!(verdict, Verdict { lost: ids([]), alerts: true });
    }
}
