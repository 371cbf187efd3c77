//! Work that takes a while, off the threads that answer everybody.

use mainstay_store::StoreError;

/// Does it there.
pub(crate) async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, StoreError> {
    // It ends early only when the process does.
    tokio::task::spawn_blocking(work).await.map_err(|_| StoreError::Closed)
}
