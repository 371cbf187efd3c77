//! Rows as workers and nets.

use std::str::FromStr;

use mainstay_base::{Id, Timestamp};
use mainstay_store::Row;

use crate::error::FleetError;
use crate::measure;
use crate::model::{
    Category, DefinedNet, Definition, Ended, Failure, Net, Underway, UnknownWord, Worker,
    WorkerStatus,
};
use crate::providers::{Machine, ProviderKind, Region, Size};

/// What is shown of a worker whose row can't be read.
const UNREADABLE: &str = "its record can't be read, so nothing can be done to it; who runs Mainstay finds why in \
    the log (worker_unreadable) and mends it in the database";

macro_rules! select_worker {
    ($end:expr) => {
        concat!(
            "SELECT id, user_id, name, provider, category, region, size, status, status_since, reason,
               generation, operation, operation_id, operation_since, operation_deadline, ended_operation,
               ended_id, ended_at, ended_code, ended_detail, machine, machine_generation, boot_id,
               provider_state, last_seen_at, created_at
             FROM workers ",
            $end
        )
    };
}
pub(super) use select_worker;

macro_rules! select_net {
    ($end:expr) => {
        crate::record::rows::select_net!("", $end)
    };
    ($more:expr, $end:expr) => {
        concat!(
            "SELECT id, user_id, name, worker_id, load_state, load_state_since, reason, generation,
               cast_generation, operation, operation_id, operation_since, operation_deadline,
               ended_operation, ended_id, ended_at, ended_code, ended_detail, created_at",
            $more,
            " FROM nets ",
            $end
        )
    };
}
pub(super) use select_net;

pub(super) fn worker(row: &Row) -> Result<Worker, FleetError> {
    let machine: Option<String> = row.get("machine")?;
    let machine: Option<Machine> = machine.map(|text| serde_json::from_str(&text)).transpose()?;
    Ok(Worker {
        id: row.get("id")?,
        user_id: row.get("user_id")?,
        name: row.get("name")?,
        provider: provider(&row.get::<String>("provider")?)?,
        category: row.get::<String>("category")?.parse()?,
        region: region(row.get("region")?)?,
        size: size(row.get("size")?)?,
        status: row.get::<String>("status")?.parse()?,
        status_since: row.get("status_since")?,
        reason: row.get("reason")?,
        generation: row.get("generation")?,
        operation: underway(row)?,
        ended: ended(row)?,
        machine,
        machine_generation: row.get("machine_generation")?,
        boot_id: row.get("boot_id")?,
        provider_state: row.get("provider_state")?,
        last_seen_at: row.get("last_seen_at")?,
        created_at: row.get("created_at")?,
    })
}

/// A worker whose row can't be read, as far as it can: enough to be shown to its owner, and not to be written.
pub(super) fn unreadable_worker(row: &Row) -> Result<Worker, FleetError> {
    let provider = provider(&row.get::<String>("provider")?).unwrap_or(ProviderKind::Process);
    Ok(Worker {
        id: row.get("id")?,
        user_id: row.get("user_id")?,
        name: row.get("name")?,
        provider,
        category: row.get::<String>("category")?.parse().unwrap_or(Category::Persistent),
        region: None,
        size: Size::default(),
        status: WorkerStatus::Error,
        status_since: row.get("status_since")?,
        reason: Some(UNREADABLE.to_owned()),
        generation: row.get("generation")?,
        operation: underway(row).unwrap_or_default(),
        ended: ended(row).unwrap_or_default(),
        machine: None,
        machine_generation: None,
        boot_id: None,
        provider_state: None,
        last_seen_at: None,
        created_at: row.get("created_at")?,
    })
}

/// Tells the log and the metrics that a row can't be read, and leaves it out.
pub(super) fn readable<T>(
    thing: &'static str,
    row: &Row,
    read: Result<T, FleetError>,
) -> Option<T> {
    let error = match read {
        Ok(read) => return Some(read),
        Err(error) => error,
    };
    let id: String = row.get("id").or_else(|_| row.get("name")).unwrap_or_default();
    tracing::warn!(event = "worker_unreadable", thing, id, %error,
        "a row of the fleet can't be read, and is left out; mend it in the database");
    measure::unreadable(thing);
    None
}

pub(super) fn net(row: &Row) -> Result<Net, FleetError> {
    Ok(Net {
        id: row.get("id")?,
        user_id: row.get("user_id")?,
        name: row.get("name")?,
        worker_id: row.get("worker_id")?,
        load_state: row.get::<String>("load_state")?.parse()?,
        load_state_since: row.get("load_state_since")?,
        reason: row.get("reason")?,
        generation: row.get("generation")?,
        cast_generation: row.get("cast_generation")?,
        operation: underway(row)?,
        ended: ended(row)?,
        created_at: row.get("created_at")?,
    })
}

/// Of a row that has the definition too.
pub(super) fn defined_net(row: &Row) -> Result<DefinedNet, FleetError> {
    Ok(DefinedNet { net: net(row)?, definition: definition(row)? })
}

pub(super) fn definition(row: &Row) -> Result<Definition, FleetError> {
    let text: String = row.get("definition")?;
    Ok(Definition::new(serde_json::from_str(&text)?)?)
}

fn underway<K>(row: &Row) -> Result<Option<Underway<K>>, FleetError>
where
    K: FromStr<Err = UnknownWord>,
{
    let kind: Option<String> = row.get("operation")?;
    let (id, since): (Option<Id>, Option<Timestamp>) =
        (row.get("operation_id")?, row.get("operation_since")?);
    let deadline: Option<Timestamp> = row.get("operation_deadline")?;
    let (Some(kind), Some(id), Some(since), Some(deadline)) = (kind, id, since, deadline) else {
        return Ok(None);
    };
    Ok(Some(Underway { id, kind: kind.parse()?, since, deadline }))
}

fn ended<K>(row: &Row) -> Result<Option<Ended<K>>, FleetError>
where
    K: FromStr<Err = UnknownWord>,
{
    let kind: Option<String> = row.get("ended_operation")?;
    let (id, at): (Option<Id>, Option<Timestamp>) = (row.get("ended_id")?, row.get("ended_at")?);
    let (Some(kind), Some(id), Some(at)) = (kind, id, at) else { return Ok(None) };
    let code: Option<String> = row.get("ended_code")?;
    let detail: Option<String> = row.get("ended_detail")?;
    let failure = match code {
        Some(code) => Some(Failure { code: code.parse()?, detail: detail.unwrap_or_default() }),
        None => None,
    };
    Ok(Some(Ended { id, kind: kind.parse()?, at, failure }))
}

pub(super) fn provider(word: &str) -> Result<ProviderKind, UnknownWord> {
    ProviderKind::from_name(word).ok_or(UnknownWord("provider"))
}

fn region(word: Option<String>) -> Result<Option<Region>, UnknownWord> {
    word.map(|word| Region::parse(&word).map_err(|_| UnknownWord("region"))).transpose()
}

fn size(word: Option<String>) -> Result<Size, UnknownWord> {
    word.map_or(Ok(Size::default()), |word| Size::from_name(&word).ok_or(UnknownWord("size")))
}
