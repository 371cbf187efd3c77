//! How a journey is: the end of a run, its effect on the journey and what is told of both, in one
//! transaction.

use mainstay_base::{Id, Timestamp};
use mainstay_events::Outbox;
use mainstay_store::{Sql, Tx, values};

use super::journeys::{outcome, touches};
use super::runs::{self, FinishedRun};
use crate::announce::{self, Ended};
use crate::error::JourneysError;
use crate::measure;
use crate::report::RunOutcome;

const LOCK: Sql = Sql::pair(
    "journeys.lock",
    "SELECT name, generation, outcome, outcome_since, touches FROM journeys WHERE id = $1",
    "SELECT name, generation, outcome, outcome_since, touches FROM journeys WHERE id = $1 FOR UPDATE",
);
const TURN: Sql = Sql::same(
    "journeys.turn",
    "UPDATE journeys SET outcome = $2, outcome_since = $3, failed_run_id = $4, failed_message = $5
     WHERE id = $1",
);

/// Ends a run, unless it has ended: the run, what its journey is now, and the events.
pub(crate) async fn finish(
    tx: &mut Tx,
    out: &mut Outbox,
    done: &FinishedRun<'_>,
) -> Result<(), JourneysError> {
    let Some(run) = runs::find_in(tx, done.id).await? else { return Ok(()) };
    let now = tx.now().await?;
    let Some(row) = tx.fetch_optional(&LOCK, values![run.journey_id]).await? else { return Ok(()) };
    if !runs::finish(tx, done, now).await? {
        return Ok(());
    }
    let (name, mut touches): (String, _) = (row.get("name")?, touches(&row)?);
    if done.could_not_begin() {
        touches.clear();
    }
    let ended = Ended {
        journey: run.journey_id,
        name: &name,
        run: done.id,
        status: done.status,
        trigger: run.trigger,
        duration_ms: done.duration_ms,
        message: done.message,
        touches: &touches,
    };
    announce::run_finished(out, &ended)?;
    if row.get::<i64>("generation")? == run.generation {
        let before =
            (outcome(row.get::<Option<String>>("outcome")?.as_deref())?, row.get("outcome_since")?);
        turn(tx, out, &ended, before, now).await?;
    } else {
        tx.after_commit(measure::stale);
    }
    runs::trim(tx, run.journey_id).await?;
    let (status, trigger) = (done.status, run.trigger);
    tx.after_commit(move || measure::ran(status, trigger));
    Ok(())
}

async fn turn(
    tx: &mut Tx,
    out: &mut Outbox,
    ended: &Ended<'_>,
    (before, since): (Option<RunOutcome>, Option<Timestamp>),
    now: Timestamp,
) -> Result<(), JourneysError> {
    let Some(outcome) = ended.status.outcome() else { return Ok(()) };
    let has_turned = before != Some(outcome);
    let from = if has_turned { Some(now) } else { since };
    let (run, message): (Option<Id>, _) = match outcome {
        RunOutcome::Failed => (Some(ended.run), ended.message),
        RunOutcome::Passed => (None, None),
    };
    tx.execute(&TURN, values![ended.journey, ended.status.name(), from, run, message]).await?;
    match (before, outcome) {
        (None | Some(RunOutcome::Passed), RunOutcome::Failed) => announce::failed(out, ended)?,
        (Some(RunOutcome::Failed), RunOutcome::Passed) => announce::recovered(out, ended, since)?,
        _ => {}
    }
    Ok(())
}
