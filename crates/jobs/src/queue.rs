//! What a runner does to the queue, fenced by leases: claim → start → heartbeat → succeed or settle,
//! or release. [`crate::Runner`] turns these; whoever wants another loop can write one.

use std::time::Duration;

use mainstay_store::Tx;

use mainstay_events::Outbox;

use crate::decide::{Bucket, ClaimPlan, Verdict};
use crate::error::JobsError;
use crate::jobs::Jobs;
use crate::measure;
use crate::model::{Cause, Change, Claimed, Lease, Status};
use crate::record::claim::{self, Taken};
use crate::record::look::Sight;
use crate::record::{lease, look, settle, steps};

/// How long a job whose hook fails in a claim is left alone.
const HOOK_FAILED_WAIT: Duration = Duration::from_secs(30);

/// The queue as one runner sees it.
#[derive(Debug, Clone)]
pub struct Queue {
    jobs: Jobs,
    runner: String,
    ttl: Duration,
}

/// What a claim gave.
#[derive(Debug, Default)]
pub struct Claims {
    /// The runner has these, in the order in which they became due.
    pub jobs: Vec<Claimed>,
    /// So many were given up in the claim.
    pub given_up: usize,
}

/// What a heartbeat told.
#[derive(Debug, Default)]
pub struct Beat {
    /// Still the runner's.
    pub kept: Vec<Lease>,
    /// No longer the runner's.
    pub lost: Vec<Lease>,
    /// Still the runner's, but locked at that moment: these keep their old end until the next
    /// heartbeat.
    pub unmoved: Vec<Lease>,
}

impl Queue {
    /// The queue for the runner of this name; its leases last `ttl`.
    #[must_use]
    pub fn new(jobs: Jobs, runner: String, ttl: Duration) -> Self {
        Self { jobs, runner, ttl }
    }

