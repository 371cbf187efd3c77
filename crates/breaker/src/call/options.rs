//! Limits for one call.

use std::fmt;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::{Call, CallContext, Guarded, Limits};
use crate::breaker::Breaker;
use crate::classify::Classify;
use crate::error::CallError;

/// Limits for one call.
#[derive(Debug, Clone, Default)]
#[must_use = "options do nothing until a call has them"]
pub struct CallOptions {
    timeout: Option<Duration>,
    is_probe: bool,
    /// What is left of the time of the call around this one.
    at_most: Option<Duration>,
    cancelled: Option<CancellationToken>,
}

/// A breaker with limits for one call, made by [`Breaker::limited`].
#[must_use = "limits do nothing until a call has them"]
pub struct Limited<'a, C> {
    breaker: &'a Breaker<C>,
    options: CallOptions,
}

impl CallOptions {
    /// How long the call may take, instead of the breaker's own timeout. A call with no time at all
    /// is not made: its answer is [`CallError::Timeout`], and nothing is counted against the
    /// downstream.
    ///
    /// A call that takes longer than [`Builder::half_open_for`](crate::Builder::half_open_for) goes on
    /// and has its answer, but as a probe it is lost: the breaker waits for it no more. Where such calls
    /// are ordinary, `half_open_for` must be longer, or none of them ever closes the breaker.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// What is left of the time of the call around this one: it shortens every timeout. A call that is
    /// given up by it counts as a failure, as by any other timeout.
    pub fn at_most(mut self, remaining: Duration) -> Self {
        self.at_most = Some(remaining);
        self
    }

    /// An operator's call: while the breaker is open it goes through as the one probe, as by
    /// [`Breaker::enter_probe`].
    pub fn as_probe(mut self) -> Self {
        self.is_probe = true;
        self
    }

    /// Who may stop the call. One that is stopped already is not made.
    pub fn cancelled_by(mut self, token: CancellationToken) -> Self {
        self.cancelled = Some(token);
        self
    }
}

impl CallOptions {
    fn timeout_within(&self, default: Option<Duration>) -> Option<Duration> {
        let timeout = self.timeout.or(default);
        timeout.into_iter().chain(self.at_most).min()
    }
}

impl<'a, C> Limited<'a, C> {
    pub(super) fn new(breaker: &'a Breaker<C>, options: CallOptions) -> Self {
        Self { breaker, options }
    }

    /// Runs an asynchronous call within these limits.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), mainstay_breaker::ConfigError> {
    /// use std::{future::pending, time::Duration};
    /// use mainstay_breaker::{Breaker, CallError, CallOptions, CancellationToken};
    ///
    /// let breaker = Breaker::builder("payments").build()?;
    /// let token = CancellationToken::new();
    /// let options =
    ///     CallOptions::default().timeout(Duration::from_millis(1)).cancelled_by(token.clone());
    /// let answer = breaker.limited(options).call(pending::<Result<(), &str>>()).await;
    /// assert_eq!(answer, Err(CallError::Timeout { after: Duration::from_millis(1) }));
    ///
    /// token.cancel();
    /// let options = CallOptions::default().cancelled_by(token);
    /// let answer = breaker.limited(options).call(pending::<Result<(), &str>>()).await;
    /// assert_eq!(answer, Err(CallError::Cancelled));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the call is refused, times out or is cancelled, or what the call itself returns.
    ///
    /// # Panics
    /// With a timeout, outside of a tokio runtime with its timer enabled, unless the clock has its own timer.
    pub async fn call<T, E, F>(self, call: F) -> Result<T, CallError<E>>
    where
        F: Future<Output = Result<T, E>>,
        C: Classify<T, E>,
    {
        let token = self.options.cancelled.clone();
        self.run(token, |_| call).await
    }

    /// Runs an asynchronous call within these limits, and hands them to it.
    ///
    /// # Errors
    /// When the call is refused, times out or is cancelled, or what the call itself returns.
    ///
    /// # Panics
    /// With a timeout, outside of a tokio runtime with its timer enabled, unless the clock has its own timer.
    pub async fn call_with<T, E, F>(
        self,
        call: impl FnOnce(CallContext) -> F,
    ) -> Result<T, CallError<E>>
    where
        F: Future<Output = Result<T, E>>,
        C: Classify<T, E>,
    {
        let given = self.options.cancelled.clone().unwrap_or_default();
        let token = given.child_token();
        // Whatever the callee has started elsewhere stops with a call that ends early.
        let stop = token.clone().drop_guard();
        let clock = self.breaker.core.settings().clock.clone();
        let answer =
            self.run(Some(given), |timeout| call(CallContext::new(timeout, token, clock))).await;
        if !matches!(answer, Err(CallError::Timeout { .. } | CallError::Cancelled)) {
            stop.disarm();
        }
        answer
    }

    async fn run<T, E, F>(
        self,
        cancelled: Option<CancellationToken>,
        call: impl FnOnce(Option<Duration>) -> F,
    ) -> Result<T, CallError<E>>
    where
        F: Future<Output = Result<T, E>>,
        C: Classify<T, E>,
    {
        let settings = self.breaker.core.settings();
        let timeout = self.options.timeout_within(settings.timeout);
        if cancelled.as_ref().is_some_and(CancellationToken::is_cancelled) {
            return Err(CallError::Cancelled);
        }
        if let Some(after) = timeout.filter(Duration::is_zero) {
            return Err(CallError::Timeout { after });
        }
        let name = self.breaker.core.name();
        let entered =
            if self.options.is_probe { self.breaker.enter_probe() } else { self.breaker.enter() };
        let mut permit = entered.map_err(|rejected| CallError::open(name, rejected))?.wait();
        let limits = Limits::new(timeout, cancelled, &settings.clock);
        let call = permit.step(|| call(timeout));
        let guarded = Guarded::inside(permit, call, Some(limits));
        Call { guarded, classifier: &self.breaker.classifier }.await
    }
}

impl<C> fmt::Debug for Limited<'_, C> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Limited").field("options", &self.options).finish_non_exhaustive()
    }
}
