//! Nets: made, listed, written as a difference with its event.

use mainstay_base::Id;
use mainstay_events::Outbox;
use mainstay_store::{Db, Sql, StoreError, Tx, values};

use super::rows::{self, select_net};
use crate::announce;
use crate::error::FleetError;
use crate::model::net::{MAX_NETS_PER_USER, MAX_NETS_PER_WORKER};
use crate::model::{DefinedNet, Definition, Net};
use crate::place::Place;

pub(super) const FIND: Sql =
    Sql::same("fleet.find_net", select_net!("WHERE user_id = $1 AND id = $2"));
const FIND_DEFINED: Sql = Sql::same(
    "fleet.find_defined_net",
    select_net!(", definition", "WHERE user_id = $1 AND id = $2"),
);
const DEFINITION: Sql =
    Sql::same("fleet.find_definition", "SELECT definition FROM nets WHERE id = $1");
const LOCK: Sql = Sql::pair(
    "fleet.lock_net",
    select_net!(", definition", "WHERE user_id = $1 AND id = $2"),
    select_net!(", definition", "WHERE user_id = $1 AND id = $2 FOR UPDATE"),
);
pub(super) const LIST: Sql = Sql::same(
    "fleet.list_nets",
    select_net!(", definition", "WHERE user_id = $1 ORDER BY created_at DESC, id DESC LIMIT $2"),
);
pub(super) const LIST_AFTER: Sql = Sql::same(
    "fleet.list_nets_after",
    select_net!(
        ", definition",
        "WHERE user_id = $1 AND (created_at, id) < ($2, $3) ORDER BY created_at DESC, id DESC LIMIT $4"
    ),
);
pub(super) const COUNT: Sql = Sql::same(
    "fleet.count_nets",
    "SELECT count(*) AS count FROM (SELECT 1 AS one FROM nets WHERE user_id = $1 LIMIT $2) AS found",
);
const COUNT_OF_WORKER: Sql = Sql::same(
    "fleet.count_nets_of_worker",
    "SELECT count(*) AS count FROM nets WHERE worker_id = $1",
);
const INSERT: Sql = Sql::same(
    "fleet.insert_net",
    "INSERT INTO nets (id, user_id, name, definition, worker_id, load_state, load_state_since,
       generation, created_at)
     VALUES ($1, $2, $3, $4, $5, 'unloaded', $6, 1, $6)",
);
const SAVE: Sql = Sql::same(
    "fleet.save_net",
    "UPDATE nets SET worker_id = $3, load_state = $4, load_state_since = $5, reason = $6,
       generation = $7, cast_generation = $8, operation = $9, operation_id = $10, operation_since = $11,
       operation_deadline = $12, ended_operation = $13, ended_id = $14, ended_at = $15,
       ended_code = $16, ended_detail = $17, name = $18,
       definition = COALESCE($19, definition)
     WHERE id = $1 AND generation = $2",
);
const REMOVE: Sql =
    Sql::same("fleet.remove_net", "DELETE FROM nets WHERE id = $1 AND generation = $2");

/// Writes a new net down, unless its owner has too many, and tells of it.
pub(crate) async fn insert(
    tx: &mut Tx,
    out: &mut Outbox,
    made: &DefinedNet,
) -> Result<(), FleetError> {
    let DefinedNet { net, definition } = made;
    let row = tx.fetch_one(&COUNT, values![net.user_id, MAX_NETS_PER_USER]).await?;
    if row.get::<i64>("count")? >= MAX_NETS_PER_USER {
        return Err(FleetError::TooManyNets);
    }
    let definition = definition.as_value().to_string();
    let definition = definition.as_str();
    let (user, made) = (net.user_id, net.created_at);
    let values = values![net.id, user, &net.name, definition, net.worker_id, made];
    tx.execute(&INSERT, values).await.map_err(named)?;
    Ok(announce::net(out, net)?)
}

/// Writes what differs, with its event, and gives the net as it stands then. What it runs stays.
pub(crate) async fn save(
    tx: &mut Tx,
    out: &mut Outbox,
    before: &Net,
    after: Net,
) -> Result<Net, FleetError> {
    if *before == after {
        return Ok(after);
    }
    let is_announced = after.is_told_apart(before);
    write(tx, out, before, (after, None), is_announced).await
}

