//! What is done to a worker's machine.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::Id;
use mainstay_jobs::JobError;

use super::{Attempt, Halt, later};
use crate::decide::{WorkerEnd, end};
use crate::error::FleetError;
use crate::model::{Failure, FailureCode, WorkerOperation};
use crate::providers::{
    Machine, MachineName, MachineState, Order, Outcome, Provider, ProviderError, Rest, Sighting,
};
use crate::record::workers;

/// How often a provider is asked for what may go better the next time.
const TRIES: u32 = 4;
/// One wait for a machine; the operation has more of them.
const WAIT: Duration = Duration::from_secs(30);

/// How an operation ended, as it is written down.
pub(super) fn ending(end: Result<WorkerEnd, Halt>) -> Result<WorkerEnd, JobError> {
    match end {
        Ok(end) => Ok(end),
        Err(Halt::Failed(failure)) => Ok(WorkerEnd::Failed { failure, machine: None }),
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
            self.persist(|| provider.destroy(old)).await?;
        }
        if kind == WorkerOperation::Retry {
            self.destroy_leftovers(provider, Some(&order.name())).await?;
        }
        let machine = self.persist(|| provider.create(&order)).await?;
        self.comes_up(provider, machine).await
    }

    async fn start(&self) -> Result<WorkerEnd, Halt> {
        let (provider, machine) = (self.provider()?, self.machine()?);
        let machine = self.persist(|| provider.start(machine)).await?;
        self.comes_up(provider, machine).await
    }

    async fn stop(&self) -> Result<WorkerEnd, Halt> {
        let (provider, machine) = (self.provider()?, self.machine()?);
        self.persist(|| provider.stop(machine)).await?;
        let sighting = self.settle(provider, machine, Rest::Stopped).await?;
        let provider_state = Some(sighting.provider_state);
        Ok(WorkerEnd::Stopped { machine: sighting.machine, provider_state })
    }

    async fn destroy(&self) -> Result<WorkerEnd, Halt> {
        let worker = &self.crew.worker;
        if let Some(machine) = &worker.machine {
            let provider = self.provider()?;
            self.persist(|| provider.destroy(machine)).await?;
        }
        if let Some(generation) = worker.machine_generation {
            let name = MachineName::of(worker.id, generation);
            if worker.machine.as_ref().is_none_or(|known| known.name != name) {
                self.destroy_leftovers(self.provider()?, None).await?;
            }
        }
        Ok(WorkerEnd::Destroyed)
    }

    /// Ends the machines of orders whose answer never came: there may be some that nobody has written
    /// down.
    async fn destroy_leftovers(
        &self,
        provider: &Arc<dyn Provider>,
        but: Option<&MachineName>,
    ) -> Result<(), Halt> {
        let worker = self.crew.worker.id;
        let listed = self.persist(|| provider.list()).await?;
        let machines = listed.iter().map(|sighting| &sighting.machine);
        for left in machines.filter(|one| is_of(&one.name, worker) && Some(&one.name) != but) {
            self.persist(|| provider.destroy(left)).await?;
        }
        Ok(())
    }

    /// Waits until a machine runs and its own agent answers.
    async fn comes_up(
        &self,
        provider: &Arc<dyn Provider>,
        machine: Machine,
    ) -> Result<WorkerEnd, Halt> {
        self.remember(&machine).await?;
        let sighting = self.settle(provider, &machine, Rest::Running).await?;
        if sighting.machine != machine {
            self.remember(&sighting.machine).await?;
        }
        let boot_id = self.answers(&sighting.machine).await?;
        let provider_state = Some(sighting.provider_state);
        Ok(WorkerEnd::Running { machine: sighting.machine, boot_id, provider_state })
    }

    /// Waits until a machine is at rest; one that has failed will not be.
    async fn settle(
        &self,
        provider: &Arc<dyn Provider>,
        machine: &Machine,
        rest: Rest,
    ) -> Result<Sighting, Halt> {
        loop {
            let sighting = self.persist(|| provider.wait(machine, rest, WAIT)).await?;
            if sighting.state.is_at(rest) {
                return Ok(sighting);
            }
            let is_hopeless =
                matches!(sighting.state, MachineState::Failed | MachineState::Leaving);
            if rest == Rest::Running && is_hopeless {
                let why = format!("the machine is {}", sighting.provider_state);
                return Err(failed(FailureCode::WorkerUnavailable, why));
            }
            tokio::time::sleep(self.fleet.shared.pace.agent).await;
        }
    }

    /// Waits until the worker's own agent answers, and gives its run.
    async fn answers(&self, machine: &Machine) -> Result<Id, Halt> {
        let (fleet, worker) = (self.fleet, &self.crew.worker);
        let Some(door) = fleet.door(worker, machine) else {
            return Err(failed(FailureCode::WorkerUnavailable, "its machine has no address"));
        };
        loop {
            let limit = fleet.shared.pace.probe;
            let asked = tokio::time::timeout(limit, fleet.shared.agents.health(&door)).await;
            if let Ok(Ok(health)) = asked
                && health.worker_id == worker.id
                && Some(health.generation) == worker.machine_generation
            {
                return Ok(health.boot_id);
            }
            tokio::time::sleep(fleet.shared.pace.agent).await;
        }
    }

    /// Asks a provider, and again while it may do better; that a machine is gone, it must say twice.
    async fn persist<'p, T>(&self, ask: impl Fn() -> Outcome<'p, T>) -> Result<T, Halt> {
        let mut wait = self.fleet.shared.pace.retry;
        let mut was_gone = false;
        for _ in 1..TRIES {
            match ask().await {
                Ok(done) => return Ok(done),
                Err(ProviderError::Throttled { retry_after }) => {
                    return Err(self.put_off(retry_after).await);
                }
                Err(ProviderError::Gone(_)) if !was_gone => was_gone = true,
                Err(error) if error.is_retriable() => tokio::time::sleep(wait).await,
                Err(error) => return Err(Halt::Failed(end::failure_of(&error))),
            }
            wait = wait.saturating_mul(3);
        }
        ask().await.map_err(|error| Halt::Failed(end::failure_of(&error)))
    }

    /// Leaves a provider alone for as long as it asked for, if the operation has the time.
    async fn put_off(&self, wait: Duration) -> Halt {
        match self.left().await {
            Ok(left) if wait < left => Halt::Later(JobError::PutOff { wait }),
            Ok(_) => {
                let error = ProviderError::Throttled { retry_after: wait };
                Halt::Failed(end::failure_of(&error))
            }
            Err(halt) => halt,
        }
    }

    /// Writes a machine down before anything else can go wrong, while the lease holds.
    async fn remember(&self, machine: &Machine) -> Result<(), Halt> {
        let (worker, operation) = (self.crew.worker.id, self.operation);
        let remembered = self.context.write(async |tx, _| {
            match workers::remember(tx, worker, operation, machine).await? {
                true => Ok(()),
                false => Err(FleetError::Overtaken),
            }
        });
        remembered.await.map_err(|error: FleetError| Halt::Later(later(&error)))
    }

    fn provider(&self) -> Result<&Arc<dyn Provider>, Halt> {
        let kind = self.crew.worker.provider;
        self.fleet.shared.providers.of(kind).ok_or_else(|| {
            failed(FailureCode::NotConfigured, FleetError::NotConfigured(kind).to_string())
        })
    }

    fn machine(&self) -> Result<&Machine, Halt> {
        let machine = self.crew.worker.machine.as_ref();
        machine.ok_or_else(|| failed(FailureCode::WorkerGone, "the worker has no machine"))
    }
}

/// Whether a machine is of this worker, whichever order it was.
fn is_of(name: &MachineName, worker: Id) -> bool {
    let first = MachineName::of(worker, 0);
    first.as_str().strip_suffix('0').is_some_and(|own| name.as_str().starts_with(own))
}

fn failed(code: FailureCode, why: impl Into<String>) -> Halt {
    Halt::Failed(Failure::new(code, why))
}
