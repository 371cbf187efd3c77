//! Looks at a worker: at its agent, and at what the provider says of its machine.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{Either, select, try_join};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use crate::agents::{AgentDoor, AgentHealth};
use crate::decide::{Look, said};
use crate::fleet::Fleet;
use crate::model::{Crew, Worker, WorkerStatus};
use crate::providers::{Machine, MachineState, Provider, ProviderError, ProviderKind, Sighting};

/// What is said of an agent that was started under other rules.
const OUTDATED: &str = "its agent was started under other rules of what it may call (outbound.allow, \
    outbound.ca_file, public_url, listen); retry the worker";

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
        sleep(self.shared.pace.confirm(self.chance())).await;
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
        self.ask(&crew.worker).await
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
        let limit = self.shared.pace.probe;
        // Both within one time: a crash is known in time whatever the provider does.
        let over = sleep(limit);
        let agent = async {
            let asked = timeout(limit, self.ask_agent(worker, machine)).await;
            asked.unwrap_or_else(|_| Err(silence(limit)))
        };
        let mut agent = pin!(agent);
        // Who is gone for ever says nothing either, and its provider knows: both are waited for from here on.
        let early = timeout(self.shared.pace.silence, &mut agent).await;
        let answering = async {
            let answer = match early {
                Ok(answer) => answer,
                Err(_) => agent.await,
            };
            // An answer ends the waiting for the other one, as an error does.
            answer.map_or_else(Ok, Err)
        };
        let hearing = async {
            let Some(provider) = provider else { return Ok(None) };
            match select(seen(&**provider, machine).boxed(), pin!(over)).await {
                Either::Left((Err(ProviderError::Gone(why)), _)) => Err(Look::Gone(gone(&why))),
                // The provider's trouble says nothing, and its word that the machine runs does not make
                // the agent answer; both help whoever reads it.
                Either::Left((said, _)) => Ok(Some(said::words(provider.kind(), &said))),
                Either::Right(_) => Ok(Some(no_word(provider.kind(), limit))),
            }
        };
        match try_join(answering, hearing).await {
            Err(found) => Glimpse::Settled(found),
            Ok((why, None)) => Glimpse::Silent(why),
            Ok((why, Some(word))) => Glimpse::Silent(format!("{why}; {word}")),
        }
    }

    async fn ask_provider_first(
        &self,
        worker: &Worker,
        machine: &Machine,
        provider: &Arc<dyn Provider>,
    ) -> Glimpse {
        // Each has a time of its own: a provider that says nothing is not a worker that says nothing.
        let limit = self.shared.pace.probe;
        let sighting = match timeout(limit, seen(&**provider, machine)).await {
            Ok(Ok(sighting)) => sighting,
            Ok(Err(ProviderError::Gone(why))) => return Glimpse::Settled(Look::Gone(gone(&why))),
            Ok(Err(error)) => return Glimpse::Settled(Look::Unknown(error.to_string())),
            Err(_) => return Glimpse::Settled(Look::Unknown(no_word(provider.kind(), limit))),
        };
        let provider_state = sighting.provider_state.clone();
        match sighting.state {
            _ if worker.status == WorkerStatus::Stopped => {
                Glimpse::Settled(Look::Asleep { provider_state })
            }
            MachineState::Running => {
                let asking = self.ask_agent(worker, &sighting.machine);
                let asked = timeout(limit, asking).await;
                let answer = asked.unwrap_or_else(|_| Err(silence(limit)));
                let told = answer.map(|found| found.while_it_is(provider_state));
                told.map_or_else(Glimpse::Silent, Glimpse::Settled)
            }
            MachineState::Asleep => Glimpse::Settled(Look::Asleep { provider_state }),
            MachineState::Cold => Glimpse::Settled(Look::Cold { provider_state }),
            state => Glimpse::Silent(format!("its machine is {}", state.name())),
        }
    }

    async fn ask_agent(&self, worker: &Worker, machine: &Machine) -> Result<Look, String> {
        let door: Option<AgentDoor> = self.door(worker, machine);
        let door = door.ok_or_else(|| "its machine has no address".to_owned())?;
        match self.shared.agents.health(&door).await {
            Ok(health) => {
                let trouble = health.trouble().or_else(|| self.outdated(worker, &health));
                trouble.map_or_else(|| Ok(Look::answered(health)), Err)
            }
            Err(error) => Err(error.to_string()),
        }
    }

    /// Why an agent is not to be used any more although it is well: what it may call, it was told before that was
    /// changed. Nobody can tell it anew.
    fn outdated(&self, worker: &Worker, health: &AgentHealth) -> Option<String> {
        let rules = self.shared.providers.of(worker.provider)?.policy()?;
        let told = health.policy.as_deref()?;
        (told != rules).then(|| OUTDATED.to_owned())
    }
}

/// What the provider says of a machine; that it is gone, only when it says so twice.
pub(crate) async fn seen(
    provider: &dyn Provider,
    machine: &Machine,
) -> Result<Sighting, ProviderError> {
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

pub(crate) fn no_word(provider: ProviderKind, limit: Duration) -> String {
    let (provider, limit) = (provider.name(), limit.as_millis());
    format!("the provider {provider} did not say within {limit} ms how the machine is")
}