/// The same of one that may run something else from now on.
pub(crate) async fn save_defined(
    tx: &mut Tx,
    out: &mut Outbox,
    before: &DefinedNet,
    after: DefinedNet,
) -> Result<DefinedNet, FleetError> {
    if *before == after {
        return Ok(after);
    }
    let is_announced = after.is_told_apart(before);
    let DefinedNet { net, definition } = after;
    let text = (definition != before.definition).then(|| definition.as_value().to_string());
    let net = write(tx, out, &before.net, (net, text.as_deref()), is_announced).await?;
    Ok(DefinedNet { net, definition })
}

async fn write(
    tx: &mut Tx,
    out: &mut Outbox,
    before: &Net,
    (mut after, definition): (Net, Option<&str>),
    is_announced: bool,
) -> Result<Net, FleetError> {
    after.generation = before.generation.saturating_add(i64::from(is_announced));
    let (operation, ended) = (after.operation, after.ended.as_ref());
    let failure = ended.and_then(|ended| ended.failure.as_ref());
    let values = values![
        before.id,
        before.generation,
        after.worker_id,
        after.load_state.name(),
        after.load_state_since,
        after.reason.as_deref(),
        after.generation,
        after.cast_generation,
        operation.map(|one| one.kind.name()),
        operation.map(|one| one.id),
        operation.map(|one| one.since),
        operation.map(|one| one.deadline),
        ended.map(|one| one.kind.name()),
        ended.map(|one| one.id),
        ended.map(|one| one.at),
        failure.map(|one| one.code.name()),
        failure.map(|one| one.detail.as_str()),
        &after.name,
        definition,
    ];
    if tx.execute(&SAVE, values).await.map_err(named)? != 1 {
        return Err(FleetError::Overtaken);
    }
    if is_announced {
        announce::net(out, &after)?;
    }
    Ok(after)
}

/// Removes a net and tells of it.
pub(crate) async fn remove(tx: &mut Tx, out: &mut Outbox, net: &Net) -> Result<(), FleetError> {
    if tx.execute(&REMOVE, values![net.id, net.generation]).await? != 1 {
        return Err(FleetError::Overtaken);
    }
    Ok(announce::net_removed(out, net.user_id, net.id)?)
}

/// Whether a worker, which is locked, takes another net.
pub(crate) async fn has_room(tx: &mut Tx, worker: Id) -> Result<bool, FleetError> {
    let count: i64 = tx.fetch_one(&COUNT_OF_WORKER, values![worker]).await?.get("count")?;
    Ok(usize::try_from(count).unwrap_or(usize::MAX) < MAX_NETS_PER_WORKER)
}

/// The net of this user with this id.
pub(crate) async fn find(db: &Db, user: Id, id: Id) -> Result<Option<DefinedNet>, FleetError> {
    let row = db.fetch_optional(&FIND_DEFINED, values![user, id]).await?;
    row.as_ref().map(rows::defined_net).transpose()
}

/// What a net runs.
pub(crate) async fn definition(db: &Db, id: Id) -> Result<Option<Definition>, FleetError> {
    let row = db.fetch_optional(&DEFINITION, values![id]).await?;
    row.as_ref().map(rows::definition).transpose()
}

/// The net of this user with this id in a transaction, not locked.
pub(crate) async fn find_in(tx: &mut Tx, user: Id, id: Id) -> Result<Option<Net>, FleetError> {
    tx.fetch_optional(&FIND, values![user, id]).await?.as_ref().map(rows::net).transpose()
}

/// The same with what it runs, locked.
pub(crate) async fn lock(tx: &mut Tx, user: Id, id: Id) -> Result<Option<DefinedNet>, FleetError> {
    let row = tx.fetch_optional(&LOCK, values![user, id]).await?;
    row.as_ref().map(rows::defined_net).transpose()
}

/// The nets of a user, newest first.
pub(crate) async fn list(
    db: &Db,
    user: Id,
    after: Option<Place>,
    limit: i64,
) -> Result<Vec<DefinedNet>, FleetError> {
    let rows = match after {
        None => db.fetch_all(&LIST, values![user, limit]).await?,
        Some(place) => {
            let values = values![user, place.created_at, place.id, limit];
            db.fetch_all(&LIST_AFTER, values).await?
        }
    };
    rows.iter().map(rows::defined_net).collect()
}

/// The only thing of a net that is unique beside its id is its name.
fn named(error: StoreError) -> FleetError {
    match error {
        StoreError::Unique { .. } => FleetError::NameTaken,
        other => other.into(),
    }
}
