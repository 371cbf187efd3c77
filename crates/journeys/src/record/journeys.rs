//! Journeys as people define and list them.

use std::collections::{HashMap, HashSet};

use mainstay_base::{Id, Timestamp};
use mainstay_store::{Db, Row, Sql, StoreError, Tx, values};

use crate::decide::{self, Entry, Past};
use crate::error::JourneysError;
use crate::kept::{
    FailingJourney, JourneyDetail, JourneyView, MAX_JOURNEYS, RunMark, STRIP_CELLS, UnknownWord,
};
use crate::report::RunOutcome;

macro_rules! select_journey {
    ($end:literal) => {
        concat!(
            "SELECT id, name, source, generation, is_enabled, every_ms, touches, next_run_at,
               outcome, outcome_since, failed_run_id, failed_message, created_at, updated_at
             FROM journeys ",
            $end
        )
    };
}

const FIND: Sql = Sql::same("journeys.find", select_journey!("WHERE id = $1"));
const FIND_LOCKED: Sql = Sql::pair(
    "journeys.find_locked",
    select_journey!("WHERE id = $1"),
    select_journey!("WHERE id = $1 FOR UPDATE"),
);
const ENTRIES: Sql = Sql::same(
    "journeys.entries",
    "SELECT id, name, touches, is_enabled, outcome, failed_message FROM journeys LIMIT $1",
);
macro_rules! listed {
    ($list:literal) => {
        concat!(
            "SELECT id, name, generation, is_enabled, every_ms, touches, next_run_at, outcome,
               outcome_since, failed_run_id, failed_message, created_at, updated_at
             FROM journeys WHERE id ",
            $list
        )
    };
}
const OF: Sql = Sql::pair(
    "journeys.of",
    listed!("IN (SELECT value FROM json_each($1))"),
    listed!("= ANY ($1)"),
);
/// A run that could not begin took no time.
const UNBEGUN: Sql = Sql::same(
    "journeys.unbegun",
    "SELECT r.id FROM journey_runs AS r JOIN journeys AS j ON j.failed_run_id = r.id
     WHERE j.outcome = 'failed' AND r.duration_ms IS NULL",
);
const FAILING: Sql = Sql::same(
    "journeys.failing",
    select_journey!(
        "WHERE outcome = 'failed' AND is_enabled = 1 ORDER BY outcome_since, id LIMIT $1"
    ),
);
macro_rules! strips {
    ($list:literal) => {
        concat!(
            "SELECT journey_id, id, status, created_at, duration_ms, judged_at, first_at FROM (
               SELECT journey_id, id, status, created_at, duration_ms,
                 max(CASE WHEN status IN ('passed', 'failed') THEN finished_at END)
                   OVER (PARTITION BY journey_id) AS judged_at,
                 min(created_at) OVER (PARTITION BY journey_id) AS first_at,
                 row_number() OVER (PARTITION BY journey_id ORDER BY id DESC) AS place
               FROM journey_runs WHERE journey_id ",
            $list,
            ") AS numbered WHERE place <= $2 ORDER BY journey_id, id"
        )
    };
}
const STRIPS: Sql = Sql::pair(
    "journeys.strips",
    strips!("IN (SELECT value FROM json_each($1))"),
    strips!("= ANY ($1)"),
);
const COUNT: Sql = Sql::same("journeys.count", "SELECT count(*) AS journeys FROM journeys");
const INSERT: Sql = Sql::same(
    "journeys.insert",
    "INSERT INTO journeys (id, name, name_key, source, generation, is_enabled, every_ms, touches,
       next_run_at, created_at, updated_at)
     VALUES ($1, $2, $3, $4, 1, $5, $6, $7, $8, $9, $9)",
);
const UPDATE: Sql = Sql::same(
    "journeys.update",
    "UPDATE journeys SET name = $3, name_key = $4, source = $5, is_enabled = $6, every_ms = $7,
       touches = $8, next_run_at = $9, updated_at = $10, generation = generation + 1
     WHERE id = $1 AND generation = $2",
);
const REMOVE: Sql = Sql::same("journeys.remove", "DELETE FROM journeys WHERE id = $1");

