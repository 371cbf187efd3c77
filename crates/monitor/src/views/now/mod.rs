//! What is broken now: only root causes, the one that hurts most services first, each with why, whom it
//! hurts and whom to ask. `sketch` (pure) takes them from the graph, `record` reads what the graph does
//! not hold, and `fill` (pure) puts both together.

mod fill;
mod item;
mod sketch;

use std::sync::Arc;

use mainstay_base::Clock;
use mainstay_store::{Db, StoreError};

pub use self::item::{Now, NowCause, NowCounts, NowDispute, NowHurt, NowReporter};
pub(super) use self::sketch::hurt;
use super::board::kept::{Kept, Version};
use super::board::{BoardError, heard, seen};
use super::record::now as record;
use crate::answer::Answer;
use crate::graph::{Graphs, GraphsError};

/// The answer that holds now.
pub(super) async fn read(
    kept: &Kept,
    db: &Db,
    clock: &dyn Clock,
    tick: i64,
    graphs: &Graphs,
) -> Result<Arc<Answer>, BoardError> {
    // How long things take is not shown.
    let asked = async { Ok(Version { summed: 0, ..heard(db, Some(graphs)).await? }) };
    let seen = async { Ok(Version { summed: 0, ..seen(db, Some(graphs)).await? }) };
    kept.get(asked, seen, clock, async |_| build(db, tick, graphs).await).await
}

/// How everything is, the graph alone tells; the tables tell what it does not hold.
async fn build(db: &Db, tick: i64, graphs: &Graphs) -> Result<Now, StoreError> {
    let sketch = sketch(graphs).await.map_err(|error| match error {
        GraphsError::Store(error) => error,
        // It was read: only a process that stops has none.
        _ => StoreError::Closed,
    })?;
    db.snapshot(async |snapshot| {
        let unpolled = record::unpolled(snapshot, tick).await?;
        let reports = record::reports(snapshot, &sketch.dependencies()).await?;
        let services = record::services(snapshot, &sketch.failing_services()).await?;
        Ok(fill::fill(sketch, &unpolled, &reports, &services))
    })
    .await
}

/// It takes some milliseconds where much is broken, so it stays off the threads that answer everybody.
async fn sketch(graphs: &Graphs) -> Result<sketch::Sketch, GraphsError> {
    let picture = graphs.picture().await?;
    crate::graph::blocking(move || sketch::of(&picture)).await
}
