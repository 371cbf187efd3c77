//! Workers: made and listed, what is remembered of their machines, and the nets that go with them.

use std::collections::HashMap;

use mainstay_base::{Id, Timestamp};
use mainstay_events::Outbox;
use mainstay_store::{Db, Row, Sql, StoreError, Tx, values};

use super::rows::{self, select_net, select_worker};
use crate::announce;
use crate::error::FleetError;
use crate::measure;
use crate::model::worker::MAX_WORKERS_PER_USER;
use crate::model::{Crew, Net, Worker, WorkerStatus};
use crate::place::Place;
use crate::providers::{Machine, Region};

pub(super) const FIND: Sql =
    Sql::same("fleet.find_worker", select_worker!("WHERE user_id = $1 AND id = $2"));
pub(super) const LIST: Sql = Sql::same(
    "fleet.list_workers",
    select_worker!("WHERE user_id = $1 ORDER BY created_at DESC, id DESC LIMIT $2"),
);
pub(super) const LIST_AFTER: Sql = Sql::same(
    "fleet.list_workers_after",
    select_worker!(
        "WHERE user_id = $1 AND (created_at, id) < ($2, $3) ORDER BY created_at DESC, id DESC LIMIT $4"
    ),
);
pub(super) const SOME: Sql = Sql::pair(
    "fleet.some_workers",
    select_worker!("WHERE id IN (SELECT value FROM json_each($1)) ORDER BY id"),
    select_worker!("WHERE id = ANY ($1) ORDER BY id"),
);
pub(super) const NETS_OF: Sql = Sql::pair(
    "fleet.nets_of_workers",
    select_net!("WHERE worker_id IN (SELECT value FROM json_each($1)) ORDER BY worker_id, id"),
    select_net!("WHERE worker_id = ANY ($1) ORDER BY worker_id, id"),
);
pub(super) const COUNT: Sql = Sql::same(
    "fleet.count_workers",
    "SELECT count(*) AS count FROM (SELECT 1 AS one FROM workers WHERE user_id = $1 LIMIT $2) AS found",
);
const COUNT_MACHINES: Sql = Sql::same(
    "fleet.count_machines",
    "SELECT count(*) AS count FROM workers WHERE machine IS NOT NULL",
);
const INSERT: Sql = Sql::same(
    "fleet.insert_worker",
    "INSERT INTO workers (id, user_id, name, provider, category, region, size, status, status_since,
       generation, probe_at, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, 'pending', $8, 1, $8, $8)",
);
const REMEMBER: Sql = Sql::same(
    "fleet.remember_machine",
    "UPDATE workers SET machine = $3 WHERE id = $1 AND operation_id = $2",
);
const SEEN: Sql = Sql::pair(
    "fleet.workers_seen",
    "UPDATE workers SET last_seen_at = $2
     WHERE id IN (SELECT value FROM json_each($1)) AND status = 'ready'",
    "UPDATE workers SET last_seen_at = $2 WHERE id = ANY ($1) AND status = 'ready'",
);

/// Writes a new worker down, unless its owner has too many, and tells of it.
pub(crate) async fn insert(
    tx: &mut Tx,
    out: &mut Outbox,
    worker: &Worker,
) -> Result<(), FleetError> {
    let row = tx.fetch_one(&COUNT, values![worker.user_id, MAX_WORKERS_PER_USER]).await?;
    if row.get::<i64>("count")? >= MAX_WORKERS_PER_USER {
        return Err(FleetError::TooManyWorkers);
    }
    let values = values![
        worker.id,
        worker.user_id,
        &worker.name,
        worker.provider.name(),
        worker.category.name(),
        worker.region.as_ref().map(Region::as_str),
        worker.size.name(),
        worker.created_at,
    ];
    tx.execute(&INSERT, values).await.map_err(|error| match error {
        StoreError::Unique { .. } => FleetError::NameTaken,
        other => other.into(),
    })?;
    Ok(announce::worker(out, worker)?)
}

/// Remembers the machine of a worker while its operation goes on, so that a crash does not lose it; tells
/// whether the operation still does.
pub(crate) async fn remember(
    tx: &mut Tx,
    worker: Id,
    operation: Id,
    machine: &Machine,
) -> Result<bool, FleetError> {
    let machine = serde_json::to_string(machine)?;
    Ok(tx.execute(&REMEMBER, values![worker, operation, machine.as_str()]).await? == 1)
}

