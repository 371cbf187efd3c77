//! The poll that an operator asks for.

use std::time::Duration;

use tokio::sync::oneshot;

use super::Engine;
use crate::failure::PollFailure;
use crate::policy::LONGEST_TIMEOUT;
use crate::polling::PollAnswer;
use crate::roster::NotNow;
use crate::sink::Recorded;
use crate::watch::ServiceNumber;

/// How long an operator waits for the database, when the poll itself has ended.
const RECORDING: Duration = Duration::from_secs(10);

/// How long an operator waits for the poll.
const LANDING: Duration = LONGEST_TIMEOUT.saturating_mul(2);

/// Why an operator's poll has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PollNowError {
    /// It did not begin.
    #[error(transparent)]
    NotNow(#[from] NotNow),
    /// The service was edited or removed while it was polled.
    #[error("the service was edited or removed while it was polled; look at it again")]
    Stale,
    /// The result is there and could not be written yet.
    #[error(
        "the service was polled, and the result can't be recorded now; it is kept and tried again"
    )]
    NotRecorded,
    /// Mainstay is stopping.
    #[error("Mainstay is stopping; ask again when it is back")]
    Stopping,
    /// No instance polls the service: its shard is between two owners.
    #[error(
        "no instance polls this service at the moment; others take it over within seconds: look at \
         the instances, and ask again"
    )]
    Nobody,
    /// The instance that polls the service could not be asked, or did not answer.
    #[error(
        "the instance that polls this service did not answer in time; look at the instances, and ask \
         again"
    )]
    NotAsked,
}

/// A poll that an operator asked for has landed.
#[derive(Debug)]
pub(super) struct Landed {
    pub(super) latency: Duration,
    pub(super) warnings: Vec<String>,
    pub(super) failure: Option<PollFailure>,
    pub(super) recorded: oneshot::Receiver<Recorded>,
}

impl Engine {
    pub(super) async fn poll_and_record(
        &self,
        number: ServiceNumber,
    ) -> Result<PollAnswer, PollNowError> {
        if self.shared.stop.is_cancelled() {
            return Err(PollNowError::Stopping);
        }
        let landing = self.start_now(number)?;
        // A request ends by its own timeout; this is for one that does not.
        let landed = tokio::time::timeout(LANDING, landing).await.map_err(|_| self.gone())?;
        let landed = landed.map_err(|_| self.gone())?.ok_or(PollNowError::Nobody)?;
        let recorded = tokio::time::timeout(RECORDING, landed.recorded).await;
        let summary = match recorded {
            Ok(Ok(Recorded::Written(summary))) => summary,
            Ok(Ok(Recorded::Stale)) => return Err(PollNowError::Stale),
            Ok(Ok(Recorded::TakenOver)) => return Err(PollNowError::Nobody),
            Ok(Ok(Recorded::Refused)) | Err(_) => return Err(PollNowError::NotRecorded),
            Ok(Err(_)) => return Err(self.gone()),
        };
        let Landed { latency, warnings, failure, .. } = landed;
        Ok(PollAnswer {
            success: failure.is_none(),
            dependencies_updated: summary.dependencies,
            status_changes: summary.status_changes.iter().map(Into::into).collect(),
            latency_ms: latency.as_secs_f64() * 1_000.0,
            error: failure.as_ref().map(Into::into),
            warnings,
        })
    }

    fn start_now(
        &self,
        number: ServiceNumber,
    ) -> Result<oneshot::Receiver<Option<Landed>>, NotNow> {
        let shared = &self.shared;
        if !shared.parts.sink.has_room() {
            let message = "results wait for the database, and there is no room for another one; ask again in a moment";
            return Err(NotNow::Busy(message.to_owned()));
        }
        let now = shared.moment();
        if !shared.parts.tenure.is_live(now) {
            return Err(NotNow::NotWatched);
        }
        let (sender, receiver) = oneshot::channel();
        let mut roster = shared.roster();
        shared.hold_to_owned(&mut roster);
        let (attempt, begun) = roster.poll_now(number, now)?;
        // Before anybody can land it.
        shared.state().waiting.insert(attempt, sender);
        drop(roster);
        shared.begin(begun);
        Ok(receiver)
    }

    /// Why nobody answers any more.
    fn gone(&self) -> PollNowError {
        if self.shared.stop.is_cancelled() { PollNowError::Stopping } else { PollNowError::Stale }
    }
}
