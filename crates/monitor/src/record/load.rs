//! Reads what is recorded of services, for the results that are compared with it.

use std::collections::HashMap;

use mainstay_base::{Id, Timestamp};
use mainstay_store::{Row, Sql, StoreError, Tx, values};

use crate::failure::{FailureKind, PollFailure};
use crate::known::{Facts, Known, KnownDependency, Trouble, fingerprint, is_sound};
use crate::report::{DependencyStatus, HealthState};
use crate::status::ServiceStatus;
use crate::watch::ServiceNumber;

/// How many services are read at once: each has up to a few thousand dependencies.
const SERVICES_AT_ONCE: usize = 40;

macro_rules! states_of {
    ($list:literal) => {
        concat!(
            "SELECT service_no, poll_seq, dependency_revision, status, status_since, error_kind,
               error_message, stale_since, poll_warnings
             FROM service_states WHERE service_no ",
            $list
        )
    };
}
macro_rules! dependencies_of {
    ($list:literal) => {
        concat!(
            "SELECT number, id, service_no, slot, name, kind, description, impact, contact,
               check_details, healthy, state, code, skipped, error, error_message, missing_since,
               removed_at
             FROM dependencies WHERE service_no ",
            $list
        )
    };
}
const STATES: Sql = Sql::pair(
    "monitor.load_states",
    states_of!("IN (SELECT value FROM json_each($1))"),
    states_of!("= ANY ($1)"),
);
const DEPENDENCIES: Sql = Sql::pair(
    "monitor.load_dependencies",
    dependencies_of!("IN (SELECT value FROM json_each($1))"),
    dependencies_of!("= ANY ($1)"),
);

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
        for row in tx.fetch_all(&DEPENDENCIES, values![&keys]).await? {
            if let Some(known) = all.get_mut(&ServiceNumber(row.get("service_no")?)) {
                add_dependency(known, &row)?;
            }
        }
    }
    Ok(all)
}

fn state(row: &Row) -> Result<Known, StoreError> {
    let status: String = row.get("status")?;
    Ok(Known {
        poll_seq: row.get("poll_seq")?,
        dependency_revision: row.get("dependency_revision")?,
        status: ServiceStatus::from_name(&status).unwrap_or(ServiceStatus::Unknown),
        status_since: row.get("status_since")?,
        failure: failure(row)?,
        stale_since: row.get("stale_since")?,
        warnings: row.get("poll_warnings")?,
        dependencies: HashMap::new(),
        next_slot: 0,
    })
}

fn failure(row: &Row) -> Result<Option<PollFailure>, StoreError> {
    let kind: Option<String> = row.get("error_kind")?;
    let message: Option<String> = row.get("error_message")?;
    let kind = kind.as_deref().and_then(FailureKind::from_name);
    Ok(kind.map(|kind| PollFailure { kind, message: message.unwrap_or_default() }))
}

fn add_dependency(known: &mut Known, row: &Row) -> Result<(), StoreError> {
    let slot = u32::try_from(row.get::<i64>("slot")?).unwrap_or_default();
    known.next_slot = known.next_slot.max(slot.saturating_add(1));
    let name: String = row.get("name")?;
    known.dependencies.insert(name.into(), dependency(row, slot)?);
    Ok(())
}

fn dependency(row: &Row, slot: u32) -> Result<KnownDependency, StoreError> {
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
    let trouble = Trouble::of(facts.error, facts.error_message);
    let missing: Option<Timestamp> = row.get("missing_since")?;
    let removed: Option<Timestamp> = row.get("removed_at")?;
    Ok(KnownDependency {
        id: row.get::<Id>("id")?,
        number: Some(row.get("number")?),
        slot,
        status,
        sound,
        facts: fingerprint(&facts),
        trouble: (!sound).then(|| trouble.fingerprint()),
        missing: missing.is_some() || removed.is_some(),
    })
}
