//! What a look at a worker means.
//!
//! | the worker was | our agent answers | it does not, twice | the machine is gone | memory is lost | the provider fails |
//! |---|---|---|---|---|---|
//! | ready | nets as it says | error | error | nets unloaded | a warning |
//! | stopped | nothing | nothing | error | nothing | a warning |
//! | error, asked for | ready, nets as it says | the reason is that | the reason is that | the reason is that | nothing |
//! | error, by the loop | nothing | nothing | nothing | nothing | nothing |
//!
//! What a look has found holds for the crew that it was begun with. Where the worker has changed since, all
//! of it is stale; where a net has, what was found of that net is. The loop looks at a worker that something is being
//! done to only while that waits for the provider.

use mainstay_base::{Id, Timestamp};

use super::lose;
use crate::agents::{AgentHealth, LoadedNet};
use crate::model::{Crew, Failure, FailureCode, LoadState, Net, Worker, WorkerStatus};

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Look {
    /// Its own agent answered.
    Well(Answer),
    /// Nobody answered, or another than its agent, also when asked again.
    Lost(String),
    /// The provider said twice that there is no such machine.
    Gone(String),
    /// It sleeps with its memory: nothing new is known.
    Asleep {
        /// The provider's word.
        provider_state: String,
    },
    /// It sleeps, and its memory is lost.
    Cold {
        /// The provider's word.
        provider_state: String,
    },
    /// The provider has trouble of its own: nothing is known.
    Unknown(String),
}

/// What a worker's own agent said, and its provider beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// What the agent said.
    pub health: AgentHealth,
    /// The provider's word for what the machine does, where it was asked.
    pub provider_state: Option<String>,
    /// What keeps the provider from answering, which is shown.
    pub trouble: Option<String>,
}

impl Look {
    /// Its own agent answered, and nobody else was asked.
    #[must_use]
    pub const fn answered(health: AgentHealth) -> Self {
        Self::Well(Answer { health, provider_state: None, trouble: None })
    }

    /// What its own agent said, where it answered.
    #[must_use]
    pub const fn health(&self) -> Option<&AgentHealth> {
        match self {
            Self::Well(answer) => Some(&answer.health),
            _ => None,
        }
    }

    /// Whether the provider's word is with it.
    #[must_use]
    pub const fn has_word(&self) -> bool {
        matches!(self, Self::Well(Answer { provider_state: Some(_), .. }))
    }

    /// The same with the provider's word for a machine whose agent answered.
    #[must_use]
    pub fn while_it_is(mut self, word: String) -> Self {
        if let Self::Well(answer) = &mut self {
            answer.provider_state = Some(word);
        }
        self
    }

    /// The same with what keeps its provider from answering, which is shown of one that is well.
    #[must_use]
    pub fn warned(mut self, trouble: Option<String>) -> Self {
        if let Self::Well(answer) = &mut self {
            answer.trouble = trouble;
        }
        self
    }
}

/// A crew after a look.
#[derive(Debug, Clone, PartialEq)]
pub struct Reconciled {
    /// How it stands.
    pub crew: Crew,
    /// What the agent holds and should not.
    pub strays: Vec<LoadedNet>,
}

/// Who asked for the look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asker {
    /// The health loop, which brings nobody back.
    Loop,
    /// Somebody, by an operation, which it ends too.
    Person,
}

