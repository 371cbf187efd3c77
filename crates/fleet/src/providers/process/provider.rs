//! Machines that are processes on this host.

use std::collections::HashSet;
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{sleep, timeout};

use super::child;
use super::home::Home;
use super::settings::ProcessSettings;
use crate::agents::card::ProcessId;
use crate::agents::{AgentCard, AgentDoor, AgentError, AgentKey, Agents};
use crate::providers::error::ProviderError;
use crate::providers::kind::ProviderKind;
use crate::providers::machine::{Departure, HostStatus, Machine, MachineState, Rest, Sighting};
use crate::providers::name::MachineName;
use crate::providers::order::Order;
use crate::providers::{Outcome, Provider};

/// The most processes that are remembered as looked at; beyond that they are looked at again.
const MAX_ADOPTED: usize = 10_000;
/// The most homes that are listed.
const MAX_LISTED: usize = 10_000;
/// How often is looked while something is waited for.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// How long the last thread of a process that has ended may hold its home.
const LEAVES_WITHIN: Duration = Duration::from_secs(1);

/// Machines that are processes on this host.
pub struct Processes {
    settings: ProcessSettings,
    /// What the rules of the settings are called.
    policy: String,
    key: AgentKey,
    agents: Arc<dyn Agents>,
    /// Those that have shown who they are.
    adopted: Mutex<HashSet<ProcessId>>,
}

impl Processes {
    /// Agents by this program. Whether it can be started shows with the first order.
    #[must_use]
    pub fn new(mut settings: ProcessSettings, key: AgentKey, agents: Arc<dyn Agents>) -> Self {
        // An agent lives in its home, where a path from here leads nowhere.
        if let Ok(absolute) = std::path::absolute(&settings.folder) {
            settings.folder = absolute;
        }
        let policy = settings.policy();
        Self { settings, policy, key, agents, adopted: Mutex::default() }
    }

    async fn make(&self, order: &Order) -> Result<Machine, ProviderError> {
        let name = order.name();
        let home = Home::of(&self.settings.folder, &name);
        home.make(&self.key.token(&name)).map_err(|error| disk(&error))?;
        self.inhabit(&home, &name).await
    }

    /// Has an agent in a home: the one that is there, or a new one.
    async fn inhabit(&self, home: &Home, name: &MachineName) -> Result<Machine, ProviderError> {
        if home.card().is_some_and(|card| self.is_outdated(&card)) {
            self.end_agent(home).await?;
        }
        let card = match home.is_inhabited() {
            true => {
                let card =
                    home.card().ok_or_else(|| nobody_answers("it has not said where yet"))?;
                self.adopt(name, &card).await?;
                card
            }
            false => {
                home.tear_card().map_err(|error| disk(&error))?;
                let card = child::spawn(home, name, &self.settings).await?;
                self.remember(&card);
                card
            }
        };
        // Not before it is up: whoever goes on for one that died in between finds it stopped, and comes here.
        home.unmark_stopped().map_err(|error| disk(&error))?;
        Ok(machine(name, &card))
    }

    /// Whether an agent was started under other rules of what it may call. One of before there was a word for them
    /// does not say.
    fn is_outdated(&self, card: &AgentCard) -> bool {
        card.policy.as_ref().is_some_and(|policy| *policy != self.policy)
    }

    /// Takes an agent over that somebody else started: it must live, and say itself who it is.
    async fn adopt(&self, name: &MachineName, card: &AgentCard) -> Result<(), ProviderError> {
        if self.lock().contains(&card.process) {
            return Ok(());
        }
        let found = machine(name, card);
        let worker = name.order().map(|(worker, _)| worker);
        let door = worker.and_then(|worker| AgentDoor::of(worker, &found, &self.key));
        let door = door.ok_or_else(|| gone("its name tells no worker"))?;
        match self.agents.health(&door).await {
            Ok(health) if health.boot_id == card.boot_id => {
                self.remember(card);
                Ok(())
            }
            Ok(_) | Err(AgentError::Foreign(_)) => {
                Err(gone("another program answers in its place"))
            }
            Err(error) => Err(nobody_answers(&error.to_string())),
        }
    }

    async fn see(&self, machine: &Machine) -> Result<Sighting, ProviderError> {
        let home = Home::of(&self.settings.folder, &machine.name);
        let card = home.card().filter(|card| is_run(card, machine));
        let state = match card {
            Some(card) if card.process.is_alive() => {
                self.adopt(&machine.name, &card).await?;
                MachineState::Running
            }
            _ if home.is_stopped() => MachineState::Stopped,
            _ if home.exists() => return Err(gone("the process has ended")),
            _ => return Err(gone("its folder is not there")),
        };
        Ok(sighting(machine.clone(), state))
    }

