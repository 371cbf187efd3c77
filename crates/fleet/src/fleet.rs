//! The handle to the room: what people ask of their workers.

use std::fmt;
use std::sync::Arc;

use mainstay_base::{Clock, Id, IdSource, Rng};
use mainstay_events::{Events, Outbox};
use mainstay_jobs::{Jobs, JobsError, Kind, NewJob};
use mainstay_store::{Db, Tx};
use serde_json::json;
use tokio::sync::{Semaphore, watch};

use crate::agents::{AgentDoor, AgentKey, Agents};
use crate::decide::{Refusal, WorkerEnd, begin, end};
use crate::error::FleetError;
use crate::model::{Category, Crew, Underway, Worker, WorkerName, WorkerOperation, WorkerStatus};
use crate::neighbours::Neighbours;
use crate::pace::Pace;
use crate::place::{MAX_PAGE, Part, Place};
use crate::providers::{Machine, MachineName, ProviderKind, Providers, Region, Size};
use crate::record::{crew, orders, workers};

/// The kind of job that carries out an operation.
pub const OPERATION: &str = "fleet_operation";

/// How many agents are told at once that a net is not theirs any more; the health loop tells the others.
const MAX_FAREWELLS: usize = 20;

/// What the room works with.
pub struct FleetOptions {
    /// The streams, with the database.
    pub events: Events,
    /// The queue.
    pub jobs: Jobs,
    /// Where ids come from.
    pub ids: IdSource,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Chance, for what should not happen all at once.
    pub rng: Arc<dyn Rng>,
    /// Where machines come from.
    pub providers: Providers,
    /// Who asks agents.
    pub agents: Arc<dyn Agents>,
    /// How agents know us.
    pub key: AgentKey,
    /// How long everything waits.
    pub pace: Pace,
}

/// The room. A clone is the same handle.
#[derive(Clone)]
pub struct Fleet {
    pub(crate) shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(crate) events: Events,
    pub(crate) jobs: Jobs,
    pub(crate) ids: IdSource,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) rng: Arc<dyn Rng>,
    pub(crate) providers: Providers,
    pub(crate) agents: Arc<dyn Agents>,
    pub(crate) key: AgentKey,
    pub(crate) pace: Pace,
    pub(crate) neighbours: Neighbours,
    /// Counts the ends of operations in this process, to wake whoever waits for one.
    pub(crate) ends: watch::Sender<u64>,
    /// How many agents are told at once that a net is not theirs any more.
    pub(crate) farewells: Arc<Semaphore>,
}

/// A worker that is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewWorker {
    /// What its owner calls it.
    pub name: WorkerName,
    /// Where its machine comes from.
    pub provider: ProviderKind,
    /// Whether it outlives being stopped.
    pub category: Category,
    /// Where it should stand.
    pub region: Option<Region>,
    /// How big it should be.
    pub size: Size,
}

/// The generation that the caller thinks a thing has, where the caller said so.
pub type Expected = Option<i64>;

impl Fleet {
    /// Opens the room where nobody else is asked: definitions are not read, and services not known.
    #[must_use]
    pub fn new(options: FleetOptions) -> Self {
        Self::beside(options, Neighbours::default())
    }

    /// Opens the room beside others.
    #[must_use]
    pub fn beside(options: FleetOptions, neighbours: Neighbours) -> Self {
        let FleetOptions { events, jobs, ids, clock, rng, providers, agents, key, pace } = options;
        let ends = watch::Sender::new(0);
        let providers = providers.watched(&clock);
        let shared = Shared {
            events,
            jobs,
            ids,
            clock,
            rng,
            providers,
            agents,
            key,
            pace,
            neighbours,
            ends,
            farewells: Arc::new(Semaphore::new(MAX_FAREWELLS)),
        };
        Self { shared: Arc::new(shared) }
    }

    /// The providers that are set up.
    #[must_use]
    pub fn providers(&self) -> &Providers {
        &self.shared.providers
    }

