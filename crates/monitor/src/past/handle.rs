//! The handle to the past.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::Timestamp;
use mainstay_store::{Db, Snapshot, StoreError};
use tokio::sync::{Semaphore, SemaphorePermit};

use super::history::{Asked, HistoryPage, MAX_CHANGES, Place, WholeState};
use super::pack::unpack;
use super::record::keyframes::Frame;
use super::record::{changes, keyframes};
use super::replay::replay;
use super::state::{PastMoment, PastState};
use crate::aside::aside;

/// A keyframe is used for moments that are so much later: by then everything in it had happened by all
/// clocks, though those of several instances differ.
pub(super) const SKEW: Duration = Duration::from_mins(10);
/// A change is written within this time, or before the next keyframe is begun after it: results wait
/// while the database can't be reached, and so do keyframes.
const LATE: Duration = Duration::from_hours(1);
/// Changes that are read at once.
const CHANGES_AT_ONCE: usize = 5_000;
/// Moments that are told at once: each takes a connection, memory, and a thread.
const TOLD_AT_ONCE: usize = 2;

/// How everything was. A clone is the same handle.
#[derive(Debug, Clone)]
pub struct Past {
    db: Db,
    kept_for: Duration,
    telling: Arc<Semaphore>,
}

/// Why the past is not told.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PastError {
    /// It has not come yet.
    #[error("{asked} has not come yet: it is {now}; give a moment that has passed")]
    Future {
        /// What was asked for.
        asked: Timestamp,
        /// What time it is.
        now: Timestamp,
    },
    /// A span that ends before it begins, or is too long.
    #[error("from {from} to {to} is no span of up to {} days; give `to` after `from`", super::history::MAX_SPAN.as_secs() / 86_400)]
    Span {
        /// Where it begins.
        from: Timestamp,
        /// Where it ends.
        to: Timestamp,
    },
    /// A span can't be shortened to so many changes.
    #[error("most is {most}; give a number from 1 to {}", super::history::MAX_MOST)]
    Most {
        /// What was asked for.
        most: u32,
    },
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Past {
    /// The past that `db` keeps for so long.
    #[must_use]
    pub fn new(db: Db, kept_for: Duration) -> Self {
        Self { db, kept_for, telling: Arc::new(Semaphore::new(TOLD_AT_ONCE)) }
    }

    pub(super) const fn db(&self) -> &Db {
        &self.db
    }

    pub(super) const fn kept_for(&self) -> Duration {
        self.kept_for
    }

    /// From when on nothing was removed because of its age.
    pub(super) fn horizon(&self, now: Timestamp) -> Timestamp {
        earlier(now, self.kept_for)
    }

    /// How everything was at a moment. Before there were records, it is empty and says since when there
    /// are.
    ///
    /// # Errors
    /// [`PastError::Future`], or when the database fails.
    pub async fn at(&self, moment: Timestamp) -> Result<PastMoment, PastError> {
        let _turn = self.turn().await?;
        self.db.snapshot(async |snapshot| self.moment(snapshot, moment).await).await
    }

    /// How everything was when a span begins, and what changed in it, a page at a time.
    ///
    /// # Errors
    /// [`PastError::Future`], [`PastError::Span`], [`PastError::Most`], or when the database fails.
    pub async fn history(&self, asked: Asked) -> Result<HistoryPage, PastError> {
        asked.check()?;
        let _turn = self.turn().await?;
        self.db.snapshot(async |snapshot| self.span(snapshot, asked).await).await
    }

    /// Waits until few enough others are told something, before a connection is taken.
    async fn turn(&self) -> Result<SemaphorePermit<'_>, StoreError> {
        // It is never closed.
        self.telling.acquire().await.map_err(|_| StoreError::Closed)
    }

    async fn span(&self, snapshot: &mut Snapshot, asked: Asked) -> Result<HistoryPage, PastError> {
        let Asked { from, to, after, most } = asked;
        let now = snapshot.now().await?;
        if to > now {
            return Err(PastError::Future { asked: to, now });
        }
        let since = self.since(snapshot, now).await?;
        let from = since.filter(|since| *since <= to).map_or(from, |since| from.max(since));
        let from = match (after, most) {
            (None, Some(most)) => shortened(snapshot, (from, to), now, most).await?,
            _ => from,
        };
        let (state, first) = match after {
            Some(Place(number)) => (None, Some(number)),
            None => {
                let state = self.moment(snapshot, from).await?.state;
                let state = aside(move || WholeState::of(&state)).await?;
                (Some(state), before_first(snapshot, from).await?)
            }
        };
        let rows = match first {
            Some(first) if since.is_some_and(|since| since <= to) => {
                let upto = upto(snapshot, to, now).await?;
                changes::until(snapshot, first, upto, to, MAX_CHANGES).await?
            }
            _ => Vec::new(),
        };
        Ok(HistoryPage::cut((from, to), since, state, rows))
    }

    async fn moment(
        &self,
        snapshot: &mut Snapshot,
        at: Timestamp,
    ) -> Result<PastMoment, PastError> {
        let now = snapshot.now().await?;
        if at > now {
            return Err(PastError::Future { asked: at, now });
        }
        let since = self.since(snapshot, now).await?;
        if since.is_none_or(|since| at < since) {
            return Ok(PastMoment { at, since, state: PastState::default() });
        }
        let (mut state, mut above) = frame_before(snapshot, earlier(at, SKEW)).await?;
        let upto = upto(snapshot, at, now).await?;
        loop {
            let (page, last) = changes::page(snapshot, above, upto, at, CHANGES_AT_ONCE).await?;
            state = aside(move || replay(state, &page, at)).await?;
            match last {
                Some(last) => above = last,
                None => return Ok(PastMoment { at, since, state }),
            }
        }
    }

    /// Since when there are records of everything.
    pub(super) async fn since(
        &self,
        snapshot: &mut Snapshot,
        now: Timestamp,
    ) -> Result<Option<Timestamp>, StoreError> {
        match keyframes::oldest(snapshot).await? {
            None => changes::first_at(snapshot).await,
            Some((_, Some(began))) if began >= self.horizon(now) => Ok(Some(began)),
            Some((at, _)) => Ok(Some(at.plus(SKEW))),
        }
    }
}

