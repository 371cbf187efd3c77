//! What people are shown of instances: who polls what, and how well.

use std::sync::Arc;

use mainstay_base::{Clock, Id, Timestamp};
use mainstay_store::{Db, Dialect, StoreError};
use serde::Serialize;
use utoipa::ToSchema;

use super::model::LeaseRow;
use super::record::instances::{self, Shown};
use super::record::leases;
use super::shard::{SHARDS, Shard};
use super::tenure::Tenure;
use crate::services::Address;

/// The instances. A clone is the same handle.
#[derive(Clone)]
pub struct Instances {
    db: Db,
    clock: Arc<dyn Clock>,
    tenure: Tenure,
}

/// Every instance, and how the shards are divided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = InstanceList)]
pub struct InstancesView {
    /// Those that are alive first, then those that are gone, the latest first.
    pub items: Vec<InstanceView>,
    /// Into how many shards all hosts are divided.
    pub shards: u8,
    /// How many of them nobody owns who is alive: their services are not polled.
    pub shards_unowned: usize,
}

/// A `mainstay serve` that runs, or ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = Instance)]
pub struct InstanceView {
    /// Which one. One that was given up and comes back has another id.
    #[schema(value_type = String)]
    pub id: Id,
    /// Where it runs.
    #[schema(example = "mainstay-1:7373")]
    pub name: String,
    /// The version that runs.
    pub version: String,
    /// How it is.
    pub state: InstanceState,
    /// Whether it is the one that answers.
    pub is_this: bool,
    /// Since when it runs.
    #[schema(value_type = String, format = DateTime)]
    pub started_at: Timestamp,
    /// When it last renewed its leases.
    #[schema(value_type = String, format = DateTime)]
    pub renewed_at: Timestamp,
    /// How long ago that is. It renews every 3 s, and others take over after 10 s.
    pub lease_age_ms: u64,
    /// Which shards it polls, by number.
    pub shards: Vec<i64>,
    /// How many services it polls.
    pub services: u64,
    /// How late the latest of them is.
    pub lag_ms: u64,
    /// When it stopped or was found dead.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    pub gone_at: Option<Timestamp>,
}

/// The instance that polls a service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct PolledBy {
    /// Which one.
    #[schema(value_type = String)]
    pub id: Id,
    /// Where it runs.
    #[schema(example = "mainstay-1:7373")]
    pub name: String,
    /// Whether it is the one that answers.
    pub is_this: bool,
}

/// How an instance is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum InstanceState {
    /// It renews its leases.
    Alive,
    /// Its leases have ended, and nobody has taken over yet.
    Late,
    /// It was stopped, and gave everything back.
    Stopped,
    /// It did not renew, and others took over.
    Lost,
}

impl Instances {
    /// Those on `db`; `tenure` says which of them this is.
    #[must_use]
    pub fn new(db: Db, clock: Arc<dyn Clock>, tenure: Tenure) -> Self {
        Self { db, clock, tenure }
    }

    /// Every instance that is kept.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn list(&self) -> Result<InstancesView, StoreError> {
        // As of one moment: a take-over in between would show shards that nobody has.
        let (now, shown, leases) = self
            .db
            .snapshot(async |snapshot| {
                let now = snapshot.now().await?;
                let shown = instances::shown(snapshot).await?;
                Ok::<_, StoreError>((now, shown, leases::all(snapshot).await?))
            })
            .await?;
        let mut items: Vec<_> = shown.iter().map(|one| view(one, &leases, now)).collect();
        if let Some(this) = items.iter_mut().find(|one| Some(one.id) == self.tenure.me()) {
            self.complete(this, now);
        }
        let owned = |state| {
            let such = items.iter().filter(move |one| one.state == state);
            such.map(|one| one.shards.len()).sum::<usize>()
        };
        let shards_unowned = usize::from(SHARDS).saturating_sub(owned(InstanceState::Alive));
        Ok(InstancesView { shards: SHARDS, shards_unowned, items })
    }

    /// Who polls the services that are asked at this endpoint.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn polled_by(&self, endpoint: &str) -> Result<Option<PolledBy>, StoreError> {
        let Ok(address) = Address::parse(endpoint) else { return Ok(None) };
        let owner = leases::owner(&self.db, Shard::of(&address.host)).await?;
        let is_this = |id: Id| self.tenure.me() == Some(id);
        Ok(owner.map(|(id, name)| PolledBy { id, name, is_this: is_this(id) }))
    }

    /// What is known here of this instance is newer than what it has written.
    fn complete(&self, this: &mut InstanceView, now: Timestamp) {
        let load = self.tenure.load();
        this.is_this = true;
        this.services = load.services.into();
        this.lag_ms = u64::try_from(load.lag.as_millis()).unwrap_or(u64::MAX);
        if self.db.dialect() == Dialect::Sqlite {
            // Nobody else could take over, so nothing is renewed.
            (this.renewed_at, this.lease_age_ms) = (now, 0);
        } else if let Some(ago) = self.tenure.renewed_ago(self.clock.moment()) {
            this.lease_age_ms = u64::try_from(ago.as_millis()).unwrap_or(u64::MAX);
        }
    }
}

fn view(one: &Shown, leases: &[LeaseRow], now: Timestamp) -> InstanceView {
    let state = match (one.gone_at, one.gone_why.as_deref()) {
        (Some(_), Some("stopped")) => InstanceState::Stopped,
        (Some(_), _) => InstanceState::Lost,
        (None, _) if one.expires_at.is_some_and(|until| until <= now) => InstanceState::Late,
        (None, _) => InstanceState::Alive,
    };
    let is_gone = one.gone_at.is_some();
    let owned = leases.iter().filter(|row| row.owner == Some(one.id) && !is_gone);
    InstanceView {
        id: one.id,
        name: one.name.clone(),
        version: one.version.clone(),
        state,
        is_this: false,
        started_at: one.started_at,
        renewed_at: one.renewed_at,
        lease_age_ms: u64::try_from(now.since(one.renewed_at).as_millis()).unwrap_or(u64::MAX),
        shards: owned.map(|row| row.lease.shard.number()).collect(),
        services: if is_gone { 0 } else { u64::try_from(one.services).unwrap_or_default() },
        lag_ms: if is_gone { 0 } else { u64::try_from(one.lag_ms).unwrap_or_default() },
        gone_at: one.gone_at,
    }
}

impl std::fmt::Debug for Instances {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Instances")
    }
}
