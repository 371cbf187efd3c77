//! A look at the queue, and the claim that follows from it.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{Clock, Moment};

use super::mean::Means;
use crate::decide::{self, Bucket, Load, Plan};
use crate::error::JobsError;
use crate::measure;
use crate::model::Claimed;
use crate::queue::{Claims, Queue};

/// What came of it.
#[derive(Debug)]
pub(super) enum Fetched {
    /// Jobs, by a statement that was sent at this moment.
    Jobs(Vec<Claimed>, Moment),
    /// Something is due, and has to wait until a job of this runner has ended; the next is due after
    /// this time, if any is.
    Full(Option<Duration>),
    /// Nothing to claim; the next is due after this time, if any is.
    Nothing(Option<Duration>),
}

/// Looks, and claims the first that can be had.
pub(super) async fn fetch(
    queue: Queue,
    kinds: Arc<Vec<String>>,
    load: Load,
    means: Means,
    clock: Arc<dyn Clock>,
) -> Result<Fetched, JobsError> {
    let began = clock.moment();
    let mut buckets = queue.look(&kinds).await?;
    let is_suspect = |bucket: &Bucket| bucket.is_suspect && bucket.due_for.is_some();
    let has_suspect = load.held > 0 && buckets.iter().any(is_suspect);
    loop {
        match decide::plan(&buckets, load, |kind| means.of(kind)) {
            Plan::Wait(wait) if has_suspect => return Ok(Fetched::Full(wait)),
            Plan::Wait(wait) => return Ok(Fetched::Nothing(wait)),
            Plan::Full | Plan::Drain => return Ok(Fetched::Full(None)),
            Plan::Claim(plan) => {
                let sent = clock.moment();
                let claims = match queue.claim(&plan).await {
                    // Its job is left alone for a while: the next one, then.
                    Err(JobsError::Hook(_)) => Claims { given_up: 1, ..Claims::default() },
                    claims => claims?,
                };
                if !claims.jobs.is_empty() {
                    measure::claimed(clock.moment().since(began));
                    return Ok(Fetched::Jobs(claims.jobs, sent));
                }
                if claims.given_up > 0 {
                    buckets = queue.look(&kinds).await?;
                } else {
                    // Others have these, or the kind has no place left: the next one, then.
                    buckets.retain(|one| (&one.kind, one.priority) != (&plan.kind, plan.priority));
                }
            }
        }
    }
}
