//! Reads services and what they report, as the graph knows them.

use std::collections::BTreeMap;
use std::sync::Arc;

use mainstay_base::{Id, Timestamp};
use mainstay_graph::suggest::hosts;
use mainstay_graph::{Dependency, Service, Status};
use mainstay_store::{Db, Row, Sql, StoreError, values};
use url::Url;

/// How many rows are read at once.
const PAGE: i64 = 1_000;
/// How many rows are looked through before others have their turn: each may hold some kilobytes.
const ROWS_AT_ONCE: usize = 100;
/// How many services are read again at once.
pub(in crate::graph) const SERVICES_AT_ONCE: usize = 500;

macro_rules! services {
    ($which:literal) => {
        concat!(
            "SELECT s.number, s.id, s.name, s.health_endpoint, s.removed_at, st.status,
               st.status_since, st.failing_since, st.stale_since
             FROM services AS s JOIN service_states AS st ON st.service_no = s.number WHERE ",
            $which
        )
    };
}
macro_rules! dependencies {
    ($which:literal, $order:literal) => {
        concat!(
            // Hosts are looked for at the beginning of the details, which can be long.
            "SELECT d.number, d.id, d.service_no, d.name, d.canonical_name, d.description,
               substr(d.check_details, 1, 4096) AS check_details, d.status, d.status_since, d.failing_since, d.missing_since, d.linked_service_no
             FROM dependencies AS d WHERE d.removed_at IS NULL AND ",
            $which,
            " ORDER BY ",
            $order,
            " LIMIT $2"
        )
    };
}
const SERVICES: Sql = Sql::same(
    "monitor.graph_services",
    services!("+s.removed_at IS NULL AND s.number > $1 ORDER BY s.number LIMIT $2"),
);
const DEPENDENCIES: Sql =
    Sql::same("monitor.graph_dependencies", dependencies!("d.number > $1", "d.number"));
const SERVICES_OF: Sql = Sql::pair(
    "monitor.graph_services_of",
    services!("s.id IN (SELECT value FROM json_each($1))"),
    services!("s.id = ANY ($1)"),
);
// The signs keep both from reading all dependencies there are in the order of their numbers.
const DEPENDENCIES_OF: Sql = Sql::pair(
    "monitor.graph_dependencies_of",
    dependencies!(
        "+d.number > $1 AND d.service_no IN (SELECT value FROM json_each($3))",
        "+d.number"
    ),
    dependencies!("+d.number > $1 AND d.service_no = ANY ($3)", "+d.number"),
);
const BY_NAMES: Sql = Sql::pair(
    "monitor.graph_services_by_names",
    "SELECT DISTINCT s.id FROM dependencies AS d JOIN services AS s ON s.number = d.service_no
     WHERE d.name IN (SELECT value FROM json_each($1)) AND s.removed_at IS NULL",
    "SELECT DISTINCT s.id FROM dependencies AS d JOIN services AS s ON s.number = d.service_no
     WHERE d.name = ANY ($1) AND s.removed_at IS NULL",
);
const BY_KEYS: Sql = Sql::pair(
    "monitor.graph_services_by_keys",
    "SELECT DISTINCT s.id FROM dependencies AS d JOIN services AS s ON s.number = d.service_no
     WHERE d.canonical_key IN (SELECT value FROM json_each($1)) AND s.removed_at IS NULL",
    "SELECT DISTINCT s.id FROM dependencies AS d JOIN services AS s ON s.number = d.service_no
     WHERE d.canonical_key = ANY ($1) AND s.removed_at IS NULL",
);

/// A service with what it reports, or what is left of it.
#[derive(Debug)]
pub(in crate::graph) enum Loaded {
    Here(Service, Vec<Dependency>),
    Removed(i64),
}

