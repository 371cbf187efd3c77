//! Machines of Fly.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{Clock, Id, Secret};
use tokio::time::{sleep, timeout};

use super::calls::{Calls, NOBODY};
use super::lease::Holder;
use super::order::{self, GENERATION, WORKER};
use super::reading::Told;
use super::refusal::holder_of_name;
use super::settings::FlySettings;
use crate::agents::AgentKey;
use crate::providers::api::SetUpError;
use crate::providers::error::{Conflict, NOT_SURE, ProviderError};
use crate::providers::kind::ProviderKind;
use crate::providers::machine::{Departure, HostStatus, Machine, MachineState, Rest, Sighting};
use crate::providers::name::PREFIX;
use crate::providers::order::Order;
use crate::providers::{Outcome, Provider};

/// How long a machine is held while something is done to it: longer than any start is tried.
const LEASE: Duration = Duration::from_secs(30);

/// How long is waited for a machine that was ended to be gone.
const FAREWELL: Duration = Duration::from_secs(5);

/// Machines of Fly.
#[derive(Debug)]
pub struct Fly {
    settings: FlySettings,
    key: AgentKey,
    calls: Calls,
}

impl Fly {
    /// Prepares to ask. Call it inside of the runtime. Whether Fly is there shows with the first
    /// question.
    ///
    /// # Errors
    /// [`SetUpError`] names what can't be used.
    pub fn new(
        settings: FlySettings,
        key: AgentKey,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, SetUpError> {
        settings.check()?;
        let calls = Calls::new(&settings, clock)?;
        Ok(Self { settings, key, calls })
    }

    fn read(&self, told: &Told) -> Result<Sighting, ProviderError> {
        told.sighting(self.settings.agent_port)
    }

    async fn see(&self, machine: &Machine) -> Result<Sighting, ProviderError> {
        self.read(&self.calls.get(&machine.id).await?)
    }

    async fn make(&self, order: &Order) -> Result<Machine, ProviderError> {
        // This order may have been given before, by somebody who did not live to hear the answer.
        if let Some(found) = self.find(order).await? {
            return Ok(found);
        }
        let token = self.key.token(&order.name());
        let body = order::body(order, &self.settings, &token);
        match self.calls.create(body).await {
            Ok(told) => self.read(&told).map(|seen| seen.machine).map_err(of_no_name),
            Err(error) => self.look_up(order, error).await,
        }
    }

    /// The machine of an order, where a list shows it.
    async fn find(&self, order: &Order) -> Result<Option<Machine>, ProviderError> {
        let having =
            [(WORKER, order.worker.to_string()), (GENERATION, order.generation.to_string())];
        let mut listed = self.calls.list(&having).await?;
        listed.sort_by(|a, b| a.age().cmp(&b.age()));
        let name = order.name();
        let mut seen = listed.iter().filter_map(|told| self.read(told).ok());
        Ok(seen.find(|seen| seen.machine.name == name).map(|seen| seen.machine))
    }

    /// After a create that may have been carried out: looks for what it made, and says what it was told
    /// where there is nothing to be seen.
    async fn look_up(&self, order: &Order, error: ProviderError) -> Result<Machine, ProviderError> {
        let error = match error {
            ProviderError::Conflict { kind: Conflict::NameTaken, detail } => {
                match self.holder(order, &detail).await {
                    Some(machine) => return Ok(machine),
                    None => ProviderError::Ambiguous(detail),
                }
            }
            ProviderError::Ambiguous(detail) => ProviderError::Ambiguous(detail),
            other => return Err(other),
        };
        for _ in 0..self.settings.pace.look_ups {
            sleep(self.settings.pace.look_up_every).await;
            if let Ok(Some(machine)) = self.find(order).await {
                return Ok(machine);
            }
        }
        Err(error)
    }

    /// The machine that has the name already: it is ours, even if no list shows it.
    async fn holder(&self, order: &Order, detail: &str) -> Option<Machine> {
        let told = self.calls.get(&holder_of_name(detail)?).await.ok()?;
        let machine = self.read(&told).ok()?.machine;
        (machine.name == order.name()).then_some(machine)
    }

    async fn rouse(&self, machine: &Machine) -> Result<Machine, ProviderError> {
        let id = machine.id.as_str();
        let nonce = self.calls.lease(machine, LEASE).await?;
        let started = self.start_in_time(id, &nonce).await;
        self.calls.release(id, &nonce).await;
        match started {
            Ok(()) => self.see(machine).await.map(|seen| seen.machine),
            Err(ProviderError::Conflict {
                kind: kind @ (Conflict::State | Conflict::Lingering),
                detail,
            }) => {
                let seen = self.see(machine).await?;
                let is_up = matches!(seen.state, MachineState::Running | MachineState::Starting);
                let refused = ProviderError::Conflict { kind, detail };
                if is_up { Ok(seen.machine) } else { Err(refused) }
            }
            Err(error) => Err(error),
        }
    }

    /// A machine that says that it is stopped may refuse to start for some seconds more: only that is
    /// tried again, and only for so long.
    async fn start_in_time(&self, id: &str, nonce: &Secret<String>) -> Result<(), ProviderError> {
        let pace = self.settings.pace;
        let mut last = None;
        let trying = async {
            loop {
                match self.calls.start(id, nonce).await {
                    Err(refused @ ProviderError::Conflict { kind: Conflict::Lingering, .. }) => {
                        last = Some(refused);
                    }
                    other => return other,
                }
                sleep(pace.start_every).await;
            }
        };
        let tried = timeout(pace.start_for, trying).await;
        let too_late = || ProviderError::Ambiguous("no start was answered in time".to_owned());
        tried.unwrap_or_else(|_| Err(last.unwrap_or_else(too_late)))
    }

    async fn halt(&self, machine: &Machine) -> Result<(), ProviderError> {
        let id = machine.id.as_str();
        let nonce = self.calls.lease(machine, LEASE).await?;
        let stopped = self.calls.stop(id, &nonce).await;
        self.calls.release(id, &nonce).await;
        match stopped {
            Err(ProviderError::Conflict {
                kind: kind @ (Conflict::State | Conflict::Lingering),
                detail,
            }) => {
                let seen = self.see(machine).await?;
                let is_down =
                    seen.state.is_at(Rest::Stopped) || seen.state == MachineState::Stopping;
                let refused = ProviderError::Conflict { kind, detail };
                if is_down { Ok(()) } else { Err(refused) }
            }
            other => other,
        }
    }

    async fn end(&self, machine: &Machine) -> Result<Departure, ProviderError> {
        let id = machine.id.as_str();
        let nonce = match self.calls.lease(machine, LEASE).await {
            Ok(nonce) => Some(nonce),
            Err(ProviderError::Gone(_)) => return self.gone(machine).await,
            // Its host may be out of reach: then it can't be held, and can be ended all the same.
            Err(ProviderError::Unreachable(_) | ProviderError::Ambiguous(_)) => None,
            Err(error) => return Err(error),
        };
        match self.destroy(machine, nonce.as_ref()).await {
            Ok(()) => {}
            Err(ProviderError::Gone(_)) => return self.gone(machine).await,
            Err(error) => {
                if let Some(nonce) = &nonce {
                    self.calls.release(id, nonce).await;
                }
                return Err(error);
            }
        }
        match self.see(machine).await {
            Err(ProviderError::Gone(_)) => return Ok(Departure::Gone),
            Ok(seen) if seen.host == HostStatus::Ok => {}
            _ => return Ok(Departure::Leaving),
        }
        let waited = self.calls.wait(id, "destroyed", machine.run.as_deref(), FAREWELL).await;
        match (waited, self.see(machine).await) {
            (_, Err(ProviderError::Gone(_))) => Ok(Departure::Gone),
            _ => Ok(Departure::Leaving),
        }
    }

    /// What was held without a word of it is ended by whoever holds it: by us.
    async fn destroy(
        &self,
        machine: &Machine,
        nonce: Option<&Secret<String>>,
    ) -> Result<(), ProviderError> {
        let id = machine.id.as_str();
        match self.calls.destroy(id, nonce).await {
            Err(refused) if nonce.is_none() && refused.is_held() => {
                match self.calls.holder(machine).await? {
                    Holder::Us(nonce) => self.calls.destroy(id, Some(&nonce)).await,
                    Holder::Nobody => self.calls.destroy(id, None).await,
                    Holder::Another => Err(refused),
                }
            }
            other => other,
        }
    }

    /// That there is no such machine is believed only when it is said twice.
    async fn gone(&self, machine: &Machine) -> Result<Departure, ProviderError> {
        match self.see(machine).await {
            Err(ProviderError::Gone(_)) => Ok(Departure::Gone),
            Err(error) => Err(error),
            Ok(_) => Err(ProviderError::Unreachable(NOT_SURE.to_owned())),
        }
    }

    async fn settled(
        &self,
        machine: &Machine,
        rest: Rest,
        limit: Duration,
    ) -> Result<Sighting, ProviderError> {
        let seen = self.see(machine).await?;
        if seen.state.is_at(rest) {
            return Ok(seen);
        }
        let state = match rest {
            Rest::Running => "started",
            Rest::Stopped => "stopped",
        };
        let run = seen.machine.run.as_deref();
        self.calls.wait(&machine.id, state, run, limit).await?;
        self.see(machine).await
    }

    /// Those with this metadata.
    async fn all(&self, having: &[(&str, String)]) -> Result<Vec<Sighting>, ProviderError> {
        let listed = self.calls.list(having).await?;
        let seen = listed.iter().filter_map(|told| self.read(told).ok());
        Ok(seen.filter(|seen| seen.machine.name.as_str().starts_with(PREFIX)).collect())
    }
}

/// What was made can't be read, and was made all the same.
fn of_no_name(error: ProviderError) -> ProviderError {
    match error {
        ProviderError::Invalid(detail) => ProviderError::Conflict { kind: Conflict::Other, detail },
        other => other,
    }
}

impl Provider for Fly {
    fn kind(&self) -> ProviderKind {
        ProviderKind::Fly
    }

