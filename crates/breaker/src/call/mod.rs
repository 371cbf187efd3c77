//! Asynchronous calls: [`options`] say how long one may take and who may stop it, [`guarded`] is
//! the call on its way, [`context`] is what the callee is handed.

mod context;
mod guarded;
mod options;

pub use context::CallContext;
pub(crate) use guarded::{Guarded, Limits};
pub use options::{CallOptions, Limited};

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use crate::breaker::Breaker;
use crate::classify::Classify;
use crate::error::CallError;
use crate::hedge::Hedge;

pin_project! {
    /// An asynchronous call through a breaker, made by [`Breaker::call`].
    ///
    /// # Errors
    /// When the call is refused or times out, or what the call itself returns.
    ///
    /// # Panics
    /// When it is polled after it had ended.
    #[must_use = "futures do nothing until they are polled"]
    pub struct Call<'a, F, C> {
        #[pin]
        guarded: Guarded<'a, F>,
        classifier: &'a C,
    }
}

impl<C> Breaker<C> {
    /// Runs an asynchronous call, if it is let through when it is first polled. When it does not
    /// end within the breaker's timeout it is dropped at once, so that its work stops.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), mainstay_breaker::ConfigError> {
    /// use std::time::Duration;
    /// use mainstay_breaker::{Breaker, CallError};
    ///
    /// let breaker = Breaker::builder("payments").timeout(Duration::from_secs(2)).build()?;
    /// let paid = breaker.call(async { Ok::<_, std::io::Error>("paid") }).await;
    /// match paid {
    ///     Ok(text) => assert_eq!(text, "paid"),
    ///     Err(CallError::Open { retry_after, .. }) => println!("not now, but after {retry_after:?}"),
    ///     Err(CallError::Timeout { after }) => println!("nothing came within {after:?}"),
    ///     Err(error) => println!("{error}"),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the call is refused or times out, or what the call itself returns.
    ///
    /// # Panics
    /// With a timeout, outside of a tokio runtime with its timer enabled, unless the clock has its own timer.
    #[inline]
    pub fn call<F>(&self, call: F) -> Call<'_, F, C> {
        Call { guarded: Guarded::outside(&self.core, call), classifier: &self.classifier }
    }

    /// Runs an asynchronous call that is handed its deadline and its cancellation.
    /// [`CallContext`] shows how it hands them on.
    ///
    /// # Errors
    /// When the call is refused or times out, or what the call itself returns.
    ///
    /// # Panics
    /// With a timeout, outside of a tokio runtime with its timer enabled, unless the clock has its own timer.
    pub async fn call_with<T, E, F>(
        &self,
        call: impl FnOnce(CallContext) -> F,
    ) -> Result<T, CallError<E>>
    where
        F: Future<Output = Result<T, E>>,
        C: Classify<T, E>,
    {
        self.limited(CallOptions::default()).call_with(call).await
    }

    /// The same breaker with limits for one call.
    pub fn limited(&self, options: CallOptions) -> Limited<'_, C> {
        Limited::new(self, options)
    }
}

impl<C> Hedge<'_, C> {
    /// Runs one attempt, if it is let through. When another has the first result, this one is
    /// dropped at once and [`CallError::Cancelled`] is its answer.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), mainstay_breaker::ConfigError> {
    /// use mainstay_breaker::{Breaker, CallError};
    ///
    /// let breaker = Breaker::builder("search").build()?;
    /// let hedge = breaker.hedge();
    /// let slow = hedge.call(std::future::pending::<Result<&str, &str>>());
    /// let quick = hedge.call(async { Ok::<_, &str>("found") });
    /// let (slow, quick) = tokio::join!(slow, quick);
    /// assert_eq!(quick, Ok("found"));
    /// assert_eq!(slow, Err(CallError::Cancelled));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the attempt is refused, times out or is outrun, or what the call itself returns.
    ///
    /// # Panics
    /// With a timeout, outside of a tokio runtime with its timer enabled, unless the clock has its own timer.
    pub async fn call<T, E, F>(&self, call: F) -> Result<T, CallError<E>>
    where
        F: Future<Output = Result<T, E>>,
        C: Classify<T, E>,
    {
        if self.is_decided() {
            return Err(CallError::Cancelled);
        }
        let core = &self.breaker.core;
        let permit =
            self.enter().map_err(|rejected| CallError::open(core.name(), rejected))?.wait();
        let settings = core.settings();
        let outrun = Some(self.group.outrun.clone());
        let limits = Limits::new(settings.timeout, outrun, &settings.clock);
        let guarded = Guarded::inside(permit, call, Some(limits));
        Call { guarded, classifier: &self.breaker.classifier }.await
    }
}

impl<F, C, T, E> Future for Call<'_, F, C>
where
    F: Future<Output = Result<T, E>>,
    C: Classify<T, E>,
{
    type Output = Result<T, CallError<E>>;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        this.guarded.poll(context, *this.classifier)
    }
}

impl<F, C> fmt::Debug for Call<'_, F, C> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Call").finish_non_exhaustive()
    }
}
