//! Runs the checks of the nets that are loaded, and answers what is asked of it.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mainstay_base::{Clock, Id, Moment};
use serde_json::Value;

use super::checks::{BadNet, Checker, MAX_CHECKS, Running};
use super::nets::{Loading, Nets, NotDone};
use crate::agents::Finding;
use crate::agents::answer::{AGENT, AgentHealth, NetResults};

/// How often the log is told of calls that were refused.
const TELL_EVERY: Duration = Duration::from_secs(10);

/// Who an agent is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The worker that it was started for.
    pub worker: Id,
    /// The generation of the worker that it was started under.
    pub generation: i64,
    /// This run of the program.
    pub boot_id: Id,
    /// What whoever started it calls what it may call.
    pub policy: Option<String>,
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
}

struct State {
    running: HashMap<Id, Running>,
    called_at: Moment,
    /// Calls that were refused and not told of yet, and when the last ones were.
    refused: u64,
    told_at: Option<Moment>,
}

/// Takes what the checks of a net find. A clone is the same one.
#[derive(Clone)]
pub struct Reporter {
    findings: Arc<Findings>,
    net: Id,
    generation: i64,
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
        let findings = Arc::new(Findings { nets: Mutex::default(), checks_run: AtomicU64::new(0) });
        let state = Mutex::new(State {
            running: HashMap::new(),
            called_at: started,
            refused: 0,
            told_at: None,
        });
        Self(Arc::new(Inner { identity, clock, checker, started, findings, state }))
    }

    /// Somebody who knows the token has called.
    pub fn called(&self) {
        lock(&self.0.state).called_at = self.0.clock.moment();
    }

    /// Somebody without the token has called. The log is told so, but not of each.
    pub fn refused(&self) {
        let now = self.0.clock.moment();
        let mut state = lock(&self.0.state);
        state.refused = state.refused.saturating_add(1);
        if state.told_at.is_none_or(|last| now.since(last) >= TELL_EVERY) {
            let calls = std::mem::take(&mut state.refused);
            state.told_at = Some(now);
            drop(state);
            tracing::warn!(event = "call_refused", calls, "somebody called without the token");
        }
    }

    /// For how long nobody has called.
    #[must_use]
    pub fn idle_for(&self) -> Duration {
        self.0.clock.moment().since(lock(&self.0.state).called_at)
    }

    /// How it is.
    #[must_use]
    pub fn health(&self) -> AgentHealth {
        let Identity { worker, generation, boot_id, policy } = self.0.identity.clone();
        AgentHealth {
            agent: AGENT.to_owned(),
            status: "ok".to_owned(),
            worker_id: worker,
            boot_id,
            generation,
            policy,
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
        if checks.count() > MAX_CHECKS {
            let text = format!("it has more than {MAX_CHECKS} checks; make several nets of it");
            return Err(BadNet(text).into());
        }
        let mut state = lock(&self.0.state);
        let loading = lock(&self.0.findings.nets).load(id, generation, definition)?;
        if loading == Loading::Anew {
            // The old ones end where they are.
            state.running.remove(&id);
            let reporter = Reporter { findings: Arc::clone(&self.0.findings), net: id, generation };
            let count = checks.count();
            state.running.insert(id, checks.start(reporter));
            drop(state);
            tracing::info!(event = "net_loaded", net_id = %id, generation, checks = count, "a net runs");
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
        let was_running = state.running.remove(&id).is_some();
        drop(state);
        if was_running {
            tracing::info!(event = "net_unloaded", net_id = %id, generation, "a net is let go");
        }
        Ok(())
    }

    /// What a net found after `after`, where it is loaded.
    #[must_use]
    pub fn results(&self, id: Id, after: u64) -> Option<NetResults> {
        let found = lock(&self.0.findings.nets).results(id, after)?;
        let (boot_id, now) = (self.0.identity.boot_id, Some(self.0.clock.now()));
        let (results, has_more, dropped) = (found.results, found.has_more, found.dropped);
        Some(NetResults { boot_id, now, results, has_more, dropped })
    }
}

impl Reporter {
    /// The net that it is for.
    #[must_use]
    pub const fn net(&self) -> Id {
        self.net
    }

    /// Keeps a finding until somebody has fetched it.
    pub fn found(&self, finding: &Finding) {
        self.findings.checks_run.fetch_add(1, Ordering::Relaxed);
        // A finding is plain numbers and texts: JSON holds it.
        let value = serde_json::to_value(finding).unwrap_or_default();
        lock(&self.findings.nets).keep(self.net, self.generation, value);
    }
}

impl fmt::Debug for Reporter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Reporter").field("net", &self.net).finish_non_exhaustive()
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
