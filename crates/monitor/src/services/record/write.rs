//! Writes definitions.

use std::collections::HashMap;

use mainstay_base::{Id, Timestamp};
use mainstay_store::{Sql, StoreError, Tx, values};
use serde::Serialize;

use super::super::definition::{Definition, millis};
use super::super::error::ServicesError;
use super::states::reschedule;
use super::stored::Sealed;
use crate::record::histories::{ChangeRow, write_changes};
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
const UPDATE: Sql = Sql::same(
    "monitor.update_service",
    "UPDATE services SET name = $2, name_key = $3, team = $4, team_key = $16, health_endpoint = $5, format = $6,
       schema_config = $7, poll_interval_ms = $8, timeout_ms = $9, header_names = $10,
       sealed_headers = $11, is_active = $12, revision = $13, updated_at = $14,
       generation = generation + $15
     WHERE number = $1",
);
const REMOVE: Sql = Sql::same(
    "monitor.remove_service",
    "UPDATE services SET removed_at = $2, updated_at = $2, revision = $3,
       generation = generation + 1
     WHERE number = $1",
);
const REMOVE_DEPENDENCIES: Sql = Sql::same(
    "monitor.remove_dependencies",
    "UPDATE dependencies SET removed_at = $2 WHERE service_no = $1 AND removed_at IS NULL",
);
const UNLINK: Sql = Sql::same(
    "monitor.unlink_dependencies",
    "UPDATE dependencies SET linked_service_no = NULL WHERE linked_service_no = $1
     RETURNING number, service_no",
);

/// A definition as it is kept.
#[derive(Debug)]
pub(in crate::services) struct Kept<'a> {
    pub(in crate::services) definition: &'a Definition,
    pub(in crate::services) sealed: Sealed,
    pub(in crate::services) revision: i64,
    pub(in crate::services) now: Timestamp,
}

/// How many services there are.
pub(in crate::services) async fn count(tx: &mut Tx) -> Result<i64, StoreError> {
    tx.fetch_one(&COUNT, &[]).await?.get("n")
}

/// A service that is added, as it travels.
#[derive(Debug, Serialize)]
struct NewRow<'a> {
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
}

/// Adds services and tells the number of each.
pub(in crate::services) async fn insert(
    tx: &mut Tx,
    new: &[(Id, Kept<'_>)],
) -> Result<HashMap<Id, i64>, ServicesError> {
    let rows: Vec<_> = new.iter().map(|(id, kept)| NewRow::new(*id, kept)).collect();
    let text = rows_text(&rows);
    let mut numbers = HashMap::with_capacity(rows.len());
    for row in tx.fetch_all(&INSERT, values![&text]).await.map_err(name_taken)? {
        numbers.insert(row.get("id")?, row.get("number")?);
    }
    let all: Vec<i64> = numbers.values().copied().collect();
    tx.execute(&INSERT_STATES, values![&all[..]]).await?;
    Ok(numbers)
}

impl<'a> NewRow<'a> {
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
        }
    }
}

/// Changes a service.
pub(in crate::services) async fn update(
    tx: &mut Tx,
    number: i64,
    kept: &Kept<'_>,
    outdates_polls: bool,
) -> Result<(), ServicesError> {
    let definition = kept.definition;
    let (name_key, team_key) = (definition.name_key(), definition.team_key());
    let config = definition.format.schema_config();
    let values = values![
        number,
        &definition.name,
        &name_key,
        definition.team.as_deref(),
        &definition.url,
        definition.format.name(),
        config.as_deref(),
        millis(definition.interval),
        millis(definition.timeout),
        &kept.sealed.names,
        kept.sealed.values.as_deref(),
        definition.is_active,
        kept.revision,
        kept.now,
        outdates_polls,
        team_key.as_deref(),
    ];
    tx.execute(&UPDATE, values).await.map_err(name_taken)?;
    Ok(())
}

/// Closes a service and its dependencies; their history stays.
pub(in crate::services) async fn remove(
    tx: &mut Tx,
    number: i64,
    revision: i64,
    now: Timestamp,
) -> Result<(), StoreError> {
    tx.execute(&REMOVE, values![number, now, revision]).await?;
    // A result that waits for this row is compared anew then, and finds that its service is gone:
    // PostgreSQL looks again only at rows that changed while it waited.
    reschedule(tx, number, None).await?;
    tx.execute(&REMOVE_DEPENDENCIES, values![number, now]).await.map(drop)
}

/// Unlinks the dependencies of others that were linked to a service.
pub(in crate::services) async fn unlink(
    tx: &mut Tx,
    number: i64,
    id: Id,
    now: Timestamp,
) -> Result<(), StoreError> {
    let mut rows = Vec::new();
    for row in tx.fetch_all(&UNLINK, values![number]).await? {
        rows.push(ChangeRow {
            at: now.as_millis(),
            kind: "link",
            service_no: row.get("service_no")?,
            dependency_no: row.get("number")?,
            before: Some(id.to_string()),
            after: None,
        });
    }
    write_changes(tx, &rows).await
}

fn name_taken(error: StoreError) -> ServicesError {
    match error {
        StoreError::Unique { .. } => ServicesError::NameTaken,
        error => error.into(),
    }
}
