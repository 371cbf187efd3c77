//! The kept answers, and what they are built of.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mainstay_base::{Clock, Moment};
use mainstay_store::{Db, StoreError};

use super::blame::{self, Blamed};
use super::error::BoardError;
use super::item::{Board, MAX_LINES};
use super::kept::{Kept, Version};
use crate::answer::Answer;
use crate::graph::{Graphs, GraphsError, blocking};
use crate::latency;
use crate::views::record::{board, version, wallboard};

/// The board and the wallboard of this process.
#[derive(Debug, Default)]
pub(in crate::views) struct Boards {
    board: Kept,
    wall: Kept,
    latencies: Mutex<Option<KeptLatencies>>,
}

/// The p95 of each service, by its number.
type Latencies = Arc<HashMap<i64, Duration>>;

/// How long what services took is not read again, unless more of it is summed up.
const LATENCIES_HOLD_FOR: Duration = Duration::from_secs(10);

#[derive(Debug, Clone)]
struct KeptLatencies {
    summed: i64,
    read: Moment,
    latencies: Latencies,
}

impl Boards {
    pub(in crate::views) async fn board(
        &self,
        db: &Db,
        clock: &dyn Clock,
        tick: i64,
        graphs: Option<&Graphs>,
    ) -> Result<Arc<Answer>, BoardError> {
        self.board
            .get(heard(db, graphs), seen(db, graphs), clock, async |version| {
                let latencies = self.latencies(db, clock, version).await?;
                let blamed = match graphs.filter(|_| version.graph > 0) {
                    Some(graphs) => blamed(graphs).await,
                    None => Ok(Blamed::default()),
                };
                // Lines without it are better than none.
                let blamed = blamed.unwrap_or_default();
                let mut items = board::lines(db, tick, MAX_LINES, &latencies, &blamed).await?;
                let is_cut = items.len() > MAX_LINES;
                items.truncate(MAX_LINES);
                Ok(Board { items, is_cut })
            })
            .await
    }

    pub(in crate::views) async fn wallboard(
        &self,
        db: &Db,
        clock: &dyn Clock,
        tick: i64,
        missing_for: Duration,
    ) -> Result<Arc<Answer>, BoardError> {
        // How long things take is not shown.
        let version = async || Ok(Version { summed: 0, ..version::now(db).await? });
        let missing_for = i64::try_from(missing_for.as_millis()).unwrap_or(i64::MAX);
        let build = async |_| wallboard::read(db, tick, missing_for).await;
        self.wall.get(version(), version(), clock, build).await
    }

    /// What services took lately.
    async fn latencies(
        &self,
        db: &Db,
        clock: &dyn Clock,
        version: Version,
    ) -> Result<Latencies, StoreError> {
        let (read, summed) = (clock.moment(), version.summed);
        let kept = self.latencies.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let holds = |kept: &KeptLatencies| {
            kept.summed == summed && read.since(kept.read) < LATENCIES_HOLD_FOR
        };
        if let Some(kept) = kept.filter(holds) {
            return Ok(kept.latencies);
        }
        let latencies = Arc::new(latency::recent(db, summed, db.now().await?).await?);
        let newest = Some(KeptLatencies { summed, read, latencies: Arc::clone(&latencies) });
        *self.latencies.lock().unwrap_or_else(PoisonError::into_inner) = newest;
        Ok(latencies)
    }
}

/// The version of what is shown, and of the graph that has heard of it: waits for that for a while.
pub(in crate::views) async fn heard(
    db: &Db,
    graphs: Option<&Graphs>,
) -> Result<Version, StoreError> {
    let version = version::now(db).await?;
    let graph = match graphs {
        Some(graphs) => graphs.version(version.told).await,
        None => None,
    };
    Ok(version.with_graph(graph))
}

/// The version of what is shown, and of the graph as it is: waits for nobody.
pub(in crate::views) async fn seen(
    db: &Db,
    graphs: Option<&Graphs>,
) -> Result<Version, StoreError> {
    let version = version::now(db).await?;
    Ok(version.with_graph(graphs.and_then(Graphs::version_now)))
}

/// It takes some milliseconds where much is broken, so it stays off the threads that answer everybody.
async fn blamed(graphs: &Graphs) -> Result<Blamed, GraphsError> {
    let picture = graphs.picture().await?;
    blocking(move || blame::of(&picture)).await
}
