//! Carries out operations, as jobs: `machines` (what is done to a worker; `coming` waits for it), `loads` (what is done to a
//! net), `waiting` (what keeps it from going on is shown), `finish` (what becomes of both is written down with the
//! end of the job).
//!
//! A runner may die at any point: whoever has the job next does the same again, which every step bears.

mod coming;
mod finish;
mod loads;
mod machines;
mod waiting;

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use futures_util::future::BoxFuture;
use mainstay_base::{Id, Timestamp};
use mainstay_events::Outbox;
use mainstay_jobs::{Change, Claimed, Context, Handler, JobError, JobsError, Kind, Status};
use mainstay_store::Tx;
use serde_json::Value;

use crate::error::FleetError;
use crate::fleet::{Fleet, OPERATION};
use crate::model::operation::PROVISION_LIMIT;
use crate::model::{Crew, Failure};
use crate::record::workers;

/// What an operation may take beside its own time: the writing.
const BESIDE: Duration = Duration::from_mins(1);

/// How often a health check looks at a worker that changes while it is looked at.
const LOOKS: usize = 3;

/// Carries out operations. Its hook ends those whose job is given up, also where none are carried out.
#[derive(Debug)]
pub struct Operator {
    kind: Kind,
    fleet: Fleet,
}

/// What an operation is about.
#[derive(Debug, Clone, Copy)]
struct Subject {
    worker: Id,
    net: Option<Id>,
}

/// One attempt at an operation.
struct Attempt<'a> {
    fleet: &'a Fleet,
    context: &'a Context,
    subject: Subject,
    operation: Id,
    crew: Crew,
    deadline: Timestamp,
    /// Whether the runner of an earlier attempt died, and may have left something at the provider.
    is_resumed: bool,
    /// Whether it is shown that the provider keeps it waiting, also since an earlier attempt.
    is_waiting: AtomicBool,
}

/// Why a step did not lead on.
enum Halt {
    /// The operation ends with this.
    Failed(Failure),
    /// It ends with this, and no machine was made.
    Unmade(Failure),
    /// It goes on later.
    Later(JobError),
}

impl Operator {
    /// Carries out the operations of `fleet`.
    ///
    /// # Errors
    /// Never: the name of the kind is fit.
    pub fn new(fleet: Fleet) -> Result<Self, JobsError> {
        Ok(Self { kind: Kind::new(OPERATION)?, fleet })
    }

    async fn attempt(&self, job: &Claimed, context: &Context) -> Result<(), JobError> {
        let Some(subject) = Subject::of(&job.payload) else {
            return Err(JobError::fatal("bad_payload", "the job names no worker"));
        };
        let fleet = &self.fleet;
        let found =
            workers::one(fleet.db(), subject.worker).await.map_err(|error| later(&error))?;
        let Some(crew) = found else { return Ok(()) };
        // Whoever ended the operation meanwhile has ended it.
        let Some(deadline) = subject.deadline(&crew, job.id) else { return Ok(()) };
        let (operation, is_waiting) = (job.id, AtomicBool::new(crew.worker.waits()));
        let is_resumed = job.crashes > 0;
        let attempt =
            Attempt { fleet, context, subject, operation, crew, deadline, is_resumed, is_waiting };
        let running = attempt.run();
        let ended = context.cancelled().run_until_cancelled(running).await;
        ended.unwrap_or_else(|| Err(JobError::retriable("cancelled", "the runner stops")))
    }
}

impl Handler for Operator {
    fn kind(&self) -> Kind {
        self.kind.clone()
    }

    fn max_run(&self) -> Duration {
        PROVISION_LIMIT.saturating_add(BESIDE)
    }

    fn run<'a>(
        &'a self,
        job: &'a Claimed,
        context: &'a Context,
    ) -> BoxFuture<'a, Result<(), JobError>> {
        Box::pin(self.attempt(job, context))
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
        Box::pin(async move {
            let Some(subject) = Subject::of(&change.payload) else { return Ok(()) };
            if change.status != Status::Failed {
                return Ok(());
            }
            let failure = finish::given_up(change);
            let ending = self.fleet.end_unfinished(tx, out, subject, change.id, failure);
            ending.await.map(drop).map_err(FleetError::into_jobs)
        })
    }
}

impl Attempt<'_> {
    async fn run(&self) -> Result<(), JobError> {
        match self.subject.net {
            Some(net) => {
                let end = self.within(self.operate_net(net)).await;
                self.finish_net(net, loads::ending(end)?).await
            }
            None => match self.crew.worker.operation.map(|operation| operation.kind) {
                Some(crate::model::WorkerOperation::HealthCheck) => self.check().await,
                Some(kind) => {
                    let end = self.within(self.operate_worker(kind)).await;
                    self.finish_worker(machines::ending(end)?).await
                }
                None => Ok(()),
            },
        }
    }

    /// Looks how the worker is; again where it changed meanwhile, since what was seen is of before.
    async fn check(&self) -> Result<(), JobError> {
        let mut crew = self.crew.clone();
        for _ in 0..LOOKS {
            let mut found = self.fleet.look(&crew, None).await;
            if found.health().is_some() && !found.has_word() {
                found = self.fleet.hear_of(&crew.worker).await.beside(&crew.worker, found);
            }
            self.fleet.collect_within(&crew, &found).await;
            match self.finish_look(&crew, &found).await {
                Err(FleetError::Overtaken) => {}
                ended => return ended.map_err(|error| later(&error)),
            }
            let again = workers::one(self.fleet.db(), self.subject.worker).await;
            let Some(again) = again.map_err(|error| later(&error))? else { return Ok(()) };
            crew = again;
        }
        Err(later(&FleetError::Overtaken))
    }

    /// Runs a step for as long as the operation may take.
    async fn within<T>(&self, step: impl Future<Output = Result<T, Halt>>) -> Result<T, Halt> {
        let left = self.left().await?;
        // A step without time would still be begun, and may be quicker than the timer that ends it.
        if left.is_zero() {
            return Err(Halt::Failed(finish::timed_out()));
        }
        match tokio::time::timeout(left, step).await {
            Ok(ended) => ended,
            Err(_) => Err(Halt::Failed(finish::timed_out())),
        }
    }

    /// How long the operation may still take, by the database's clock.
    async fn left(&self) -> Result<Duration, Halt> {
        let now = self.fleet.db().now().await;
        let now = now.map_err(|error| Halt::Later(later(&error.into())))?;
        Ok(self.deadline.since(now))
    }
}

impl Subject {
    fn of(payload: &Value) -> Option<Self> {
        let id = |name: &str| payload.get(name)?.as_str()?.parse().ok();
        Some(Self { worker: id("worker_id")?, net: id("net_id") })
    }

    /// When the operation is given up, if it goes on.
    fn deadline(self, crew: &Crew, operation: Id) -> Option<Timestamp> {
        match self.net {
            None => crew
                .worker
                .operation
                .filter(|underway| underway.id == operation)
                .map(|underway| underway.deadline),
            Some(net) => crew
                .net(net)?
                .operation
                .filter(|underway| underway.id == operation)
                .map(|underway| underway.deadline),
        }
    }
}

fn later(error: &FleetError) -> JobError {
    JobError::retriable("database_failed", error.to_string())
}
