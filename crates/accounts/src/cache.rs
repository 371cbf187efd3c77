//! What the last look-up of a session said, where only this process changes sessions.
//!
//! On SQLite one process serves, so every change passes through it: each forgets everything here
//! when it is committed, and what was read before is not put in after. Only the command line, beside
//! a running server, changes rows unseen; therefore nothing is believed for longer than
//! [`BELIEVED`]. On PostgreSQL others change sessions too, and each request asks the database.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mainstay_base::{Clock, Moment};
use mainstay_store::Dialect;

use crate::record::sessions::Held;

/// How long an entry is believed.
const BELIEVED: Duration = Duration::from_secs(1);
/// Entries; beyond it all are forgotten.
const MAX_ENTRIES: usize = 10_000;

/// The last answers, by the hash of the session's token.
#[derive(Clone)]
pub(crate) struct SessionCache(Option<Arc<Inner>>);

struct Inner {
    clock: Arc<dyn Clock>,
    /// Counts the changes; what was read before a change is not believed after it.
    epoch: AtomicU64,
    entries: Mutex<HashMap<String, Entry>>,
}

struct Entry {
    held: Arc<Held>,
    epoch: u64,
    read_at: Moment,
}

/// When a look-up began.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Begun {
    epoch: u64,
    at: Moment,
}

impl SessionCache {
    pub(crate) fn new(dialect: Dialect, clock: Arc<dyn Clock>) -> Self {
        let inner = || Inner { clock, epoch: AtomicU64::new(0), entries: Mutex::default() };
        Self((dialect == Dialect::Sqlite).then(|| Arc::new(inner())))
    }

    pub(crate) fn find(&self, hash: &str) -> Option<Arc<Held>> {
        let inner = self.0.as_ref()?;
        let (epoch, now) = (inner.epoch.load(Ordering::Acquire), inner.clock.moment());
        let entries = inner.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = entries.get(hash)?;
        let is_fresh = entry.epoch == epoch && now.since(entry.read_at) < BELIEVED;
        is_fresh.then(|| Arc::clone(&entry.held))
    }

    /// Call it before the database is asked.
    pub(crate) fn begin(&self) -> Option<Begun> {
        let inner = self.0.as_ref()?;
        Some(Begun { epoch: inner.epoch.load(Ordering::Acquire), at: inner.clock.moment() })
    }

    pub(crate) fn keep(&self, hash: String, held: &Arc<Held>, begun: Option<Begun>) {
        let (Some(inner), Some(begun)) = (self.0.as_ref(), begun) else { return };
        let entry = Entry { held: Arc::clone(held), epoch: begun.epoch, read_at: begun.at };
        let mut entries = inner.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.len() >= MAX_ENTRIES {
            entries.clear();
        }
        entries.insert(hash, entry);
    }

    /// Something changed.
    pub(crate) fn forget(&self) {
        if let Some(inner) = &self.0 {
            inner.epoch.fetch_add(1, Ordering::AcqRel);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Identity, Role, UserStatus};
    use mainstay_base::{IdSource, SystemRng, Timestamp};
    use mainstay_testkit::FakeClock;

    fn held(clock: &Arc<FakeClock>) -> Arc<Held> {
        let ids = IdSource::new(Arc::clone(clock) as Arc<dyn Clock>, Arc::new(SystemRng));
        let email = "ada@example.com".parse().unwrap();
        Arc::new(Held {
            id: ids.next(),
            expires_at: Timestamp::from_millis(i64::MAX),
            last_seen_at: Timestamp::from_millis(0),
            user: Identity { id: ids.next(), email, role: Role::Viewer },
            status: UserStatus::Active,
        })
    }

    fn cache() -> (Arc<FakeClock>, SessionCache) {
        let clock = Arc::new(FakeClock::new());
        let shared = Arc::clone(&clock) as Arc<dyn Clock>;
        (clock, SessionCache::new(Dialect::Sqlite, shared))
    }

    #[test]
    fn an_answer_is_believed_for_a_second_and_not_after_a_change() {
        let (clock, cache) = cache();
        let held = held(&clock);
        cache.keep("a".to_owned(), &held, cache.begin());
        assert!(cache.find("a").is_some() && cache.find("b").is_none());
        clock.advance(Duration::from_millis(999));
        assert!(cache.find("a").is_some());
        clock.advance(Duration::from_millis(1));
        assert!(cache.find("a").is_none(), "too old");
        cache.keep("a".to_owned(), &held, cache.begin());
        cache.forget();
        assert!(cache.find("a").is_none(), "changed since");
    }

    #[test]
    fn what_was_read_before_a_change_is_not_believed_after_it() {
        let (clock, cache) = cache();
        let begun = cache.begin();
        cache.forget();
        cache.keep("a".to_owned(), &held(&clock), begun);
        assert!(cache.find("a").is_none());
    }

    #[test]
    fn where_others_change_sessions_nothing_is_kept() {
        let clock = Arc::new(FakeClock::new());
        let cache = SessionCache::new(Dialect::Postgres, Arc::clone(&clock) as Arc<dyn Clock>);
        cache.keep("a".to_owned(), &held(&clock), cache.begin());
        assert!(cache.find("a").is_none());
    }

    #[test]
    fn it_is_bounded() {
        let (clock, cache) = cache();
        let held = held(&clock);
        for number in 0..=MAX_ENTRIES {
            cache.keep(number.to_string(), &held, cache.begin());
        }
        let entries = cache.0.as_ref().unwrap().entries.lock().unwrap().len();
        assert!(entries <= MAX_ENTRIES, "{entries}");
        assert!(cache.find(&MAX_ENTRIES.to_string()).is_some());
    }
}
