//! Journeys as people define and list them.

use std::collections::HashMap;

use mainstay_base::{Id, Timestamp};
use mainstay_store::{Db, Row, Sql, StoreError, Tx, values};

use crate::error::JourneysError;
use crate::kept::{
    FailingJourney, JourneyDetail, JourneyView, MAX_JOURNEYS, RunMark, STRIP_CELLS, UnknownWord,
};
use crate::report::RunOutcome;

macro_rules! select_journey {
    ($name:literal, $end:literal) => {
        Sql::same(
            $name,
            concat!(
                "SELECT id, name, source, generation, is_enabled, every_ms, touches, next_run_at,
                   outcome, outcome_since, failed_run_id, failed_message, created_at, updated_at
                 FROM journeys ",
                $end
            ),
        )
    };
}

const FIND: Sql = select_journey!("journeys.find", "WHERE id = $1");
const LIST: Sql = select_journey!("journeys.list", "ORDER BY id DESC LIMIT $1");
const LIST_AFTER: Sql =
    select_journey!("journeys.list_after", "WHERE id < $1 ORDER BY id DESC LIMIT $2");
const FAILING: Sql = select_journey!(
    "journeys.failing",
    "WHERE outcome = 'failed' AND is_enabled = 1 ORDER BY outcome_since, id LIMIT $1"
);
macro_rules! strips {
    ($list:literal) => {
        concat!(
            "SELECT journey_id, id, status, created_at, duration_ms FROM (
               SELECT journey_id, id, status, created_at, duration_ms,
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

/// The journey with this id, without its strip.
pub(crate) async fn find_in(tx: &mut Tx, id: Id) -> Result<Option<JourneyDetail>, JourneysError> {
    let row = tx.fetch_optional(&FIND, values![id]).await?;
    row.as_ref().map(detail).transpose()
}

/// The journey with this id.
pub(crate) async fn find(db: &Db, id: Id) -> Result<Option<JourneyDetail>, JourneysError> {
    let Some(row) = db.fetch_optional(&FIND, values![id]).await? else { return Ok(None) };
    let mut found = detail(&row)?;
    fill_strips(db, std::slice::from_mut(&mut found.journey)).await?;
    Ok(Some(found))
}

/// Journeys, the newest first.
pub(crate) async fn list(
    db: &Db,
    after: Option<Id>,
    limit: i64,
) -> Result<Vec<JourneyView>, JourneysError> {
    let rows = match after {
        None => db.fetch_all(&LIST, values![limit]).await?,
        Some(after) => db.fetch_all(&LIST_AFTER, values![after, limit]).await?,
    };
    let mut found = rows.iter().map(view).collect::<Result<Vec<_>, _>>()?;
    fill_strips(db, &mut found).await?;
    Ok(found)
}

/// Journeys that are failing and switched on, the longest first.
pub(crate) async fn failing(db: &Db, limit: i64) -> Result<Vec<FailingJourney>, JourneysError> {
    let rows = db.fetch_all(&FAILING, values![limit]).await?;
    let failing = rows.iter().map(|row| {
        let found = view(row)?;
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

async fn fill_strips(db: &Db, journeys: &mut [JourneyView]) -> Result<(), JourneysError> {
    if journeys.is_empty() {
        return Ok(());
    }
    let ids: Vec<String> = journeys.iter().map(|journey| journey.id.to_string()).collect();
    let mut strips: HashMap<Id, Vec<RunMark>> = HashMap::new();
    for row in db.fetch_all(&STRIPS, values![&ids, STRIP_CELLS]).await? {
        strips.entry(row.get("journey_id")?).or_default().push(RunMark {
            id: row.get("id")?,
            status: row.get::<String>("status")?.parse()?,
            at: row.get("created_at")?,
            duration_ms: row.get("duration_ms")?,
        });
    }
    for journey in journeys {
        journey.strip = strips.remove(&journey.id).unwrap_or_default();
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
