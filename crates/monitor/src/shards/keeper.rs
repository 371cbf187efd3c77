//! Keeps the leases of this instance: renews them, takes what is free, hands over what is too much, and
//! gives everything back at the end.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{Clock, Id, IdSource, Timestamp};
use mainstay_events::{Doorbell, Ears, Events, Heard, Topic};
use mainstay_store::{Dialect, StoreError};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::decide::SOONEST_LOOK;
use super::look::{Looked, Looker, leave, look};
use super::measure;
use super::record::instances::{self, Registered};
use super::record::leases;
use super::shard::{Shard, ShardSet};
use super::tenure::Tenure;
use super::wall::DatabaseClock;

/// What the bell says when shards can be taken, or somebody has come.
const SHARDS_KEY: &str = "shards";
/// The longest that one look may take: a database that hangs must not keep it from asking again.
const LOOK_LIMIT: Duration = Duration::from_secs(2);
/// When it looks again after a look that failed, or that left something to take.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// How long leaving waits for the last recording.
const LAST_RECORDING: Duration = Duration::from_secs(5);

/// Who this instance is, for people.
#[derive(Debug, Clone)]
pub struct About {
    /// Such as the name of its machine.
    pub name: String,
    /// The version that runs.
    pub version: &'static str,
}

/// What a keeper works with.
#[derive(Debug)]
pub struct KeeperParts {
    /// The database and its bell.
    pub events: Events,
    /// Learns the time of the database.
    pub wall: Arc<DatabaseClock>,
    /// Makes the ids of this instance.
    pub ids: IdSource,
    /// What the engine goes by.
    pub tenure: Tenure,
    /// Who this is.
    pub about: About,
    /// Ends when everything that was polled here is recorded.
    pub recorded: CancellationToken,
}

/// Keeps the leases of this instance.
#[derive(Debug)]
pub struct Keeper {
    parts: KeeperParts,
    /// Its id, and since when it runs, once it is known.
    me: Option<Id>,
    started_at: Option<Timestamp>,
    /// The id that it gets next.
    next_id: Id,
    /// Whether it was said that polling has stopped.
    has_lapsed: bool,
}

impl Keeper {
    /// Starts. It ends with `stop`, after it has given everything back.
    pub fn start(parts: KeeperParts, tasks: &TaskTracker, stop: CancellationToken) {
        let next_id = parts.ids.next();
        let keeper = Self { parts, me: None, started_at: None, next_id, has_lapsed: false };
        tasks.spawn(keeper.run(stop));
    }