/// A journey as it is written down.
#[derive(Debug)]
pub(crate) struct Defined<'a> {
    pub(crate) name: &'a str,
    pub(crate) source: &'a str,
    pub(crate) is_enabled: bool,
    pub(crate) every_ms: Option<i64>,
    pub(crate) touches: &'a [String],
    pub(crate) next_run_at: Option<Timestamp>,
}

/// Writes a journey down, unless there are too many.
pub(crate) async fn insert(
    tx: &mut Tx,
    id: Id,
    new: &Defined<'_>,
    now: Timestamp,
) -> Result<(), JourneysError> {
    let count = tx.fetch_one(&COUNT, &[]).await?;
    if count.get::<i64>("journeys")? >= MAX_JOURNEYS {
        return Err(JourneysError::TooMany);
    }
    let (key, touches) = (new.name.to_lowercase(), json(new.touches));
    let values = values![
        id,
        new.name,
        &key,
        new.source,
        new.is_enabled,
        new.every_ms,
        &touches,
        new.next_run_at,
        now
    ];
    tx.execute(&INSERT, values).await.map_err(taken)?;
    Ok(())
}

/// Writes an edit down; tells whether the journey was still at this generation.
pub(crate) async fn update(
    tx: &mut Tx,
    (id, generation): (Id, i64),
    new: &Defined<'_>,
    now: Timestamp,
) -> Result<bool, JourneysError> {
    let (key, touches) = (new.name.to_lowercase(), json(new.touches));
    let values = values![
        id,
        generation,
        new.name,
        &key,
        new.source,
        new.is_enabled,
        new.every_ms,
        &touches,
        new.next_run_at,
        now
    ];
    Ok(tx.execute(&UPDATE, values).await.map_err(taken)? == 1)
}

/// Removes a journey with its runs; tells whether it was there.
pub(crate) async fn remove(tx: &mut Tx, id: Id) -> Result<bool, JourneysError> {
    Ok(tx.execute(&REMOVE, values![id]).await? == 1)
}

/// The journey with this id, without its strip; nobody else changes it before the end of the transaction. Whoever
/// also has to do with its job holds that first.
pub(crate) async fn find_locked(
    tx: &mut Tx,
    id: Id,
) -> Result<Option<JourneyDetail>, JourneysError> {
    let row = tx.fetch_optional(&FIND_LOCKED, values![id]).await?;
    row.as_ref().map(detail).transpose()
}

/// The journey with this id, without its strip.
pub(crate) async fn find_in(tx: &mut Tx, id: Id) -> Result<Option<JourneyDetail>, JourneysError> {
    let row = tx.fetch_optional(&FIND, values![id]).await?;
    row.as_ref().map(detail).transpose()
}

/// The journey with this id.
pub(crate) async fn find(db: &Db, id: Id) -> Result<Option<JourneyDetail>, JourneysError> {
    let Some(row) = db.fetch_optional(&FIND, values![id]).await? else { return Ok(None) };
    let mut found = detail(&row)?;
    fill_runs(db, std::slice::from_mut(&mut found.journey)).await?;
    Ok(Some(found))
}

/// What is needed of every journey to list some.
pub(crate) async fn entries(db: &Db, limit: i64) -> Result<Vec<Entry>, JourneysError> {
    let rows = db.fetch_all(&ENTRIES, values![limit]).await?;
    let entries = rows.iter().map(|row| {
        Ok(Entry {
            id: row.get("id")?,
            name: row.get("name")?,
            touches: touches(row)?,
            is_enabled: row.get("is_enabled")?,
            outcome: outcome(row.get::<Option<String>>("outcome")?.as_deref())?,
            failed_message: row.get("failed_message")?,
        })
    });
    entries.collect()
}

/// These journeys, in this order, as far as they are still there.
pub(crate) async fn of(db: &Db, ids: &[Id]) -> Result<Vec<JourneyView>, JourneysError> {
    let texts: Vec<String> = ids.iter().map(ToString::to_string).collect();
    let rows = db.fetch_all(&OF, values![&texts]).await?;
    let found = rows.iter().map(view).collect::<Result<Vec<_>, _>>()?;
    let mut found: HashMap<Id, JourneyView> =
        found.into_iter().map(|journey| (journey.id, journey)).collect();
    let mut listed: Vec<_> = ids.iter().filter_map(|id| found.remove(id)).collect();
    fill_runs(db, &mut listed).await?;
    Ok(listed)
}

