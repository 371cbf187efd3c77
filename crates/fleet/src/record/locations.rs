//! What nets found: read, written with its cursor, shown, and removed when it is too old.

use std::time::Duration;

use mainstay_base::{Id, Timestamp};
use mainstay_store::{Db, Row, Sql, StoreError, Tx, values};
use serde::Serialize;

use super::rows::{self, select_net};
use crate::decide::gather::{Gathered, NetCursor};
use crate::decide::shown::Standing;
use crate::error::FleetError;
use crate::model::location::{Location, LocationChange, PlannedCheck, compared};
use crate::model::{Net, Worker};

/// Rows that one step removes.
pub(crate) const PORTION: i64 = 1_000;

const LOCK_NET: Sql = Sql::pair(
    "fleet.lock_collected_net",
    select_net!("WHERE id = $1"),
    select_net!("WHERE id = $1 FOR UPDATE"),
);
const CURSOR: Sql =
    Sql::same("fleet.net_cursor", "SELECT boot_id, seq FROM net_cursors WHERE net_id = $1");
const SAVE_CURSOR: Sql = Sql::same(
    "fleet.save_net_cursor",
    "INSERT INTO net_cursors (net_id, boot_id, seq) VALUES ($1, $2, $3)
     ON CONFLICT (net_id) DO UPDATE SET boot_id = excluded.boot_id, seq = excluded.seq",
);
const OF_NET: Sql = Sql::same(
    "fleet.locations_of_net",
    "SELECT kind, name, url, about, every_ms, worker_id, generation, status, status_since, checked_at,
       latency_us, error, findings
     FROM locations WHERE net_id = $1 ORDER BY number LIMIT $2",
);
const SAVE: Sql = Sql::pair(
    "fleet.save_locations",
    "INSERT INTO locations (net_id, user_id, kind, name, name_key, url, about, every_ms, worker_id, region,
       generation, status, status_since, checked_at, latency_us, error, findings)
     SELECT $2, $3, value ->> 'kind', value ->> 'name', value ->> 'name_key', value ->> 'url',
       value ->> 'about', value ->> 'every_ms', $4, $5, value ->> 'generation', value ->> 'status',
       value ->> 'status_since', value ->> 'checked_at', value ->> 'latency_us', value ->> 'error',
       value ->> 'findings'
     FROM json_each($1) WHERE true
     ON CONFLICT (net_id, kind, name_key) DO UPDATE SET name = excluded.name, url = excluded.url,
       about = excluded.about, every_ms = excluded.every_ms, worker_id = excluded.worker_id,
       region = excluded.region, generation = excluded.generation, status = excluded.status,
       status_since = excluded.status_since, checked_at = excluded.checked_at,
       latency_us = excluded.latency_us, error = excluded.error, findings = excluded.findings",
    "INSERT INTO locations (net_id, user_id, kind, name, name_key, url, about, every_ms, worker_id, region,
       generation, status, status_since, checked_at, latency_us, error, findings)
     SELECT $2, $3, kind, name, name_key, url, about, every_ms, $4, $5, generation, status, status_since,
       checked_at, latency_us, error, findings
     FROM json_to_recordset($1::json) AS v (kind text, name text, name_key text, url text, about text,
       every_ms bigint, generation bigint, status text, status_since bigint, checked_at bigint,
       latency_us bigint, error text, findings bigint)
     ON CONFLICT (net_id, kind, name_key) DO UPDATE SET name = excluded.name, url = excluded.url,
       about = excluded.about, every_ms = excluded.every_ms, worker_id = excluded.worker_id,
       region = excluded.region, generation = excluded.generation, status = excluded.status,
       status_since = excluded.status_since, checked_at = excluded.checked_at,
       latency_us = excluded.latency_us, error = excluded.error, findings = excluded.findings",
);
const SAVE_TURNS: Sql = Sql::pair(
    "fleet.save_location_changes",
    "INSERT INTO location_changes (location_no, at, status, error)
     SELECT l.number, v.value ->> 'at', v.value ->> 'status', v.value ->> 'error'
     FROM json_each($1) AS v JOIN locations AS l
       ON l.net_id = $2 AND l.kind = v.value ->> 'kind' AND l.name_key = v.value ->> 'name_key'
     ORDER BY v.key",
    "INSERT INTO location_changes (location_no, at, status, error)
     SELECT l.number, v.at, v.status, v.error
     FROM ROWS FROM (json_to_recordset($1::json)
         AS (kind text, name_key text, at bigint, status text, error text))
       WITH ORDINALITY AS v (kind, name_key, at, status, error, place)
     JOIN locations AS l ON l.net_id = $2 AND l.kind = v.kind AND l.name_key = v.name_key
     ORDER BY v.place",
);
const FORGET: Sql = Sql::same("fleet.forget_locations", "DELETE FROM locations WHERE net_id = $1");

