//! What has become of services and dependencies: rows that are only ever added.

use mainstay_base::Timestamp;
use mainstay_store::{Sql, StoreError, Tx, values};
use serde::Serialize;

use super::dependencies::Ruled;
use super::{over_rows, rows_text};
use crate::judge::{Lapse, Ruling};
use crate::status::ServiceStatus;

const CHANGES: Sql = over_rows!(
    "monitor.insert_changes",
    "INSERT INTO changes (at, kind, service_no, dependency_no, before, after)
     SELECT at, kind, service_no, dependency_no, before, after FROM",
    [at bigint, kind text, service_no bigint, dependency_no bigint, before text, after text],
    "WHERE true"
);
const ERRORS: Sql = over_rows!(
    "monitor.insert_dependency_errors",
    "INSERT INTO dependency_errors (dependency_no, at, error, error_message)
     SELECT dependency_no, at, error, error_message FROM",
    [dependency_no bigint, at bigint, error text, error_message text],
    "WHERE true"
);
const POLLS: Sql = over_rows!(
    "monitor.insert_poll_history",
    "INSERT INTO poll_history (service_no, at, error_kind, error_message)
     SELECT service_no, at, error_kind, error_message FROM",
    [service_no bigint, at bigint, error_kind text, error_message text],
    "WHERE true"
);

/// Something that changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ChangeRow {
    pub(crate) at: i64,
    pub(crate) kind: &'static str,
    pub(crate) service_no: Option<i64>,
    pub(crate) dependency_no: Option<i64>,
    pub(crate) before: Option<String>,
    pub(crate) after: Option<String>,
}

#[derive(Debug, Serialize)]
struct ErrorRow<'a> {
    dependency_no: i64,
    at: i64,
    error: Option<&'a str>,
    error_message: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct PollRow<'a> {
    service_no: i64,
    at: i64,
    error_kind: Option<&'static str>,
    error_message: Option<&'a str>,
}

/// Writes what the rulings changed, and then the aliases of what is new.
pub(crate) async fn write(
    tx: &mut Tx,
    ruled: &[Ruled<'_>],
    aliases: Vec<ChangeRow>,
) -> Result<(), StoreError> {
    let changes: Vec<_> = ruled.iter().flat_map(changes_of).chain(aliases).collect();
    write_changes(tx, &changes).await?;
    let errors: Vec<_> = ruled.iter().flat_map(|one| errors_of(one.ruling)).collect();
    if !errors.is_empty() {
        tx.execute(&ERRORS, values![rows_text(&errors).as_str()]).await?;
    }
    let polls: Vec<_> = ruled.iter().filter_map(poll_of).collect();
    if !polls.is_empty() {
        tx.execute(&POLLS, values![rows_text(&polls).as_str()]).await?;
    }
    Ok(())
}

/// Writes rows of changes.
pub(crate) async fn write_changes(tx: &mut Tx, rows: &[ChangeRow]) -> Result<(), StoreError> {
    if rows.is_empty() {
        return Ok(());
    }
    tx.execute(&CHANGES, values![rows_text(rows).as_str()]).await.map(drop)
}

fn changes_of(ruled: &Ruled<'_>) -> Vec<ChangeRow> {
    let ruling = &*ruled.ruling;
    let dated = |at: Timestamp, kind, dependency_no, before: Option<&str>, after: &str| ChangeRow {
        at: at.as_millis(),
        kind,
        service_no: Some(ruled.service_no),
        dependency_no,
        before: before.map(str::to_owned),
        after: Some(after.to_owned()),
    };
    let row = |kind, dependency_no, before, after: &str| {
        dated(ruling.at, kind, dependency_no, before, after)
    };
    let mut rows = Vec::new();
    if let Some(Lapse { since, before, was_stale }) = ruling.lapse {
        let unknown = ServiceStatus::Unknown.name();
        rows.push(dated(since, "service", None, Some(before.name()), unknown));
        if !was_stale {
            rows.push(dated(since, "stale", None, Some("fresh"), "stale"));
        }
    }
    if ruling.status.has_turned() {
        let (before, after) = (ruling.status.before.name(), ruling.status.after.name());
        rows.push(row("service", None, Some(before), after));
    }
    match (ruling.stale_since.before, ruling.stale_since.after) {
        (None, Some(_)) => rows.push(row("stale", None, Some("fresh"), "stale")),
        (Some(_), None) => rows.push(row("stale", None, Some("stale"), "fresh")),
        _ => {}
    }
    for touched in &ruling.touched {
        let (number, after) = (touched.known.number, touched.known.status.name());
        let Some(previous) = touched.previous else {
            rows.push(row("added", number, None, after));
            continue;
        };
        if previous.missing {
            rows.push(row("missing", number, Some("missing"), "present"));
        }
        if previous.status != touched.known.status {
            rows.push(row("dependency", number, Some(previous.status.name()), after));
        }
    }
    let vanished = ruling.vanished.iter();
    rows.extend(vanished.map(|one| row("missing", one.number, Some("present"), "missing")));
    rows
}

fn errors_of(ruling: &Ruling) -> impl Iterator<Item = ErrorRow<'_>> {
    ruling.touched.iter().filter_map(|touched| {
        let trouble = touched.noted.as_ref()?.as_ref();
        Some(ErrorRow {
            dependency_no: touched.known.number?,
            at: ruling.at.as_millis(),
            error: trouble.map(|trouble| trouble.error.as_str()),
            error_message: trouble.map(|trouble| trouble.message.as_str()),
        })
    })
}

fn poll_of<'a>(ruled: &'a Ruled<'_>) -> Option<PollRow<'a>> {
    let ruling = &*ruled.ruling;
    ruling.is_turn.then(|| PollRow {
        service_no: ruled.service_no,
        at: ruling.at.as_millis(),
        error_kind: ruling.failure.as_ref().map(|failure| failure.kind.name()),
        error_message: ruling.failure.as_ref().map(|failure| failure.message.as_str()),
    })
}
