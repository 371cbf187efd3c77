//! What the graph does not hold of what is broken: whom nobody polls, what reports say, whose
//! services are and why polls failed. Each in one statement, however much is broken.

use std::collections::{HashMap, HashSet};

use mainstay_base::{Id, Timestamp};
use mainstay_graph::Status;
use mainstay_store::{Row, Snapshot, Sql, StoreError, values};
use serde_json::Value;

use super::services::json;
use super::{overdue, timed};

macro_rules! reports {
    ($which:literal) => {
        concat!(
            "SELECT d.id, d.status, d.status_since, d.error_message, d.impact, d.contact, d.description
             FROM dependencies AS d WHERE d.removed_at IS NULL AND d.id ",
            $which
        )
    };
}
macro_rules! services {
    ($which:literal) => {
        concat!(
            "SELECT s.number, s.team, st.error_message FROM services AS s
             JOIN service_states AS st ON st.service_no = s.number WHERE s.number ",
            $which
        )
    };
}
macro_rules! unpolled {
    ($now:literal) => {
        concat!(
            "SELECT s.number, s.is_active FROM services AS s
             JOIN service_states AS st ON st.service_no = s.number
             WHERE s.removed_at IS NULL AND (s.is_active = 0 OR (",
            overdue!($now),
            "))"
        )
    };
}
const UNPOLLED: Sql = timed!("monitor.unpolled_services", unpolled);
pub(super) const REPORTS: Sql = Sql::pair(
    "monitor.now_reports",
    reports!("IN (SELECT value FROM json_each($1))"),
    reports!("= ANY ($1)"),
);
pub(super) const SERVICES: Sql = Sql::pair(
    "monitor.now_services",
    services!("IN (SELECT value FROM json_each($1))"),
    services!("= ANY ($1)"),
);

/// What a service says of something that it leans on.
#[derive(Debug)]
pub(in crate::views) struct Said {
    pub(in crate::views) status: Status,
    pub(in crate::views) since: Timestamp,
    pub(in crate::views) error_message: Option<String>,
    pub(in crate::views) impact: Option<String>,
    pub(in crate::views) contact: Option<Value>,
    pub(in crate::views) description: Option<String>,
}

/// A service that fails.
#[derive(Debug)]
pub(in crate::views) struct Failing {
    pub(in crate::views) team: Option<String>,
    /// Why its last poll failed; none if it answered.
    pub(in crate::views) error_message: Option<String>,
}

/// The services that nobody polls.
#[derive(Debug, Default)]
pub(in crate::views) struct Unpolled {
    /// Those that are switched off.
    pub(in crate::views) inactive: HashSet<i64>,
    /// Those that should have been polled.
    pub(in crate::views) overdue: HashSet<i64>,
}

/// The services that nobody polls.
pub(in crate::views) async fn unpolled(
    snapshot: &mut Snapshot,
    tick: i64,
) -> Result<Unpolled, StoreError> {
    let mut all = Unpolled::default();
    for row in snapshot.fetch_all(&UNPOLLED, values![tick]).await? {
        let which = if row.get("is_active")? { &mut all.overdue } else { &mut all.inactive };
        which.insert(row.get("number")?);
    }
    Ok(all)
}

/// What these dependencies are said to be.
pub(in crate::views) async fn reports(
    snapshot: &mut Snapshot,
    ids: &[String],
) -> Result<HashMap<Id, Said>, StoreError> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let rows = snapshot.fetch_all(&REPORTS, values![ids]).await?;
    rows.iter().map(|row| Ok((row.get("id")?, said(row)?))).collect()
}

/// Whose these services are, and why their last polls failed.
pub(in crate::views) async fn services(
    snapshot: &mut Snapshot,
    services: &[i64],
) -> Result<HashMap<i64, Failing>, StoreError> {
    if services.is_empty() {
        return Ok(HashMap::new());
    }
    let read = |row: &Row| -> Result<_, StoreError> {
        let failing = Failing { team: row.get("team")?, error_message: row.get("error_message")? };
        Ok((row.get("number")?, failing))
    };
    snapshot.fetch_all(&SERVICES, values![services]).await?.iter().map(read).collect()
}

fn said(row: &Row) -> Result<Said, StoreError> {
    Ok(Said {
        status: Status::from_name(&row.get::<String>("status")?).unwrap_or(Status::Unknown),
        since: row.get("status_since")?,
        error_message: row.get("error_message")?,
        impact: row.get("impact")?,
        contact: json(row.get("contact")?),
        description: row.get("description")?,
    })
}