/// What concerns a service among the checks of a user: by its name, by where it is asked, or because a journey
/// crosses it.
macro_rules! of_service {
    ($columns:literal, $more:literal, $is_about:literal, $order:literal) => {
        concat!(
            "SELECT ",
            $columns,
            ", l.kind, l.name, l.worker_id, l.net_id, w.name AS worker_name, n.name AS net_name
             FROM locations AS l
             JOIN nets AS n ON n.id = l.net_id AND n.worker_id = l.worker_id
             JOIN workers AS w ON w.id = l.worker_id ",
            $more,
            " WHERE l.user_id = $1 AND ((l.kind = 'service' AND (l.name_key = $2 OR l.url = $3))
               OR (l.kind = 'journey' AND ",
            $is_about,
            ")) ORDER BY ",
            $order,
            " LIMIT $5"
        )
    };
}
macro_rules! places_of_service {
    ($is_about:literal) => {
        of_service!(
            "l.url, l.about, l.every_ms, l.generation, l.status, l.status_since, l.checked_at,
               l.latency_us, l.error, l.findings, COALESCE(l.region, w.region) AS worker_region, w.status AS worker_status,
               w.status_since AS worker_since, n.load_state, n.load_state_since",
            "",
            $is_about,
            "w.name, n.name, l.kind DESC, l.name_key"
        )
    };
}
macro_rules! changes_of_service {
    ($is_about:literal) => {
        of_service!(
            "c.number, c.at, c.status, c.error",
            "JOIN location_changes AS c ON c.location_no = l.number AND c.at >= $6",
            $is_about,
            "c.at DESC, c.number DESC"
        )
    };
}
const OF_SERVICE: Sql = Sql::pair(
    "fleet.locations_of_service",
    places_of_service!("instr(l.about, $4) > 0"),
    places_of_service!("strpos(l.about, $4) > 0"),
);
pub(super) const CHANGES_OF_SERVICE: Sql = Sql::pair(
    "fleet.location_changes_of_service",
    changes_of_service!("instr(l.about, $4) > 0"),
    changes_of_service!("strpos(l.about, $4) > 0"),
);
const REMOVE_OLD_CHANGES: Sql = Sql::same(
    "fleet.remove_old_location_changes",
    "DELETE FROM location_changes WHERE number IN (
       SELECT number FROM location_changes WHERE at < $1 ORDER BY at LIMIT $2)",
);
const REMOVE_MANY_CHANGES: Sql = Sql::same(
    "fleet.remove_many_location_changes",
    "DELETE FROM location_changes WHERE number IN (
       SELECT number FROM location_changes
       WHERE number <= (SELECT coalesce(max(number), 0) FROM location_changes) - $1
       ORDER BY number LIMIT $2)",
);

/// A location with where its worker and net stand.
#[derive(Debug)]
pub(crate) struct Placed {
    pub(crate) location: Location,
    pub(crate) net_id: Id,
    pub(crate) net: String,
    pub(crate) worker: String,
    pub(crate) region: Option<String>,
    pub(crate) standing: Standing,
}

