//! The job that keeps whole states: one a day, and more where much changes.

use std::time::Duration;

use futures_util::future::BoxFuture;
use mainstay_base::Timestamp;
use mainstay_jobs::{
    Claimed, Context, CronJob, Handler, JobError, JobsError, Kind, KindError, NewJob,
};
use mainstay_store::{Db, StoreError};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::handle::SKEW;
use super::pack::pack;
use super::record::keyframes::{self, Unfinished, Written};
use super::record::{changes, live};

/// The kind of the job.
pub const KIND: &str = "monitor_keyframes";

/// So long after a mark its keyframe is taken: whoever writes has committed or given up by then.
pub const SETTLE: Duration = Duration::from_mins(5);
/// How often a keyframe is made.
pub const EVERY: Duration = Duration::from_hours(24);
/// After so many changes one is made before its day, so that no moment is far from one.
pub const MANY_CHANGES: i64 = 200_000;
/// But not more often than this.
pub const NOT_WITHIN: Duration = Duration::from_hours(1);

/// Every minute: it looks whether there is something to do.
const AT: &str = "* * * * *";
/// Things of one portion: a portion is a few hundred kilobytes.
const PORTION: usize = 5_000;
/// A keyframe that packs to more than this is not kept: moments are then further from one.
const MAX_BYTES: usize = 128 << 20;
/// Who has not ended a keyframe after this time never will.
const ABANDONED: Duration = Duration::from_mins(15);
/// Writes that one run does at most to remove what is too old.
const REMOVE_STEPS: u32 = 500;

/// Keeps whole states.
#[derive(Debug)]
pub struct Keyframes {
    db: Db,
    kept_for: Duration,
    portion: usize,
    kind: Kind,
}

/// What a run has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Done {
    /// There was nothing to do.
    Nothing,
    /// A keyframe was begun.
    Marked,
    /// A keyframe was made, in so many parts.
    Made(usize),
    /// There is too much to keep in one keyframe.
    TooLarge,
}

/// The parts of a keyframe, packed, with its moment and the highest number that it knew of.
struct Taken {
    parts: Vec<Vec<u8>>,
    at: Timestamp,
    upto: i64,
}

impl Keyframes {
    /// On `db`, each kept for `kept_for`, as changes are.
    ///
    /// # Errors
    /// Never as it stands: [`KIND`] is a kind.
    pub fn new(db: Db, kept_for: Duration) -> Result<Self, KindError> {
        Ok(Self { db, kept_for, portion: PORTION, kind: Kind::new(KIND)? })
    }

    /// The same in portions of so many things.
    #[must_use]
    pub fn with_portion(self, portion: usize) -> Self {
        Self { portion: portion.max(1), ..self }
    }

    /// When the job comes.
    ///
    /// # Errors
    /// Never as it stands: the schedule can be read.
    pub fn cron() -> Result<CronJob, JobsError> {
        CronJob::new(KIND, AT, NewJob::new(Kind::new(KIND)?, json!({})))
    }

    /// Does what is due, in small steps.
    ///
    /// # Errors
    /// When the database fails. What was done until then stays done, or is removed later.
    pub async fn run_once(&self, stop: &CancellationToken) -> Result<Done, StoreError> {
        let now = self.db.now().await?;
        self.remove_old(now, stop).await?;
        self.remove_ahead(now, stop).await?;
        match keyframes::unfinished(&self.db).await? {
            Some(mark) if mark.is_ahead(now.plus(SKEW)) => {
                self.remove(mark.number, stop).await?;
                Ok(Done::Nothing)
            }
            Some(Unfinished { number, begun_at: Some(begun), .. }) => {
                if now.since(begun) >= ABANDONED {
                    self.remove(number, stop).await?;
                }
                Ok(Done::Nothing)
            }
            Some(mark) if now.since(mark.marked_at) >= SETTLE => self.make(mark, now, stop).await,
            Some(_) => Ok(Done::Nothing),
            None => self.mark_if_due(now).await,
        }
    }

