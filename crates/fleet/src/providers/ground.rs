//! Whether the place that machines are in is found at all: where it is not, that a machine is not found says
//! nothing of it, and it may run on and cost.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{Clock, Moment};
use tokio::sync::Mutex;

use super::error::ProviderError;

/// That the place is not found holds for so long: of many machines at once it is asked whether they are there.
const LOST_FOR: Duration = Duration::from_secs(10);

/// That it is found holds only for so long: what is answered a moment later may be of somebody else.
const FOUND_FOR: Duration = Duration::from_secs(1);

/// Whether a place is found, as its provider last said.
pub(crate) struct Ground {
    clock: Arc<dyn Clock>,
    /// When it was asked, and what speaks against it.
    seen: Mutex<Option<(Moment, Option<ProviderError>)>>,
}

impl Ground {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, seen: Mutex::default() }
    }

    /// What it means that a machine is not found, where `ask` tells what speaks against the place.
    pub(crate) async fn missing(
        &self,
        detail: String,
        ask: impl Future<Output = Option<ProviderError>>,
    ) -> ProviderError {
        self.trouble(ask).await.unwrap_or(ProviderError::Gone(detail))
    }

    async fn trouble(
        &self,
        ask: impl Future<Output = Option<ProviderError>>,
    ) -> Option<ProviderError> {
        // One asks, and the others hear it.
        let mut seen = self.seen.lock().await;
        let now = self.clock.moment();
        if let Some((at, trouble)) = &*seen {
            let holds = if trouble.is_some() { LOST_FOR } else { FOUND_FOR };
            if now.since(*at) < holds {
                return trouble.clone();
            }
        }
        let trouble = ask.await;
        if matches!(trouble, None | Some(ProviderError::Invalid(_))) {
            *seen = Some((now, trouble.clone()));
        }
        trouble
    }
}
