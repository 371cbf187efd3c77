//! Runs the checks of the nets that are loaded, and answers what is asked of it.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mainstay_base::{Clock, Id, Moment};
use mainstay_kernel::spread;
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::checks::{BadNet, Check, Checker, MAX_CHECKS, MIN_EVERY};
use super::nets::{Loading, Nets, NotDone};
use crate::agents::answer::{AGENT, AgentHealth, NetResults};

/// The most checks that run at once.
const MAX_AT_ONCE: usize = 50;

/// Who an agent is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// The worker that it was started for.
    pub worker: Id,
    /// The generation of the worker that it was started under.
    pub generation: i64,
    /// This run of the program.
    pub boot_id: Id,
}

/// The agent. Its clones are the same; with the last of them its checks end.
#[derive(Clone)]
pub struct Agent(Arc<Inner>);

struct Inner {
    identity: Identity,
    clock: Arc<dyn Clock>,
    checker: Arc<dyn Checker>,
    started: Moment,
    findings: Arc<Findings>,
    state: Mutex<State>,
}

/// What the checks share with the agent.
struct Findings {
    nets: Mutex<Nets>,
    checks_run: AtomicU64,
    turns: Semaphore,
}

struct State {
    running: HashMap<Id, JoinSet<()>>,
    called_at: Moment,
}

/// Why a net was not loaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// By its generation, or for lack of room.
    #[error(transparent)]
    NotDone(#[from] NotDone),
    /// By its definition.
    #[error(transparent)]
    BadNet(#[from] BadNet),
}

impl Agent {
    /// An agent with nothing loaded.
    #[must_use]
    pub fn new(identity: Identity, checker: Arc<dyn Checker>, clock: Arc<dyn Clock>) -> Self {
        let started = clock.moment();
        let findings = Arc::new(Findings {
            nets: Mutex::default(),
            checks_run: AtomicU64::new(0),
            turns: Semaphore::new(MAX_AT_ONCE),
        });
        let state = Mutex::new(State { running: HashMap::new(), called_at: started });
        Self(Arc::new(Inner { identity, clock, checker, started, findings, state }))
    }

    /// Somebody who knows the token has called.
    pub fn called(&self) {
        lock(&self.0.state).called_at = self.0.clock.moment();
    }

    /// For how long nobody has called.
    #[must_use]
    pub fn idle_for(&self) -> Duration {
        self.0.clock.moment().since(lock(&self.0.state).called_at)
    }

    /// How it is.
    #[must_use]
    pub fn health(&self) -> AgentHealth {
        let Identity { worker, generation, boot_id } = self.0.identity;
        AgentHealth {
            agent: AGENT.to_owned(),
            status: "ok".to_owned(),
            worker_id: worker,
            boot_id,
            generation,
            loaded_nets: lock(&self.0.findings.nets).loaded(),
            checks_run: self.0.findings.checks_run.load(Ordering::Relaxed),
            uptime_s: self.0.clock.moment().since(self.0.started).as_secs(),
        }
    }

    /// Loads a net and runs its checks. Call it inside of the runtime.
    ///
    /// # Errors
    /// [`LoadError`] says why not; then everything is as it was.
    pub fn load(&self, id: Id, generation: i64, definition: &Value) -> Result<(), LoadError> {
        let checks = self.0.checker.checks(definition)?;
        if checks.len() > MAX_CHECKS {
            let text = format!("it has more than {MAX_CHECKS} checks; make several nets of it");
            return Err(BadNet(text).into());
        }
        let mut state = lock(&self.0.state);
        let loading = lock(&self.0.findings.nets).load(id, generation, definition)?;
        if loading == Loading::Anew {
            // The old ones end where they are: their set is dropped.
            state.running.insert(id, self.run(id, generation, checks));
        }
        Ok(())
    }

    /// Unloads a net.
    ///
    /// # Errors
    /// [`NotDone`] for an older generation.
    pub fn unload(&self, id: Id, generation: i64) -> Result<(), NotDone> {
        let mut state = lock(&self.0.state);
        lock(&self.0.findings.nets).unload(id, generation)?;
        state.running.remove(&id);
        Ok(())
    }

    /// What a net found after `after`, where it is loaded.
    #[must_use]
    pub fn results(&self, id: Id, after: u64) -> Option<NetResults> {
        let found = lock(&self.0.findings.nets).results(id, after)?;
        let boot_id = self.0.identity.boot_id;
        let (results, has_more, dropped) = (found.results, found.has_more, found.dropped);
        Some(NetResults { boot_id, results, has_more, dropped })
    }

    fn run(&self, id: Id, generation: i64, checks: Vec<Arc<dyn Check>>) -> JoinSet<()> {
        let mut running = JoinSet::new();
        for (at, check) in checks.into_iter().enumerate() {
            let findings = Arc::clone(&self.0.findings);
            let every = check.every().max(MIN_EVERY);
            // So that they do not all start together.
            let first = spread(u64::try_from(at).unwrap_or(0), every);
            running.spawn(async move {
                sleep(first).await;
                loop {
                    findings.run(id, generation, check.as_ref()).await;
                    sleep(every).await;
                }
            });
        }
        running
    }
}

impl Findings {
    async fn run(&self, id: Id, generation: i64, check: &dyn Check) {
        // It is never closed.
        let Ok(_turn) = self.turns.acquire().await else { return };
        let found = check.run().await;
        self.checks_run.fetch_add(1, Ordering::Relaxed);
        lock(&self.nets).keep(id, generation, found);
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Agent").field("identity", &self.0.identity).finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[path = "program_tests.rs"]
mod tests;
