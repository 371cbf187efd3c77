//! A look at the queue, and the claim that follows from it.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{Clock, Moment};

use super::mean::Means;
use super::steps::{Step, Steps};
use crate::decide::{self, Bucket, Load, Plan};
use crate::error::JobsError;
use crate::measure;
use crate::model::{Claimed, Kind};
use crate::queue::{Claims, Queue};
use crate::record::look::Sight;

/// What a runner can take.
#[derive(Debug, Clone)]
pub(super) struct Able {
    pub(super) load: Load,
    pub(super) means: Means,
    pub(super) long: LongOnes,
}

/// The kinds that wait long, and how many more of them a runner can take.
#[derive(Debug, Clone)]
pub(super) struct LongOnes {
    pub(super) kinds: Arc<HashSet<Kind>>,
    pub(super) places: u32,
}

impl LongOnes {
    /// How many more there may be of a kind, as far as it waits long.
    fn most(&self, kind: &Kind) -> u32 {
        if self.kinds.contains(kind) { self.places } else { u32::MAX }
    }
}

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

/// The same, with what was seen of the database's clock.
#[derive(Debug)]
pub(super) struct Look {
    pub(super) fetched: Fetched,
    pub(super) steps: Steps,
    /// The clock has stepped: leases are to be renewed by it at once.
    pub(super) stepped: bool,
}

/// Looks, and claims the first that can be had.
pub(super) async fn look(
    queue: Queue,
    kinds: Arc<Vec<String>>,
    able: Able,
    clock: Arc<dyn Clock>,
    mut steps: Steps,
) -> Result<Look, JobsError> {
    if steps.is_new() {
        mend_left_behind(&queue).await?;
    }
    let began = clock.moment();
    let Sight { mut buckets, now } = queue.sight(&kinds).await?;
    let step = steps.look(now, began, queue.ttl());
    let leaves_leases = steps.leaves_leases(began);
    match step {
        Step::None => {}
        Step::Forward => {
            tracing::warn!(
                "the database's clock was set on; leases are left until they are renewed"
            );
        }
        Step::Back => {
            let rows = queue.mend_times().await?;
            tracing::warn!(rows, "the database's clock was set back; jobs that waited wait anew");
        }
    }
    if leaves_leases {
        // What seems to have crashed may well be running.
        buckets.iter_mut().for_each(|bucket| bucket.crashes = 0);
    }
    let fetched = fetch(queue, kinds, able, clock, buckets, leaves_leases).await?;
    Ok(Look { fetched, steps, stepped: step != Step::None })
}

/// The clock may have been set back while no runner was there to see it.
async fn mend_left_behind(queue: &Queue) -> Result<(), JobsError> {
    let rows = queue.mend_times().await?;
    if rows > 0 {
        tracing::warn!(rows, "jobs were ahead of the database's clock; they wait anew");
    }
    Ok(())
}

async fn fetch(
    queue: Queue,
    kinds: Arc<Vec<String>>,
    able: Able,
    clock: Arc<dyn Clock>,
    mut buckets: Vec<Bucket>,
    leaves_leases: bool,
) -> Result<Fetched, JobsError> {
    let began = clock.moment();
    let Able { load, means, long } = able;
    let is_due = |bucket: &Bucket| bucket.due_for.is_some();
    let is_left =
        |bucket: &Bucket| (load.held > 0 && bucket.runs_alone()) || long.most(&bucket.kind) == 0;
    let leaves_one = buckets.iter().any(|bucket| is_due(bucket) && is_left(bucket));
    loop {
        // The last place is not for these: whatever else is due comes before them.
        buckets.retain(|bucket| long.most(&bucket.kind) > 0);
        match decide::plan(&buckets, load, |kind| means.of(kind)) {
            Plan::Wait(wait) if leaves_one => return Ok(Fetched::Full(wait)),
            Plan::Wait(wait) => return Ok(Fetched::Nothing(wait)),
            Plan::Full | Plan::Drain => return Ok(Fetched::Full(None)),
            Plan::Claim(mut plan) => {
                plan.limit = plan.limit.min(long.most(&plan.kind));
                let sent = clock.moment();
                let claims = match queue.claim_some(&plan, leaves_leases).await {
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