    async fn run(mut self, stop: CancellationToken) {
        if self.parts.events.db().dialect() == Dialect::Sqlite {
            if let Err(error) = self.own_everything().await {
                tracing::warn!(%error, "this instance could not be noted; polling goes on");
            }
            stop.cancelled().await;
        } else {
            self.keep(&stop).await;
        }
        let _ = tokio::time::timeout(LAST_RECORDING, self.parts.recorded.cancelled()).await;
        match tokio::time::timeout(LOOK_LIMIT, self.leave()).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                tracing::warn!(%error, "shards could not be released; others take them when the lease ends");
            }
            Err(_) => tracing::warn!(
                "shards were not released in time; others take them when the lease ends"
            ),
        }
    }

    /// Looks again and again until the stop.
    async fn keep(&mut self, stop: &CancellationToken) {
        let mut ears = self.doorbell().listen(Topic::Polling);
        let tenure = self.parts.tenure.clone();
        while !stop.is_cancelled() {
            let wait = self.look_once().await;
            let rest = wait.min(SOONEST_LOOK);
            tokio::select! {
                () = stop.cancelled() => break,
                () = tokio::time::sleep(rest) => {}
            }
            tokio::select! {
                () = stop.cancelled() => break,
                () = tokio::time::sleep(wait.saturating_sub(rest)) => {}
                () = tenure.has_drained() => {}
                () = hears_of_shards(&mut ears) => {}
            }
        }
    }

    /// Looks once and tells when to look again.
    async fn look_once(&mut self) -> Duration {
        let tenure = self.parts.tenure.clone();
        let clock = Arc::clone(&self.parts.wall);
        // Before anything is asked: what the database grants counts from its own later moment.
        let renewed = clock.moment();
        let (draining, drained) = tenure.leaving();
        let about = self.parts.about.clone();
        let looker = Looker {
            me: self.me,
            next_id: self.next_id,
            spare_id: self.parts.ids.next(),
            name: &about.name,
            version: about.version,
            started_at: self.started_at,
            load: tenure.load(),
            draining,
            drained,
            may_bury: tenure.may_bury(renewed),
        };
        let bell = self.doorbell().clone();
        let looking = self.parts.events.db().write(async |tx| {
            let looked = look(tx, &*clock, looker).await?;
            if looked.is_new || !looked.released.is_empty() {
                tx.after_commit(move || bell.ring(Topic::Polling, SHARDS_KEY));
            }
            Ok::<_, StoreError>(looked)
        });
        match tokio::time::timeout(LOOK_LIMIT, looking).await {
            Ok(Ok(looked)) => {
                self.note_lapse(false, None);
                self.settle(&looked, renewed)
            }
            Ok(Err(error)) => self.failed(Some(&error)),
            Err(_) => self.failed(None),
        }
    }

    /// Takes over what a look has brought.
    fn settle(&mut self, looked: &Looked, renewed: mainstay_base::Moment) -> Duration {
        let (said, asked, answered) = looked.time;
        self.parts.wall.learn(said, asked, answered);
        let tenure = &self.parts.tenure;
        let mine: ShardSet = looked.mine.iter().map(|row| row.lease.shard).collect();
        let lost = tenure.held().without(mine).without(looked.released);
        if looked.is_new {
            self.next_id = self.parts.ids.next();
        }
        (self.me, self.started_at) = (Some(looked.me), Some(looked.started_at));
        tenure.adopt(looked.me, looked.mine.iter().map(|row| row.lease), renewed);
        tenure.drain(looked.plan.drain);
        self.tell(looked, mine, lost);
        // The next renewal is due by when this one was asked for, not by when it was answered.
        let passed = self.parts.wall.moment().since(renewed);
        let look_in = looked.plan.look_in.saturating_sub(passed).max(SOONEST_LOOK);
        let has_all = looked.plan.take.without(mine).is_empty();
        let has_released = self.parts.tenure.leaving().1.is_empty();
        if has_all && has_released { look_in } else { LOOK_AGAIN }
    }

    fn tell(&self, looked: &Looked, mine: ShardSet, lost: ShardSet) {
        let (released, left_behind) = (looked.taken.0.len(), looked.taken.1.len());
        measure::owned(mine.len());
        measure::taken("released", released);
        measure::taken("lost", left_behind);
        measure::handed_over(looked.released.len());
        measure::lost(lost.len());
        if looked.is_new {
            tracing::info!(instance = %looked.me, "this instance shares the polling");
        }
        if left_behind > 0 {
            tracing::warn!(
                shards = left_behind,
                "took over the shards of an instance that is lost"
            );
        }
        if released > 0 || !looked.released.is_empty() {
            let (owned, handed) = (mine.len(), looked.released.len());
            tracing::info!(taken = released, handed, owned, "shards changed hands");
        }
        if !lost.is_empty() {
            let shards = lost.len();
            tracing::warn!(
                shards,
                "others polled on: this instance had not renewed its lease in time"
            );
        }
    }

    fn failed(&mut self, error: Option<&StoreError>) -> Duration {
        measure::renewal_failed();
        let now = self.parts.wall.moment();
        let has_lapsed = self.parts.tenure.has_lapsed(now);
        if has_lapsed {
            measure::owned(0);
        }
        self.note_lapse(has_lapsed, error);
        LOOK_AGAIN
    }

    fn note_lapse(&mut self, has_lapsed: bool, error: Option<&StoreError>) {
        if has_lapsed && !self.has_lapsed {
            let error = error.map_or_else(|| "it did not answer".to_owned(), ToString::to_string);
            tracing::error!(
                error,
                "the lease could not be renewed; nothing is polled here until it is"
            );
        } else if self.has_lapsed && !has_lapsed {
            tracing::info!("the lease is renewed; polling goes on");
        }
        self.has_lapsed = has_lapsed;
    }

    /// Notes that everything is owned here, where nobody else can have the database.
    async fn own_everything(&mut self) -> Result<(), StoreError> {
        let (me, about) = (self.next_id, self.parts.about.clone());
        self.parts
            .events
            .db()
            .write(async |tx| {
                let now = tx.now().await?;
                let (name, version) = (about.name.as_str(), about.version);
                let who = Registered { id: me, name, version, started_at: now, expires_at: None };
                instances::bury_others(tx, me, now).await?;
                instances::register(tx, who, now).await?;
                instances::sweep(tx, now).await?;
                leases::take(tx, me, Shard::all().collect(), now).await
            })
            .await?;
        self.me = Some(me);
        self.parts.tenure.adopt(me, std::iter::empty(), self.parts.wall.moment());
        measure::owned(Shard::all().count());
        Ok(())
    }

    /// Gives everything back.
    async fn leave(&self) -> Result<(), StoreError> {
        let (Some(me), bell) = (self.me, self.doorbell().clone()) else { return Ok(()) };
        self.parts
            .events
            .db()
            .write(async |tx| {
                leave(tx, me).await?;
                tx.after_commit(move || bell.ring(Topic::Polling, SHARDS_KEY));
                Ok(())
            })
            .await
    }

    fn doorbell(&self) -> &Doorbell {
        self.parts.events.doorbell()
    }
}

async fn hears_of_shards(ears: &mut Ears) {
    loop {
        match ears.heard().await {
            Heard::Anything => return,
            Heard::Keys(keys) if keys.contains(SHARDS_KEY) => return,
            Heard::Keys(_) => {}
        }
    }
}
