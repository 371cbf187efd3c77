//! The handle to the streams, one for each process.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{Clock, Rng};
use mainstay_store::{Db, Dialect, StoreError, Tx};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::doorbell::Doorbell;
use crate::outbox::Outbox;
use crate::record::epoch;

/// How often followed streams are looked at, whatever bells were heard.
pub const DEFAULT_SWEEP: Duration = Duration::from_secs(1);

/// How long events are kept.
pub const DEFAULT_KEPT_FOR: Duration = Duration::from_hours(7 * 24);

/// How many events of a stream are kept.
pub const DEFAULT_KEPT_COUNT: u64 = 1_000_000;

/// What can be set.
#[derive(Debug, Clone)]
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
    db: Db,
    doorbell: Doorbell,
}

/// The tasks behind [`Events`]: they end with the token that was given to [`Events::start`].
#[derive(Debug)]
pub struct EventsTasks {
    tasks: JoinSet<()>,
}

impl Events {
    /// Starts what runs behind the streams. All of it ends with `stop`.
    ///
    /// # Errors
    /// When the database can't be read.
    pub async fn start(
        db: Db,
        _options: EventsOptions,
        _clock: Arc<dyn Clock>,
        rng: Arc<dyn Rng>,
        _stop: CancellationToken,
    ) -> Result<(Self, EventsTasks), StoreError> {
        epoch::find_or_create(&db, &*rng).await?;
        let doorbell = Doorbell::new(db.dialect() == Dialect::Postgres);
        let shared = Shared { db, doorbell };
        Ok((Self { shared: Arc::new(shared) }, EventsTasks { tasks: JoinSet::new() }))
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
        self.shared
            .db
            .write(async |tx| {
                let mut outbox = Outbox::default();
                let result = work(tx, &mut outbox).await?;
                let announced = outbox.write(tx).await?;
                if !announced.is_empty() {
                    let doorbell = self.shared.doorbell.clone();
                    tx.after_commit(move || doorbell.announce(announced));
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

    /// The database.
    #[must_use]
    pub fn db(&self) -> &Db {
        &self.shared.db
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

impl EventsTasks {
    /// Waits until everything has ended. Cancel the token first.
    pub async fn finished(mut self) {
        while let Some(ended) = self.tasks.join_next().await {
            if let Err(error) = ended {
                tracing::error!(%error, "a task of the event streams panicked");
            }
        }
    }
}

impl std::fmt::Debug for Events {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Events").field("db", &self.shared.db).finish_non_exhaustive()
    }
}
