//! Runs journeys, as jobs. A run follows its job: claimed, given back, given up.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use mainstay_base::{Clock, Id};
use mainstay_events::Outbox;
use mainstay_jobs::{Cause, Change, Claimed, Context, Handler, JobError, JobsError, Kind};
use mainstay_store::Tx;
use serde_json::Value;

use crate::bounds::{MAX_MESSAGE, MAX_RUN};
use crate::courier::Courier;
use crate::error::JourneysError;
use crate::fit;
use crate::journeys::{JOURNEY, Journeys};
use crate::kept::RunStatus;
use crate::model::Journey;
use crate::record::runs::{self, FinishedRun};
use crate::record::state;
use crate::report::RunRecord;
use crate::run::{self, Options};
use crate::scope::Secrets;
use crate::text::cut;

/// What a run may take beside the journey itself.
const BESIDE_RUN: Duration = Duration::from_mins(1);

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

    async fn travel(&self, journey: Id, id: Id, context: &Context) -> Result<(), JobError> {
        let found = self.journeys.find(journey).await;
        let source = match found {
            Ok(found) => found.source,
            // Deleted meanwhile, and its runs with it.
            Err(JourneysError::NotFound) => return Ok(()),
            Err(error) => return Err(JobError::retriable("database_failed", error.to_string())),
        };
        let travelling = context.cancelled().run_until_cancelled(self.run_once(&source));
        let Some(ended) = travelling.await else {
            return Err(JobError::retriable("cancelled", "the run is not wanted any more"));
        };
        let finished = match &ended {
            Ok(record) => self.arrived(context, id, record).await,
            Err(message) => {
                let done = FinishedRun {
                    id,
                    status: RunStatus::Failed,
                    duration_ms: None,
                    message: Some(message),
                    record: None,
                };
                finish(context, &done).await
            }
        };
        finished.map_err(JobError::from)
    }

    /// The record, or why the run could not even begin.
    async fn run_once(&self, source: &str) -> Result<RunRecord, String> {
        let journey = Journey::parse(source).map_err(|mistakes| {
            let first = mistakes.first().map(ToString::to_string).unwrap_or_default();
            format!("this version of Mainstay can't read the journey: {first}")
        })?;
        let Luggage { courier, secrets, clock } = self.luggage.clone();
        let options = Options { mode: None, vars: BTreeMap::new(), secrets, courier, clock };
        let ended = run::run(&journey, options, Arc::new(())).await;
        ended.map_err(|error| error.to_string())
    }

    async fn arrived(
        &self,
        context: &Context,
        id: Id,
        record: &RunRecord,
    ) -> Result<(), JobsError> {
        let (fitted, message) = (fit::fit(record), fit::reason(record));
        let done = FinishedRun {
            id,
            status: record.outcome.into(),
            duration_ms: Some(record.duration_ms),
            message: message.as_deref(),
            record: Some(&fitted),
        };
        finish(context, &done).await
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
            let Some((journey, id)) = subject(&job.payload) else {
                return Err(JobError::fatal("bad_payload", "the job names no run"));
            };
            self.travel(journey, id, context).await
        })
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
        Box::pin(async move { follow(tx, out, change).await.map_err(refusal) })
    }
}

/// A run follows its job.
async fn follow(tx: &mut Tx, out: &mut Outbox, change: &Change) -> Result<(), JourneysError> {
    let Some((_, id)) = subject(&change.payload) else { return Ok(()) };
    let message = match change.cause {
        Cause::Claimed => return runs::stand(tx, id, true).await,
        Cause::Retried | Cause::PutOff | Cause::Released => {
            return runs::stand(tx, id, false).await;
        }
        // A run that has ended stays as it is: who tries its job again gets a new record of nothing.
        Cause::Succeeded | Cause::Requeued => return Ok(()),
        Cause::AttemptsExhausted | Cause::CrashLoop => {
            "the Mainstay that ran it died; it is not begun again, since what it sent would be sent twice"
                .to_owned()
        }
        Cause::Cancelled => "it was cancelled".to_owned(),
        Cause::Failed => {
            let failure = change.failure.as_ref().map(|failure| failure.message.as_str());
            format!("it could not be run to its end: {}", failure.unwrap_or("see the log"))
        }
    };
    let message = cut(&message, MAX_MESSAGE);
    let done = FinishedRun {
        id,
        status: RunStatus::Aborted,
        duration_ms: None,
        message: Some(&message),
        record: None,
    };
    state::finish(tx, out, &done).await
}

/// Which run of which journey a job is about.
fn subject(payload: &Value) -> Option<(Id, Id)> {
    let id = |name: &str| payload.get(name)?.as_str()?.parse().ok();
    id("journey_id").zip(id("run_id"))
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
