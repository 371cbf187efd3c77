//! A trap for one call: whoever passes calls on asks it what befalls each of them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

/// The most calls that are remembered.
const MAX_REMEMBERED: usize = 10_000;

/// What befalls a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Nobody hears of it: the connection ends first.
    Cut,
    /// It is done, and the connection ends before the caller hears so.
    LoseAnswer,
    /// It waits until [`Trap::go_on`], or until [`Trap::hang_up`] ends its connection.
    Hold,
    /// It is done, and the answer waits in the same way.
    HoldAnswer,
}

/// Waits for one call.
#[derive(Debug)]
pub struct Trap {
    state: Mutex<State>,
    held: watch::Sender<Held>,
}

#[derive(Default)]
struct State {
    calls: Vec<String>,
    plan: Option<Plan>,
    has_sprung: bool,
}

struct Plan {
    is_meant: Box<dyn Fn(&str) -> bool + Send>,
    /// So many that are meant pass before.
    passing: usize,
    fault: Fault,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Held {
    Waits,
    GoesOn,
    HangsUp,
}

impl Default for Trap {
    fn default() -> Self {
        Self { state: Mutex::default(), held: watch::channel(Held::Waits).0 }
    }
}

impl Trap {
    /// This befalls the next call that is meant, after so many of them have passed.
    pub fn set(
        &self,
        fault: Fault,
        passing: usize,
        is_meant: impl Fn(&str) -> bool + Send + 'static,
    ) {
        self.held.send_replace(Held::Waits);
        let mut state = self.state();
        state.calls.clear();
        state.has_sprung = false;
        state.plan = Some(Plan { is_meant: Box::new(is_meant), passing, fault });
    }

    /// Nothing befalls anybody any more; what is held goes on.
    pub fn open(&self) {
        self.state().plan = None;
        self.go_on();
    }

    /// Whether it has befallen somebody.
    #[must_use]
    pub fn has_sprung(&self) -> bool {
        self.state().has_sprung
    }

    /// The calls since it was set.
    #[must_use]
    pub fn calls(&self) -> Vec<String> {
        self.state().calls.clone()
    }

    /// What is held goes on.
    pub fn go_on(&self) {
        self.held.send_replace(Held::GoesOn);
    }

    /// The connection of what is held ends.
    pub fn hang_up(&self) {
        self.held.send_replace(Held::HangsUp);
    }

    /// What befalls this call.
    pub fn befalls(&self, call: &str) -> Option<Fault> {
        let mut state = self.state();
        if state.calls.len() < MAX_REMEMBERED {
            state.calls.push(call.to_owned());
        }
        let plan = state.plan.as_mut().filter(|plan| (plan.is_meant)(call))?;
        if let Some(passing) = plan.passing.checked_sub(1) {
            plan.passing = passing;
            return None;
        }
        state.plan.take().map(|plan| plan.fault)
    }

    /// Says that it has befallen somebody.
    pub fn spring(&self) {
        self.state().has_sprung = true;
    }

    /// Waits while something is held; whether it goes on then.
    pub async fn goes_on(&self) -> bool {
        let mut held = self.held.subscribe();
        let ended = held.wait_for(|held| *held != Held::Waits).await;
        ended.is_ok_and(|held| *held == Held::GoesOn)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for State {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = formatter.debug_struct("State");
        shown.field("is_set", &self.plan.is_some()).field("has_sprung", &self.has_sprung).finish()
    }
}
