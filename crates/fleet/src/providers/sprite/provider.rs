//! Machines of Sprites.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::Clock;
use tokio::time::{sleep, timeout};

use super::calls::Calls;
use super::reading::{Service, Told};
use super::service;
use super::settings::SpriteSettings;
use crate::agents::AgentKey;
use crate::providers::api::SetUpError;
use crate::providers::error::{NOT_SURE, ProviderError};
use crate::providers::kind::ProviderKind;
use crate::providers::machine::{Departure, Machine, MachineState, Rest, Sighting};
use crate::providers::name::MachineName;
use crate::providers::order::Order;
use crate::providers::{Outcome, Provider};

/// Machines of Sprites.
#[derive(Debug)]
pub struct Sprites {
    settings: SpriteSettings,
    key: AgentKey,
    calls: Calls,
}

impl Sprites {
    /// Prepares to ask. Call it inside of the runtime. Whether Sprites is there shows with the first
    /// question.
    ///
    /// # Errors
    /// [`SetUpError`] names what can't be used.
    pub fn new(
        settings: SpriteSettings,
        key: AgentKey,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, SetUpError> {
        let calls = Calls::new(&settings, clock)?;
        Ok(Self { settings, key, calls })
    }

    /// The sprite of that name, where it is this one and no other that has its name now. A list need not tell ids:
    /// one that came from there is whoever has the name, which is ours alone.
    async fn told(&self, machine: &Machine) -> Result<Told, ProviderError> {
        let told = self.calls.get(&machine.name).await?;
        if told.id == machine.id || machine.id.is_empty() {
            return Ok(told);
        }
        Err(ProviderError::Gone("its name belongs to another sprite now".to_owned()))
    }

    async fn see(&self, machine: &Machine) -> Result<Sighting, ProviderError> {
        let told = self.told(machine).await?;
        let service = match told.is_running() {
            true => self.calls.service(&machine.name).await?,
            false => None,
        };
        told.sighting(service.as_ref())
    }

    async fn make(&self, order: &Order) -> Result<Machine, ProviderError> {
        let name = order.name();
        let told = match self.calls.create(&name).await {
            Ok(told) if told.id.is_empty() => self.calls.get(&name).await?,
            Ok(told) => told,
            // The name is taken, by this order given before; or it may have been made.
            Err(error @ (ProviderError::Invalid(_) | ProviderError::Ambiguous(_))) => {
                match self.calls.get(&name).await {
                    Ok(told) => told,
                    Err(ProviderError::Gone(_)) => return Err(error),
                    Err(other) => return Err(other),
                }
            }
            Err(error) => return Err(error),
        };
        let is_defined = self.calls.service(&name).await?.is_some();
        if !is_defined {
            self.define(&name).await?;
        }
        self.steer(&name, "start").await?;
        told.sighting(None).map(|seen| seen.machine)
    }

    async fn define(&self, name: &MachineName) -> Result<(), ProviderError> {
        let definition = service::definition(name, &self.settings, &self.key.token(name));
        self.calls.define(name, definition).await
    }

    /// Starts or stops the service, where it is not there yet. What a stream did not come to say, the
    /// service does.
    async fn steer(&self, name: &MachineName, what: &'static str) -> Result<(), ProviderError> {
        let is_there = |status: Option<&str>| match what {
            "start" => matches!(status, Some("running" | "starting")),
            _ => matches!(status, None | Some("stopped" | "stopping" | "failed")),
        };
        let before = self.calls.service(name).await?;
        if is_there(before.as_ref().map(Service::status)) {
            return Ok(());
        }
        match self.calls.steer(name, what).await {
            Err(error @ ProviderError::Ambiguous(_)) => {
                let after = self.calls.service(name).await?;
                if is_there(after.as_ref().map(Service::status)) { Ok(()) } else { Err(error) }
            }
            other => other,
        }
    }

    async fn rouse(&self, machine: &Machine) -> Result<Machine, ProviderError> {
        let told = self.told(machine).await?;
        if self.calls.service(&machine.name).await?.is_none() {
            self.define(&machine.name).await?;
        }
        self.steer(&machine.name, "start").await?;
        told.sighting(None).map(|seen| seen.machine)
    }

    /// Wakes the sprite for a moment, so that nothing runs when it wakes the next time.
    async fn halt(&self, machine: &Machine) -> Result<(), ProviderError> {
        self.told(machine).await?;
        self.steer(&machine.name, "stop").await
    }

    async fn end(&self, machine: &Machine) -> Result<Departure, ProviderError> {
        match self.told(machine).await {
            Ok(_) => {}
            // Not even one that has its name now.
            Err(ProviderError::Gone(_)) => return self.gone(machine).await,
            Err(error) => return Err(error),
        }
        match self.calls.delete(&machine.name).await {
            Ok(()) => Ok(Departure::Gone),
            Err(ProviderError::Gone(_)) => self.gone(machine).await,
            Err(error) => Err(error),
        }
    }

    /// That there is no such sprite is believed only when it is said twice, and only of the organisation whose
    /// token we have: nothing tells whether it is that of the sprite.
    async fn gone(&self, machine: &Machine) -> Result<Departure, ProviderError> {
        match self.calls.get(&machine.name).await {
            Err(ProviderError::Gone(_)) => Ok(Departure::Missing),
            Err(error) => Err(error),
            Ok(other) if other.id != machine.id && !machine.id.is_empty() => Ok(Departure::Gone),
            Ok(_) => Err(ProviderError::Unreachable(NOT_SURE.to_owned())),
        }
    }

    async fn settled(
        &self,
        machine: &Machine,
        rest: Rest,
        limit: Duration,
    ) -> Result<Sighting, ProviderError> {
        let looking = async {
            loop {
                let seen = self.see(machine).await;
                if seen.as_ref().map_or(true, |seen| seen.state.is_at(rest)) {
                    return seen;
                }
                sleep(self.settings.look_every).await;
            }
        };
        match timeout(limit, looking).await {
            Ok(seen) => seen,
            Err(_) => self.see(machine).await,
        }
    }

    async fn all(&self) -> Result<Vec<Sighting>, ProviderError> {
        let listed = self.calls.list().await?;
        let read = |told: &Told| {
            let seen = told.sighting(None).ok()?;
            // Whether its service runs would take a question each.
            let state = if told.is_running() { MachineState::Running } else { seen.state };
            Some(Sighting { state, ..seen })
        };
        Ok(listed.iter().filter_map(read).collect())
    }
}

impl Provider for Sprites {
    fn kind(&self) -> ProviderKind {
        ProviderKind::Sprite
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
        Box::pin(self.all())
    }

    fn answers(&self) -> Outcome<'_, ()> {
        Box::pin(async { self.calls.trouble().await.map_or(Ok(()), Err) })
    }
}
