//! What people ask of their nets.

use std::sync::Arc;

use mainstay_base::Id;
use mainstay_events::Outbox;
use mainstay_store::Tx;

use crate::agents::LoadedNet;
use crate::decide::{Refusal, begin};
use crate::error::FleetError;
use crate::fleet::{Expected, Fleet, own};
use crate::model::{DefinedNet, Definition, LoadState, Net, NetName, NetOperation, Underway};
use crate::place::{MAX_PAGE, Part, Place};
use crate::record::{crew, locations, nets, workers};

/// A net that is wanted.
#[derive(Debug, Clone, PartialEq)]
pub struct NewNet {
    /// What its owner calls it.
    pub name: NetName,
    /// What it runs.
    pub definition: Definition,
    /// Which worker it is for.
    pub worker_id: Option<Id>,
}

/// What is to change about a net.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NetPatch {
    /// What its owner calls it.
    pub name: Option<NetName>,
    /// What it runs.
    pub definition: Option<Definition>,
    /// Which worker it is for; `Some(None)` for no one.
    pub worker_id: Option<Option<Id>>,
}

impl Fleet {
    /// Makes a net.
    ///
    /// # Errors
    /// [`FleetError::Net`], [`FleetError::NameTaken`], [`FleetError::TooManyNets`],
    /// [`FleetError::NoSuchWorker`], [`FleetError::WorkerFull`], or when the database fails.
    pub async fn create_net(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        user: Id,
        new: NewNet,
    ) -> Result<DefinedNet, FleetError> {
        self.shared.neighbours.planner.plan(new.definition.as_value())?;
        self.check_room(tx, user, new.worker_id).await?;
        let now = tx.now().await?;
        let net = Net {
            id: self.shared.ids.next(),
            user_id: user,
            name: new.name.as_str().to_owned(),
            worker_id: new.worker_id,
            load_state: LoadState::Unloaded,
            load_state_since: now,
            reason: None,
            generation: 1,
            cast_generation: None,
            operation: None,
            ended: None,
            created_at: now,
        };
        let made = DefinedNet { net, definition: new.definition };
        nets::insert(tx, out, &made).await?;
        Ok(made)
    }

