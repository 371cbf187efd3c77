//! What still runs.

use tokio::runtime::Handle;

/// How often tasks that were told to end get a chance to.
const CHANCES: usize = 1_000;

/// The tasks of this runtime that have not ended, when those that were told to had time to do so.
pub async fn tasks_left() -> usize {
    for _ in 0..CHANCES {
        if Handle::current().metrics().num_alive_tasks() == 0 {
            break;
        }
        tokio::task::yield_now().await;
    }
    Handle::current().metrics().num_alive_tasks()
}