/// From when on a span has no more than so many changes.
async fn shortened(
    snapshot: &mut Snapshot,
    (from, to): (Timestamp, Timestamp),
    now: Timestamp,
    most: u32,
) -> Result<Timestamp, StoreError> {
    let Some(first) = before_first(snapshot, from).await? else { return Ok(from) };
    let upto = upto(snapshot, to, now).await?;
    let left_out = changes::newest_but(snapshot, first, upto, to, most).await?;
    Ok(left_out.map_or(from, |at| from.max(at)))
}

/// The number before the first change that happened after `from`, if there is one.
async fn before_first(snapshot: &mut Snapshot, from: Timestamp) -> Result<Option<i64>, StoreError> {
    let frame = keyframes::before(snapshot, earlier(from, SKEW)).await?;
    let above = frame.map_or(0, |frame| frame.from_number);
    let first = changes::first_after(snapshot, above, from).await?;
    Ok(first.map(|first| first.saturating_sub(1)))
}

/// Up to which number changes may have happened by `at`. What was made while a clock was ahead tells
/// nothing of it.
async fn upto(snapshot: &mut Snapshot, at: Timestamp, now: Timestamp) -> Result<i64, StoreError> {
    let upto = keyframes::upto(snapshot, at.plus(LATE), now.plus(SKEW)).await?;
    Ok(upto.unwrap_or(i64::MAX))
}

/// The state of the newest keyframe before `at` that can be read, and from which number on changes are
/// told again. Without any it is nothing, and all changes.
async fn frame_before(
    snapshot: &mut Snapshot,
    mut at: Timestamp,
) -> Result<(PastState, i64), StoreError> {
    while let Some(frame) = keyframes::before(snapshot, at).await? {
        if let Some(state) = whole(snapshot, frame).await? {
            return Ok((state, frame.from_number));
        }
        tracing::warn!(at = %frame.at, "a keyframe can't be read; the one before it is used");
        at = earlier(frame.at, Duration::from_millis(1));
    }
    Ok((PastState::default(), 0))
}

/// All parts of a keyframe; `None` when one is missing or can't be read.
async fn whole(snapshot: &mut Snapshot, frame: Frame) -> Result<Option<PastState>, StoreError> {
    let mut state = PastState::default();
    let (mut after, mut count) = (0, 0_i64);
    while let Some((part, body)) = keyframes::part(snapshot, frame.number, after).await? {
        let unpacked = aside(move || unpack(&body, &mut state).map(|()| state)).await?;
        let Ok(more) = unpacked else { return Ok(None) };
        (state, after, count) = (more, part, count.saturating_add(1));
    }
    Ok((count == frame.parts).then_some(state))
}

pub(super) fn earlier(at: Timestamp, span: Duration) -> Timestamp {
    let span = i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
    Timestamp::from_millis(at.as_millis().saturating_sub(span))
}

#[cfg(test)]
mod tests {
    use mainstay_store::{Dialect, migrate};
    use mainstay_testkit::TestDatabase;

    use super::*;

    #[tokio::test]
    async fn only_so_many_are_told_something_at_once() {
        let database = TestDatabase::new(Dialect::Sqlite).await;
        let db = database.open().await;
        migrate::up(&db).await.unwrap();
        let past = Past::new(db.clone(), Duration::from_hours(24));
        let now = db.now().await.unwrap();
        let other = past.clone();
        let first = other.turn().await.unwrap();
        assert!(past.at(now).await.is_ok(), "there is room for one more");
        let second = other.turn().await.unwrap();
        let mut asking = Box::pin(past.at(now));
        assert!(futures_util::poll!(&mut asking).is_pending());
        let mut spanning =
            Box::pin(past.history(Asked { from: now, to: now, after: None, most: None }));
        assert!(futures_util::poll!(&mut spanning).is_pending());
        assert_eq!(past.telling.available_permits(), 0);
        drop((first, second));
        assert!(asking.await.is_ok() && spanning.await.is_ok());
    }
}
