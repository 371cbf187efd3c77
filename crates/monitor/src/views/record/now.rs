//! What the graph does not hold of what is broken: how many are how, what reports say, and why polls
//! failed. Each in one statement, however much is broken.

use std::collections::HashMap;

use mainstay_base::{Id, Timestamp};
use mainstay_graph::Status;
use mainstay_store::{Row, Snapshot, Sql, StoreError, values};
use serde_json::Value;

use super::services::json;
use super::{overdue, timed};
use crate::status::ServiceStatus;

macro_rules! counts {
    ($now:literal) => {
        concat!(
            "SELECT k.is_active, k.shown, count(*) AS services FROM (
               SELECT s.is_active, CASE WHEN ",
            overdue!($now),
            " THEN 'unknown' ELSE st.status END AS shown
               FROM services AS s JOIN service_states AS st ON st.service_no = s.number
               WHERE s.removed_at IS NULL) AS k
             GROUP BY k.is_active, k.shown"
        )
    };
}
macro_rules! reports {
    ($which:literal) => {
        concat!(
            "SELECT d.id, d.status, d.status_since, d.error_message, d.impact, d.contact, d.description
             FROM dependencies AS d WHERE d.removed_at IS NULL AND d.id ",
            $which
        )
    };
}
macro_rules! errors {
    ($which:literal) => {
        concat!(
            "SELECT st.service_no, st.error_message FROM service_states AS st
             WHERE st.error_message IS NOT NULL AND st.service_no ",
            $which
        )
    };
}
const COUNTS: Sql = timed!("monitor.now_counts", counts);
pub(super) const REPORTS: Sql = Sql::pair(
    "monitor.now_reports",
    reports!("IN (SELECT value FROM json_each($1))"),
    reports!("= ANY ($1)"),
);
pub(super) const ERRORS: Sql = Sql::pair(
    "monitor.now_errors",
    errors!("IN (SELECT value FROM json_each($1))"),
    errors!("= ANY ($1)"),
);

/// Services that are alike.
#[derive(Debug)]
pub(in crate::views) struct Counted {
    pub(in crate::views) is_active: bool,
    pub(in crate::views) status: ServiceStatus,
    pub(in crate::views) count: usize,
}

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

/// How many services are how.
pub(in crate::views) async fn counts(
    snapshot: &mut Snapshot,
    tick: i64,
) -> Result<Vec<Counted>, StoreError> {
    let rows = snapshot.fetch_all(&COUNTS, values![tick]).await?;
    let read = |row: &Row| {
        let status: String = row.get("shown")?;
        Ok(Counted {
            is_active: row.get("is_active")?,
            status: ServiceStatus::from_name(&status).unwrap_or(ServiceStatus::Unknown),
            count: usize::try_from(row.get::<i64>("services")?).unwrap_or_default(),
        })
    };
    rows.iter().map(read).collect()
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

/// Why the last polls of these services failed.
pub(in crate::views) async fn errors(
    snapshot: &mut Snapshot,
    services: &[i64],
) -> Result<HashMap<i64, String>, StoreError> {
    if services.is_empty() {
        return Ok(HashMap::new());
    }
    let rows = snapshot.fetch_all(&ERRORS, values![services]).await?;
    rows.iter().map(|row| Ok((row.get("service_no")?, row.get("error_message")?))).collect()
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
