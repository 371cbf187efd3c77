//! Writes down how a job ended, again and again while the database is away and the lease holds.

use std::time::Duration;

use mainstay_base::Id;
use tokio_util::sync::CancellationToken;

use super::errands::{ERRAND_BOUND, in_time};
use crate::decide::Verdict;
use crate::error::JobsError;
use crate::model::{Kind, Lease};
use crate::queue::Queue;

/// The first wait after a failure; each next one is twice as long.
pub(super) const FIRST_WAIT: Duration = Duration::from_millis(100);
/// The longest wait.
pub(super) const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// How often an ending is tried that fails for another reason than the database's state.
const TRIES: u32 = 5;

/// How a job ended.
#[derive(Debug, Clone)]
pub(super) enum Ending {
    /// Done, and its kind's hook is to be told.
    Succeeded,
    /// Not done.
    Failed(Verdict),
    /// Taken from its handler because the runner stops.
    Released,
}

/// The job that ended, for the log.
#[derive(Debug)]
pub(super) struct Named {
    pub(super) job: Id,
    pub(super) kind: Kind,
    pub(super) attempt: u32,
    pub(super) runner: String,
}

/// Writes an ending; false when the lease was lost before.
pub(super) async fn write(
    queue: &Queue,
    lease: Lease,
    named: &Named,
    ending: &Ending,
    lost: &CancellationToken,
) -> bool {
    let Named { job, kind, attempt, runner } = named;
    let mut wait = FIRST_WAIT;
    let mut tries = 0_u32;
    loop {
        let error = match in_time(ERRAND_BOUND, once(queue, lease, ending)).await {
            Ok(()) => return true,
            Err(JobsError::LeaseLost) => return false,
            Err(error) => error,
        };
        tracing::warn!(
            %job, %kind, attempt, runner, %error,
            "the ending of a job was not written; trying again"
        );
        if !error.is_transient() {
            tries = tries.saturating_add(1);
        }
        if tries >= TRIES {
            tracing::error!(
                %job, %kind, attempt, runner, %error,
                "the ending of a job can't be written; its lease runs out"
            );
            return false;
        }
        tokio::select! {
            () = lost.cancelled(), if !matches!(ending, Ending::Released) => return false,
            () = tokio::time::sleep(wait) => {}
        }
        wait = (wait * 2).min(LONGEST_WAIT);
    }
}

/// Gives back jobs, together if that can be done. When a hook refuses, the others are given back
/// without it: each half by itself, and so on.
pub(super) async fn release(queue: &Queue, leases: Vec<Lease>) {
    let (mut wait, mut tries) = (FIRST_WAIT, 0_u32);
    let mut parts = vec![leases];
    while let Some(mut part) = parts.pop() {
        let Err(error) = queue.release(&part).await else { continue };
        if error.is_transient() && tries < TRIES {
            tries = tries.saturating_add(1);
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(LONGEST_WAIT);
            parts.push(part);
        } else if error.is_transient() || part.len() < 2 {
            let jobs = part.len();
            tracing::warn!(%error, jobs, "jobs were not given back; their leases run out");
        } else {
            parts.push(part.split_off(part.len() / 2));
            parts.push(part);
        }
    }
}

async fn once(queue: &Queue, lease: Lease, ending: &Ending) -> Result<(), JobsError> {
    match ending {
        Ending::Succeeded => queue.succeed(lease).await,
        Ending::Failed(verdict) => queue.settle(lease, verdict).await,
        Ending::Released => queue.release(&[lease]).await,
    }
}