/// Every service with what it reports.
pub(in crate::graph) async fn all(db: &Db) -> Result<Vec<Loaded>, StoreError> {
    let mut found: BTreeMap<i64, Loaded> = BTreeMap::new();
    let mut after = 0_i64;
    loop {
        let rows = db.fetch_all(&SERVICES, values![after, PAGE]).await?;
        let Some(last) = rows.last() else { break };
        after = last.get("number")?;
        for row in &rows {
            let service = service(row)?;
            found.insert(service.number, Loaded::Here(service, Vec::new()));
        }
    }
    let mut after = 0_i64;
    loop {
        let rows = db.fetch_all(&DEPENDENCIES, values![after, PAGE]).await?;
        let Some(last) = rows.last() else { break };
        after = last.get("number")?;
        add(&mut found, &rows).await?;
    }
    Ok(found.into_values().collect())
}

/// These services with what they report; one that is not in the answer is gone for good.
pub(in crate::graph) async fn these(db: &Db, ids: &[Id]) -> Result<Vec<Loaded>, StoreError> {
    let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
    let mut found: BTreeMap<i64, Loaded> = BTreeMap::new();
    for row in db.fetch_all(&SERVICES_OF, values![&ids]).await? {
        let service = service(&row)?;
        let number = service.number;
        let is_removed = row.get::<Option<i64>>("removed_at")?.is_some();
        let loaded =
            if is_removed { Loaded::Removed(number) } else { Loaded::Here(service, Vec::new()) };
        found.insert(number, loaded);
    }
    let numbers: Vec<i64> = found.keys().copied().collect();
    let mut after = 0_i64;
    loop {
        let rows = db.fetch_all(&DEPENDENCIES_OF, values![after, PAGE, &numbers]).await?;
        let Some(last) = rows.last() else { break };
        after = last.get("number")?;
        add(&mut found, &rows).await?;
    }
    Ok(found.into_values().collect())
}

/// The services that report one of these names.
pub(in crate::graph) async fn by_names(db: &Db, names: &[String]) -> Result<Vec<Id>, StoreError> {
    ids(&db.fetch_all(&BY_NAMES, values![names]).await?)
}

/// The services that report something of one of these canonical keys.
pub(in crate::graph) async fn by_keys(db: &Db, keys: &[String]) -> Result<Vec<Id>, StoreError> {
    ids(&db.fetch_all(&BY_KEYS, values![keys]).await?)
}

fn ids(rows: &[Row]) -> Result<Vec<Id>, StoreError> {
    rows.iter().map(|row| row.get("id")).collect()
}

async fn add(found: &mut BTreeMap<i64, Loaded>, rows: &[Row]) -> Result<(), StoreError> {
    for some in rows.chunks(ROWS_AT_ONCE) {
        for row in some {
            if let Some(Loaded::Here(_, dependencies)) = found.get_mut(&row.get("service_no")?) {
                dependencies.push(dependency(row)?);
            }
        }
        tokio::task::yield_now().await;
    }
    Ok(())
}

fn service(row: &Row) -> Result<Service, StoreError> {
    let endpoint: String = row.get("health_endpoint")?;
    let host = Url::parse(&endpoint).ok().and_then(|url| url.host_str().map(Arc::from));
    Ok(Service {
        number: row.get("number")?,
        id: row.get("id")?,
        name: row.get::<String>("name")?.into(),
        host,
        status: status(&row.get::<String>("status")?),
        since: row.get("status_since")?,
        failing_since: row.get("failing_since")?,
        stale_since: row.get("stale_since")?,
    })
}

fn dependency(row: &Row) -> Result<Dependency, StoreError> {
    let name: String = row.get("canonical_name")?;
    let reported: String = row.get("name")?;
    let description: Option<String> = row.get("description")?;
    let details: Option<String> = row.get("check_details")?;
    let texts = [Some(reported), description, details];
    Ok(Dependency {
        number: row.get("number")?,
        id: row.get("id")?,
        name: name.into(),
        status: status(&row.get::<String>("status")?),
        since: row.get::<Timestamp>("status_since")?,
        failing_since: row.get("failing_since")?,
        missing_since: row.get("missing_since")?,
        linked: row.get("linked_service_no")?,
        hosts: hosts::named_in(texts.iter().flatten().map(String::as_str)),
    })
}

/// The tables hold no other words.
fn status(name: &str) -> Status {
    Status::from_name(name).unwrap_or(Status::Unknown)
}
