//! What a callee knows of the call it is in.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::CallOptions;
use crate::clock::ClockSource;
use crate::moment::Moment;

/// What a callee knows of the call it is in: how long it has left, and when to stop. It hands both
/// on to the calls it makes itself, so that nobody works for a caller who has gone.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::time::Duration;
/// use mainstay_breaker::Breaker;
///
/// let checkout = Breaker::builder("checkout").timeout(Duration::from_secs(2)).build()?;
/// let payments = Breaker::builder("payments").timeout(Duration::from_secs(9)).build()?;
/// let answer = checkout
///     .call_with(|context| async move {
///         // At most what is left of the two seconds.
///         payments.limited(context.options()).call(async { Ok::<_, std::io::Error>("paid") }).await
///     })
///     .await;
/// assert_eq!(answer?, "paid");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct CallContext {
    timeout: Option<Duration>,
    deadline: Option<Moment>,
    cancelled: CancellationToken,
    clock: ClockSource,
}

impl CallContext {
    pub(super) fn new(
        timeout: Option<Duration>,
        cancelled: CancellationToken,
        clock: ClockSource,
    ) -> Self {
        let deadline = timeout.map(|timeout| clock.now().plus(timeout));
        Self { timeout, deadline, cancelled, clock }
    }

    /// How long the call has left. Absent where it may take as long as it likes.
    #[must_use]
    pub fn remaining(&self) -> Option<Duration> {
        let left = self.deadline?.since(self.clock.now());
        // A clock that steps back gives nobody more time.
        Some(self.timeout.map_or(left, |timeout| left.min(timeout)))
    }

    /// When the call ends at the latest, by the breaker's clock.
    #[must_use]
    pub fn deadline(&self) -> Option<Moment> {
        self.deadline
    }

    /// Cancelled when the call ends before its result: by its timeout, by its caller's word, or
    /// because its caller has gone.
    #[must_use]
    pub fn cancellation(&self) -> &CancellationToken {
        &self.cancelled
    }

    /// The same limits for a call that this one makes.
    pub fn options(&self) -> CallOptions {
        let options = CallOptions::default().cancelled_by(self.cancelled.clone());
        match self.remaining() {
            Some(remaining) => options.at_most(remaining),
            None => options,
        }
    }
}
