//! How a journey is: the end of a run, its effect on the journey and what is told of both, in one
//! transaction.

use mainstay_base::{Id, Timestamp};
use mainstay_events::Outbox;
use mainstay_store::{Sql, Tx, values};

use super::journeys::{outcome, touches};
use super::runs::{self, FinishedRun};
use crate::announce::{self, Aside, Ended, Failing};
use crate::decide::{self, Turn};
use crate::error::JourneysError;
use crate::kept::JourneyView;
use crate::measure;
use crate::progress::RunProgress;
use crate::report::RunOutcome;

const LOCK: Sql = Sql::pair(
    "journeys.lock",
    "SELECT name, generation, is_enabled, outcome, outcome_since, touches FROM journeys WHERE id = $1",
    "SELECT name, generation, is_enabled, outcome, outcome_since, touches FROM journeys WHERE id = $1
     FOR UPDATE",
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
        let before = Before {
            is_enabled: row.get("is_enabled")?,
            outcome: outcome(row.get::<Option<String>>("outcome")?.as_deref())?,
            since: row.get("outcome_since")?,
        };
        turn(tx, out, &ended, &before, now).await?;
    } else {
        tx.after_commit(measure::stale);
    }
    runs::trim(tx, run.journey_id).await?;
    let (status, trigger) = (done.status, run.trigger);
    tx.after_commit(move || measure::ran(status, trigger));
    Ok(())
}

/// Writes down how far a run is, and tells it, unless it has ended.
pub(crate) async fn progress(
    tx: &mut Tx,
    out: &mut Outbox,
    id: Id,
    progress: &RunProgress,
) -> Result<(), JourneysError> {
    if let Some(journey) = runs::progress(tx, id, progress).await? {
        announce::run_progressed(out, journey, id)?;
    }
    Ok(())
}

/// Adds the record of a run that others have ended. A run is begun once, so that nobody else has another one.
pub(crate) async fn leave_record(
    tx: &mut Tx,
    out: &mut Outbox,
    done: &FinishedRun<'_>,
) -> Result<(), JourneysError> {
    if let Some(journey) = runs::leave_record(tx, done).await? {
        announce::run_progressed(out, journey, done.id)?;
    }
    Ok(())
}

/// Tells what an edit, or its removal (`None`), makes of a journey that was failing.
pub(crate) async fn tell_turn(
    tx: &mut Tx,
    out: &mut Outbox,
    before: &JourneyView,
    now: Option<&JourneyView>,
) -> Result<(), JourneysError> {
    let was = (before.is_enabled, before.outcome);
    let is = now.map_or((false, before.outcome), |now| (now.is_enabled, before.outcome));
    let Some(turn) = decide::turn(was, is) else { return Ok(()) };
    let journey = now.unwrap_or(before);
    let is_unbegun = match before.failed_run_id {
        Some(run) => runs::find_in(tx, run).await?.is_some_and(|run| run.duration_ms.is_none()),
        None => false,
    };
    let failing = Failing {
        journey: journey.id,
        name: &journey.name,
        run: before.failed_run_id,
        message: before.failed_message.as_deref(),
        touches: if is_unbegun { &[] } else { &journey.touches },
    };
    let reason = if now.is_some() { Aside::SwitchedOff } else { Aside::Removed };
    match turn {
        Turn::Fails => announce::failed(out, &failing)?,
        Turn::Ends => announce::set_aside(out, &failing, reason, before.outcome_since)?,
    }
    Ok(())
}

/// How a journey was before a run ended.
struct Before {
    is_enabled: bool,
    outcome: Option<RunOutcome>,
    since: Option<Timestamp>,
}

async fn turn(
    tx: &mut Tx,
    out: &mut Outbox,
    ended: &Ended<'_>,
    before: &Before,
    now: Timestamp,
) -> Result<(), JourneysError> {
    let Some(outcome) = ended.status.outcome() else { return Ok(()) };
    let from = if before.outcome == Some(outcome) { before.since } else { Some(now) };
    let (run, message): (Option<Id>, _) = match outcome {
        RunOutcome::Failed => (Some(ended.run), ended.message),
        RunOutcome::Passed => (None, None),
    };
    tx.execute(&TURN, values![ended.journey, ended.status.name(), from, run, message]).await?;
    let is = (before.is_enabled, Some(outcome));
    match decide::turn((before.is_enabled, before.outcome), is) {
        Some(Turn::Fails) => announce::failed(out, &ended.failing())?,
        Some(Turn::Ends) => announce::recovered(out, ended, before.since)?,
        None => {}
    }
    Ok(())
}
