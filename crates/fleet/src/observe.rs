//! Looks at a worker: at its agent, and at what the provider says of its machine.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;

use crate::agents::AgentDoor;
use crate::decide::Look;
use crate::fleet::Fleet;
use crate::model::{Crew, Worker, WorkerStatus};
use crate::providers::{Machine, MachineState, Provider, ProviderError, ProviderKind, Sighting};

/// What one question found.
enum Glimpse {
    /// What is known for sure.
    Settled(Look),
    /// Nobody answered: asked again, somebody may.
    Silent(String),
}

impl Fleet {
    /// Looks at a worker, and once more a little later when nobody answers. Questions wait for `slots`.
    pub(crate) async fn look(&self, crew: &Crew, slots: Option<&Semaphore>) -> Look {
        if let Glimpse::Settled(found) = self.glimpse(crew, slots).await {
            return found;
        }
        tokio::time::sleep(self.shared.pace.confirm(self.chance())).await;
        match self.glimpse(crew, slots).await {
            Glimpse::Settled(found) => found,
            Glimpse::Silent(why) => Look::Lost(why),
        }
    }

    /// Any number.
    pub(crate) fn chance(&self) -> u64 {
        let mut bytes = [0_u8; 8];
        self.shared.rng.fill(&mut bytes);
        u64::from_le_bytes(bytes)
    }

    async fn glimpse(&self, crew: &Crew, slots: Option<&Semaphore>) -> Glimpse {
        let _slot = match slots {
            Some(slots) => slots.acquire().await.ok(),
            None => None,
        };
        let limit = self.shared.pace.probe;
        let asked = tokio::time::timeout(limit, self.ask(&crew.worker)).await;
        asked.unwrap_or_else(|_| Glimpse::Silent(silence(limit)))
    }

    async fn ask(&self, worker: &Worker) -> Glimpse {
        let Some(machine) = &worker.machine else {
            return Glimpse::Settled(Look::Gone("there is no machine".to_owned()));
        };
        let provider = self.shared.providers.of(worker.provider);
        let is_stopped = worker.status == WorkerStatus::Stopped;
        match provider {
            // Asking its agent would wake it, and cost.
            Some(provider) if is_stopped || provider.kind() == ProviderKind::Sprite => {
                self.ask_provider_first(worker, machine, provider).await
            }
            None if is_stopped => {
                Glimpse::Settled(Look::Unknown("the provider is not set up here".to_owned()))
            }
            provider => self.ask_agent_first(worker, machine, provider).await,
        }
    }

    async fn ask_agent_first(
        &self,
        worker: &Worker,
        machine: &Machine,
        provider: Option<&Arc<dyn Provider>>,
    ) -> Glimpse {
        let why = match self.ask_agent(worker, machine).await {
            Ok(found) => return Glimpse::Settled(found),
            Err(why) => why,
        };
        let Some(provider) = provider else { return Glimpse::Silent(why) };
        match seen(&**provider, machine).await {
            Err(ProviderError::Gone(why)) => Glimpse::Settled(Look::Gone(gone(&why))),
            // The provider's trouble says nothing, and its word that the machine runs does not make the
            // agent answer.
            Ok(_) | Err(_) => Glimpse::Silent(why),
        }
    }

    async fn ask_provider_first(
        &self,
        worker: &Worker,
        machine: &Machine,
        provider: &Arc<dyn Provider>,
    ) -> Glimpse {
        let sighting = match seen(&**provider, machine).await {
            Ok(sighting) => sighting,
            Err(ProviderError::Gone(why)) => return Glimpse::Settled(Look::Gone(gone(&why))),
            Err(error) => return Glimpse::Settled(Look::Unknown(error.to_string())),
        };
        let provider_state = sighting.provider_state.clone();
        match sighting.state {
            _ if worker.status == WorkerStatus::Stopped => {
                Glimpse::Settled(Look::Asleep { provider_state })
            }
            MachineState::Running => match self.ask_agent(worker, &sighting.machine).await {
                Ok(found) => Glimpse::Settled(found),
                Err(why) => Glimpse::Silent(why),
            },
            MachineState::Asleep => Glimpse::Settled(Look::Asleep { provider_state }),
            MachineState::Cold => Glimpse::Settled(Look::Cold { provider_state }),
            state => Glimpse::Silent(format!("its machine is {}", state.name())),
        }
    }

    async fn ask_agent(&self, worker: &Worker, machine: &Machine) -> Result<Look, String> {
        let door: Option<AgentDoor> = self.door(worker, machine);
        let door = door.ok_or_else(|| "its machine has no address".to_owned())?;
        match self.shared.agents.health(&door).await {
            Ok(health) => Ok(Look::Well(health)),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// What the provider says of a machine; that it is gone, only when it says so twice.
async fn seen(provider: &dyn Provider, machine: &Machine) -> Result<Sighting, ProviderError> {
    match provider.look(machine).await {
        Err(ProviderError::Gone(_)) => provider.look(machine).await,
        other => other,
    }
}

fn gone(why: &str) -> String {
    ProviderError::Gone(why.to_owned()).to_string()
}

fn silence(limit: Duration) -> String {
    format!("nobody answered within {} ms", limit.as_millis())
}
