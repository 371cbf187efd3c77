//! Puts a poller together: what is polled, when, and what is made of it.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use crate::context::Context;
use crate::error::{PollerError, StartError};
use crate::guard::Guard;
use crate::outcome::{IntoOutcome, Outcome};
use crate::poller::{Budget, Handle, Hooks, Rare, TimeoutHook};
use crate::schedule::Schedule;
use crate::start;
use crate::timeout::{OnTimeout, TimeoutInfo};

/// A poll that needs an interval: [`Unscheduled::every`], or a whole schedule: [`Unscheduled::on`].
#[must_use = "a poll needs an interval, a time and a handler"]
pub struct Unscheduled<S, P> {
    start: S,
    poll: P,
}

/// A poll that needs a time: [`Unlimited::within`].
#[must_use = "a poll needs a time and a handler"]
pub struct Unlimited<S, P> {
    poll: Unscheduled<S, P>,
    interval: Duration,
}

/// A poll with its options, that needs a handler: [`Watch::handle`]. `T` is what the poll returns, `E`
/// an event, `S` says where it runs: [`Background`] or [`Waiting`].
#[must_use = "nothing is polled without a handler: handle(…)"]
pub struct Watch<S, P, T, E> {
    pub(crate) start: S,
    pub(crate) poll: P,
    pub(crate) schedule: Schedule,
    pub(crate) hooks: Hooks<T, E>,
}

/// Polls in the background, for a context.
#[derive(Debug)]
pub struct Background<'a, E>(pub(crate) &'a Context<E>);

/// Waits until the resource has settled.
#[derive(Debug)]
pub struct Waiting<'a, E>(pub(crate) Option<&'a Context<E>>);