    async fn rouse(&self, machine: &Machine) -> Result<Machine, ProviderError> {
        let home = Home::of(&self.settings.folder, &machine.name);
        // A start that nobody lived to write down has left another run than the one that is known.
        let was_begun = home.card().is_some_and(|card| !is_run(&card, machine));
        if was_begun {
            return self.inhabit(&home, &machine.name).await;
        }
        match self.see(machine).await?.state {
            MachineState::Stopped => self.inhabit(&home, &machine.name).await,
            _ => Ok(machine.clone()),
        }
    }

    async fn halt(&self, machine: &Machine) -> Result<(), ProviderError> {
        if self.see(machine).await?.state == MachineState::Stopped {
            return Ok(());
        }
        let home = Home::of(&self.settings.folder, &machine.name);
        home.mark_stopped().map_err(|error| disk(&error))?;
        self.end_agent(&home).await
    }

    async fn end(&self, machine: &Machine) -> Result<Departure, ProviderError> {
        let home = Home::of(&self.settings.folder, &machine.name);
        self.end_agent(&home).await?;
        if home.is_inhabited() {
            return Err(nobody_answers("an agent holds its folder and left no card there"));
        }
        home.remove().map_err(|error| disk(&error))?;
        Ok(Departure::Gone)
    }

    async fn end_agent(&self, home: &Home) -> Result<(), ProviderError> {
        let Some(card) = home.card() else { return Ok(()) };
        self.lock().remove(&card.process);
        child::end(&card.process, self.settings.stop_limit).await.map_err(|error| disk(&error))?;
        let leaving = async {
            while home.is_inhabited() {
                sleep(LOOK_EVERY).await;
            }
        };
        // Who holds it for longer is somebody else, which whoever needs it finds out.
        let _ = timeout(LEAVES_WITHIN, leaving).await;
        Ok(())
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
                sleep(LOOK_EVERY).await;
            }
        };
        match timeout(limit, looking).await {
            Ok(seen) => seen,
            Err(_) => self.see(machine).await,
        }
    }

    fn all(&self) -> Result<Vec<Sighting>, ProviderError> {
        let entries = match std::fs::read_dir(&self.settings.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(disk(&error)),
        };
        let names = entries
            .take(MAX_LISTED)
            .filter_map(|entry| MachineName::parse(entry.ok()?.file_name().to_str()?).ok());
        Ok(names.map(|name| self.listed(&name)).collect())
    }

    fn listed(&self, name: &MachineName) -> Sighting {
        let home = Home::of(&self.settings.folder, name);
        // An agent that never came up has left none.
        let Some(card) = home.card() else {
            let state =
                if home.is_inhabited() { MachineState::Starting } else { MachineState::Failed };
            return sighting(nowhere(name), state);
        };
        let state = match (card.process.is_alive(), home.is_stopped()) {
            (true, _) => MachineState::Running,
            (false, true) => MachineState::Stopped,
            (false, false) => MachineState::Failed,
        };
        sighting(machine(name, &card), state)
    }

    fn remember(&self, card: &AgentCard) {
        let mut adopted = self.lock();
        if adopted.len() >= MAX_ADOPTED {
            adopted.clear();
        }
        adopted.insert(card.process.clone());
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<ProcessId>> {
        self.adopted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Provider for Processes {
    fn kind(&self) -> ProviderKind {
        ProviderKind::Process
    }

    fn policy(&self) -> Option<&str> {
        Some(&self.policy)
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
        Box::pin(std::future::ready(self.all()))
    }
}

impl fmt::Debug for Processes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Processes")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

fn machine(name: &MachineName, card: &AgentCard) -> Machine {
    Machine {
        id: name.to_string(),
        name: name.clone(),
        run: Some(run(card)),
        address: Some(format!("http://{}", card.address)),
        region: None,
    }
}

/// A machine whose agent has not said where it is.
fn nowhere(name: &MachineName) -> Machine {
    Machine { id: name.to_string(), name: name.clone(), run: None, address: None, region: None }
}

/// What tells one run of an agent from every other.
fn run(card: &AgentCard) -> String {
    let ProcessId { pid, started, .. } = &card.process;
    format!("{pid}-{started}-{}", card.boot_id)
}

fn is_run(card: &AgentCard, machine: &Machine) -> bool {
    machine.run.as_deref() == Some(run(card).as_str())
}

fn sighting(machine: Machine, state: MachineState) -> Sighting {
    Sighting {
        machine,
        state,
        provider_state: state.name().to_owned(),
        host: HostStatus::Ok,
        exit: None,
    }
}

fn gone(why: &str) -> ProviderError {
    ProviderError::Gone(why.to_owned())
}

fn nobody_answers(why: &str) -> ProviderError {
    ProviderError::Unreachable(format!("an agent is there and does not answer: {why}"))
}

fn disk(error: &io::Error) -> ProviderError {
    ProviderError::Unreachable(format!("this host refuses it: {error}"))
}
