//! What keeps an operation waiting is shown as the reason of its worker, until it goes on.

use std::sync::atomic::Ordering;

use super::{Attempt, Halt, later};
use crate::error::FleetError;
use crate::model::WorkerStatus;
use crate::providers::ProviderError;
use crate::record::crew;

impl Attempt<'_> {
    /// Shows what keeps the provider from doing it.
    pub(super) async fn waits_for(&self, error: &ProviderError) -> Result<(), Halt> {
        self.is_waiting.store(true, Ordering::Relaxed);
        self.show(Some(error.to_string())).await
    }

    /// The provider has answered: takes back what was shown.
    pub(super) async fn goes_on(&self) -> Result<(), Halt> {
        match self.is_waiting.swap(false, Ordering::Relaxed) {
            true => self.show(None).await,
            false => Ok(()),
        }
    }

    /// Nobody is told of it by an event, as of every warning; why a worker failed stays.
    async fn show(&self, reason: Option<String>) -> Result<(), Halt> {
        let written = self.context.write(async |tx, out| {
            let Some((before, _)) = self.locked(tx).await? else { return Ok(()) };
            let has_failed = before.worker.status == WorkerStatus::Error;
            if has_failed || before.worker.reason == reason {
                return Ok(());
            }
            let mut after = before.clone();
            after.worker.reason = reason;
            crew::save(tx, out, &before, after).await.map(drop)
        });
        written.await.map_err(|error: FleetError| Halt::Later(later(&error)))
    }
}