/// Notes that the agents of workers have answered.
pub(crate) async fn seen(tx: &mut Tx, ids: &[Id], now: Timestamp) -> Result<(), FleetError> {
    let ids = texts(ids);
    tx.execute(&SEEN, values![&ids, now]).await?;
    Ok(())
}

/// The worker of this user with this id, and its nets.
pub(crate) async fn find(db: &Db, user: Id, id: Id) -> Result<Option<Crew>, FleetError> {
    let Some(row) = db.fetch_optional(&FIND, values![user, id]).await? else { return Ok(None) };
    Ok(with_nets(db, vec![shown(&row)?]).await?.pop())
}

/// The worker of this user with this id, not locked.
pub(crate) async fn find_in(tx: &mut Tx, user: Id, id: Id) -> Result<Option<Worker>, FleetError> {
    let row = tx.fetch_optional(&FIND, values![user, id]).await?;
    row.as_ref().map(rows::worker).transpose()
}

/// How many workers have a machine.
pub(crate) async fn count_machines(db: &Db) -> Result<i64, FleetError> {
    Ok(db.fetch_one(&COUNT_MACHINES, &[]).await?.get("count")?)
}

/// The workers of a user with their nets, newest first.
pub(crate) async fn list(
    db: &Db,
    user: Id,
    after: Option<Place>,
    limit: i64,
) -> Result<Vec<Crew>, FleetError> {
    let rows = match after {
        None => db.fetch_all(&LIST, values![user, limit]).await?,
        Some(place) => {
            let values = values![user, place.created_at, place.id, limit];
            db.fetch_all(&LIST_AFTER, values).await?
        }
    };
    with_nets(db, rows.iter().map(shown).collect::<Result<_, _>>()?).await
}

/// These workers with their nets, of whomever, but for those that can't be read.
pub(crate) async fn some(db: &Db, ids: &[Id]) -> Result<Vec<Crew>, FleetError> {
    let ids = texts(ids);
    let rows = db.fetch_all(&SOME, values![&ids]).await?;
    with_nets(db, rows.iter().filter_map(readable).collect()).await
}

/// This worker with its nets, of whomever.
pub(crate) async fn one(db: &Db, id: Id) -> Result<Option<Crew>, FleetError> {
    let Some(row) = db.fetch_optional(&SOME, values![&texts(&[id])]).await? else {
        return Ok(None);
    };
    Ok(with_nets(db, vec![rows::worker(&row)?]).await?.pop())
}

/// Counts a worker's step once it is committed; one that fails stands in the log, since its owner may be asleep.
pub(super) fn tell(tx: &mut Tx, from: WorkerStatus, after: &Worker) {
    let (id, to, reason) = (after.id, after.status, after.reason.clone());
    if from == to {
        return;
    }
    tx.after_commit(move || {
        measure::moved(from, to);
        if to == WorkerStatus::Error {
            let (was, reason) = (from.name(), reason.unwrap_or_default());
            tracing::warn!(event = "worker_failed", worker_id = %id, was, reason, "a worker failed");
        }
    });
}

async fn with_nets(db: &Db, workers: Vec<Worker>) -> Result<Vec<Crew>, FleetError> {
    let ids: Vec<Id> = workers.iter().map(|worker| worker.id).collect();
    let ids = texts(&ids);
    let rows = db.fetch_all(&NETS_OF, values![&ids]).await?;
    let mut nets: HashMap<Option<Id>, Vec<Net>> = HashMap::new();
    for row in &rows {
        let Some(net) = rows::readable("net", row, rows::net(row)) else { continue };
        nets.entry(net.worker_id).or_default().push(net);
    }
    let crew = |worker: Worker| {
        let nets = nets.remove(&Some(worker.id)).unwrap_or_default();
        Crew { worker, nets }
    };
    Ok(workers.into_iter().map(crew).collect())
}

fn readable(row: &Row) -> Option<Worker> {
    rows::readable("worker", row, rows::worker(row))
}

/// One that can't be read is shown too: its owner would miss it.
fn shown(row: &Row) -> Result<Worker, FleetError> {
    readable(row).map_or_else(|| rows::unreadable_worker(row), Ok)
}

fn texts(ids: &[Id]) -> Vec<String> {
    ids.iter().map(ToString::to_string).collect()
}
