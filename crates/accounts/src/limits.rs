//! Limits by a true sliding window: of any span of the window's length, no more than the limit is
//! let through. On PostgreSQL all instances share it; on SQLite one process serves, so memory does.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mainstay_base::{Clock, Moment};
use mainstay_store::{Db, Dialect};

use crate::error::AccountsError;
use crate::record::windows;

/// Windows that are remembered in memory.
const MAX_WINDOWS: usize = 10_000;

/// A limit that a route asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// What is limited; each has windows of its own.
    pub name: &'static str,
    /// How many are let through in one window.
    pub count: u32,
    /// How long the window is.
    pub window: Duration,
}

/// What a limit says to one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// Whether it may pass.
    pub admitted: bool,
    /// How many may in one window.
    pub limit: u32,
    /// How many still may now.
    pub remaining: u32,
    /// When the oldest of the window leaves it.
    pub resets_in: Duration,
}

/// The windows of every subject.
pub struct SlidingLimits {
    db: Db,
    clock: Arc<dyn Clock>,
    memory: Mutex<HashMap<(String, &'static str), Window>>,
}

#[derive(Debug, Default)]
struct Window {
    stamps: VecDeque<Moment>,
    length: Duration,
}

impl SlidingLimits {
    pub(crate) fn new(db: Db, clock: Arc<dyn Clock>) -> Self {
        Self { db, clock, memory: Mutex::default() }
    }

    /// Counts one request of `subject` and says whether it may pass.
    ///
    /// # Errors
    /// When PostgreSQL can't be asked.
    pub async fn take(&self, subject: &str, limit: &Limit) -> Result<Verdict, AccountsError> {
        match self.db.dialect() {
            Dialect::Sqlite => Ok(self.take_from_memory(subject, limit)),
            Dialect::Postgres => self.take_from_database(subject, limit).await,
        }
    }

    async fn take_from_database(
        &self,
        subject: &str,
        limit: &Limit,
    ) -> Result<Verdict, AccountsError> {
        let window = i64::try_from(limit.window.as_millis()).unwrap_or(i64::MAX);
        let count = i64::from(limit.count);
        let taken = windows::take(&self.db, subject, limit.name, count, window).await?;
        let left = count.saturating_sub(taken.used).max(0);
        Ok(Verdict {
            admitted: taken.admitted,
            limit: limit.count,
            remaining: u32::try_from(left).unwrap_or(0),
            resets_in: Duration::from_millis(
                u64::try_from(window.saturating_sub(taken.oldest_age)).unwrap_or(0),
            ),
        })
    }

    fn take_from_memory(&self, subject: &str, limit: &Limit) -> Verdict {
        let now = self.clock.moment();
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        if memory.len() >= MAX_WINDOWS {
            make_room(&mut memory, now);
        }
        let window = memory.entry((subject.to_owned(), limit.name)).or_default();
        window.length = limit.window;
        slide(&mut window.stamps, limit, now)
    }
}

/// Drops the windows that hold nothing any more; if that is not enough, all.
fn make_room(memory: &mut HashMap<(String, &'static str), Window>, now: Moment) {
    memory.retain(|_, window| {
        window.stamps.back().is_some_and(|&last| now.since(last) < window.length)
    });
    if memory.len() >= MAX_WINDOWS {
        tracing::warn!("more users than {MAX_WINDOWS} are limited at once; their windows restart");
        memory.clear();
    }
}

/// Lets the window slide to `now` and counts one more if it fits.
fn slide(stamps: &mut VecDeque<Moment>, limit: &Limit, now: Moment) -> Verdict {
    while stamps.front().is_some_and(|&first| now.since(first) >= limit.window) {
        stamps.pop_front();
    }
    let count = usize::try_from(limit.count).unwrap_or(usize::MAX);
    let admitted = stamps.len() < count;
    if admitted {
        stamps.push_back(now);
    }
    let resets_in =
        stamps.front().map_or(limit.window, |&first| limit.window.saturating_sub(now.since(first)));
    Verdict {
        admitted,
        limit: limit.count,
        remaining: u32::try_from(count.saturating_sub(stamps.len())).unwrap_or(0),
        resets_in,
    }
}

impl fmt::Debug for SlidingLimits {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SlidingLimits")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LIMIT: Limit = Limit { name: "test", count: 3, window: Duration::from_millis(1000) };

    fn at(millis: u64) -> Moment {
        Moment::from_origin(Duration::from_millis(millis))
    }

    #[test]
    fn the_window_slides_and_does_not_jump() {
        let mut stamps = VecDeque::new();
        let mut take = |millis| {
            let verdict = slide(&mut stamps, &LIMIT, at(millis));
            (verdict.admitted, verdict.remaining, verdict.resets_in.as_millis())
        };
        assert_eq!(take(0), (true, 2, 1000));
        assert_eq!(take(900), (true, 1, 100));
        assert_eq!(take(950), (true, 0, 50));
        assert_eq!(take(999), (false, 0, 1));
        // A fixed window would start anew here and let three through.
        assert_eq!(take(1000), (true, 0, 900));
        assert_eq!(take(1001), (false, 0, 899));
        assert_eq!(take(1900), (true, 0, 50));
        assert_eq!(take(60_000), (true, 2, 1000));
    }

    #[test]
    fn windows_that_hold_nothing_make_room() {
        let mut memory = HashMap::new();
        for number in 0..MAX_WINDOWS {
            let stamps = VecDeque::from([at(if number == 0 { 5000 } else { 0 })]);
            let window = Window { stamps, length: LIMIT.window };
            memory.insert((number.to_string(), LIMIT.name), window);
        }
        make_room(&mut memory, at(5000));
        assert_eq!(memory.len(), 1);
    }

    proptest! {
        #[test]
        fn no_span_of_the_windows_length_holds_more_than_the_limit(
            steps in proptest::collection::vec(0_u64..400, 1..60)
        ) {
            let (mut stamps, mut now, mut let_through) = (VecDeque::new(), 0, Vec::new());
            for step in steps {
                now += step;
                let verdict = slide(&mut stamps, &LIMIT, at(now));
                if verdict.admitted {
                    let_through.push(now);
                } else {
                    // Exactly then the next one fits.
                    let reset = now + u64::try_from(verdict.resets_in.as_millis()).unwrap();
                    let mut later = stamps.clone();
                    prop_assert!(!slide(&mut later, &LIMIT, at(reset - 1)).admitted);
                    let mut later = stamps.clone();
                    prop_assert!(slide(&mut later, &LIMIT, at(reset)).admitted);
                }
            }
            for &start in &let_through {
                let within = let_through.iter().filter(|&&t| t >= start && t < start + 1000);
                prop_assert!(within.count() <= 3);
            }
        }
    }
}
