//! Rows as workers and nets.

use std::str::FromStr;

use mainstay_base::{Id, Timestamp};
use mainstay_store::Row;

use crate::error::FleetError;
use crate::model::{Definition, Ended, Failure, Net, Underway, UnknownWord, Worker};
use crate::providers::{Machine, ProviderKind, Region, Size};

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
        concat!(
            "SELECT id, user_id, name, definition, worker_id, load_state, load_state_since, reason,
               generation, cast_generation, operation, operation_id, operation_since, operation_deadline,
               ended_operation, ended_id, ended_at, ended_code, ended_detail, created_at
             FROM nets ",
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

pub(super) fn net(row: &Row) -> Result<Net, FleetError> {
    let definition: String = row.get("definition")?;
    Ok(Net {
        id: row.get("id")?,
        user_id: row.get("user_id")?,
        name: row.get("name")?,
        definition: Definition::new(serde_json::from_str(&definition)?)?,
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

fn provider(word: &str) -> Result<ProviderKind, UnknownWord> {
    ProviderKind::from_name(word).ok_or(UnknownWord("provider"))
}

fn region(word: Option<String>) -> Result<Option<Region>, UnknownWord> {
    word.map(|word| Region::parse(&word).map_err(|_| UnknownWord("region"))).transpose()
}

fn size(word: Option<String>) -> Result<Size, UnknownWord> {
    word.map_or(Ok(Size::default()), |word| Size::from_name(&word).ok_or(UnknownWord("size")))
}
