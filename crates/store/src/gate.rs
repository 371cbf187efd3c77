//! Lets a bounded number of transactions in, after a bounded wait, and never one inside another.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::StoreError;

tokio::task_local! {
    /// The gate that this task is inside of.
    static INSIDE: usize;
}

/// The permits of one kind of transaction.
#[derive(Debug)]
pub(crate) struct Gate {
    permits: Arc<Semaphore>,
    size: u32,
    wait: Duration,
}

impl Gate {
    pub(crate) fn new(size: u32, wait: Duration) -> Self {
        let permits = usize::try_from(size).unwrap_or(Semaphore::MAX_PERMITS);
        Self { permits: Arc::new(Semaphore::new(permits)), size, wait }
    }

    /// Waits to be let in. A task that is already inside would wait for itself, so it is refused
    /// at once.
    pub(crate) async fn enter(&self) -> Result<OwnedSemaphorePermit, StoreError> {
        if INSIDE.try_with(|inside| *inside == self.identity()).unwrap_or(false) {
            return Err(StoreError::NestedWrite);
        }
        match tokio::time::timeout(self.wait, Arc::clone(&self.permits).acquire_owned()).await {
            Ok(Ok(permit)) => Ok(permit),
            Ok(Err(_closed)) => Err(StoreError::Closed),
            Err(_elapsed) => Err(StoreError::Busy { waited: self.wait }),
        }
    }

    /// Runs `work` as being inside.
    pub(crate) async fn inside<F: Future>(&self, work: F) -> F::Output {
        INSIDE.scope(self.identity(), work).await
    }

    /// Waits (bounded) until everybody is out, and lets nobody in any more.
    pub(crate) async fn close(&self) {
        let everybody_out = self.permits.acquire_many(self.size);
        // Whoever is still inside after the wait is rolled back with its connection.
        let _ = tokio::time::timeout(self.wait, everybody_out).await;
        self.permits.close();
    }

    fn identity(&self) -> usize {
        Arc::as_ptr(&self.permits).addr()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_millis(20);

    #[tokio::test(start_paused = true)]
    async fn the_wait_is_bounded() {
        let gate = Gate::new(1, SHORT);
        let _held = gate.enter().await.unwrap();
        assert!(matches!(gate.enter().await, Err(StoreError::Busy { waited: SHORT })));
    }

    #[tokio::test]
    async fn a_task_that_is_inside_is_refused_at_once() {
        let gate = Gate::new(8, Duration::from_secs(600));
        let _held = gate.enter().await.unwrap();
        let nested = gate.inside(async { gate.enter().await }).await;
        assert!(matches!(nested, Err(StoreError::NestedWrite)));
        assert!(gate.enter().await.is_ok(), "outside, the next one is let in");
    }

    #[tokio::test]
    async fn another_gate_is_no_nesting() {
        let (first, second) = (Gate::new(1, SHORT), Gate::new(1, SHORT));
        assert!(first.inside(async { second.enter().await }).await.is_ok());
    }

    #[tokio::test]
    async fn a_closed_gate_lets_nobody_in() {
        let gate = Gate::new(2, SHORT);
        gate.close().await;
        assert!(matches!(gate.enter().await, Err(StoreError::Closed)));
    }
}