/// Waits until a resource has settled, without any executor around it. It takes the same options as a
/// poller in the background, and its handler the same outcomes; the events of [`Outcome::Done`] are
/// returned. What is injected on the way is left out.
///
/// ```
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), mainstay_poller::SettleError> {
/// use mainstay_poller::{Outcome, Span, settle};
///
/// let mut polls = 0;
/// let machine = settle(move || { polls += 1; async move { if polls < 4 { "starting" } else { "started" } } })
///     .every(1.s())
///     .within(60.s())
///     .handle(|&state| match state {
///         "starting" => Outcome::Continue,
///         state => Outcome::done(state),
///     })
///     .await?;
/// assert_eq!(machine, ["started"]);
/// # Ok(())
/// # }
/// ```
pub fn settle<P, F, E>(poll: P) -> Unscheduled<Waiting<'static, E>, P>
where
    P: FnMut() -> F,
    F: Future,
{
    Unscheduled { start: Waiting(None), poll }
}

/// Why a resource that was waited for has no final events.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum SettleError {
    /// Nothing was polled.
    #[error(transparent)]
    Start(#[from] StartError),
    /// It did not settle, or not as it should.
    #[error(transparent)]
    Poller(#[from] PollerError),
}

impl<S, P, F> Unscheduled<S, P>
where
    P: FnMut() -> F,
    F: Future,
{
    pub(crate) fn new(start: S, poll: P) -> Self {
        Self { start, poll }
    }

    /// Polls at once, and then every `interval`.
    pub fn every(self, interval: Duration) -> Unlimited<S, P> {
        Unlimited { poll: self, interval }
    }

    /// Polls on this schedule.
    pub fn on<E>(self, schedule: Schedule) -> Watch<S, P, F::Output, E> {
        Watch { start: self.start, poll: self.poll, schedule, hooks: Hooks::new() }
    }
}

impl<S, P, F> Unlimited<S, P>
where
    P: FnMut() -> F,
    F: Future,
{
    /// For how long: a hard deadline, at which also a poll under way is dropped.
    pub fn within<E>(self, time: Duration) -> Watch<S, P, F::Output, E> {
        self.poll.on(Schedule::every(self.interval).within(time))
    }
}

impl<S, P, T, E> Watch<S, P, T, E> {
    /// See [`Schedule::at_fixed_rate`].
    pub fn at_fixed_rate(self) -> Self {
        self.scheduled(Schedule::at_fixed_rate)
    }

    /// See [`Schedule::poll_timeout`].
    pub fn poll_timeout(self, timeout: Duration) -> Self {
        self.scheduled(|schedule| schedule.poll_timeout(timeout))
    }

    /// See [`Schedule::backoff`].
    pub fn backoff(self, factor: f64, max: Duration) -> Self {
        self.scheduled(|schedule| schedule.backoff(factor, max))
    }

    /// See [`Schedule::jitter`].
    pub fn jitter(self, share: f64) -> Self {
        self.scheduled(|schedule| schedule.jitter(share))
    }

    /// See [`Schedule::max_polls`].
    pub fn max_polls(self, polls: u64) -> Self {
        self.scheduled(|schedule| schedule.max_polls(polls))
    }

    /// What to do when the resource does not settle in time. Unless it is said, the poller fails.
    pub fn on_timeout(mut self, decided: OnTimeout) -> Self {
        self.hooks.on_timeout = TimeoutHook::Fixed(decided);
        self
    }

    /// Decides what to do when the resource does not settle in time.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use mainstay_poller::{OnTimeout, Outcome, Span, settle};
    ///
    /// let settled = settle(async || "processing")
    ///     .every(500.ms())
    ///     .within(30.s())
    ///     .on_timeout_with(|info| match info.last_result.as_deref() {
    ///         Some(&"archived") => OnTimeout::Ignore,
    ///         last => OnTimeout::error(format!("{last:?} after {} polls", info.poll_count)),
    ///     })
    ///     .handle(|_| Outcome::<()>::Continue)
    ///     .await;
    /// assert_eq!(settled.unwrap_err().to_string(), "Some(\"processing\") after 60 polls");
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_timeout_with(
        mut self,
        decide: impl FnOnce(TimeoutInfo<Arc<T>>) -> OnTimeout + Send + 'static,
    ) -> Self {
        self.hooks.on_timeout = TimeoutHook::Decide(Box::new(decide));
        self
    }

    /// How long the other side asks not to be asked again, by the result of a poll: a floor for the next
    /// interval.
    pub fn retry_after(
        mut self,
        retry_after: impl FnMut(&T) -> Option<Duration> + Send + 'static,
    ) -> Self {
        self.rare().retry_after = Some(Box::new(retry_after));
        self
    }

    /// Passes over up to `most` results in a row that are transient errors, as if the handler had said
    /// [`Outcome::Continue`]. The next one goes to the handler; one that is no such error fills the budget
    /// up again.
    pub fn tolerate(
        mut self,
        most: u32,
        is_transient: impl FnMut(&T) -> bool + Send + 'static,
    ) -> Self {
        let budget = Budget { most, spent: 0, is_transient: Box::new(is_transient) };
        self.rare().budget = Some(budget);
        self
    }

    /// Leaves out what the handler injects if it is the same as what it injected last.
    pub fn emit_on_change(self) -> Self
    where
        E: PartialEq + Clone + Send + 'static,
    {
        let mut last: Option<Vec<E>> = None;
        self.changing(move |_, events| {
            let is_change = last.as_deref() != Some(events);
            if is_change {
                last = Some(events.to_vec());
            }
            is_change
        })
    }

    /// Leaves out what the handler injects if the result has the same key as when it injected last: for
    /// events that are never equal, because they hold a time.
    pub fn emit_on_change_of<K: PartialEq + Send + 'static>(
        self,
        mut key: impl FnMut(&T) -> K + Send + 'static,
    ) -> Self {
        let mut last: Option<K> = None;
        self.changing(move |result, _| {
            let key = key(result);
            let is_change = last.as_ref() != Some(&key);
            last = Some(key);
            is_change
        })
    }

    /// Puts a guard in front of every poll: while a circuit breaker is open, polls are skipped, which is
    /// no error.
    pub fn guarded_by(mut self, guard: impl Guard<T>) -> Self {
        self.rare().guard = Some(Box::new(guard));
        self
    }

    fn changing(mut self, is_change: impl FnMut(&T, &[E]) -> bool + Send + 'static) -> Self {
        self.rare().is_change = Some(Box::new(is_change));
        self
    }

    fn scheduled(mut self, change: impl FnOnce(Schedule) -> Schedule) -> Self {
        self.schedule = change(self.schedule);
        self
    }

    fn rare(&mut self) -> &mut Rare<T, E> {
        self.hooks.rare.get_or_insert_default()
    }
}

impl<S, P, A: 'static, X: 'static, E> Watch<S, P, Result<A, X>, E> {
    /// Passes over up to `most` errors in a row: see [`Watch::tolerate`].
    pub fn error_budget(self, most: u32) -> Self {
        self.tolerate(most, Result::is_err)
    }
}

impl<P, F, T, E> Watch<Background<'_, E>, P, T, E>
where
    P: FnMut() -> F + Send + 'static,
    F: Future<Output = T> + Send + 'static,
    T: fmt::Debug + Send + Sync + 'static,
    E: Send + 'static,
{
    /// Starts the poller, which hands every result to `handler`, and returns at once.
    ///
    /// # Errors
    /// When the options can't be meant, there are too many pollers, or there is no runtime.
    pub fn handle<R: IntoOutcome<Event = E>>(
        self,
        mut handler: impl FnMut(&T) -> R + Send + 'static,
    ) -> Result<Handle, StartError> {
        start::in_background(self, move |result: &T| handler(result).into_outcome())
    }
}

impl<P, F, T, E> Watch<Waiting<'_, E>, P, T, E>
where
    P: FnMut() -> F + Send,
    F: Future<Output = T> + Send,
    T: fmt::Debug + Send + Sync + 'static,
{
    /// Polls, hands every result to `handler`, and returns the final events once the resource has
    /// settled. There are none where a timeout is ignored. Dropping the future stops it.
    ///
    /// # Errors
    /// When the options can't be meant, or the resource does not settle.
    pub async fn handle<R: IntoOutcome<Event = E>>(
        self,
        mut handler: impl FnMut(&T) -> R + Send,
    ) -> Result<Vec<E>, SettleError> {
        start::and_wait(self, move |result: &T| -> Outcome<E> { handler(result).into_outcome() })
            .await
    }
}

impl<S, P> fmt::Debug for Unscheduled<S, P> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Unscheduled").finish_non_exhaustive()
    }
}

impl<S, P> fmt::Debug for Unlimited<S, P> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Unlimited")
            .field("interval", &self.interval)
            .finish_non_exhaustive()
    }
}

impl<S, P, T, E> fmt::Debug for Watch<S, P, T, E> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Watch").field("schedule", &self.schedule).finish_non_exhaustive()
    }
}
