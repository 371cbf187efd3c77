//! Runs journeys, as jobs. A run is begun once, by the handler of its job, and ends with it.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use mainstay_base::{Clock, Id};
use mainstay_events::Outbox;
use mainstay_jobs::{Cause, Change, Claimed, Context, Handler, JobError, JobsError, Kind};
use mainstay_store::Tx;
use serde_json::Value;

use crate::bounds::{MAX_MESSAGE, MAX_RUN};
use crate::cancel::CANCELLED;
use crate::courier::Courier;
use crate::error::JourneysError;
use crate::fit;
use crate::journeys::{JOURNEY, Journeys};
use crate::kept::RunStatus;
use crate::model::Journey;
use crate::progress::Watching;
use crate::record::runs::{self, Beginning, FinishedRun};
use crate::record::state;
use crate::report::{FailureKind, RunRecord};
use crate::run::{self, Observer, Options};
use crate::scope::Secrets;
use crate::text::cut;

/// What a run may take beside the journey itself.
const BESIDE_RUN: Duration = Duration::from_mins(1);

const DIED: &str =
    "the Mainstay that ran it died; it is not begun again, since what it sent would be sent twice";
const STOPPED: &str = "the Mainstay that ran it was stopped before its end; it is not begun again, since what it sent \
                       would be sent twice";
const BEGUN_BEFORE: &str = "a run is begun once, and this one was, since what it sent would be sent twice; run its journey anew";

/// What runs are made with.
#[derive(Clone)]
pub struct Luggage {
    /// Who carries requests out.
    pub courier: Courier,
    /// The secrets of this installation.
    pub secrets: Secrets,
    /// Who tells the time.
    pub clock: Arc<dyn Clock>,
}

/// Runs the journeys of a room.
pub struct JourneyRunner {
    kind: Kind,
    journeys: Journeys,
    luggage: Luggage,
}

impl JourneyRunner {
    /// Runs the journeys of `journeys`.
    ///
    /// # Errors
    /// Never: the name of the kind is fit.
    pub fn new(journeys: Journeys, luggage: Luggage) -> Result<Self, JobsError> {
        Ok(Self { kind: Kind::new(JOURNEY)?, journeys, luggage })
    }

    async fn travel(&self, id: Id, context: &Context) -> Result<(), JobError> {
        let begun = context.write(async |tx, _| runs::begin(tx, id).await).await;
        let source = match begun.map_err(refusal)? {
            Beginning::Now(source) => source,
            Beginning::Before => return Err(JobError::fatal("run_begun_before", BEGUN_BEFORE)),
            // Deleted meanwhile with its journey.
            Beginning::Gone => return Ok(()),
        };
        let finished = match self.run_once(id, &source, context).await {
            Ok(record) => self.arrived(context, id, &record).await,
            Err(message) => {
                finish(context, &FinishedRun::unrun(id, RunStatus::Failed, &message)).await
            }
        };
        finished.map_err(JobError::from)
    }

    /// A run follows its job.
    async fn follow(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        change: &Change,
    ) -> Result<(), JourneysError> {
        let Some(id) = subject(&change.payload) else { return Ok(()) };
        let message = match change.cause {
            // A run that has ended stays as it is: who tries its job again begins nothing.
            Cause::Claimed | Cause::Succeeded | Cause::Requeued => return Ok(()),
            Cause::Retried | Cause::PutOff | Cause::Released => {
                return self.given_back(tx, out, change.id, id).await;
            }
            Cause::AttemptsExhausted | Cause::CrashLoop => DIED.to_owned(),
            Cause::Cancelled => CANCELLED.to_owned(),
            Cause::Failed => {
                let failure = change.failure.as_ref().map(|failure| failure.message.as_str());
                format!("it could not be run to its end: {}", failure.unwrap_or("see the log"))
            }
        };
        let message = cut(&message, MAX_MESSAGE);
        state::finish(tx, out, &FinishedRun::aborted(id, &message)).await
    }

    /// Its job waits again. A run that was not begun waits with it; one that was has ended, and its job with it, so
    /// that the next run of the journey need not wait for it.
    async fn given_back(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        job: Id,
        id: Id,
    ) -> Result<(), JourneysError> {
        let run = runs::find_in(tx, id).await?;
        if run.is_none_or(|run| run.started_at.is_none()) {
            return Ok(());
        }
        state::finish(tx, out, &FinishedRun::aborted(id, STOPPED)).await?;
        self.journeys.shared.jobs.cancel(tx, out, job).await?;
        Ok(())
    }