/// What a look that was begun with `then` means for a crew; `None` where it is stale.
#[must_use]
pub fn look(
    then: &Crew,
    crew: &Crew,
    found: &Look,
    asker: Asker,
    now: Timestamp,
) -> Option<Reconciled> {
    if then.worker.generation != crew.worker.generation {
        return None;
    }
    let waits = asker == Asker::Loop && crew.worker.operation.is_some();
    if waits && !crew.worker.waits() {
        // Its operation goes on meanwhile: that nobody answers may be its doing.
        return None;
    }
    let mut next = Reconciled { crew: crew.clone(), strays: Vec::new() };
    let found = &ours(crew, found);
    // What its operation waits for stays shown.
    if has_machine(crew.worker.status) && !waits {
        next.crew.worker.reason = warning(found);
    }
    match found {
        Look::Well(answer) => well(then, &mut next, answer, asker, now),
        Look::Lost(why) if crew.worker.status == WorkerStatus::Ready => {
            lost(&mut next.crew, why, now);
        }
        Look::Gone(why) if has_machine(crew.worker.status) => {
            lost(&mut next.crew, why, now);
            next.crew.worker.loses_machine();
        }
        Look::Cold { .. } if crew.worker.status == WorkerStatus::Ready => {
            forget(then, &mut next.crew, &[], now);
            // Whoever wakes it begins another run, and what that one is given is not lost.
            next.crew.worker.boot_id = None;
        }
        Look::Lost(_)
        | Look::Gone(_)
        | Look::Asleep { .. }
        | Look::Cold { .. }
        | Look::Unknown(_) => {}
    }
    if let Look::Asleep { provider_state } | Look::Cold { provider_state } = found {
        next.crew.worker.provider_state = Some(provider_state.clone());
    }
    if asker == Asker::Person {
        if let Some(why) = still_wrong(&crew.worker, found) {
            next.crew.worker.reason = Some(why);
        }
        next.crew.worker.ends(failure(found), now);
    }
    Some(next)
}

/// What is shown of a worker that has not failed: that its provider can't say how it is.
fn warning(found: &Look) -> Option<String> {
    match found {
        Look::Unknown(why) => Some(why.clone()),
        Look::Well(answer) => answer.trouble.clone(),
        _ => None,
    }
}

/// What keeps a worker in error that somebody asked for: what is wrong now, not what once was. Where nothing new is
/// known, that stays.
fn still_wrong(worker: &Worker, found: &Look) -> Option<String> {
    if worker.status != WorkerStatus::Error || worker.machine.is_none() {
        return None;
    }
    match found {
        Look::Lost(why) | Look::Gone(why) => Some(why.clone()),
        Look::Asleep { provider_state } => Some(format!(
            "its machine is {provider_state}: asking its agent would wake it, so nobody knows whether that is well; \
             check it again while it runs, or retry it"
        )),
        Look::Cold { provider_state } => Some(format!(
            "its machine is {provider_state}, and what its agent had in memory is lost; retry it"
        )),
        Look::Well(_) | Look::Unknown(_) => None,
    }
}

/// What whoever asked is told: a failure of the provider is one of the check, a lost worker is not.
fn failure(found: &Look) -> Option<Failure> {
    match found {
        Look::Unknown(why) => Some(Failure::new(FailureCode::ProviderUnavailable, why.clone())),
        _ => None,
    }
}

/// Whether it is the agent of a worker's last order that answers.
pub(crate) fn is_ours(worker: &Worker, health: &AgentHealth) -> bool {
    health.worker_id == worker.id && Some(health.generation) == worker.machine_generation
}

/// An agent of another order is a machine that should be gone by now: not ours.
fn ours(crew: &Crew, found: &Look) -> Look {
    match found {
        Look::Well(Answer { health, .. }) if !is_ours(&crew.worker, health) => {
            Look::Lost(theirs(&crew.worker, health))
        }
        other => other.clone(),
    }
}

fn theirs(worker: &Worker, health: &AgentHealth) -> String {
    if health.worker_id != worker.id {
        return format!("the agent that answers is of another worker ({})", health.worker_id);
    }
    let (theirs, ordered) = (health.generation, worker.machine_generation);
    let ordered = ordered.map_or_else(|| "none".to_owned(), |number| number.to_string());
    format!("the agent that answers is of generation {theirs}, and {ordered} was ordered")
}

