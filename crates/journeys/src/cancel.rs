//! Ends runs that nobody wants any more: the run at once, by its job; whoever runs it hears of that and adds what
//! was done by then.

use mainstay_base::Id;
use mainstay_events::Outbox;
use mainstay_jobs::JobsError;
use mainstay_store::Tx;

use crate::error::JourneysError;
use crate::journeys::Journeys;
use crate::kept::RunView;
use crate::record::runs::{self, FinishedRun};
use crate::record::state;

/// What a run says that somebody has cancelled.
pub(crate) const CANCELLED: &str = "it was cancelled";

impl Journeys {
    /// Ends a run that waits or is under way, wherever that is. What came of it by then is added to it soon after.
    ///
    /// # Errors
    /// [`JourneysError::NoRun`], [`JourneysError::RunEnded`], or when the database fails.
    pub async fn cancel(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        id: Id,
    ) -> Result<RunView, JourneysError> {
        let job = runs::job(tx, id).await?.ok_or(JourneysError::NoRun)?;
        let cancelled = match job {
            Some(job) => self.shared.jobs.cancel(tx, out, job).await.map(drop),
            None => Err(JobsError::NotFound),
        };
        match cancelled {
            Ok(()) => {}
            Err(JobsError::AlreadyFinished | JobsError::NotFound) => {
                let run = runs::find_in(tx, id).await?.ok_or(JourneysError::NoRun)?;
                if run.finished_at.is_some() {
                    return Err(JourneysError::RunEnded);
                }
            }
            Err(error) => return Err(error.into()),
        }
        // Its job has ended it, unless that was gone.
        state::finish(tx, out, &FinishedRun::aborted(id, CANCELLED)).await?;
        runs::find_in(tx, id).await?.ok_or(JourneysError::NoRun)
    }
}