    /// Where the jobs of `kinds` stand, the paused ones left out.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn look(&self, kinds: &[String]) -> Result<Vec<Bucket>, JobsError> {
        Ok(self.sight(kinds).await?.buckets)
    }

    /// The same with the database's time.
    pub(crate) async fn sight(&self, kinds: &[String]) -> Result<Sight, JobsError> {
        look::look(self.jobs.book(), kinds).await
    }

    /// The database's clock was set back, or may have been: what speaks of a time to come begins to wait
    /// anew.
    pub(crate) async fn mend_times(&self) -> Result<u64, JobsError> {
        Ok(steps::mend(self.jobs.book(), self.ttl / 3).await?)
    }

    pub(crate) const fn ttl(&self) -> Duration {
        self.ttl
    }

    /// Takes jobs that are due or whose lease has expired, under a new lease.
    ///
    /// # Errors
    /// When a hook or the database fails; then nothing was taken.
    pub async fn claim(&self, plan: &ClaimPlan) -> Result<Claims, JobsError> {
        self.claim_some(plan, false).await
    }

    /// The same; those whose lease has expired only unless it `leaves_leases`.
    pub(crate) async fn claim_some(
        &self,
        plan: &ClaimPlan,
        leaves_leases: bool,
    ) -> Result<Claims, JobsError> {
        let handler = self.jobs.handler(&plan.kind);
        let has_hook = handler.as_ref().is_some_and(|handler| handler.hooks());
        let is_limited = handler.is_some_and(|handler| handler.concurrency().is_some());
        let taken = if has_hook || is_limited {
            self.claim_carefully(plan, leaves_leases).await?
        } else {
            claim::claim(self.jobs.book(), &self.ask(plan, plan.limit, leaves_leases)).await?
        };
        Ok(sorted(taken, &self.runner))
    }

    /// Marks jobs as begun; gives the keys of those that still are the runner's.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn start(&self, leases: &[Lease]) -> Result<Vec<Lease>, JobsError> {
        let kept = settle::start(self.jobs.book(), leases).await?;
        Ok(split(leases, &kept).kept)
    }

    /// Says that the runner is alive.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn heartbeat(&self, leases: &[Lease]) -> Result<Beat, JobsError> {
        let moved = lease::heartbeat(self.jobs.book(), leases, self.ttl).await?;
        let Beat { kept, lost: missing, .. } = split(leases, &moved);
        if missing.is_empty() {
            return Ok(Beat { kept, ..Beat::default() });
        }
        let asked = split(&missing, &lease::held(self.jobs.book(), &missing).await?);
        Ok(Beat { kept, lost: asked.lost, unmoved: asked.kept })
    }

    /// Which of `leases` the runner still has.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn held(&self, leases: &[Lease]) -> Result<Beat, JobsError> {
        Ok(split(leases, &lease::held(self.jobs.book(), leases).await?))
    }

    /// Marks jobs of kinds without a hook as done, durably, in one statement.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn succeed_many(&self, leases: &[Lease]) -> Result<Beat, JobsError> {
        Ok(split(leases, &settle::succeed_many(self.jobs.book(), leases).await?))
    }

    /// Marks a job as done, with its hook.
    ///
    /// # Errors
    /// [`JobsError::LeaseLost`], or when the hook or the database fails.
    pub async fn succeed(&self, lease: Lease) -> Result<(), JobsError> {
        let jobs = &self.jobs;
        jobs.events()
            .write(async |tx, out| {
                let change = settle::succeed_in(jobs.book(), tx, lease).await?;
                self.told(tx, out, change).await
            })
            .await
    }

    /// Writes what becomes of a job after its handler failed, with its hook.
    ///
    /// # Errors
    /// [`JobsError::LeaseLost`], or when the hook or the database fails.
    pub async fn settle(&self, lease: Lease, verdict: &Verdict) -> Result<(), JobsError> {
        let jobs = &self.jobs;
        jobs.events()
            .write(async |tx, out| {
                let book = jobs.book();
                let change = match verdict {
                    Verdict::Retry { wait, failure } => {
                        settle::retry_in(book, tx, lease, failure, *wait).await?
                    }
                    Verdict::PutOff { wait } => settle::put_off_in(book, tx, lease, *wait).await?,
                    Verdict::Fail { failure } => settle::fail_in(book, tx, lease, failure).await?,
                };
                self.told(tx, out, change).await
            })
            .await
    }

    /// Gives jobs back with their attempts, so that others can take them at once.
    ///
    /// # Errors
    /// When a hook or the database fails.
    pub async fn release(&self, leases: &[Lease]) -> Result<(), JobsError> {
        let jobs = &self.jobs;
        jobs.events()
            .write(async |tx, out| {
                for change in settle::release_in(tx, leases).await? {
                    jobs.tell(tx, out, &change).await?;
                    jobs.ring_after(tx, change.kind.as_str());
                }
                Ok(())
            })
            .await
    }

    /// In a transaction: the kind has a hook, or a limit over all runners, or both.
    async fn claim_carefully(
        &self,
        plan: &ClaimPlan,
        leaves_leases: bool,
    ) -> Result<Vec<Taken>, JobsError> {
        let jobs = &self.jobs;
        let mut failed = None;
        let taken = jobs
            .events()
            .write(async |tx, out| {
                let places = look::places(jobs.book(), tx, &plan.kind).await?;
                let limit = plan.limit.min(places.unwrap_or(u32::MAX));
                if limit == 0 {
                    return Ok(Vec::new());
                }
                let taken =
                    claim::claim_in(jobs.book(), tx, &self.ask(plan, limit, leaves_leases)).await?;
                for change in taken.iter().map(changed) {
                    if let Err(error) = jobs.tell(tx, out, &change).await {
                        failed = Some(change.id);
                        return Err(error);
                    }
                }
                Ok(taken)
            })
            .await;
        match (taken, failed) {
            (Err(error), Some(id)) if !error.is_transient() => {
                tracing::error!(job = %id, kind = %plan.kind, runner = self.runner, %error,
                    "the hook of a job failed");
                claim::postpone(jobs.book(), id, HOOK_FAILED_WAIT).await?;
                Err(JobsError::Hook(error.to_string()))
            }
            (taken, _) => taken,
        }
    }

    fn ask<'a>(&'a self, plan: &'a ClaimPlan, limit: u32, leaves_leases: bool) -> claim::Ask<'a> {
        claim::Ask {
            kind: &plan.kind,
            priority: plan.priority,
            limit,
            most_crashes: plan.suspects.most_crashes(),
            leaves_leases,
            runner: &self.runner,
            // Never negative, and a stranger can't guess it.
            token: i64::try_from(self.jobs.chance() >> 1).unwrap_or(i64::MAX) & !claim::FOUND_CRASH,
            ttl: self.ttl,
        }
    }

    async fn told(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        change: Option<Change>,
    ) -> Result<(), JobsError> {
        let change = change.ok_or(JobsError::LeaseLost)?;
        self.jobs.tell(tx, out, &change).await
    }
}

fn sorted(taken: Vec<Taken>, runner: &str) -> Claims {
    let mut claims = Claims::default();
    for one in taken {
        match one {
            Taken::Job(job) => {
                if job.found_crash {
                    measure::crashed(&job.kind);
                }
                claims.jobs.push(job);
            }
            // Nothing else than a crash ends a job in a claim.
            Taken::GivenUp(change) => {
                measure::crashed(&change.kind);
                measure::ended(&change);
                tracing::warn!(job = %change.id, kind = %change.kind, cause = ?change.cause,
                    attempt = change.attempts, runner, "a job was given up: its runner died while it ran");
                claims.given_up = claims.given_up.saturating_add(1);
            }
        }
    }
    claims
}

/// What the hook is told of a row that a claim has touched.
fn changed(taken: &Taken) -> Change {
    match taken {
        Taken::GivenUp(change) => change.clone(),
        Taken::Job(job) => Change {
            id: job.id,
            kind: job.kind.clone(),
            subject: job.subject.clone(),
            payload: job.payload.clone(),
            attempts: job.attempt,
            cause: Cause::Claimed,
            status: Status::Processing,
            next_run_at: job.next_run_at,
            failure: None,
        },
    }
}

fn split(leases: &[Lease], kept: &[i64]) -> Beat {
    let kept: std::collections::HashSet<i64> = kept.iter().copied().collect();
    let (kept, lost) = leases.iter().copied().partition(|lease| kept.contains(&lease.key));
    Beat { kept, lost, unmoved: Vec::new() }
}
