//! Something that stands in front of a poll and may tell it to be skipped, such as a circuit breaker.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

#[cfg(feature = "breaker")]
mod breaker;

/// A poll on its way.
pub type BoxedPoll<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Stands in front of every poll of a poller.
///
/// With the feature `breaker`, a breaker of mainstay-breaker is one, for polls that return a `Result`.
///
/// ```
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::sync::atomic::{AtomicBool, Ordering};
/// use std::time::Duration;
/// use mainstay_poller::{BoxedPoll, Guard, Guarded, Outcome, Span, settle};
///
/// /// Lets every second poll through.
/// struct EverySecond(AtomicBool);
///
/// impl<T: Send + 'static> Guard<T> for EverySecond {
///     fn guard<'a>(&'a self, poll: BoxedPoll<'a, T>, _: Option<Duration>) -> BoxedPoll<'a, Guarded<T>> {
///         let is_skipped = self.0.fetch_xor(true, Ordering::Relaxed);
///         Box::pin(async move {
///             if is_skipped { Guarded::Skipped } else { Guarded::Result(poll.await) }
///         })
///     }
/// }
///
/// let mut polls = 0;
/// settle(move || { polls += 1; async move { polls } })
///     .every(1.s())
///     .within(10.s())
///     .guarded_by(EverySecond(AtomicBool::new(false)))
///     .handle(|&polls| if polls < 5 { Outcome::Continue } else { Outcome::done("settled") })
///     .await?;
/// # Ok(())
/// # }
/// ```
pub trait Guard<T>: Send + Sync + 'static {
    /// Runs the poll, or leaves it alone. The poll begins when it is first polled, and not at all if it
    /// never is. `within` is how long it may take: who guards it sees to that, so that a breaker can count
    /// it. The future may be dropped before it ends, by the poller's deadline or because it was stopped.
    fn guard<'a>(
        &'a self,
        poll: BoxedPoll<'a, T>,
        within: Option<Duration>,
    ) -> BoxedPoll<'a, Guarded<T>>;
}

/// What became of a guarded poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guarded<T> {
    /// It ended with this.
    Result(T),
    /// It was not let through. That is no error: the poller polls again when it is due.
    Skipped,
    /// It took too long, or was given up, and has no result.
    Dropped,
}

impl<T, G: Guard<T> + ?Sized> Guard<T> for Arc<G> {
    fn guard<'a>(
        &'a self,
        poll: BoxedPoll<'a, T>,
        within: Option<Duration>,
    ) -> BoxedPoll<'a, Guarded<T>> {
        (**self).guard(poll, within)
    }
}
