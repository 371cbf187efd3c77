//! The room's loop: writes down last uses.

use tokio_util::sync::CancellationToken;

use crate::accounts::Accounts;
use crate::seen::{self, SeenQueue};

/// Runs until `stop`.
pub async fn run(accounts: Accounts, mut queue: SeenQueue, stop: CancellationToken) {
    while let Some(Some(batch)) = stop.run_until_cancelled(queue.take()).await {
        if let Err(error) = seen::write(accounts.db(), batch).await {
            tracing::debug!(%error, "last uses were not written; the next ones will be");
        }
    }
}