    async fn mark_if_due(&self, now: Timestamp) -> Result<Done, StoreError> {
        let look = self.db.snapshot(async |snapshot| {
            let newest = keyframes::newest(snapshot, now.plus(SKEW)).await?;
            let began_at = match newest {
                None => changes::first_at(snapshot).await?,
                Some(_) => None,
            };
            Ok::<_, StoreError>((newest, began_at, changes::highest(snapshot).await?))
        });
        let (newest, began_at, highest) = look.await?;
        let is_due = match newest {
            // Before anything has changed there is nothing to keep.
            None => began_at.is_some(),
            Some((at, upto)) => {
                let (age, changed) = (now.since(at), highest.saturating_sub(upto));
                age >= EVERY || (age >= NOT_WITHIN && changed >= MANY_CHANGES)
            }
        };
        if !is_due {
            return Ok(Done::Nothing);
        }
        self.db.write(async |tx| keyframes::mark(tx, now, highest, began_at).await).await?;
        Ok(Done::Marked)
    }

    async fn make(
        &self,
        mark: Unfinished,
        now: Timestamp,
        stop: &CancellationToken,
    ) -> Result<Done, StoreError> {
        let number = mark.number;
        if !self.db.write(async |tx| keyframes::begin(tx, number, now).await).await? {
            return Ok(Done::Nothing);
        }
        let Some(Taken { parts, at, upto }) = self.take().await? else {
            let limit = MAX_BYTES;
            tracing::warn!(limit, "there is too much to keep in one keyframe");
            self.remove(number, stop).await?;
            return Ok(Done::TooLarge);
        };
        for (part, body) in (1_i64..).zip(&parts) {
            if stop.is_cancelled() {
                return Ok(Done::Nothing);
            }
            self.db.write(async |tx| keyframes::put(tx, number, part, body).await).await?;
        }
        let written = Written { number, begun_at: now, parts: parts.len() };
        let is_there =
            self.db.write(async |tx| keyframes::end(tx, written, at, upto).await).await?;
        Ok(if is_there { Done::Made(parts.len()) } else { Done::Nothing })
    }

    /// The state of one moment; `None` when that is too much.
    async fn take(&self) -> Result<Option<Taken>, StoreError> {
        self.db
            .snapshot(async |snapshot| {
                let (at, upto) = (snapshot.now().await?, changes::highest(snapshot).await?);
                let mut reading = live::Reading::default();
                let (mut parts, mut bytes) = (Vec::new(), 0_usize);
                while let Some(portion) =
                    live::portion(snapshot, &mut reading, self.portion).await?
                {
                    let packed = pack(&portion);
                    bytes = bytes.saturating_add(packed.len());
                    if bytes > MAX_BYTES {
                        return Ok(None);
                    }
                    parts.push(packed);
                }
                Ok(Some(Taken { parts, at, upto }))
            })
            .await
    }

    async fn remove_old(&self, now: Timestamp, stop: &CancellationToken) -> Result<(), StoreError> {
        let kept = i64::try_from(self.kept_for.as_millis()).unwrap_or(i64::MAX);
        let before = now.as_millis().saturating_sub(kept);
        for _ in 0..REMOVE_STEPS {
            if stop.is_cancelled() {
                break;
            }
            let Some(number) = keyframes::too_old(&self.db, before).await? else { break };
            keyframes::remove(&self.db, number).await?;
        }
        Ok(())
    }

    /// What was made while the clock was ahead, once the clock has been what it is for long enough: one
    /// that is wrong for a moment costs nothing.
    async fn remove_ahead(
        &self,
        now: Timestamp,
        stop: &CancellationToken,
    ) -> Result<(), StoreError> {
        while let Some(number) = keyframes::ahead(&self.db, now.plus(SKEW)).await? {
            if stop.is_cancelled() {
                break;
            }
            tracing::warn!(number, "a keyframe was made by a clock that was ahead; it is removed");
            self.remove(number, stop).await?;
        }
        Ok(())
    }

    async fn remove(&self, number: i64, stop: &CancellationToken) -> Result<(), StoreError> {
        for _ in 0..REMOVE_STEPS {
            if stop.is_cancelled() || keyframes::remove(&self.db, number).await? {
                break;
            }
        }
        Ok(())
    }
}

impl Handler for Keyframes {
    fn kind(&self) -> Kind {
        self.kind.clone()
    }

    fn concurrency(&self) -> Option<u32> {
        Some(1)
    }

    fn run<'a>(
        &'a self,
        _: &'a Claimed,
        context: &'a Context,
    ) -> BoxFuture<'a, Result<(), JobError>> {
        Box::pin(async {
            let done = self.run_once(context.cancelled()).await;
            let done =
                done.map_err(|error| JobError::retriable("database_failed", error.to_string()))?;
            tracing::debug!(?done, "looked whether a keyframe is due");
            Ok(())
        })
    }
}