#[derive(Serialize)]
struct SavedLocation<'a> {
    kind: &'static str,
    name: &'a str,
    name_key: String,
    url: Option<&'a str>,
    about: String,
    every_ms: i64,
    generation: i64,
    status: &'static str,
    status_since: i64,
    checked_at: Option<i64>,
    latency_us: Option<i64>,
    error: Option<&'a str>,
    findings: i64,
}

#[derive(Serialize)]
struct SavedTurn<'a> {
    kind: &'static str,
    name_key: &'a str,
    at: i64,
    status: &'static str,
    error: Option<&'a str>,
}

/// The net, locked until the commit: whoever unloads it or takes it away waits.
pub(crate) async fn lock_net(tx: &mut Tx, net: Id) -> Result<Option<Net>, FleetError> {
    tx.fetch_optional(&LOCK_NET, values![net]).await?.as_ref().map(rows::net).transpose()
}

/// Up to where the findings of a net are recorded.
pub(crate) async fn cursor(tx: &mut Tx, net: Id) -> Result<Option<NetCursor>, FleetError> {
    let row = tx.fetch_optional(&CURSOR, values![net]).await?;
    row.as_ref().map(read_cursor).transpose()
}

/// The same outside of a transaction.
pub(crate) async fn find_cursor(db: &Db, net: Id) -> Result<Option<NetCursor>, FleetError> {
    let row = db.fetch_optional(&CURSOR, values![net]).await?;
    row.as_ref().map(read_cursor).transpose()
}

/// What is recorded of a net.
pub(crate) async fn of_net(tx: &mut Tx, net: Id, most: i64) -> Result<Vec<Location>, FleetError> {
    tx.fetch_all(&OF_NET, values![net, most]).await?.iter().map(read_location).collect()
}

/// Writes what a page means, with how far it reaches.
pub(crate) async fn save(
    tx: &mut Tx,
    net: &Net,
    worker: &Worker,
    gathered: &Gathered,
) -> Result<(), FleetError> {
    let NetCursor { boot_id, seq } = gathered.cursor;
    let seq = i64::try_from(seq).unwrap_or(i64::MAX);
    tx.execute(&SAVE_CURSOR, values![net.id, boot_id, seq]).await?;
    if !gathered.locations.is_empty() {
        let rows: Vec<SavedLocation<'_>> = gathered.locations.iter().map(saved).collect();
        let rows = serde_json::to_string(&rows)?;
        let region = worker.stands_in();
        let values = values![rows.as_str(), net.id, net.user_id, worker.id, region];
        tx.execute(&SAVE, values).await?;
    }
    if !gathered.turns.is_empty() {
        let turns: Vec<SavedTurn<'_>> = gathered
            .turns
            .iter()
            .map(|turn| SavedTurn {
                kind: turn.key.0.name(),
                name_key: &turn.key.1,
                at: turn.at.as_millis(),
                status: turn.status.name(),
                error: turn.error.as_deref(),
            })
            .collect();
        let turns = serde_json::to_string(&turns)?;
        tx.execute(&SAVE_TURNS, values![turns.as_str(), net.id]).await?;
    }
    Ok(())
}

/// Forgets what a net found: it is another one from now on.
pub(crate) async fn forget(tx: &mut Tx, net: Id) -> Result<(), FleetError> {
    tx.execute(&FORGET, values![net]).await?;
    Ok(())
}

/// What the nets of a user found of a service, wherever they are.
pub(crate) async fn of_service(
    db: &Db,
    user: Id,
    (name, url): (&str, &str),
    most: i64,
) -> Result<Vec<Placed>, FleetError> {
    let key = compared(name);
    let about = format!("\n{key}\n");
    let values = values![user, key.as_str(), url, about.as_str(), most];
    db.fetch_all(&OF_SERVICE, values).await?.iter().map(read_placed).collect()
}

