//! The schedule: every instance looks which journeys are due and queues their runs; of several that see
//! the same one, one wins.

use std::time::Duration;

use mainstay_base::Timestamp;
use mainstay_events::Outbox;
use mainstay_store::Tx;
use tokio_util::sync::CancellationToken;

use crate::announce::{self, Ended};
use crate::decide;
use crate::error::JourneysError;
use crate::journeys::{Journeys, next_after};
use crate::kept::{RunStatus, Trigger};
use crate::measure;
use crate::record::due::{self, Due};
use crate::record::runs::{self, NewRun};

/// How often the schedule is looked at.
pub const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Runs that one look begins at most: after an outage all are due at once, and neither the queue nor the
/// systems that they ask should feel it.
pub const STARTED_TOGETHER: usize = 50;

/// Looks until `stop`.
pub async fn run(journeys: Journeys, stop: CancellationToken) {
    let mut beat = tokio::time::interval(LOOK_EVERY);
    beat.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let turning = async {
        let mut was_failing = false;
        loop {
            beat.tick().await;
            match journeys.start_due().await {
                Ok(_) => was_failing = false,
                // Once: the database says the same every second.
                Err(error) if !was_failing => {
                    was_failing = true;
                    tracing::warn!(%error, "the schedule of journeys can't be looked at; it is tried again");
                }
                Err(_) => {}
            }
        }
    };
    stop.run_until_cancelled(turning).await;
}

impl Journeys {
    /// Queues the runs that are due, a bounded number; tells how many schedules it has moved on.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn start_due(&self) -> Result<usize, JourneysError> {
        let now = self.db().now().await?;
        let most = i64::try_from(STARTED_TOGETHER).unwrap_or(i64::MAX);
        let due = due::due(self.db(), now, most).await?;
        let waiting = if due.len() < STARTED_TOGETHER { 0 } else { self.due_count(now).await? };
        measure::overdue(waiting.saturating_sub(due.len()));
        let mut moved: usize = 0;
        for one in &due {
            match self.shared.events.write(async |tx, out| self.start(tx, out, one).await).await {
                Ok(()) => moved = moved.saturating_add(1),
                Err(JourneysError::Taken) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(moved)
    }

    /// How many journeys are due at a time.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn due_count(&self, now: Timestamp) -> Result<usize, JourneysError> {
        due::count(self.db(), now).await
    }

    /// Queues the run of a journey that is due, or skips it, and moves its schedule on.
    async fn start(&self, tx: &mut Tx, out: &mut Outbox, due: &Due) -> Result<(), JourneysError> {
        let begun = self.begin(tx, due.id, due.generation, Trigger::Schedule).await?;
        let next = next_after(due.at, due.every_ms, tx.now().await?);
        if !due::advance(tx, due.id, due.at, next).await? {
            return Err(JourneysError::Taken);
        }
        match begun {
            Some(_) => Ok(()),
            None => self.skip(tx, out, due).await,
        }
    }

    async fn skip(&self, tx: &mut Tx, out: &mut Outbox, due: &Due) -> Result<(), JourneysError> {
        let before = match runs::unfinished(tx, due.id).await? {
            Some((run, _)) => runs::find_in(tx, run).await?,
            None => None,
        };
        let message = decide::skipped(before.as_ref(), tx.now().await?);
        let id = self.shared.ids.next();
        let (journey, trigger) = (due.id, Trigger::Schedule);
        let new = NewRun {
            id,
            journey,
            job: None,
            generation: due.generation,
            trigger,
            message: Some(&message),
        };
        runs::insert(tx, &new).await?;
        runs::trim(tx, journey).await?;
        let ended = Ended {
            journey,
            name: &due.name,
            run: id,
            status: RunStatus::Skipped,
            trigger,
            duration_ms: None,
            message: Some(&message),
            touches: &due.touches,
        };
        announce::run_finished(out, &ended)?;
        let name = due.name.clone();
        tx.after_commit(move || {
            measure::ran(RunStatus::Skipped, Trigger::Schedule);
            tracing::warn!(journey = name, "a run was skipped: {message}");
        });
        Ok(())
    }
}
