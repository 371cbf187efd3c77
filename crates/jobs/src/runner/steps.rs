//! Steps of the database's clock. Leases end by that clock, so that one that steps forward would end the
//! leases of runners that are well. It is compared with this process's own steady clock at every look. A
//! runner that starts after a step knows nothing of it: what a clock that was ahead has left behind it mends at
//! its first look, and otherwise the fence alone keeps a job from ending twice.

use std::time::Duration;

use mainstay_base::Moment;

/// Where the database's clock stood, and what follows from how it moved.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Steps {
    /// What it showed, in milliseconds, to a statement that was sent at this moment.
    seen: Option<(i64, Moment)>,
    /// Until then leases that seem to have ended may be those of runners that are well.
    leases_left_until: Option<Moment>,
}

/// How the clock moved between two looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// As time does.
    None,
    /// It was set on.
    Forward,
    /// It was set back.
    Back,
}

impl Steps {
    /// Whether nothing has been seen yet.
    pub(super) const fn is_new(&self) -> bool {
        self.seen.is_none()
    }

    /// A look that was sent at `sent` found the clock at `now`, and leases last `ttl`.
    pub(super) fn look(&mut self, now: i64, sent: Moment, ttl: Duration) -> Step {
        let moved = self.seen.map_or(0, |(then, at)| {
            now.saturating_sub(then).saturating_sub(millis(sent.since(at)))
        });
        self.seen = Some((now, sent));
        // Less than this ends no lease: each is renewed at every third of it.
        let tolerated = millis(ttl / 3);
        if moved > tolerated {
            self.leases_left_until = Some(sent.plus(ttl));
            Step::Forward
        } else if moved < -tolerated {
            Step::Back
        } else {
            Step::None
        }
    }

    /// Whether leases that seem to have ended are to be left alone: their runners have to renew them by
    /// the clock as it is now.
    pub(super) fn leaves_leases(&self, now: Moment) -> bool {
        self.leases_left_until.is_some_and(|until| now < until)
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TTL: Duration = Duration::from_secs(300);

    fn at(seconds: u64) -> Moment {
        Moment::from_origin(Duration::from_secs(seconds))
    }

    #[test]
    fn a_step_is_told_from_time_that_passes() {
        let mut steps = Steps::default();
        assert!(steps.is_new());
        assert_eq!(steps.look(1_000_000, at(0), TTL), Step::None);
        assert!(!steps.is_new());
        assert_eq!(steps.look(1_600_000, at(600), TTL), Step::None, "ten minutes passed");
        assert_eq!(steps.look(1_601_000 + 99_000, at(601), TTL), Step::None, "no lease ends of it");
        assert!(!steps.leaves_leases(at(601)));
        assert_eq!(steps.look(1_701_000 + 3_600_000, at(602), TTL), Step::Forward);
        assert_eq!(steps.look(1_702_000, at(603), TTL), Step::Back);
    }

    #[test]
    fn after_a_step_forward_leases_are_left_for_as_long_as_one_lasts() {
        let mut steps = Steps::default();
        steps.look(0, at(0), TTL);
        steps.look(3_600_000, at(1), TTL);
        assert!(steps.leaves_leases(at(1)) && steps.leaves_leases(at(300)));
        assert!(!steps.leaves_leases(at(301)));
    }
}
