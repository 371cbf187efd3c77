//! How many uploads to an object storage may gather a whole part in memory at once.
//!
//! An object storage takes parts of 5 MiB and no smaller ones, so whoever uploads has to gather one. Uploads of
//! less than [`FREE`] never ask. Whoever waited for [`PATIENCE`] goes on without: somebody who sends slowly
//! keeps nobody from uploading, and how many uploads there are at all is bounded by whoever begins them.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Parts that are gathered or sent at once: 30 MiB.
const PARTS_AT_ONCE: usize = 6;

/// What an upload holds without asking.
pub(crate) const FREE: usize = 128 * 1024;

/// How long an upload waits for its turn at most, at each of its parts.
const PATIENCE: Duration = Duration::from_secs(20);

/// Whose turn it is.
#[derive(Debug, Clone)]
pub(crate) struct Budget(Arc<Semaphore>);

/// The right to gather a part. Dropped, it is free for another.
#[derive(Debug)]
pub(crate) struct Turn {
    /// Nothing when it was waited for too long.
    _permit: Option<OwnedSemaphorePermit>,
}

impl Budget {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Semaphore::new(PARTS_AT_ONCE)))
    }

    /// Waits for a turn, and not for too long.
    pub(crate) async fn turn(&self) -> Turn {
        let waiting = timeout(PATIENCE, Arc::clone(&self.0).acquire_owned()).await;
        // It is never closed.
        Turn { _permit: waiting.ok().and_then(Result::ok) }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn only_so_many_have_their_turn_and_the_next_follows_whoever_ends() {
        let budget = Budget::new();
        let mut held = Vec::new();
        for _ in 0..PARTS_AT_ONCE {
            held.push(budget.turn().now_or_never().unwrap());
        }
        let mut next = Box::pin(budget.turn());
        assert!(next.as_mut().now_or_never().is_none());
        held.pop();
        assert!(next.now_or_never().is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_waited_long_enough_goes_on_and_takes_nothing_from_others() {
        let budget = Budget::new();
        let mut held = Vec::new();
        for _ in 0..PARTS_AT_ONCE {
            held.push(budget.turn().await);
        }
        let mut turn = Box::pin(budget.turn());
        let step = Duration::from_millis(1);
        assert!(timeout(PATIENCE.saturating_sub(step), turn.as_mut()).await.is_err());
        let without = timeout(step * 2, turn).await.unwrap();
        drop(held);
        assert_eq!(budget.0.available_permits(), PARTS_AT_ONCE);
        drop(without);
        assert_eq!(budget.0.available_permits(), PARTS_AT_ONCE);
    }
}
