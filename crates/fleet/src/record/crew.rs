//! A worker with its nets: locked, and written as a difference with its events.

use mainstay_base::Id;
use mainstay_events::Outbox;
use mainstay_store::{Sql, Tx, values};

use super::rows::{self, select_net, select_worker};
use super::{nets, workers};
use crate::announce;
use crate::error::FleetError;
use crate::model::net::MAX_NETS_PER_WORKER;
use crate::model::{Crew, Net, Worker};

pub(super) const LOCK_WORKER: Sql = Sql::pair(
    "fleet.lock_worker",
    select_worker!("WHERE id = $1"),
    select_worker!("WHERE id = $1 FOR UPDATE"),
);
pub(super) const LOCK_NETS: Sql = Sql::pair(
    "fleet.lock_nets",
    select_net!("WHERE worker_id = $1 ORDER BY id LIMIT $2"),
    select_net!("WHERE worker_id = $1 ORDER BY id LIMIT $2 FOR UPDATE"),
);
const SAVE_WORKER: Sql = Sql::same(
    "fleet.save_worker",
    "UPDATE workers SET status = $3, status_since = $4, reason = $5, generation = $6, operation = $7,
       operation_id = $8, operation_since = $9, operation_deadline = $10, ended_operation = $11,
       ended_id = $12, ended_at = $13, ended_code = $14, ended_detail = $15, machine = $16,
       machine_generation = $17, boot_id = $18, provider_state = $19, last_seen_at = $20
     WHERE id = $1 AND generation = $2",
);
const REMOVE_WORKER: Sql =
    Sql::same("fleet.remove_worker", "DELETE FROM workers WHERE id = $1 AND generation = $2");

/// The worker with its nets, locked until the commit.
pub(crate) async fn lock(tx: &mut Tx, worker: Id) -> Result<Option<Crew>, FleetError> {
    let Some(row) = tx.fetch_optional(&LOCK_WORKER, values![worker]).await? else {
        return Ok(None);
    };
    let worker = rows::worker(&row)?;
    let most = i64::try_from(MAX_NETS_PER_WORKER).unwrap_or(i64::MAX);
    let rows = tx.fetch_all(&LOCK_NETS, values![worker.id, most]).await?;
    let nets = rows.iter().map(rows::net).collect::<Result<Vec<_>, _>>()?;
    Ok(Some(Crew { worker, nets }))
}

/// Writes what differs between `before`, which is locked, and `after`, with an event for each change, and
/// gives it as it stands then.
pub(crate) async fn save(
    tx: &mut Tx,
    out: &mut Outbox,
    before: &Crew,
    after: Crew,
) -> Result<Crew, FleetError> {
    before.check_step(&after)?;
    let Crew { mut worker, nets } = after;
    if worker != before.worker {
        save_worker(tx, out, &before.worker, &mut worker).await?;
    }
    let nets = save_nets(tx, out, &before.nets, nets).await?;
    Ok(Crew { worker, nets })
}

/// The same for a worker whose record goes.
pub(crate) async fn remove(
    tx: &mut Tx,
    out: &mut Outbox,
    before: &Crew,
    after: Crew,
) -> Result<(), FleetError> {
    before.check_step(&after)?;
    announce::worker_removed(out, before.worker.user_id, before.worker.id)?;
    save_nets(tx, out, &before.nets, after.nets).await?;
    let values = values![before.worker.id, before.worker.generation];
    match tx.execute(&REMOVE_WORKER, values).await? {
        1 => Ok(()),
        _ => Err(FleetError::Overtaken),
    }
}

async fn save_nets(
    tx: &mut Tx,
    out: &mut Outbox,
    before: &[Net],
    after: Vec<Net>,
) -> Result<Vec<Net>, FleetError> {
    let mut saved = Vec::with_capacity(after.len());
    for net in after {
        match before.iter().find(|known| known.id == net.id) {
            Some(known) => saved.push(nets::save(tx, out, known, net).await?),
            None => return Err(FleetError::NoSuchNet),
        }
    }
    Ok(saved)
}

async fn save_worker(
    tx: &mut Tx,
    out: &mut Outbox,
    before: &Worker,
    after: &mut Worker,
) -> Result<(), FleetError> {
    let is_announced = after.is_told_apart(before);
    after.generation = before.generation.saturating_add(i64::from(is_announced));
    let machine = after.machine.as_ref().map(serde_json::to_string).transpose()?;
    let operation = after.operation;
    let ended = after.ended.as_ref();
    let failure = ended.and_then(|ended| ended.failure.as_ref());
    let values = values![
        before.id,
        before.generation,
        after.status.name(),
        after.status_since,
        after.reason.as_deref(),
        after.generation,
        operation.map(|one| one.kind.name()),
        operation.map(|one| one.id),
        operation.map(|one| one.since),
        operation.map(|one| one.deadline),
        ended.map(|one| one.kind.name()),
        ended.map(|one| one.id),
        ended.map(|one| one.at),
        failure.map(|one| one.code.name()),
        failure.map(|one| one.detail.as_str()),
        machine.as_deref(),
        after.machine_generation,
        after.boot_id,
        after.provider_state.as_deref(),
        after.last_seen_at,
    ];
    if tx.execute(&SAVE_WORKER, values).await? != 1 {
        return Err(FleetError::Overtaken);
    }
    if is_announced {
        announce::worker(out, after)?;
        workers::tell(tx, before.status, after);
    }
    Ok(())
}