/// Each time since `since` that it turned out otherwise for one of them, newest first.
pub(crate) async fn changes_of_service(
    db: &Db,
    user: Id,
    (name, url): (&str, &str),
    since: Timestamp,
    most: i64,
) -> Result<Vec<LocationChange>, FleetError> {
    let key = compared(name);
    let about = format!("\n{key}\n");
    let values = values![user, key.as_str(), url, about.as_str(), most, since];
    db.fetch_all(&CHANGES_OF_SERVICE, values).await?.iter().map(read_change).collect()
}

/// Removes a portion of the changes before `before`; tells how many.
pub(crate) async fn remove_old(tx: &mut Tx, before: Timestamp) -> Result<u64, StoreError> {
    tx.execute(&REMOVE_OLD_CHANGES, values![before, PORTION]).await
}

/// Removes a portion of the changes that are more than the newest `most`; tells how many.
pub(crate) async fn remove_many(tx: &mut Tx, most: i64) -> Result<u64, StoreError> {
    tx.execute(&REMOVE_MANY_CHANGES, values![most, PORTION]).await
}

fn saved(location: &Location) -> SavedLocation<'_> {
    let check = &location.check;
    let (kind, name_key) = check.key();
    SavedLocation {
        kind: kind.name(),
        name: &check.name,
        name_key,
        url: check.url.as_deref(),
        about: about(check),
        every_ms: i64::try_from(check.every.as_millis()).unwrap_or(i64::MAX).max(1),
        generation: location.generation,
        status: location.status.name(),
        status_since: location.status_since.as_millis(),
        checked_at: location.checked_at.map(Timestamp::as_millis),
        latency_us: location.latency.and_then(|taken| i64::try_from(taken.as_micros()).ok()),
        error: location.error.as_deref(),
        findings: location.findings,
    }
}

fn about(check: &PlannedCheck) -> String {
    format!("\n{}\n", check.about.join("\n"))
}

fn read_cursor(row: &Row) -> Result<NetCursor, FleetError> {
    let seq: i64 = row.get("seq")?;
    Ok(NetCursor { boot_id: row.get("boot_id")?, seq: u64::try_from(seq).unwrap_or_default() })
}

fn read_location(row: &Row) -> Result<Location, FleetError> {
    let about: String = row.get("about")?;
    let every: i64 = row.get("every_ms")?;
    let latency: Option<i64> = row.get("latency_us")?;
    Ok(Location {
        check: PlannedCheck {
            kind: row.get::<String>("kind")?.parse()?,
            name: row.get("name")?,
            url: row.get("url")?,
            about: about.lines().filter(|name| !name.is_empty()).map(str::to_owned).collect(),
            every: Duration::from_millis(u64::try_from(every).unwrap_or_default()),
        },
        worker_id: row.get("worker_id")?,
        generation: row.get("generation")?,
        status: row.get::<String>("status")?.parse()?,
        status_since: row.get("status_since")?,
        checked_at: row.get("checked_at")?,
        latency: latency.and_then(|micros| u64::try_from(micros).ok()).map(Duration::from_micros),
        error: row.get("error")?,
        findings: row.get("findings")?,
    })
}

fn read_change(row: &Row) -> Result<LocationChange, FleetError> {
    Ok(LocationChange {
        number: row.get("number")?,
        at: row.get("at")?,
        worker_id: row.get("worker_id")?,
        worker: row.get("worker_name")?,
        net_id: row.get("net_id")?,
        net: row.get("net_name")?,
        kind: row.get::<String>("kind")?.parse()?,
        check: row.get("name")?,
        status: row.get::<String>("status")?.parse()?,
        error: row.get("error")?,
    })
}

fn read_placed(row: &Row) -> Result<Placed, FleetError> {
    Ok(Placed {
        location: read_location(row)?,
        net_id: row.get("net_id")?,
        net: row.get("net_name")?,
        worker: row.get("worker_name")?,
        region: row.get("worker_region")?,
        standing: Standing {
            worker: row.get::<String>("worker_status")?.parse()?,
            worker_since: row.get("worker_since")?,
            net: row.get::<String>("load_state")?.parse()?,
            net_since: row.get("load_state_since")?,
        },
    })
}
