//! How long jobs of each kind take, as far as is known.

use std::collections::HashMap;
use std::time::Duration;

use crate::model::Kind;

/// A new time counts for one part in this many.
const WEIGHT: u32 = 8;

/// A running mean for each kind.
#[derive(Debug, Clone, Default)]
pub(super) struct Means {
    of: HashMap<Kind, Duration>,
}

impl Means {
    /// Takes a time into account. A slow job is believed at once, a quick one slowly: fetching too
    /// little costs a statement, fetching too much keeps jobs from others.
    pub(super) fn add(&mut self, kind: &Kind, took: Duration) {
        match self.of.get_mut(kind) {
            Some(mean) if took > *mean * 4 => *mean = (*mean + took) / 2,
            Some(mean) => *mean = (*mean * (WEIGHT - 1) + took) / WEIGHT,
            None => {
                self.of.insert(kind.clone(), took);
            }
        }
    }

    pub(super) fn of(&self, kind: &Kind) -> Option<Duration> {
        self.of.get(kind).copied()
    }

    /// The quickest kind's.
    pub(super) fn least(&self) -> Option<Duration> {
        self.of.values().min().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_job_is_believed_at_once_and_a_quick_one_slowly() {
        let kind = Kind::new("a").unwrap();
        let mut means = Means::default();
        assert_eq!(means.of(&kind), None);
        means.add(&kind, Duration::from_millis(8));
        assert_eq!(means.of(&kind), Some(Duration::from_millis(8)));
        means.add(&kind, Duration::ZERO);
        assert_eq!(means.of(&kind), Some(Duration::from_millis(7)));
        means.add(&kind, Duration::from_secs(1));
        assert!(means.of(&kind).unwrap() > Duration::from_millis(500));
    }
}
