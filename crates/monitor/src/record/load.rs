//! Reads what is recorded of services, for the results that are compared with it.

use std::collections::HashMap;

use mainstay_base::{Id, Timestamp};
use mainstay_store::{Row, Sql, StoreError, Tx, values};
use serde::Serialize;

use super::{over_rows, rows_text};
use crate::failure::{FailureKind, PollFailure};
use crate::known::{Facts, Known, KnownDependency, Trouble, fingerprint, is_sound};
use crate::report::{DependencyStatus, HealthState};
use crate::status::ServiceStatus;
use crate::watch::ServiceNumber;

/// How many services are read at once.
const SERVICES_AT_ONCE: usize = 40;
/// How many dependencies are read at once, and how many names are looked for.
const DEPENDENCIES_AT_ONCE: usize = 10_000;

macro_rules! states_of {
    ($list:literal) => {
        concat!(
            "SELECT service_no, poll_seq, dependency_revision, status, status_since, failing_since,
               error_kind, error_message, stale_since, next_poll_at, poll_warnings
             FROM service_states WHERE service_no ",
            $list
        )
    };
}
macro_rules! counts_of {
    ($list:literal) => {
        concat!(
            "SELECT service_no, count(*) AS kept, max(slot) AS last_slot
             FROM dependencies WHERE service_no ",
            $list,
            " GROUP BY service_no"
        )
    };
}
// The signs keep both from reading all dependencies there are in the order of their numbers.
macro_rules! dependencies_of {
    ($list:literal) => {
        concat!(
            "SELECT d.number, d.id, d.service_no, d.slot, d.name, d.kind, d.description, d.impact,
               d.contact, d.check_details, d.healthy, d.state, d.code, d.skipped, d.error,
               d.error_message, d.missing_since, d.removed_at
             FROM dependencies AS d WHERE d.removed_at IS NULL AND +d.number > $2 AND d.service_no ",
            $list,
            " ORDER BY +d.number LIMIT $3"
        )
    };
}
const STATES: Sql = Sql::pair(
    "monitor.load_states",
    states_of!("IN (SELECT value FROM json_each($1))"),
    states_of!("= ANY ($1)"),
);
const COUNTS: Sql = Sql::pair(
    "monitor.count_dependencies",
    counts_of!("IN (SELECT value FROM json_each($1))"),
    counts_of!("= ANY ($1)"),
);
const DEPENDENCIES: Sql = Sql::pair(
    "monitor.load_dependencies",
    dependencies_of!("IN (SELECT value FROM json_each($1))"),
    dependencies_of!("= ANY ($1)"),
);
// The names come first: each is looked up by its key.
const CLOSED: Sql = over_rows!(
    "monitor.load_closed_dependencies",
    "SELECT d.number, d.id, d.service_no, d.slot, d.name, d.kind, d.description, d.impact,
       d.contact, d.check_details, d.healthy, d.state, d.code, d.skipped, d.error,
       d.error_message, d.missing_since, d.removed_at FROM",
    [service_no bigint, name text],
    "CROSS JOIN dependencies AS d
     WHERE d.service_no = v.service_no AND d.name = v.name AND d.removed_at IS NOT NULL"
);

/// A name that a service reports.
#[derive(Debug, Serialize)]
pub(crate) struct Named<'a> {
    pub(crate) service_no: i64,
    pub(crate) name: &'a str,
}

/// What is recorded of these services; one that is not in the answer is not recorded at all.
pub(crate) async fn load(
    tx: &mut Tx,
    numbers: &[ServiceNumber],
) -> Result<HashMap<ServiceNumber, Known>, StoreError> {
    let mut all = HashMap::with_capacity(numbers.len());
    for some in numbers.chunks(SERVICES_AT_ONCE) {
        let keys: Vec<i64> = some.iter().map(|number| number.0).collect();
        for row in tx.fetch_all(&STATES, values![&keys]).await? {
            all.insert(ServiceNumber(row.get("service_no")?), state(&row)?);
        }
        for row in tx.fetch_all(&COUNTS, values![&keys]).await? {
            if let Some(known) = all.get_mut(&ServiceNumber(row.get("service_no")?)) {
                known.kept = usize::try_from(row.get::<i64>("kept")?).unwrap_or_default();
                known.next_slot = slot(row.get("last_slot")?).saturating_add(1);
            }
        }
        load_dependencies(tx, &keys, &mut all).await?;
    }
    Ok(all)
}