    fn create<'a>(&'a self, order: &'a Order) -> Outcome<'a, Machine> {
        Box::pin(self.make(order))
    }

    fn look<'a>(&'a self, machine: &'a Machine) -> Outcome<'a, Sighting> {
        Box::pin(self.see(machine))
    }

    fn wait<'a>(
        &'a self,
        machine: &'a Machine,
        rest: Rest,
        limit: Duration,
    ) -> Outcome<'a, Sighting> {
        Box::pin(self.settled(machine, rest, limit))
    }

    fn start<'a>(&'a self, machine: &'a Machine) -> Outcome<'a, Machine> {
        Box::pin(self.rouse(machine))
    }

    fn stop<'a>(&'a self, machine: &'a Machine) -> Outcome<'a, ()> {
        Box::pin(self.halt(machine))
    }

    fn destroy<'a>(&'a self, machine: &'a Machine) -> Outcome<'a, Departure> {
        Box::pin(self.end(machine))
    }

    fn list(&self) -> Outcome<'_, Vec<Sighting>> {
        Box::pin(self.all(&[]))
    }

    fn list_of(&self, worker: Id) -> Outcome<'_, Vec<Sighting>> {
        Box::pin(async move {
            let mut listed = self.all(&[(WORKER, worker.to_string())]).await?;
            listed.retain(|seen| seen.machine.name.is_of(worker));
            Ok(listed)
        })
    }

    fn makes_at_once(&self) -> bool {
        true
    }

    /// A list of all machines of an app may be long.
    fn answers(&self) -> Outcome<'_, ()> {
        Box::pin(async move { self.calls.list(&[(WORKER, NOBODY.to_owned())]).await.map(drop) })
    }
}
