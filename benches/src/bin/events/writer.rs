//! Who writes events from this process.

use std::sync::Arc;

use mainstay_base::{SystemClock, SystemRng};
use mainstay_events::{Events, EventsOptions, EventsTasks};
use mainstay_store::Db;
use tokio_util::sync::CancellationToken;

/// The streams of this process.
pub(crate) struct Writer {
    pub(crate) events: Events,
    tasks: EventsTasks,
    stop: CancellationToken,
}

impl Writer {
    pub(crate) async fn start(db: Db) -> anyhow::Result<Self> {
        let stop = CancellationToken::new();
        let (clock, rng) = (Arc::new(SystemClock::new()), Arc::new(SystemRng));
        let starting = Events::start(db, EventsOptions::default(), clock, rng, stop.clone());
        let (events, tasks) = starting.await?;
        Ok(Self { events, tasks, stop })
    }

    /// Ends it with its database.
    pub(crate) async fn end(self) {
        self.stop.cancel();
        self.tasks.finished().await;
        self.events.db().close().await;
    }
}
