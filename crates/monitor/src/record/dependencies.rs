//! The rows of dependencies: only those that are new or changed.

use std::collections::HashMap;

use mainstay_base::Id;
use mainstay_store::{Sql, StoreError, Tx, values};
use serde::Serialize;

use super::forget::forget;
use super::histories::ChangeRow;
use super::{over_rows, rows_text};
use crate::judge::{Ruling, Touched};
use crate::names::compared;
use crate::report::{Report, Reported};

const ALIASES: Sql = Sql::pair(
    "monitor.aliases_of_names",
    "SELECT alias, canonical_name FROM aliases WHERE alias IN (SELECT value FROM json_each($1))",
    "SELECT alias, canonical_name FROM aliases WHERE alias = ANY ($1)",
);
const INSERT: Sql = over_rows!(
    "monitor.insert_dependencies",
    "INSERT INTO dependencies (id, service_no, slot, name, canonical_name, canonical_key, kind,
       description, impact, contact, check_details, healthy, state, code, skipped, error,
       error_message, status, status_since, failing_since, first_seen_at)
     SELECT id, service_no, slot, name, canonical_name, canonical_key, kind, description, impact,
       contact, check_details, healthy, state, code, skipped, error, error_message, status, at,
       CASE WHEN status IN ('degraded', 'down') THEN at END, at
     FROM",
    [
        id text, service_no bigint, slot bigint, name text, canonical_name text,
        canonical_key text, kind text, description text, impact text, contact text,
        check_details text, healthy bigint, state bigint, code bigint, skipped bigint, error text,
        error_message text, status text, at bigint,
    ],
    "WHERE true RETURNING number, id"
);
const UPDATE: Sql = over_rows!(
    "monitor.update_dependencies",
    "UPDATE dependencies SET kind = v.kind, description = v.description, impact = v.impact,
       contact = v.contact, check_details = v.check_details, healthy = v.healthy,
       state = v.state, code = v.code, skipped = v.skipped, error = v.error,
       error_message = v.error_message, status = v.status,
       status_since = CASE WHEN v.turned = 1 THEN v.at ELSE status_since END,
       failing_since = CASE WHEN v.status IN ('degraded', 'down') THEN coalesce(failing_since, v.at) END,
       last_status_change = CASE WHEN v.flipped = 1 THEN v.at ELSE last_status_change END,
       missing_since = NULL, removed_at = NULL
     FROM",
    [
        number bigint, kind text, description text, impact text, contact text,
        check_details text, healthy bigint, state bigint, code bigint, skipped bigint, error text,
        error_message text, status text, turned bigint, flipped bigint, at bigint,
    ],
    "WHERE dependencies.number = v.number"
);
const VANISH: Sql = over_rows!(
    "monitor.vanish_dependencies",
    "UPDATE dependencies SET missing_since = v.at FROM",
    [number bigint, at bigint],
    "WHERE dependencies.number = v.number AND missing_since IS NULL"
);

#[derive(Debug, Serialize)]
struct NewRow<'a> {
    id: String,
    service_no: i64,
    slot: u32,
    name: &'a str,
    canonical_name: &'a str,
    canonical_key: String,
    #[serde(flatten)]
    facts: FactsRow<'a>,
    at: i64,
}

#[derive(Debug, Serialize)]
struct ChangedRow<'a> {
    number: i64,
    #[serde(flatten)]
    facts: FactsRow<'a>,
    turned: i64,
    flipped: i64,
    at: i64,
}

#[derive(Debug, Serialize)]
struct FactsRow<'a> {
    kind: &'a str,
    description: Option<&'a str>,
    impact: Option<&'a str>,
    contact: Option<&'a str>,
    check_details: Option<&'a str>,
    healthy: i64,
    state: i64,
    code: i64,
    skipped: i64,
    error: Option<&'a str>,
    error_message: Option<&'a str>,
    status: &'static str,
}

#[derive(Debug, Serialize)]
struct VanishedRow {
    number: i64,
    at: i64,
}

/// A ruling with the report that it is about, and the number of their service.
#[derive(Debug)]
pub(crate) struct Ruled<'a> {
    pub(crate) service_no: i64,
    pub(crate) report: Option<&'a Report>,
    pub(crate) ruling: &'a mut Ruling,
}