    /// The record, or why the run could not even begin. While it is under way it says how far it is.
    async fn run_once(&self, id: Id, source: &str, context: &Context) -> Result<RunRecord, String> {
        let journey = Journey::parse(source).map_err(|mistakes| {
            let first = mistakes.first().map(ToString::to_string).unwrap_or_default();
            format!("this version of Mainstay can't read the journey: {first}")
        })?;
        let Luggage { courier, secrets, clock } = self.luggage.clone();
        let watching = Arc::new(Watching::new(&journey, Arc::clone(&clock)));
        let options = Options { mode: None, vars: BTreeMap::new(), secrets, courier, clock };
        let observer = Arc::clone(&watching) as Arc<dyn Observer>;
        tokio::select! {
            biased;
            ended = run::run_until(&journey, options, observer, context.cancelled()) => {
                ended.map_err(|error| error.to_string())
            }
            never = tell(context, id, &watching) => match never {},
        }
    }

    /// Writes down what came of a run. Where its job is no longer this one's, whoever took it has ended the run:
    /// then only the record is added.
    async fn arrived(
        &self,
        context: &Context,
        id: Id,
        record: &RunRecord,
    ) -> Result<(), JobsError> {
        let fitted = fit::fit(record);
        let is_cut_short = record.failures.iter().any(|one| one.kind == FailureKind::Cancelled);
        let (status, message) = match is_cut_short {
            true => (RunStatus::Aborted, Some(STOPPED.to_owned())),
            false => (record.outcome.into(), record.reason()),
        };
        let done = FinishedRun {
            id,
            status,
            duration_ms: Some(record.duration_ms),
            message: message.as_deref(),
            record: Some(&fitted),
        };
        let finished = finish(context, &done).await;
        if matches!(finished, Err(JobsError::LeaseLost)) {
            let events = &self.journeys.shared.events;
            let left = events.write(async |tx, out| state::leave_record(tx, out, &done).await);
            if let Err(error) = left.await {
                tracing::warn!(%error, run = %id, "what came of a run that was ended could not be written");
            }
        }
        finished
    }
}

/// Writes down how far a run is, for as long as it is polled. One that could not be written is followed by the next.
async fn tell(context: &Context, id: Id, watching: &Watching) -> Infallible {
    loop {
        let progress = watching.due().await;
        let written = context
            .write(async |tx, out| state::progress(tx, out, id, &progress).await.map_err(refusal));
        if let Err(error) = written.await {
            tracing::debug!(%error, run = %id, "how far a run is could not be written");
        }
        watching.written();
    }
}

async fn finish(context: &Context, done: &FinishedRun<'_>) -> Result<(), JobsError> {
    context.finish(async |tx, out| state::finish(tx, out, done).await.map_err(refusal)).await
}

impl Handler for JourneyRunner {
    fn kind(&self) -> Kind {
        self.kind.clone()
    }

    fn max_run(&self) -> Duration {
        MAX_RUN.saturating_add(BESIDE_RUN)
    }

    fn run<'a>(
        &'a self,
        job: &'a Claimed,
        context: &'a Context,
    ) -> BoxFuture<'a, Result<(), JobError>> {
        Box::pin(async move {
            let Some(id) = subject(&job.payload) else {
                return Err(JobError::fatal("bad_payload", "the job names no run"));
            };
            self.travel(id, context).await
        })
    }

    fn keeps_record(&self) -> bool {
        true
    }

    fn hooks(&self) -> bool {
        true
    }

    fn changed<'a>(
        &'a self,
        tx: &'a mut Tx,
        out: &'a mut Outbox,
        change: &'a Change,
    ) -> BoxFuture<'a, Result<(), JobsError>> {
        Box::pin(async move { self.follow(tx, out, change).await.map_err(refusal) })
    }
}

/// Which run a job is about.
fn subject(payload: &Value) -> Option<Id> {
    payload.get("run_id")?.as_str()?.parse().ok()
}

fn refusal(error: JourneysError) -> JobsError {
    match error {
        JourneysError::Store(error) => error.into(),
        JourneysError::Jobs(error) => error,
        other => JobsError::Hook(other.to_string()),
    }
}

impl std::fmt::Debug for Luggage {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Luggage").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for JourneyRunner {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("JourneyRunner").finish_non_exhaustive()
    }
}
