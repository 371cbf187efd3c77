//! A hold on a poller.

use std::fmt;
use std::sync::Arc;

use super::{PollerId, Shared, Status};

/// A hold on a poller that runs in the background. Clones hold the same poller; dropping them all
/// leaves it running, because its executor or context owns it.
///
/// ```
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use mainstay_poller::{Context, EventQueue, Outcome, Span, State};
///
/// let queue = EventQueue::<&str>::new();
/// let ctx = Context::new(&queue, 0);
/// let poller = ctx
///     .poll(async || "processing")
///     .every(500.ms())
///     .within(30.s())
///     .handle(|_| Outcome::Continue)?;
/// tokio::time::sleep(1.s()).await;
/// assert_eq!(poller.status().poll_count, 2);
/// poller.stop();
/// assert!(matches!(poller.wait().await.state, State::Stopped));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Handle(pub(crate) Arc<Shared>);

impl Handle {
    /// Which poller.
    #[must_use]
    pub fn id(&self) -> PollerId {
        self.0.id()
    }

    /// Stops it. From now on it tells no event, and a poll under way is dropped at its next await.
    /// One that has ended stays as it ended.
    pub fn stop(&self) {
        self.0.stop();
    }

    /// Waits until it has ended and all that it held is dropped. Its events are in the queue by then.
    pub async fn wait(&self) -> Status {
        self.0.gone().await
    }

    /// How it is.
    #[must_use]
    pub fn status(&self) -> Status {
        self.0.status()
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let status = self.status();
        formatter.debug_tuple("Handle").field(&status.id).field(&status.state).finish()
    }
}