/// Writes what is changed, gone and new; new dependencies learn their numbers. What is told of those that
/// go by another name from the first day on is given back, to be written after they came to be.
pub(crate) async fn write(
    tx: &mut Tx,
    ruled: &mut [Ruled<'_>],
) -> Result<Vec<ChangeRow>, StoreError> {
    update(tx, ruled).await?;
    vanish(tx, ruled).await?;
    // Who was reported again does not have to make room.
    forget(tx, ruled).await?;
    let (numbers, aliases) = insert(tx, ruled).await?;
    for touched in ruled.iter_mut().flat_map(|one| one.ruling.touched.iter_mut()) {
        if touched.known.number.is_none() {
            touched.known.number = numbers.get(&touched.known.id).copied();
        }
    }
    Ok(aliases)
}

/// The numbers of what is new, and the aliases that hold for it.
async fn insert(
    tx: &mut Tx,
    ruled: &[Ruled<'_>],
) -> Result<(HashMap<Id, i64>, Vec<ChangeRow>), StoreError> {
    let names: Vec<String> = each(ruled, is_new).map(|(_, _, one)| one.name.clone()).collect();
    if names.is_empty() {
        return Ok((HashMap::new(), Vec::new()));
    }
    let mut canonical = HashMap::new();
    for row in tx.fetch_all(&ALIASES, values![&names]).await? {
        canonical.insert(row.get::<String>("alias")?, row.get::<String>("canonical_name")?);
    }
    let rows: Vec<_> = each(ruled, is_new)
        .map(|(all, touched, reported)| {
            let name = canonical.get(&reported.name).unwrap_or(&reported.name);
            NewRow {
                id: touched.known.id.to_string(),
                service_no: all.service_no,
                slot: touched.known.slot,
                name: &reported.name,
                canonical_key: compared(name),
                canonical_name: name,
                facts: FactsRow::of(reported),
                at: all.ruling.at.as_millis(),
            }
        })
        .collect();
    let inserted = tx.fetch_all(&INSERT, values![rows_text(&rows).as_str()]).await?;
    let numbers: HashMap<Id, i64> = inserted
        .iter()
        .map(|row| Ok((row.get("id")?, row.get("number")?)))
        .collect::<Result<_, StoreError>>()?;
    let renamed = each(ruled, is_new).filter_map(|(all, touched, reported)| {
        let after = canonical.get(&reported.name).filter(|name| **name != reported.name)?;
        Some(ChangeRow {
            at: all.ruling.at.as_millis(),
            kind: "alias",
            service_no: Some(all.service_no),
            dependency_no: Some(*numbers.get(&touched.known.id)?),
            before: Some(reported.name.clone()),
            after: Some(after.clone()),
        })
    });
    let renamed = renamed.collect();
    Ok((numbers, renamed))
}

async fn update(tx: &mut Tx, ruled: &[Ruled<'_>]) -> Result<(), StoreError> {
    let rows: Vec<_> = each(ruled, |touched| touched.previous.is_some())
        .filter_map(|(all, touched, reported)| {
            let previous = touched.previous?;
            Some(ChangedRow {
                number: touched.known.number?,
                facts: FactsRow::of(reported),
                turned: i64::from(previous.status != touched.known.status),
                flipped: i64::from(previous.sound != touched.known.sound),
                at: all.ruling.at.as_millis(),
            })
        })
        .collect();
    if rows.is_empty() {
        return Ok(());
    }
    tx.execute(&UPDATE, values![rows_text(&rows).as_str()]).await.map(drop)
}

async fn vanish(tx: &mut Tx, ruled: &[Ruled<'_>]) -> Result<(), StoreError> {
    let rows: Vec<_> = ruled
        .iter()
        .flat_map(|all| {
            let at = all.ruling.at.as_millis();
            let numbers = all.ruling.vanished.iter().filter_map(|one| one.number);
            numbers.map(move |number| VanishedRow { number, at })
        })
        .collect();
    if rows.is_empty() {
        return Ok(());
    }
    tx.execute(&VANISH, values![rows_text(&rows).as_str()]).await.map(drop)
}

fn is_new(touched: &Touched) -> bool {
    touched.previous.is_none()
}

/// Every touched dependency that is wanted, with what its service reports of it.
fn each<'a>(
    ruled: &'a [Ruled<'a>],
    wanted: impl Fn(&Touched) -> bool + Copy + 'a,
) -> impl Iterator<Item = (&'a Ruled<'a>, &'a Touched, &'a Reported)> + 'a {
    ruled.iter().flat_map(move |all| {
        let touched = all.ruling.touched.iter().filter(move |one| wanted(one));
        touched.filter_map(move |one| {
            let reported = all.report?.dependencies.get(one.index)?;
            Some((all, one, reported))
        })
    })
}

impl<'a> FactsRow<'a> {
    fn of(reported: &'a Reported) -> Self {
        Self {
            kind: &reported.kind,
            description: reported.description.as_deref(),
            impact: reported.impact.as_deref(),
            contact: reported.contact.as_deref(),
            check_details: reported.check_details.as_deref(),
            healthy: i64::from(reported.healthy),
            state: reported.state.number(),
            code: reported.code,
            skipped: i64::from(reported.skipped),
            error: reported.error.as_deref(),
            error_message: reported.error_message.as_deref(),
            status: reported.status().name(),
        }
    }
}
