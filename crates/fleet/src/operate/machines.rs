//! What is done to a worker's machine.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mainstay_jobs::JobError;
use mainstay_store::Tx;

use super::{Attempt, Halt, later};
use crate::decide::{WorkerEnd, end};
use crate::error::FleetError;
use crate::model::{Failure, FailureCode, WorkerOperation};
use crate::providers::{
    Departure, Machine, MachineName, MachineState, Order, Outcome, Provider, ProviderError, Rest,
    Sighting,
};
use crate::record::{orders, workers};

/// How often a provider is asked for what may go better the next time.
const TRIES: u32 = 4;

/// How an operation ended, as it is written down.
pub(super) fn ending(end: Result<WorkerEnd, Halt>) -> Result<WorkerEnd, JobError> {
    match end {
        Ok(end) => Ok(end),
        Err(Halt::Failed(failure)) => Ok(WorkerEnd::Failed { failure, machine: None }),
        Err(Halt::Unmade(failure)) => Ok(WorkerEnd::Unmade(failure)),
        Err(Halt::Later(error)) => Err(error),
    }
}

impl Attempt<'_> {
    pub(super) async fn operate_worker(&self, kind: WorkerOperation) -> Result<WorkerEnd, Halt> {
        match kind {
            WorkerOperation::Provision | WorkerOperation::Retry => self.provision(kind).await,
            WorkerOperation::Start => self.start().await,
            WorkerOperation::Stop => self.stop().await,
            WorkerOperation::Destroy | WorkerOperation::Delete => self.destroy().await,
            WorkerOperation::HealthCheck => Err(failed(FailureCode::GivenUp, "nothing to do")),
        }
    }

    async fn provision(&self, kind: WorkerOperation) -> Result<WorkerEnd, Halt> {
        let (provider, worker) = (self.provider()?, &self.crew.worker);
        let order = Order {
            worker: worker.id,
            generation: worker.machine_generation.unwrap_or(worker.generation),
            is_ephemeral: worker.category == crate::model::Category::Ephemeral,
            region: worker.region.clone(),
            size: worker.size,
        };
        // The machine of an earlier order; one of this order is found again below.
        if let Some(old) = worker.machine.as_ref().filter(|old| old.name != order.name()) {
            self.end(provider, old).await?;
        }
        let is_looked_for = self.has_open_orders().await?;
        if is_looked_for {
            self.let_orders_arrive().await?;
        }
        if is_looked_for || kind == WorkerOperation::Retry {
            self.destroy_leftovers(provider, Some(&order.name())).await?;
        }
        let machine = self.give(provider, &order).await?;
        self.comes_up(provider, machine).await
    }

    /// Gives an order. One that is refused at once, and was never given before, has made nothing.
    async fn give(&self, provider: &Arc<dyn Provider>, order: &Order) -> Result<Machine, Halt> {
        let (worker, operation) = (self.crew.worker.id, self.operation);
        let mut is_first = false;
        self.write(async |tx| {
            is_first = orders::give(tx, worker, operation).await?;
            Ok(())
        })
        .await?;
        let is_sure = AtomicBool::new(is_first && provider.makes_at_once());
        let creating = || -> Outcome<'_, Machine> {
            Box::pin(async {
                let made = provider.create(order).await;
                if made.as_ref().is_err_and(|error| !error.is_refusal()) {
                    is_sure.store(false, Ordering::Relaxed);
                }
                made
            })
        };
        self.persist(creating).await.map_err(|halt| match halt {
            Halt::Failed(failure) if is_sure.load(Ordering::Relaxed) => Halt::Unmade(failure),
            other => other,
        })
    }

    async fn start(&self) -> Result<WorkerEnd, Halt> {
        let (provider, machine) = (self.provider()?, self.machine()?);
        let machine = self.persist(|| provider.start(machine)).await?;
        self.comes_up(provider, machine).await
    }

    async fn stop(&self) -> Result<WorkerEnd, Halt> {
        let (provider, machine) = (self.provider()?, self.machine()?);
        self.persist(|| provider.stop(machine)).await?;
        let sighting = self.rests(provider, machine, Rest::Stopped).await?;
        let provider_state = Some(sighting.provider_state);
        Ok(WorkerEnd::Stopped { machine: sighting.machine, provider_state })
    }

    async fn destroy(&self) -> Result<WorkerEnd, Halt> {
        let worker = &self.crew.worker;
        // What is looked for already is so also without a provider that could be asked now.
        let is_looked_for = self.provider().is_ok() && self.has_open_orders().await?;
        if let Some(machine) = &worker.machine {
            self.end(self.provider_to_end()?, machine).await?;
        }
        let order = worker.unseen_order();
        if order.is_some() || is_looked_for {
            let provider = self.provider_to_end()?;
            self.let_orders_arrive().await?;
            let ended = self.destroy_leftovers(provider, None).await?;
            if let Some(order) = order.filter(|order| !ended.contains(order)) {
                self.keep_open(&order).await?;
            }
        }
        Ok(WorkerEnd::Destroyed)
    }

    /// Whoever made the machine may have been stopped in the middle of its order, which the provider may
    /// still be carrying out: a list shows what it made only after that.
    async fn let_orders_arrive(&self) -> Result<(), Halt> {
        let ended = self.crew.worker.ended.as_ref().filter(|ended| ended.kind.makes_a_machine());
        let Some(ended) = ended else { return Ok(()) };
        let now = self.fleet.db().now().await.map_err(|error| Halt::Later(later(&error.into())))?;
        let arrived = ended.at.plus(self.fleet.shared.pace.orders_arrive);
        tokio::time::sleep(arrived.since(now)).await;
        Ok(())
    }

    /// Ends the machines of orders whose answer never came, as far as they are listed, and tells which: there
    /// may be some that nobody has written down.
    async fn destroy_leftovers(
        &self,
        provider: &Arc<dyn Provider>,
        but: Option<&MachineName>,
    ) -> Result<Vec<MachineName>, Halt> {
        let worker = self.crew.worker.id;
        let listed = self.persist(|| provider.list_of(worker)).await?;
        // One that is being ended already is looked for on.
        let is_left = |seen: &&Sighting| {
            let name = &seen.machine.name;
            Some(name) != but && seen.state != MachineState::Leaving
        };
        let mut ended = Vec::new();
        for left in listed.iter().filter(is_left).map(|seen| &seen.machine) {
            if self.end(provider, left).await? == Departure::Gone {
                ended.push(left.name.clone());
            }
        }
        if !ended.is_empty() {
            self.write(async |tx| orders::settle(tx, &ended).await).await?;
        }
        Ok(ended)
    }

    /// Ends a machine. Where nobody knows whether it is gone, its order is open from now on: it may run, and cost.
    async fn end(
        &self,
        provider: &Arc<dyn Provider>,
        machine: &Machine,
    ) -> Result<Departure, Halt> {
        let departure = self.persist(|| provider.destroy(machine)).await?;
        if departure != Departure::Gone {
            self.keep_open(&machine.name).await?;
        }
        Ok(departure)
    }

    /// That a list does not show a machine is no proof that there is none: the health loop looks for it from now
    /// on, also when the worker is no more.
    async fn keep_open(&self, order: &MachineName) -> Result<(), Halt> {
        let worker = &self.crew.worker;
        let of = (worker.id, worker.provider);
        self.write(async |tx| orders::keep(tx, of, order).await).await
    }

    async fn has_open_orders(&self) -> Result<bool, Halt> {
        let has = orders::has(self.fleet.db(), self.crew.worker.id).await;
        has.map_err(|error| Halt::Later(later(&error)))
    }

    /// Writes while the lease holds.
    async fn write(
        &self,
        work: impl AsyncFnOnce(&mut Tx) -> Result<(), FleetError>,
    ) -> Result<(), Halt> {
        let written = self.context.write(async |tx, _| work(tx).await);
        written.await.map_err(|error: FleetError| Halt::Later(later(&error)))
    }

    /// Asks a provider, and again while it may do better; that a machine is gone, it must say twice. One that has
    /// trouble of its own is asked later again, for as long as the operation has time.
    pub(super) async fn persist<'p, T>(&self, ask: impl Fn() -> Outcome<'p, T>) -> Result<T, Halt> {
        let pace = self.fleet.shared.pace;
        let mut wait = pace.retry;
        let mut was_gone = false;
        for left in (0..TRIES).rev() {
            let error = match ask().await {
                Ok(done) => return self.goes_on().await.map(|()| done),
                Err(error) => error,
            };
            if error.is_trouble() {
                self.waits_for(&error).await?;
            }
            match &error {
                ProviderError::Gone(_) if !was_gone => was_gone = true,
                _ if let Some(wait) = error.retry_after() => {
                    return Err(self.put_off(&error, wait).await);
                }
                // Perhaps it is held by who died: that ends by itself.
                _ if self.is_resumed && error.is_held() => {
                    return Err(self.put_off(&error, pace.outage).await);
                }
                _ if error.is_retriable() && left > 0 => tokio::time::sleep(wait).await,
                _ if error.is_trouble() => return Err(self.put_off(&error, pace.outage).await),
                _ => return Err(Halt::Failed(end::failure_of(&error))),
            }
            wait = wait.saturating_mul(3);
        }
        let done = ask().await.map_err(|error| Halt::Failed(end::failure_of(&error)))?;
        self.goes_on().await.map(|()| done)
    }

    /// Leaves a provider alone for so long, if the operation has the time.
    async fn put_off(&self, error: &ProviderError, wait: Duration) -> Halt {
        match self.left().await {
            Ok(left) if wait < left => Halt::Later(JobError::PutOff { wait }),
            Ok(_) => Halt::Failed(end::failure_of(error)),
            Err(halt) => halt,
        }
    }

    /// Writes a machine down before anything else can go wrong.
    pub(super) async fn remember(&self, machine: &Machine) -> Result<(), Halt> {
        let (worker, operation) = (self.crew.worker.id, self.operation);
        let remembering = self.write(async |tx| {
            match workers::remember(tx, worker, operation, machine).await? {
                true => Ok(()),
                false => Err(FleetError::Overtaken),
            }
        });
        remembering.await
    }

    fn provider(&self) -> Result<&Arc<dyn Provider>, Halt> {
        let kind = self.crew.worker.provider;
        self.fleet.shared.providers.of(kind).ok_or_else(|| {
            failed(FailureCode::NotConfigured, FleetError::NotConfigured(kind).to_string())
        })
    }

    /// The provider, or what else can be done about a machine that nobody can end.
    fn provider_to_end(&self) -> Result<&Arc<dyn Provider>, Halt> {
        self.provider().map_err(|halt| match halt {
            Halt::Failed(failure) => {
                let left: Vec<String> =
                    self.crew.worker.unended().map(|name| name.to_string()).collect();
                let text = "or delete the worker with ?forget=true, which leaves behind";
                failed(failure.code, format!("{}; {text} {}", failure.detail, left.join(" and ")))
            }
            later => later,
        })
    }

    fn machine(&self) -> Result<&Machine, Halt> {
        let machine = self.crew.worker.machine.as_ref();
        machine.ok_or_else(|| failed(FailureCode::WorkerGone, "the worker has no machine"))
    }
}

pub(super) fn failed(code: FailureCode, why: impl Into<String>) -> Halt {
    Halt::Failed(Failure::new(code, why))
}
