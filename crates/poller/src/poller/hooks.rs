//! What a caller may hang into a poller besides the poll and its handler.

use std::sync::Arc;
use std::time::Duration;

use crate::guard::Guard;
use crate::outcome::Outcome;
use crate::raised::{Raised, catch};
use crate::timeout::{OnTimeout, TimeoutInfo};

pub(crate) struct Hooks<T, E> {
    pub(crate) on_timeout: TimeoutHook<T>,
    /// What few pollers have.
    pub(crate) rare: Option<Box<Rare<T, E>>>,
}

pub(crate) enum TimeoutHook<T> {
    Fixed(OnTimeout),
    Decide(Decide<T>),
}

pub(crate) struct Rare<T, E> {
    pub(crate) retry_after: Option<RetryAfter<T>>,
    pub(crate) budget: Option<Budget<T>>,
    pub(crate) is_change: Option<IsChange<T, E>>,
    pub(crate) guard: Option<Box<dyn Guard<T>>>,
}

/// How many results in a row may be transient errors.
pub(crate) struct Budget<T> {
    pub(crate) most: u32,
    pub(crate) spent: u32,
    pub(crate) is_transient: Box<dyn FnMut(&T) -> bool + Send>,
}

type Decide<T> = Box<dyn FnOnce(TimeoutInfo<Arc<T>>) -> OnTimeout + Send>;
type RetryAfter<T> = Box<dyn FnMut(&T) -> Option<Duration> + Send>;
type IsChange<T, E> = Box<dyn FnMut(&T, &[E]) -> bool + Send>;

/// What the handler and its helpers made of a result.
pub(super) struct Judged<E> {
    pub(super) outcome: Outcome<E>,
    pub(super) is_told: bool,
    pub(super) retry_after: Option<Duration>,
}

impl<T, E> Hooks<T, E> {
    pub(crate) fn new() -> Self {
        Self { on_timeout: TimeoutHook::Fixed(OnTimeout::default()), rare: None }
    }

    /// What becomes of a poller that can't decide, because its poll never yields.
    pub(crate) fn given_up(&self) -> OnTimeout {
        match &self.on_timeout {
            TimeoutHook::Fixed(decided) => decided.clone(),
            TimeoutHook::Decide(_) => OnTimeout::Fail,
        }
    }

    /// Asks the handler, unless the result is an error within the budget.
    pub(super) fn judge(
        &mut self,
        result: &T,
        handler: &mut impl FnMut(&T) -> Outcome<E>,
    ) -> Judged<E> {
        let Some(rare) = &mut self.rare else {
            return Judged { outcome: handler(result), is_told: true, retry_after: None };
        };
        let retry_after = rare.retry_after.as_mut().and_then(|retry_after| retry_after(result));
        if rare.budget.as_mut().is_some_and(|budget| budget.covers(result)) {
            return Judged { outcome: Outcome::Continue, is_told: true, retry_after };
        }
        let outcome = handler(result);
        let is_told = match (&outcome, &mut rare.is_change) {
            (Outcome::Inject(events), Some(is_change)) => is_change(result, events),
            _ => true,
        };
        Judged { outcome, is_told, retry_after }
    }

    /// What the caller wants when the resource did not settle.
    pub(super) fn decide(&mut self, info: TimeoutInfo<Arc<T>>) -> Result<OnTimeout, Raised> {
        let spent = TimeoutHook::Fixed(OnTimeout::Fail);
        match std::mem::replace(&mut self.on_timeout, spent) {
            TimeoutHook::Fixed(decided) => Ok(decided),
            TimeoutHook::Decide(decide) => catch(|| decide(info)),
        }
    }
}

impl<T, E> Default for Rare<T, E> {
    fn default() -> Self {
        Self { retry_after: None, budget: None, is_change: None, guard: None }
    }
}

impl<T> Budget<T> {
    fn covers(&mut self, result: &T) -> bool {
        if !(self.is_transient)(result) {
            self.spent = 0;
            return false;
        }
        let is_left = self.spent < self.most;
        self.spent = self.spent.saturating_add(1);
        is_left
    }
}
