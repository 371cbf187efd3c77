//! How often may be asked: token buckets, one for each action and thing.

use std::collections::HashMap;
use std::time::Duration;

use mainstay_base::Moment;

/// The most buckets: whoever asks for more things than that is let through.
const MAX_BUCKETS: usize = 100_000;

/// How many at once, and how many each second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// Each second.
    pub rate: u32,
    /// At once.
    pub burst: u32,
}

/// Of all actions but reading a machine.
pub const ACTIONS: Limit = Limit { rate: 1, burst: 3 };
/// Of reading a machine.
pub const READS: Limit = Limit { rate: 5, burst: 10 };

/// All buckets.
#[derive(Debug, Default)]
pub struct Buckets(HashMap<String, Bucket>);

#[derive(Debug, Clone, Copy)]
struct Bucket {
    /// In thousandths.
    tokens: u64,
    at: Moment,
}

impl Buckets {
    /// Takes a token, or says how long there is none.
    ///
    /// # Errors
    /// The time until there is one.
    pub fn take(&mut self, key: String, limit: Limit, now: Moment) -> Result<(), Duration> {
        let full = u64::from(limit.burst).saturating_mul(1_000);
        if self.0.len() >= MAX_BUCKETS && !self.0.contains_key(&key) {
            return Ok(());
        }
        let bucket = self.0.entry(key).or_insert(Bucket { tokens: full, at: now });
        let millis = u64::try_from(now.since(bucket.at).as_millis()).unwrap_or(u64::MAX);
        let filled = millis.saturating_mul(u64::from(limit.rate));
        bucket.tokens = bucket.tokens.saturating_add(filled).min(full);
        bucket.at = now;
        if let Some(left) = bucket.tokens.checked_sub(1_000) {
            bucket.tokens = left;
            return Ok(());
        }
        let missing = 1_000_u64.saturating_sub(bucket.tokens);
        Err(Duration::from_millis(missing.div_ceil(u64::from(limit.rate.max(1)))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_passes_and_then_so_many_each_second() {
        let at = |millis| Moment::from_origin(Duration::from_millis(millis));
        let mut buckets = Buckets::default();
        let mut take = |now| buckets.take("stop a".to_owned(), ACTIONS, at(now));
        for _ in 0..3 {
            assert_eq!(take(0), Ok(()));
        }
        assert_eq!(take(0), Err(Duration::from_secs(1)));
        assert_eq!(take(400), Err(Duration::from_millis(600)));
        assert_eq!(take(1_000), Ok(()));
        assert!(take(1_500).is_err());
        assert_eq!(buckets.take("stop b".to_owned(), ACTIONS, at(1_500)), Ok(()));
    }
}