    /// The nets of a user, newest first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn list_nets(
        &self,
        user: Id,
        after: Option<Place>,
        limit: u32,
    ) -> Result<Part<DefinedNet>, FleetError> {
        let limit = limit.clamp(1, MAX_PAGE);
        let found = nets::list(self.db(), user, after, i64::from(limit).saturating_add(1));
        Ok(Part::cut(found.await?, limit))
    }

    /// A net of a user.
    ///
    /// # Errors
    /// [`FleetError::NoSuchNet`], also for one of somebody else, or when the database fails.
    pub async fn find_net(&self, user: Id, id: Id) -> Result<DefinedNet, FleetError> {
        nets::find(self.db(), user, id).await?.ok_or(FleetError::NoSuchNet)
    }

    /// Changes a net. One that goes to another worker, or runs something else from now on, is unloaded:
    /// what its worker holds is not this net any more, and is taken away there at once, or by the health loop.
    ///
    /// # Errors
    /// [`FleetError::NoSuchNet`], [`FleetError::StaleNet`], [`FleetError::Refused`],
    /// [`FleetError::Net`], [`FleetError::NameTaken`], [`FleetError::NoSuchWorker`],
    /// [`FleetError::WorkerFull`], or when the database fails.
    pub async fn change_net(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        (user, id): (Id, Id),
        patch: NetPatch,
        expected: Expected,
    ) -> Result<DefinedNet, FleetError> {
        if let Some(definition) = &patch.definition {
            self.shared.neighbours.planner.plan(definition.as_value())?;
        }
        let from = match patch.worker_id {
            Some(to) => Some(self.check_move(tx, (user, id), to).await?),
            None => None,
        };
        // The worker first, then the net: whoever moved it in between is seen there.
        let before = self.lock_net(tx, user, id, expected).await?;
        if from.is_some_and(|from| from != before.net.worker_id) {
            return Err(FleetError::Overtaken);
        }
        let mut after = before.clone();
        if let Some(name) = patch.name {
            after.net.name = name.as_str().to_owned();
        }
        if let Some(definition) = patch.definition {
            after.definition = definition;
        }
        if let Some(worker) = patch.worker_id {
            after.net.worker_id = worker;
        }
        let is_another =
            after.net.worker_id != before.net.worker_id || after.definition != before.definition;
        if is_another {
            refuse_busy(&before.net)?;
            after.net.becomes(LoadState::Unloaded, None, tx.now().await?);
            after.net.cast_generation = None;
            locations::forget(tx, id).await?;
            self.bid_farewell(tx, &before.net);
        }
        nets::save_defined(tx, out, &before, after).await
    }

    /// Deletes a net. It is taken away from its worker at once, or by the health loop.
    ///
    /// # Errors
    /// [`FleetError::NoSuchNet`], [`FleetError::StaleNet`], [`FleetError::Refused`], or when the database
    /// fails.
    pub async fn remove_net(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        (user, id): (Id, Id),
        expected: Expected,
    ) -> Result<(), FleetError> {
        let DefinedNet { net, .. } = self.lock_net(tx, user, id, expected).await?;
        refuse_busy(&net)?;
        self.bid_farewell(tx, &net);
        nets::remove(tx, out, &net).await
    }

    /// Tells the agent that holds a net to drop it, once the write is committed and while few others are told: what
    /// comes of it does not matter, since the health loop tells it again.
    fn bid_farewell(&self, tx: &mut Tx, net: &Net) {
        let Some(worker) = net.worker_id.filter(|_| net.cast_generation.is_some()) else { return };
        let (fleet, loaded) = (self.clone(), LoadedNet { id: net.id, generation: net.generation });
        tx.after_commit(move || {
            let permit = Arc::clone(&fleet.shared.farewells).try_acquire_owned();
            let Ok(permit) = permit else { return };
            tokio::spawn(async move {
                if let Ok(crews) = workers::some(fleet.db(), &[worker]).await
                    && let Some(crew) = crews.first()
                {
                    fleet.drop_strays(crew, &[loaded]).await;
                }
                drop(permit);
            });
        });
    }

    /// Begins to load or unload a net. [`Fleet::wait_for_net`] waits for the end.
    ///
    /// # Errors
    /// [`FleetError::NoSuchNet`], [`FleetError::StaleNet`], [`FleetError::Refused`], or when the database
    /// fails.
    pub async fn begin_net(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        (user, id): (Id, Id),
        kind: NetOperation,
        expected: Expected,
    ) -> Result<Underway<NetOperation>, FleetError> {
        let net = nets::find_in(tx, user, id).await?.ok_or(FleetError::NoSuchNet)?;
        let Some(worker) = net.worker_id else {
            let (refusal, state) = (Refusal::NotAssigned, Some(net.load_state));
            return Err(FleetError::Refused { refusal, crew: None, net: state });
        };
        // The worker first, then the net: whoever took it away in between is seen there.
        let before = own(crew::lock(tx, worker).await?, user)?;
        let Some(net) = before.net(id) else { return Err(FleetError::Overtaken) };
        if expected.is_some_and(|expected| expected != net.generation) {
            return Err(FleetError::StaleNet(Box::new(net.clone())));
        }
        let now = tx.now().await?;
        let state = Some(net.load_state);
        let crew = || Some(Box::new(before.clone()));
        let refused = |refusal| FleetError::Refused { refusal, crew: crew(), net: state };
        begin::net(&before, id, kind, id, now).map_err(refused)?;
        let operation = self.enqueue(tx, &before, Some(id)).await?;
        let after = begin::net(&before, id, kind, operation, now).map_err(refused)?;
        let saved = crew::save(tx, out, &before, after).await?;
        saved.net(id).and_then(|net| net.operation).ok_or(FleetError::Overtaken)
    }

    async fn lock_net(
        &self,
        tx: &mut Tx,
        user: Id,
        id: Id,
        expected: Expected,
    ) -> Result<DefinedNet, FleetError> {
        let found = nets::lock(tx, user, id).await?.ok_or(FleetError::NoSuchNet)?;
        if expected.is_some_and(|expected| expected != found.net.generation) {
            return Err(FleetError::StaleNet(Box::new(found.net)));
        }
        Ok(found)
    }

    /// Checks that there is room for a net where it is to go, and tells where it comes from. One that stays has
    /// its place already.
    async fn check_move(
        &self,
        tx: &mut Tx,
        (user, id): (Id, Id),
        to: Option<Id>,
    ) -> Result<Option<Id>, FleetError> {
        let from = nets::find_in(tx, user, id).await?.ok_or(FleetError::NoSuchNet)?.worker_id;
        if to != from {
            self.check_room(tx, user, to).await?;
        }
        Ok(from)
    }

    /// Locks the worker, so that two nets do not take its last place.
    async fn check_room(
        &self,
        tx: &mut Tx,
        user: Id,
        worker: Option<Id>,
    ) -> Result<(), FleetError> {
        let Some(worker) = worker else { return Ok(()) };
        own(crew::lock(tx, worker).await?, user)?;
        if nets::has_room(tx, worker).await? { Ok(()) } else { Err(FleetError::WorkerFull) }
    }
}

fn refuse_busy(net: &Net) -> Result<(), FleetError> {
    match net.operation {
        Some(other) => {
            let (refusal, state) = (Refusal::NetBusy(other.kind), Some(net.load_state));
            Err(FleetError::Refused { refusal, crew: None, net: state })
        }
        None => Ok(()),
    }
}