/// Brings closed dependencies of these names back to mind.
pub(crate) async fn recall(
    tx: &mut Tx,
    named: &[Named<'_>],
    all: &mut HashMap<ServiceNumber, Known>,
) -> Result<(), StoreError> {
    for some in named.chunks(DEPENDENCIES_AT_ONCE) {
        let rows = tx.fetch_all(&CLOSED, values![rows_text(some).as_str()]).await?;
        add_dependencies(all, &rows)?;
    }
    Ok(())
}

/// The dependencies of these services that are not closed, in pages.
async fn load_dependencies(
    tx: &mut Tx,
    keys: &[i64],
    all: &mut HashMap<ServiceNumber, Known>,
) -> Result<(), StoreError> {
    let page = i64::try_from(DEPENDENCIES_AT_ONCE).unwrap_or(i64::MAX);
    let mut after = 0_i64;
    loop {
        let rows = tx.fetch_all(&DEPENDENCIES, values![keys, after, page]).await?;
        add_dependencies(all, &rows)?;
        match rows.last() {
            Some(last) if rows.len() >= DEPENDENCIES_AT_ONCE => after = last.get("number")?,
            _ => return Ok(()),
        }
    }
}

fn state(row: &Row) -> Result<Known, StoreError> {
    let status: String = row.get("status")?;
    Ok(Known {
        poll_seq: row.get("poll_seq")?,
        dependency_revision: row.get("dependency_revision")?,
        status: ServiceStatus::from_name(&status).unwrap_or(ServiceStatus::Unknown),
        status_since: row.get("status_since")?,
        failing_since: row.get("failing_since")?,
        failure: failure(row)?,
        stale_since: row.get("stale_since")?,
        next_poll_at: row.get("next_poll_at")?,
        warnings: row.get("poll_warnings")?,
        dependencies: HashMap::new(),
        kept: 0,
        next_slot: 0,
    })
}

fn failure(row: &Row) -> Result<Option<PollFailure>, StoreError> {
    let kind: Option<String> = row.get("error_kind")?;
    let message: Option<String> = row.get("error_message")?;
    let kind = kind.as_deref().and_then(FailureKind::from_name);
    Ok(kind.map(|kind| PollFailure { kind, message: message.unwrap_or_default() }))
}

fn add_dependencies(
    all: &mut HashMap<ServiceNumber, Known>,
    rows: &[Row],
) -> Result<(), StoreError> {
    for row in rows {
        if let Some(known) = all.get_mut(&ServiceNumber(row.get("service_no")?)) {
            let name: String = row.get("name")?;
            known.dependencies.insert(name.into(), dependency(row)?);
        }
    }
    Ok(())
}

fn slot(stored: i64) -> u32 {
    u32::try_from(stored).unwrap_or_default()
}

fn dependency(row: &Row) -> Result<KnownDependency, StoreError> {
    let text = |column: &str| row.get::<Option<String>>(column);
    let kind: String = row.get("kind")?;
    let (description, impact) = (text("description")?, text("impact")?);
    let (contact, check_details) = (text("contact")?, text("check_details")?);
    let (error, error_message) = (text("error")?, text("error_message")?);
    let facts = Facts {
        kind: &kind,
        description: description.as_deref(),
        impact: impact.as_deref(),
        contact: contact.as_deref(),
        check_details: check_details.as_deref(),
        healthy: row.get::<i64>("healthy")? == 1,
        state: row.get("state")?,
        code: row.get("code")?,
        skipped: row.get::<i64>("skipped")? == 1,
        error: error.as_deref(),
        error_message: error_message.as_deref(),
    };
    let state = HealthState::from_number(facts.state).unwrap_or(HealthState::Down);
    let status = DependencyStatus::of(facts.skipped, state, facts.healthy);
    let sound = is_sound(facts.healthy, status);
    let trouble = Trouble::with(sound, status, facts.error, facts.error_message);
    let missing: Option<Timestamp> = row.get("missing_since")?;
    let removed: Option<Timestamp> = row.get("removed_at")?;
    Ok(KnownDependency {
        id: row.get::<Id>("id")?,
        number: Some(row.get("number")?),
        slot: slot(row.get("slot")?),
        status,
        sound,
        facts: fingerprint(&facts),
        trouble: trouble.as_ref().map(Trouble::fingerprint),
        missing: missing.is_some() || removed.is_some(),
    })
}
