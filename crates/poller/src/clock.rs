//! The one source of time: tokio's clock, which a test can pause, or one of the caller's own.

use std::pin::Pin;

use tokio::time::Instant;

/// Ends when its time has come.
pub type Sleep = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Tells a poller the time and wakes it. It must not go back, and must not panic.
///
/// Few programs need one of their own: [`SystemClock`] goes by tokio's time, so that
/// `tokio::time::pause` and `#[tokio::test(start_paused = true)]` move every poller.
pub trait Clock: Send + Sync + 'static {
    /// Now.
    fn now(&self) -> Instant;

    /// Ends at `moment`, or at once where that has passed. Unless a clock has a timer of its own it is
    /// tokio's, which panics outside of a runtime with its timer enabled.
    fn sleep_until(&self, moment: Instant) -> Sleep {
        Box::pin(tokio::time::sleep_until(moment))
    }
}

/// Tokio's clock: the machine's monotonic one, or the paused one of a test.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the real clock that others are given")]
    fn now(&self) -> Instant {
        Instant::now()
    }
}