const fn has_machine(status: WorkerStatus) -> bool {
    matches!(status, WorkerStatus::Ready | WorkerStatus::Stopped)
}

/// Whoever loads or unloads a net meanwhile is told the same, whether its agent or its whole machine is gone.
fn lost(crew: &mut Crew, why: &str, now: Timestamp) {
    let failure = Failure::new(FailureCode::WorkerUnavailable, why);
    lose(crew, (WorkerStatus::Error, Some(why.to_owned())), &failure, now, None);
}

fn well(then: &Crew, next: &mut Reconciled, answer: &Answer, asker: Asker, now: Timestamp) {
    let health = &answer.health;
    let worker = &mut next.crew.worker;
    let comes_back = worker.status == WorkerStatus::Error && asker == Asker::Person;
    if comes_back {
        worker.becomes(WorkerStatus::Ready, None, now);
    }
    if worker.status != WorkerStatus::Ready {
        return;
    }
    worker.last_seen_at = Some(now);
    if answer.provider_state.is_some() {
        worker.provider_state.clone_from(&answer.provider_state);
    }
    let is_another_run = worker.boot_id.is_some_and(|known| known != health.boot_id);
    worker.boot_id = Some(health.boot_id);
    if is_another_run {
        forget(then, &mut next.crew, &health.loaded_nets, now);
    }
    let is_unchanged = |net: &Net| is_unchanged(then, net);
    for net in next.crew.nets.iter_mut().filter(|net| is_unchanged(net)) {
        follow(net, &health.loaded_nets, now);
    }
    next.strays = strays(then, &next.crew, &health.loaded_nets);
}

/// Everything that an earlier run of the agent was given is gone. What this one holds of it was given to this
/// one: each load has a number of its own.
fn forget(then: &Crew, crew: &mut Crew, held: &[LoadedNet], now: Timestamp) {
    let is_held = |net: &Net| held.iter().any(|one| is_what_was_cast(net, *one));
    let is_lost = |net: &&mut Net| is_unchanged(then, net) && !is_held(net);
    for net in crew.nets.iter_mut().filter(is_lost) {
        net.cast_generation = None;
        if net.load_state == LoadState::Loaded {
            net.becomes(LoadState::Unloaded, None, now);
        }
    }
}

/// Nothing is being done to the net, and nothing was since the look began.
fn is_unchanged(then: &Crew, net: &Net) -> bool {
    let generation = then.net(net.id).map(|known| known.generation);
    net.operation.is_none() && generation == Some(net.generation)
}

/// A net is what the agent says of the definition that the agent was given.
fn follow(net: &mut Net, loaded: &[LoadedNet], now: Timestamp) {
    let is_there = loaded.iter().any(|one| is_what_was_cast(net, *one));
    match (is_there, net.load_state) {
        (true, LoadState::Unloaded | LoadState::Error) => net.becomes(LoadState::Loaded, None, now),
        (false, LoadState::Loaded) => net.becomes(LoadState::Unloaded, None, now),
        (true, LoadState::Loaded) | (false, LoadState::Unloaded | LoadState::Error) => {}
    }
}

fn is_what_was_cast(net: &Net, loaded: LoadedNet) -> bool {
    net.id == loaded.id && net.cast_generation == Some(loaded.generation)
}

/// What the agent holds and no net of the crew is, or may have become meanwhile.
fn strays(then: &Crew, crew: &Crew, loaded: &[LoadedNet]) -> Vec<LoadedNet> {
    let is_stray = |one: &&LoadedNet| {
        let known: Option<Id> = then.net(one.id).map(|net| net.id);
        match crew.net(one.id) {
            Some(net) => is_unchanged(then, net) && !is_what_was_cast(net, **one),
            // Whoever took it away meanwhile has not told the agent.
            None => known.is_none(),
        }
    };
    loaded.iter().filter(is_stray).copied().collect()
}

#[cfg(test)]
#[path = "look_tests.rs"]
mod tests;