    /// Makes a worker, without a machine yet.
    ///
    /// # Errors
    /// [`FleetError::NotConfigured`], [`FleetError::NameTaken`], [`FleetError::TooManyWorkers`], or when
    /// the database fails.
    pub async fn create_worker(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        user: Id,
        new: NewWorker,
    ) -> Result<Crew, FleetError> {
        if self.shared.providers.of(new.provider).is_none() {
            return Err(FleetError::NotConfigured(new.provider));
        }
        let now = tx.now().await?;
        let worker = Worker {
            id: self.shared.ids.next(),
            user_id: user,
            name: new.name.as_str().to_owned(),
            provider: new.provider,
            category: new.category,
            region: new.region,
            size: new.size,
            status: WorkerStatus::Pending,
            status_since: now,
            reason: None,
            generation: 1,
            operation: None,
            ended: None,
            machine: None,
            machine_generation: None,
            boot_id: None,
            provider_state: None,
            last_seen_at: None,
            created_at: now,
        };
        workers::insert(tx, out, &worker).await?;
        Ok(Crew { worker, nets: Vec::new() })
    }

    /// How many workers of all users have a machine, whose agent knows the tokens of the present key.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn count_machines(db: &Db) -> Result<u64, FleetError> {
        Ok(workers::count_machines(db).await?.unsigned_abs())
    }

    /// The workers of a user with their nets, newest first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn list_workers(
        &self,
        user: Id,
        after: Option<Place>,
        limit: u32,
    ) -> Result<Part<Crew>, FleetError> {
        let limit = limit.clamp(1, MAX_PAGE);
        let found = workers::list(self.db(), user, after, i64::from(limit).saturating_add(1));
        Ok(Part::cut(found.await?, limit))
    }

    /// A worker of a user with its nets.
    ///
    /// # Errors
    /// [`FleetError::NoSuchWorker`], also for one of somebody else, or when the database fails.
    pub async fn find_worker(&self, user: Id, id: Id) -> Result<Crew, FleetError> {
        workers::find(self.db(), user, id).await?.ok_or(FleetError::NoSuchWorker)
    }

    /// Begins an operation on a worker: from the commit on a runner carries it out, whatever becomes of
    /// this process. [`Fleet::wait_for_worker`] waits for its end. One that ends the machine calls off one
    /// that makes it.
    ///
    /// # Errors
    /// [`FleetError::NoSuchWorker`], [`FleetError::StaleWorker`], [`FleetError::Refused`], or when the
    /// database fails.
    pub async fn begin(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        (user, id): (Id, Id),
        kind: WorkerOperation,
        expected: Expected,
    ) -> Result<Underway<WorkerOperation>, FleetError> {
        let is_called_off = self.call_off(tx, out, (user, id), kind, expected).await?;
        let before = own(crew::lock(tx, id).await?, user)?;
        // What was called off has a new generation by that.
        if !is_called_off && expected.is_some_and(|expected| expected != before.worker.generation) {
            return Err(FleetError::StaleWorker(Box::new(before)));
        }
        let now = tx.now().await?;
        let refused = |refusal| refused(refusal, &before);
        // Before the job is made: one that is refused leaves no trace.
        begin::worker(&before, kind, id, now).map_err(refused)?;
        let operation = self.enqueue(tx, &before, None).await?;
        if kind.makes_a_machine()
            && let Some(order) = before.worker.unseen_order()
        {
            // The new order takes its place in the record, and it may have made a machine.
            orders::keep(tx, (id, before.worker.provider), &order).await?;
        }
        let after = begin::worker(&before, kind, operation, now).map_err(refused)?;
        let saved = crew::save(tx, out, &before, after).await?;
        saved.worker.operation.ok_or(FleetError::Overtaken)
    }

    /// Removes a worker whose provider is not set up any more, and tells which of its machines nobody ended. Should
    /// the provider be set up again, the health loop ends them.
    ///
    /// # Errors
    /// [`FleetError::NoSuchWorker`], [`FleetError::StaleWorker`], [`FleetError::NotForgotten`],
    /// [`FleetError::Refused`], or when the database fails.
    pub async fn forget_worker(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        (user, id): (Id, Id),
        expected: Expected,
    ) -> Result<Vec<MachineName>, FleetError> {
        let before = own(crew::lock(tx, id).await?, user)?;
        let worker = &before.worker;
        if expected.is_some_and(|expected| expected != worker.generation) {
            return Err(FleetError::StaleWorker(Box::new(before)));
        }
        if self.shared.providers.of(worker.provider).is_some() {
            return Err(FleetError::NotForgotten(worker.provider));
        }
        let now = tx.now().await?;
        let begun = begin::worker(&before, WorkerOperation::Delete, id, now);
        let begun = begun.map_err(|refusal| refused(refusal, &before))?;
        let left: Vec<MachineName> = worker.unended().collect();
        for name in &left {
            orders::keep(tx, (id, worker.provider), name).await?;
        }
        let after = end::worker(&begun, &WorkerEnd::Destroyed, now);
        crew::remove(tx, out, &before, after.crew).await?;
        self.tell_end(tx);
        Ok(left)
    }

    /// Whoever wants a machine gone does not wait until it is made: ends that by its job, whose hook leaves
    /// the worker in error. Tells whether there was anything to call off.
    async fn call_off(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        (user, id): (Id, Id),
        kind: WorkerOperation,
        expected: Expected,
    ) -> Result<bool, FleetError> {
        if !kind.ends_the_machine() {
            return Ok(false);
        }
        let Some(worker) = workers::find_in(tx, user, id).await? else { return Ok(false) };
        let is_meant = expected.is_none_or(|expected| expected == worker.generation);
        let making = worker.operation.filter(|one| is_meant && one.kind.makes_a_machine());
        let Some(making) = making else { return Ok(false) };
        match self.shared.jobs.cancel(tx, out, making.id).await {
            Ok(_) => Ok(true),
            Err(JobsError::AlreadyFinished | JobsError::NotFound) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Enqueues the job of an operation; its id is the operation's.
    pub(crate) async fn enqueue(
        &self,
        tx: &mut Tx,
        crew: &Crew,
        net: Option<Id>,
    ) -> Result<Id, FleetError> {
        let worker = crew.worker.id;
        let payload = json!({"worker_id": worker, "net_id": net});
        let subject = net.map_or_else(|| format!("worker:{worker}"), |net| format!("net:{net}"));
        let kind = Kind::new(OPERATION).map_err(JobsError::from)?;
        let enqueued =
            self.shared.jobs.enqueue(tx, NewJob::new(kind, payload).about(subject)).await?;
        if enqueued.is_new { Ok(enqueued.id) } else { Err(FleetError::Overtaken) }
    }

    pub(crate) fn db(&self) -> &Db {
        self.shared.events.db()
    }

    /// Where the agent of a worker is asked.
    pub(crate) fn door(&self, worker: &Worker, machine: &Machine) -> Option<AgentDoor> {
        AgentDoor::of(worker.id, machine, &self.shared.key)
    }

    /// Wakes whoever waits for an operation, once the write is committed.
    pub(crate) fn tell_end(&self, tx: &mut Tx) {
        let shared = Arc::clone(&self.shared);
        tx.after_commit(move || shared.ends.send_modify(|count| *count = count.wrapping_add(1)));
    }
}

/// A crew, if it is this user's.
pub(crate) fn own(found: Option<Crew>, user: Id) -> Result<Crew, FleetError> {
    found.filter(|crew| crew.worker.user_id == user).ok_or(FleetError::NoSuchWorker)
}

pub(crate) fn refused(refusal: Refusal, crew: &Crew) -> FleetError {
    FleetError::Refused { refusal, crew: Some(Box::new(crew.clone())), net: None }
}

impl fmt::Debug for FleetOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("FleetOptions")
    }
}

impl fmt::Debug for Fleet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Fleet").field("providers", &self.shared.providers).finish()
    }
}
