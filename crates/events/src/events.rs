//! The handle to the streams, one for each process.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{Clock, IdSource, Rng, Timestamp};
use mainstay_store::{Db, Dialect, StoreError, Tx};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::ask::{Ask, Opening};
use crate::connections::Connections;
use crate::doorbell::{Doorbell, listener, sender};
use crate::error::EventsError;
use crate::feed::Feed;
use crate::history::{self, History};
use crate::hub::Hub;
use crate::measure;
use crate::outbox::{Announced, Outbox};
use crate::record::between::{self, PastEvent};
use crate::record::epoch;
use crate::record::follow::{Reads, counters};
use crate::retention::{self, Kept};
use crate::stream::Stream;
use crate::sweep::Hearing;
use crate::tools::Tools;

/// How often followed streams are looked at, whatever bells were heard.
pub const DEFAULT_SWEEP: Duration = Duration::from_secs(1);

/// How long events are kept.
pub const DEFAULT_KEPT_FOR: Duration = Duration::from_hours(7 * 24);

/// How many events of a stream are kept.
pub const DEFAULT_KEPT_COUNT: u64 = 1_000_000;

/// The most events of one span of time.
pub const MAX_BETWEEN: u32 = 1_000;

/// What can be set.
#[derive(Debug, Clone, Copy)]
pub struct EventsOptions {
    /// How often followed streams are looked at, whatever bells were heard.
    pub sweep: Duration,
    /// How long events are kept.
    pub kept_for: Duration,
    /// How many events of a stream are kept.
    pub kept_count: u64,
}

impl Default for EventsOptions {
    fn default() -> Self {
        Self { sweep: DEFAULT_SWEEP, kept_for: DEFAULT_KEPT_FOR, kept_count: DEFAULT_KEPT_COUNT }
    }
}

/// The streams of this process. A clone is the same handle.
#[derive(Clone)]
pub struct Events {
    shared: Arc<Shared>,
}

struct Shared {
    tools: Tools,
    doorbell: Doorbell,
    hub: Hub,
    connections: Connections,
    kept: Kept,
}

/// The tasks behind [`Events`]: they end with the token that was given to [`Events::start`].
#[derive(Debug)]
pub struct EventsTasks {
    tasks: TaskTracker,
}

impl Events {
    /// Starts what runs behind the streams: the shared listener and the sender of bells, the sweep,
    /// the clean-up. All of it ends with `stop`.
    ///
    /// # Errors
    /// When the database can't be read.
    pub async fn start(
        db: Db,
        options: EventsOptions,
        clock: Arc<dyn Clock>,
        rng: Arc<dyn Rng>,
        stop: CancellationToken,
    ) -> Result<(Self, EventsTasks), StoreError> {
        let epoch = epoch::find_or_create(&db, &*rng).await?;
        let instance = IdSource::new(Arc::clone(&clock), Arc::clone(&rng)).next();
        let doorbell = Doorbell::new((db.dialect() == Dialect::Postgres).then_some(instance));
        let tasks = TaskTracker::new();
        let reads = Reads::default();
        let tools = Tools { db, clock, rng, instance, reads, tasks: tasks.clone(), stop };
        let hub = Hub::new(tools.clone(), &epoch);
        let connections = Connections::start(&tools, &doorbell);
        let kept = Kept { duration: options.kept_for, count: options.kept_count };
        let shared = Arc::new(Shared { tools, doorbell, hub, connections, kept });
        shared.spawn(options.sweep);
        Ok((Self { shared }, EventsTasks { tasks }))
    }

    /// The one way to write a state with its events. `work` changes the state and adds events; then
    /// they get their numbers, all is committed, and the bells ring. `Err`, and dropping the future
    /// before the commit has begun, leave nothing at all.
    ///
    /// # Errors
    /// What `work` returns, or why it could not be committed.
    pub async fn write<T, E, F>(&self, work: F) -> Result<T, E>
    where
        F: AsyncFnOnce(&mut Tx, &mut Outbox) -> Result<T, E>,
        E: From<StoreError>,
    {
        self.db()
            .write(async |tx| {
                let mut outbox = Outbox::default();
                let result = work(tx, &mut outbox).await?;
                let announced = outbox.write(tx).await?;
                if !announced.is_empty() {
                    let shared = Arc::clone(&self.shared);
                    tx.after_commit(move || shared.announce(announced));
                }
                Ok(result)
            })
            .await
    }

    /// The bell that other rooms ring and hear too.
    #[must_use]
    pub fn doorbell(&self) -> &Doorbell {
        &self.shared.doorbell
    }

    /// Who is connected now.
    #[must_use]
    pub fn connections(&self) -> &Connections {
        &self.shared.connections
    }

