//! Runs one handler: its panic is an error like another, and when it is cancelled it is dropped
//! after a short while, whatever it does.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use mainstay_base::Clock;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument as _, Span};

use crate::context::Context;
use crate::handler::{Handler, JobError};
use crate::model::{Claimed, Lease};
use crate::text::Traceparent;
use crate::trace;

/// How a handler ended.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) lease: Lease,
    pub(super) result: Result<(), JobError>,
    /// It marked the job as done in its own transaction.
    pub(super) is_finished: bool,
    pub(super) took: Duration,
}

/// The code of a handler that panicked.
pub(super) const PANICKED: &str = "panicked";
/// The code of a handler that did not end when it was cancelled.
const DROPPED: &str = "dropped";

pub(super) async fn run(
    handler: Arc<dyn Handler>,
    job: Claimed,
    context: Context,
    clock: Arc<dyn Clock>,
    patience: Duration,
) -> Outcome {
    let started = clock.moment();
    let cancelled = context.cancelled().clone();
    let working =
        trace::follow(job.traceparent.clone(), async { handler.run(&job, &context).await });
    let working = AssertUnwindSafe(working.instrument(span(&job))).catch_unwind();
    let result = tokio::select! {
        biased;
        result = working => result.unwrap_or_else(|panic| {
            Err(JobError::retriable(PANICKED, words(&*panic)))
        }),
        () = out_of_patience(&cancelled, patience) => {
            Err(JobError::retriable(DROPPED, "the handler went on after it was cancelled"))
        }
    };
    let took = clock.moment().since(started);
    Outcome { lease: job.lease, result, is_finished: context.is_finished(), took }
}

/// Where the handler's own log lines stand, and what is exported of its run.
fn span(job: &Claimed) -> Span {
    tracing::info_span!(
        "job",
        job = %job.id,
        kind = %job.kind,
        attempt = job.attempt,
        traceparent = job.traceparent.as_ref().map(Traceparent::as_str),
    )
}

async fn out_of_patience(cancelled: &CancellationToken, patience: Duration) {
    cancelled.cancelled().await;
    tokio::time::sleep(patience).await;
}

/// What the panic said, if it said it in words.
fn words(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    format!("the handler panicked: {}", text.as_deref().unwrap_or("without words"))
}
