//! What every task of the streams works with.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{Clock, Id, Rng};
use mainstay_store::{Db, StoreError};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::record::follow::Reads;

/// The longest that a task which serves many waits for one answer of the database. A line that went
/// dead without a word would else hold all of them up until the system gives up on it.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);

/// The database, time, chance, and the end of it all. A clone is the same tools.
#[derive(Clone)]
pub(crate) struct Tools {
    pub(crate) db: Db,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) rng: Arc<dyn Rng>,
    /// This instance, from its start to its end.
    pub(crate) instance: Id,
    pub(crate) reads: Reads,
    pub(crate) tasks: TaskTracker,
    pub(crate) stop: CancellationToken,
}

/// What `work` gives, unless it takes too long.
pub(crate) async fn within_limit<T>(
    work: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    let late = |_elapsed| Err(StoreError::Busy { waited: ANSWER_LIMIT });
    tokio::time::timeout(ANSWER_LIMIT, work).await.unwrap_or_else(late)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_never_comes_is_not_waited_for() {
        let waited = within_limit(std::future::pending::<Result<(), _>>()).await;
        assert!(matches!(waited, Err(StoreError::Busy { .. })));
        assert!(within_limit(async { Ok(()) }).await.is_ok());
    }
}