    /// Follows the streams of `ask` from the place it names, or from now on.
    ///
    /// # Errors
    /// When the database can't be read.
    pub async fn open(&self, ask: &Ask) -> Result<(Opening, Feed), EventsError> {
        Feed::open(&self.shared.hub, ask).await
    }

    /// At most `limit` (and [`crate::history::MAX_HISTORY`]) events behind the place that `ask`
    /// names; without one, the oldest that are kept. Large ones are fewer
    /// ([`crate::history::MAX_HISTORY_BYTES`]).
    ///
    /// # Errors
    /// When the database can't be read, and [`EventsError::BelowFloor`] when the clean-up removed what
    /// was to be read again and again.
    pub async fn history(&self, ask: &Ask, limit: u32) -> Result<History, EventsError> {
        history::read(&self.shared.hub, ask, limit).await
    }

    /// The number of the last event of the organisation's stream that is committed; 0 without one.
    ///
    /// # Errors
    /// When the database can't be read.
    pub async fn told(&self) -> Result<i64, StoreError> {
        let tools = &self.shared.tools;
        Ok(counters(&tools.db, &tools.reads, &[Stream::Org]).await?.of(Stream::Org).last_seq)
    }

    /// At most `most` (and [`MAX_BETWEEN`]) events of `kinds` in a span of time, oldest first. Those that
    /// are not kept any more are not among them.
    ///
    /// # Errors
    /// When the database can't be read.
    pub async fn between(
        &self,
        stream: Stream,
        kinds: &[String],
        span: (Timestamp, Timestamp),
        most: u32,
    ) -> Result<Vec<PastEvent>, StoreError> {
        between::between(self.db(), stream, kinds, span, most.min(MAX_BETWEEN)).await
    }

    /// As [`Events::between`], but the last of them; oldest first too.
    ///
    /// # Errors
    /// When the database can't be read.
    pub async fn last_between(
        &self,
        stream: Stream,
        kinds: &[String],
        span: (Timestamp, Timestamp),
        most: u32,
    ) -> Result<Vec<PastEvent>, StoreError> {
        between::last_between(self.db(), stream, kinds, span, most.min(MAX_BETWEEN)).await
    }

    /// Since when every event of a stream is kept; `None` where none was ever removed. What is missing of a
    /// time before that may have happened all the same.
    ///
    /// # Errors
    /// When the database can't be read.
    pub async fn kept_since(&self, stream: Stream) -> Result<Option<Timestamp>, StoreError> {
        between::kept_since(self.db(), stream).await
    }

    /// Removes events that are too old or too many, as happens by itself every minute, and tells how
    /// many.
    ///
    /// # Errors
    /// When the database can't be written; what was removed before stays removed.
    pub async fn clean_up(&self) -> Result<u64, StoreError> {
        retention::clean_up(&self.shared.tools, self.shared.kept).await
    }

    /// The database.
    #[must_use]
    pub fn db(&self) -> &Db {
        &self.shared.tools.db
    }

    /// Gives `db` a new epoch, so that every follower fetches the state anew: for a database that was
    /// brought back from a dump. Instances that are running notice it with their next sweep.
    ///
    /// # Errors
    /// When the database can't be written.
    pub async fn renew_epoch(db: &Db, rng: &dyn Rng) -> Result<String, StoreError> {
        epoch::renew(db, rng).await
    }
}

impl Shared {
    fn spawn(&self, sweep: Duration) {
        let (tools, hub, doorbell) = (&self.tools, &self.hub, &self.doorbell);
        let hearing = Arc::new(Hearing::default());
        tools.tasks.spawn(crate::sweep::run(hub.clone(), Arc::clone(&hearing), sweep));
        tools.tasks.spawn(retention::run(tools.clone(), self.kept));
        if tools.db.dialect() == Dialect::Postgres {
            tools.tasks.spawn(sender::run(doorbell.clone(), tools.clone()));
            tools.tasks.spawn(listener::run(doorbell.clone(), hub.clone(), hearing));
        }
    }

    /// Tells of committed events: those who follow them here, then everybody who listens.
    fn announce(&self, events: Vec<Announced>) {
        for run in events.chunk_by(|one, other| one.stream == other.stream) {
            if let Some(last) = run.last() {
                measure::written(last.stream, u64::try_from(run.len()).unwrap_or(u64::MAX));
                self.hub.rung(last.stream, last.seq);
            }
        }
        self.doorbell.announce(events);
    }
}

impl EventsTasks {
    /// Waits until everything has ended. Cancel the token first.
    pub async fn finished(self) {
        self.tasks.close();
        self.tasks.wait().await;
    }
}

impl std::fmt::Debug for Events {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Events").field("hub", &self.shared.hub).finish_non_exhaustive()
    }
}