/// Journeys that are failing and switched on, the longest first.
pub(crate) async fn failing(db: &Db, limit: i64) -> Result<Vec<FailingJourney>, JourneysError> {
    let rows = db.fetch_all(&FAILING, values![limit]).await?;
    let unbegun = db.fetch_all(&UNBEGUN, &[]).await?;
    let unbegun: HashSet<Id> = unbegun.iter().map(|row| row.get("id")).collect::<Result<_, _>>()?;
    let failing = rows.iter().map(|row| {
        let mut found = view(row)?;
        // What keeps a run from beginning says nothing about the services that it would have asked.
        if found.failed_run_id.is_some_and(|run| unbegun.contains(&run)) {
            found.touches.clear();
        }
        Ok(FailingJourney {
            id: found.id,
            name: found.name,
            since: found.outcome_since.unwrap_or(found.updated_at),
            run_id: found.failed_run_id,
            message: found.failed_message,
            touches: found.touches,
        })
    });
    failing.collect()
}

/// What the runs of journeys say beside their outcome.
async fn fill_runs(db: &Db, journeys: &mut [JourneyView]) -> Result<(), JourneysError> {
    if journeys.is_empty() {
        return Ok(());
    }
    let ids: Vec<String> = journeys.iter().map(|journey| journey.id.to_string()).collect();
    let mut runs: HashMap<Id, (Past, Vec<RunMark>)> = HashMap::new();
    for row in db.fetch_all(&STRIPS, values![&ids, STRIP_CELLS]).await? {
        let (past, strip) = runs.entry(row.get("journey_id")?).or_default();
        *past = Past { judged_at: row.get("judged_at")?, first_at: row.get("first_at")? };
        strip.push(RunMark {
            id: row.get("id")?,
            status: row.get::<String>("status")?.parse()?,
            at: row.get("created_at")?,
            duration_ms: row.get("duration_ms")?,
        });
    }
    let now = db.now().await?;
    for journey in journeys {
        let (past, strip) = runs.remove(&journey.id).unwrap_or_default();
        journey.strip = strip;
        journey.not_run_since = decide::not_run_since(journey, past, now);
    }
    Ok(())
}

fn detail(row: &Row) -> Result<JourneyDetail, JourneysError> {
    Ok(JourneyDetail { journey: view(row)?, source: row.get("source")? })
}

fn view(row: &Row) -> Result<JourneyView, JourneysError> {
    Ok(JourneyView {
        id: row.get("id")?,
        name: row.get("name")?,
        generation: row.get("generation")?,
        is_enabled: row.get("is_enabled")?,
        every_ms: row.get("every_ms")?,
        touches: touches(row)?,
        outcome: outcome(row.get::<Option<String>>("outcome")?.as_deref())?,
        outcome_since: row.get("outcome_since")?,
        failed_message: row.get("failed_message")?,
        failed_run_id: row.get("failed_run_id")?,
        next_run_at: row.get("next_run_at")?,
        not_run_since: None,
        strip: Vec::new(),
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
    })
}

pub(super) fn touches(row: &Row) -> Result<Vec<String>, JourneysError> {
    serde_json::from_str(&row.get::<String>("touches")?).map_err(|_| UnknownWord.into())
}

pub(super) fn outcome(word: Option<&str>) -> Result<Option<RunOutcome>, UnknownWord> {
    match word {
        None => Ok(None),
        Some("passed") => Ok(Some(RunOutcome::Passed)),
        Some("failed") => Ok(Some(RunOutcome::Failed)),
        Some(_) => Err(UnknownWord),
    }
}

fn json(texts: &[String]) -> String {
    serde_json::Value::from(texts).to_string()
}

fn taken(error: StoreError) -> JourneysError {
    match error {
        StoreError::Unique { .. } => JourneysError::NameTaken,
        error => error.into(),
    }
}
