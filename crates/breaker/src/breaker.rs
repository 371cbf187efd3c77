//! The circuit breaker.

use std::fmt;
use std::sync::Arc;

use crate::classify::{Classify, EveryError};
use crate::config::{Builder, Settings};
use crate::core::Core;
use crate::error::{CallError, Rejected, TooManyListeners};
use crate::events::{Events, Listener, Mailbox, Notice, Subscription, Writer};
use crate::permit::Permit;
use crate::saved::{MAX_SAVED_GENERATION, RestoreError, Saved};
use crate::snapshot::Snapshot;
use crate::state::State;

/// A circuit breaker. Clones are the same breaker.
///
/// `C` says which results count: see [`Classify`].
pub struct Breaker<C = EveryError> {
    pub(crate) core: Arc<Core>,
    pub(crate) classifier: C,
}

impl Breaker {
    /// Puts a breaker together. The name stands in its errors and events.
    pub fn builder(name: impl Into<String>) -> Builder {
        Builder::new(name)
    }
}

impl<C> Breaker<C> {
    pub(crate) fn new(settings: Arc<Settings>, name: Option<Arc<str>>, classifier: C) -> Self {
        Self { core: Arc::new(Core::new(settings, name)), classifier }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.core.name()
    }

    /// Runs a call that blocks, if it is let through. A panic in it counts as a failure and goes on.
    ///
    /// ```
    /// use mainstay_breaker::{Breaker, CallError};
    ///
    /// let breaker = Breaker::builder("payments").build()?;
    /// let answer = breaker.run(|| Ok::<_, std::io::Error>("paid"));
    /// match answer {
    ///     Ok(text) => assert_eq!(text, "paid"),
    ///     Err(CallError::Open { retry_after, .. }) => println!("not now, but after {retry_after:?}"),
    ///     Err(error) => println!("{error}"),
    /// }
    /// # Ok::<(), mainstay_breaker::ConfigError>(())
    /// ```
    ///
    /// # Errors
    /// When the call is refused, or what the call itself returns.
    #[inline]
    pub fn run<T, E>(&self, call: impl FnOnce() -> Result<T, E>) -> Result<T, CallError<E>>
    where
        C: Classify<T, E>,
    {
        let entered = self.core.enter_or(|rejected| CallError::open(self.core.name(), rejected))?;
        let result = self.core.watch(entered.ticket, call);
        // A classifier that panics could not judge the call: then it failed.
        let verdict = self.core.watch(entered.ticket, || self.classifier.classify(&result));
        self.core.conclude(entered, verdict);
        result.map_err(CallError::Inner)
    }

