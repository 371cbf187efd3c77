//! The handle to the past.

use std::time::Duration;

use mainstay_base::Timestamp;
use mainstay_store::{Db, Snapshot, StoreError};

use super::history::{Asked, HistoryPage, MAX_CHANGES, WholeState};
use super::pack::unpack;
use super::record::{changes, keyframes};
use super::replay::replay;
use super::state::{PastMoment, PastState};

/// A keyframe is used for moments that are so much later: by then everything in it had happened by all
/// clocks, though those of several instances differ.
const SKEW: Duration = Duration::from_mins(10);
/// A change is written within this time, or before the next keyframe is begun after it: results wait
/// while the database can't be reached, and so do keyframes.
const LATE: Duration = Duration::from_hours(1);
/// Changes that are read at once.
const CHANGES_AT_ONCE: usize = 5_000;

/// How everything was. A clone is the same handle.
#[derive(Debug, Clone)]
pub struct Past {
    db: Db,
    kept_for: Duration,
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
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Past {
    /// The past that `db` keeps for so long.
    #[must_use]
    pub const fn new(db: Db, kept_for: Duration) -> Self {
        Self { db, kept_for }
    }

    pub(super) const fn db(&self) -> &Db {
        &self.db
    }

    pub(super) const fn kept_for(&self) -> Duration {
        self.kept_for
    }

    /// From when on nothing was removed because of its age.
    fn horizon(&self, now: Timestamp) -> Timestamp {
        earlier(now, self.kept_for)
    }

    /// How everything was at a moment. Before there were records, it is empty and says since when there
    /// are.
    ///
    /// # Errors
    /// [`PastError::Future`], or when the database fails.
    pub async fn at(&self, moment: Timestamp) -> Result<PastMoment, PastError> {
        self.db.snapshot(async |snapshot| self.moment(snapshot, moment).await).await
    }

    /// How everything was when a span begins, and what changed in it, a page at a time.
    ///
    /// # Errors
    /// [`PastError::Future`], [`PastError::Span`], or when the database fails.
    pub async fn history(&self, asked: Asked) -> Result<HistoryPage, PastError> {
        let Asked { from, to, after } = asked;
        asked.check()?;
        self.db
            .snapshot(async |snapshot| {
                let state = match after {
                    None => Some(self.moment(snapshot, from).await?),
                    Some(_) => None,
                };
                let now = snapshot.now().await?;
                if to > now {
                    return Err(PastError::Future { asked: to, now });
                }
                let rows = changes::between(snapshot, (from, to), after, MAX_CHANGES).await?;
                let since = match &state {
                    Some(moment) => moment.since,
                    None => self.since(snapshot, now).await?,
                };
                let state = state.map(|moment| WholeState::of(&moment.state));
                Ok(HistoryPage::cut((from, to), since, state, rows))
            })
            .await
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
        let upto = keyframes::upto(snapshot, at.plus(LATE)).await?.unwrap_or(i64::MAX);
        loop {
            let (page, last) = changes::page(snapshot, above, upto, at, CHANGES_AT_ONCE).await?;
            state = replay(state, &page, at);
            match last {
                Some(last) => above = last,
                None => return Ok(PastMoment { at, since, state }),
            }
        }
    }

    /// Since when there are records of everything.
    async fn since(
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

/// The state of the newest keyframe before `at` that can be read, and from which number on changes are
/// told again. Without any it is nothing, and all changes.
async fn frame_before(
    snapshot: &mut Snapshot,
    mut at: Timestamp,
) -> Result<(PastState, i64), StoreError> {
    while let Some(frame) = keyframes::before(snapshot, at).await? {
        if let Some(state) = whole(snapshot, frame.number).await? {
            return Ok((state, frame.from_number));
        }
        tracing::warn!(at = %frame.at, "a keyframe can't be read; the one before it is used");
        at = earlier(frame.at, Duration::from_millis(1));
    }
    Ok((PastState::default(), 0))
}

/// All parts of a keyframe; `None` when one can't be read.
async fn whole(snapshot: &mut Snapshot, number: i64) -> Result<Option<PastState>, StoreError> {
    let mut state = PastState::default();
    let mut after = 0;
    while let Some((part, body)) = keyframes::part(snapshot, number, after).await? {
        if unpack(&body, &mut state).is_err() {
            return Ok(None);
        }
        after = part;
    }
    Ok(Some(state))
}

pub(super) fn earlier(at: Timestamp, span: Duration) -> Timestamp {
    let span = i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
    Timestamp::from_millis(at.as_millis().saturating_sub(span))
}
