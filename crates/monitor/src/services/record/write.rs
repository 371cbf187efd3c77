//! Writes definitions.

use std::collections::HashMap;

use mainstay_base::{Id, Timestamp};
use mainstay_store::{Sql, StoreError, Tx, values};
use serde::Serialize;

use super::super::definition::{Definition, millis};
use super::super::error::ServicesError;
use super::stored::Sealed;
use crate::record::{over_rows, rows_text};

macro_rules! insert_states {
    ($list:literal) => {
        concat!(
            "INSERT INTO service_states (service_no, poll_seq, dependency_revision, status,
               status_since, breaker_state, breaker_failures, breaker_generation, backoff_attempt,
               healthy_count, degraded_count, down_count, skipped_count)
             SELECT number, 0, 0, 'unknown', created_at, 'closed', 0, 0, 0, 0, 0, 0, 0
             FROM services WHERE number ",
            $list
        )
    };
}
const COUNT: Sql = Sql::same(
    "monitor.count_services",
    "SELECT count(*) AS n FROM services WHERE removed_at IS NULL",
);
const INSERT: Sql = over_rows!(
    "monitor.insert_services",
    "INSERT INTO services (id, name, name_key, team, team_key, health_endpoint, format,
       schema_config, poll_interval_ms, timeout_ms, header_names, sealed_headers, is_active, revision,
       generation, created_at, updated_at)
     SELECT id, name, name_key, team, team_key, health_endpoint, format, schema_config,
       poll_interval_ms, timeout_ms, header_names, sealed_headers, is_active, revision, 1, at, at
     FROM",
    [
        id text, name text, name_key text, team text, team_key text, health_endpoint text,
        format text, schema_config text, poll_interval_ms bigint, timeout_ms bigint,
        header_names text, sealed_headers text, is_active bigint, revision bigint, at bigint,
    ],
    "WHERE true RETURNING number, id"
);
const INSERT_STATES: Sql = Sql::pair(
    "monitor.insert_states",
    insert_states!("IN (SELECT value FROM json_each($1))"),
    insert_states!("= ANY ($1)"),
);
const UPDATE: Sql = over_rows!(
    "monitor.update_services",
    "UPDATE services SET name = v.name, name_key = v.name_key, team = v.team, team_key = v.team_key,
       health_endpoint = v.health_endpoint, format = v.format, schema_config = v.schema_config,
       poll_interval_ms = v.poll_interval_ms, timeout_ms = v.timeout_ms,
       header_names = v.header_names, sealed_headers = v.sealed_headers, is_active = v.is_active,
       revision = v.revision, updated_at = v.at, generation = generation + v.outdated
     FROM",
    [
        id text, name text, name_key text, team text, team_key text, health_endpoint text,
        format text, schema_config text, poll_interval_ms bigint, timeout_ms bigint,
        header_names text, sealed_headers text, is_active bigint, revision bigint, at bigint,
        outdated bigint,
    ],
    "WHERE services.id = v.id"
);

/// A definition as it is kept.
#[derive(Debug)]
pub(in crate::services) struct Kept<'a> {
    pub(in crate::services) definition: &'a Definition,
    pub(in crate::services) sealed: Sealed,
    pub(in crate::services) revision: i64,
    pub(in crate::services) now: Timestamp,
    /// Whether a poll that is under way says nothing of it any more.
    pub(in crate::services) outdates_polls: bool,
}

/// How many services there are.
pub(in crate::services) async fn count(tx: &mut Tx) -> Result<i64, StoreError> {
    tx.fetch_one(&COUNT, &[]).await?.get("n")
}

/// A service that is added or changed, as it travels.
#[derive(Debug, Serialize)]
struct KeptRow<'a> {
    id: Id,
    name: &'a str,
    name_key: String,
    team: Option<&'a str>,
    team_key: Option<String>,
    health_endpoint: &'a str,
    format: &'static str,
    schema_config: Option<String>,
    poll_interval_ms: i64,
    timeout_ms: i64,
    header_names: &'a str,
    sealed_headers: Option<&'a str>,
    is_active: i64,
    revision: i64,
    at: i64,
    /// 1 where a poll that is under way says nothing of it any more.
    outdated: i64,
}

/// Adds services and tells the number of each.
pub(in crate::services) async fn insert(
    tx: &mut Tx,
    new: &[(Id, Kept<'_>)],
) -> Result<HashMap<Id, i64>, ServicesError> {
    let rows: Vec<_> = new.iter().map(|(id, kept)| KeptRow::new(*id, kept)).collect();
    let text = rows_text(&rows);
    let mut numbers = HashMap::with_capacity(rows.len());
    for row in tx.fetch_all(&INSERT, values![&text]).await.map_err(name_taken)? {
        numbers.insert(row.get("id")?, row.get("number")?);
    }
    let all: Vec<i64> = numbers.values().copied().collect();
    tx.execute(&INSERT_STATES, values![&all[..]]).await?;
    Ok(numbers)
}

impl<'a> KeptRow<'a> {
    fn new(id: Id, kept: &'a Kept<'_>) -> Self {
        let definition = kept.definition;
        Self {
            id,
            name: &definition.name,
            name_key: definition.name_key(),
            team: definition.team.as_deref(),
            team_key: definition.team_key(),
            health_endpoint: &definition.url,
            format: definition.format.name(),
            schema_config: definition.format.schema_config(),
            poll_interval_ms: millis(definition.interval),
            timeout_ms: millis(definition.timeout),
            header_names: &kept.sealed.names,
            sealed_headers: kept.sealed.values.as_deref(),
            is_active: definition.is_active.into(),
            revision: kept.revision,
            at: kept.now.as_millis(),
            outdated: kept.outdates_polls.into(),
        }
    }
}

/// Changes services.
pub(in crate::services) async fn update(
    tx: &mut Tx,
    changed: &[(Id, Kept<'_>)],
) -> Result<(), ServicesError> {
    let rows: Vec<_> = changed.iter().map(|(id, kept)| KeptRow::new(*id, kept)).collect();
    tx.execute(&UPDATE, values![rows_text(&rows).as_str()]).await.map_err(name_taken)?;
    Ok(())
}

fn name_taken(error: StoreError) -> ServicesError {
    match error {
        StoreError::Unique { .. } => ServicesError::NameTaken,
        error => error.into(),
    }
}