    /// Lets a call through that this breaker does not run: code that blocks, a stream, something in
    /// two steps. [`Permit`] shows how it goes on.
    ///
    /// # Errors
    /// When the call is refused.
    #[inline]
    pub fn enter(&self) -> Result<Permit<'_>, Rejected> {
        self.core.enter().map(|ticket| Permit::borrowed(&self.core, ticket))
    }

    /// The same with a permit that can be moved anywhere.
    ///
    /// # Errors
    /// When the call is refused.
    pub fn enter_owned(&self) -> Result<Permit<'static>, Rejected> {
        self.core.enter().map(|ticket| Permit::owned(Arc::clone(&self.core), ticket))
    }

    /// Lets an operator's call through. While the breaker is open it becomes half-open with this as
    /// its one probe: nobody else goes through beside it. Its success counts as one probe's, its
    /// failure opens anew, and if it ends without a result the breaker is open as it was before.
    /// While the breaker is closed or half-open it is a call like any other.
    ///
    /// ```
    /// use mainstay_breaker::{Breaker, Detector, HalfOpenPolicy, State};
    ///
    /// let breaker = Breaker::builder("payments")
    ///     .detector(Detector::consecutive(1))
    ///     .half_open(HalfOpenPolicy::all(1))
    ///     .build()?;
    /// let _ = breaker.run(|| Err::<(), _>("down"));
    /// assert_eq!(breaker.state(), State::Open);
    /// if let Ok(probe) = breaker.enter_probe() {
    ///     probe.success();
    /// }
    /// assert_eq!(breaker.state(), State::Closed);
    /// # Ok::<(), mainstay_breaker::ConfigError>(())
    /// ```
    ///
    /// # Errors
    /// When as many probes are in flight as may be at once, or the breaker was forced open.
    pub fn enter_probe(&self) -> Result<Permit<'_>, Rejected> {
        self.core.enter_probe().map(|ticket| Permit::borrowed(&self.core, ticket))
    }

    /// The same with a permit that can be moved anywhere.
    ///
    /// # Errors
    /// When as many probes are in flight as may be at once, or the breaker was forced open.
    pub fn enter_probe_owned(&self) -> Result<Permit<'static>, Rejected> {
        self.core.enter_probe().map(|ticket| Permit::owned(Arc::clone(&self.core), ticket))
    }

    /// The state that the next call would find. What time alone has changed is seen here and
    /// written down, counted and announced by the next call.
    #[must_use]
    pub fn state(&self) -> State {
        self.core.state()
    }

    /// What the next call would be told, without taking a permit: for a limiter that wants to
    /// refuse with the breaker's reason before it spends a token of its own.
    ///
    /// ```
    /// use mainstay_breaker::{Breaker, Rejected};
    ///
    /// struct Limiter { tokens: u32 }
    ///
    /// #[derive(Debug, PartialEq)]
    /// enum Denied { Downstream(Rejected), NoTokens }
    ///
    /// impl Limiter {
    ///     fn admit(&mut self, breaker: &Breaker) -> Result<(), Denied> {
    ///         if let Some(rejected) = breaker.would_reject() {
    ///             return Err(Denied::Downstream(rejected));
    ///         }
    ///         self.tokens = self.tokens.checked_sub(1).ok_or(Denied::NoTokens)?;
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let breaker = Breaker::builder("payments").build()?;
    /// let mut limiter = Limiter { tokens: 1 };
    /// breaker.force_open();
    /// assert!(matches!(limiter.admit(&breaker), Err(Denied::Downstream(_))));
    /// breaker.reset();
    /// assert_eq!(limiter.admit(&breaker), Ok(()));
    /// assert_eq!(limiter.admit(&breaker), Err(Denied::NoTokens));
    /// # Ok::<(), mainstay_breaker::ConfigError>(())
    /// ```
    #[must_use]
    pub fn would_reject(&self) -> Option<Rejected> {
        self.core.would_reject()
    }

    /// Its state and counters now.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        self.core.snapshot()
    }

    /// Refuses every call until [`Breaker::reset`].
    pub fn force_open(&self) {
        self.core.force_open();
    }

    /// Lets every call through, whatever comes back, until [`Breaker::reset`].
    pub fn force_closed(&self) {
        self.core.force_closed();
    }

    /// Closes it and forgets what it had against the downstream. Calls in flight count no more, and
    /// the totals stay.
    pub fn reset(&self) {
        self.core.reset();
    }

    /// What can be carried over a restart.
    #[must_use]
    pub fn export(&self) -> Saved {
        self.core.export()
    }

    /// Goes on where another left off. Calls in flight count no more. Windows and totals begin anew.
    ///
    /// ```
    /// use mainstay_breaker::{Breaker, Detector, State};
    ///
    /// let before = Breaker::builder("payments").detector(Detector::consecutive(1)).build()?;
    /// let _ = before.run(|| Err::<(), _>("down"));
    /// let after = Breaker::builder("payments").build()?;
    /// after.restore(&before.export())?;
    /// assert_eq!(after.state(), State::Open);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When it was not written by a breaker. Nothing has changed then.
    pub fn restore(&self, saved: &Saved) -> Result<(), RestoreError> {
        if saved.generation > MAX_SAVED_GENERATION {
            return Err(RestoreError { generation: saved.generation });
        }
        self.core.restore(saved);
        Ok(())
    }

    /// Calls `listener` with everything that happens from now on, after the lock is released and in
    /// the order in which it happened, until the subscription is dropped.
    ///
    /// A listener that holds its breaker, or the subscription itself, keeps both in memory for as long
    /// as it is subscribed: keep the subscription elsewhere, and drop it when the breaker is to go.
    ///
    /// # Errors
    /// When there are too many listeners.
    pub fn on_event(
        &self,
        listener: impl Fn(&Notice<'_>) + Send + Sync + 'static,
    ) -> Result<Subscription, TooManyListeners> {
        let id = self.core.subscribe(Listener::new(listener)).ok_or(TooManyListeners)?;
        Ok(Subscription::new(&self.core, id))
    }

    /// Keeps everything that happens from now on, for somebody who reads it at their own pace.
    ///
    /// ```
    /// use mainstay_breaker::{Breaker, Event};
    ///
    /// let breaker = Breaker::builder("payments").build()?;
    /// let mut events = breaker.subscribe()?;
    /// let _ = breaker.run(|| Ok::<_, std::io::Error>("paid"));
    /// assert!(matches!(events.try_next(), Some(Event::Success { .. })));
    /// assert_eq!(events.try_next(), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When there are too many listeners.
    pub fn subscribe(&self) -> Result<Events, TooManyListeners> {
        let mailbox = Arc::new(Mailbox::default());
        let writer = Writer(Arc::clone(&mailbox));
        let subscription = self.on_event(move |notice| writer.put(notice.event))?;
        Ok(Events::new(mailbox, subscription))
    }
}

impl<C: Clone> Clone for Breaker<C> {
    fn clone(&self) -> Self {
        Self { core: Arc::clone(&self.core), classifier: self.classifier.clone() }
    }
}

impl<C> fmt::Debug for Breaker<C> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Breaker").field("name", &self.name()).finish_non_exhaustive()
    }
}
