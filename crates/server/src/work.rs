//! The background work of this binary: which kinds of jobs there are, and who runs them.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use mainstay_accounts::{Accounts, AccountsError, Pepper, Posted};
use mainstay_base::{Clock, Timestamp};
use mainstay_fleet::CleanUpLocations;
use mainstay_jobs::{
    Claimed, Context, CronJob, Handler, JobError, Jobs, JobsError, Kind, KindError, NewJob, Runner,
    RunnerOptions, RunnerTask, Turning,
};
use mainstay_monitor::latency::Upkeep;
use mainstay_monitor::past::Keyframes;
use mainstay_outbound::{Mailer, SendError};
use mainstay_reports::Sweeper;
use mainstay_store::Tx;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::config::Config;
use crate::post::{Letterbox, SealedLetter, Undelivered, deliver};

/// Sends one mail.
const MAIL: &str = "mail";
/// Removes what is over of sessions, invites, counts and the audit log.
const CLEAN_UP_ACCOUNTS: &str = "clean_up_accounts";
/// Journeys that one process runs at once.
const JOURNEYS_AT_ONCE: u32 = 32;
/// What is known of a journey stands still while a run of it is nobody's: after this it is given up, and the
/// next one begins.
const JOURNEY_LEASE: Duration = Duration::from_secs(20);
/// Operations of the fleet that one process carries out at once.
const OPERATIONS_AT_ONCE: u32 = 32;
/// What a process that was killed did to the fleet goes on elsewhere after this, long before it is given up.
const OPERATION_LEASE: Duration = Duration::from_secs(15);
/// Whoever has an operation next goes on with it, so a process that stops need not wait for its end.
const OPERATION_GRACE: Duration = Duration::from_secs(2);
/// Every ten minutes.
const CLEAN_UP_AT: &str = "*/10 * * * *";

/// What the handlers work with.
pub(crate) struct Tools {
    pub(crate) accounts: Accounts,
    pub(crate) audit_kept: Duration,
    /// Only where mail is configured: what waits stays in the queue until it is.
    pub(crate) mail: Option<(Mailer, Pepper)>,
    pub(crate) upkeep: Upkeep,
    pub(crate) keyframes: Keyframes,
    /// What the room of reports has done.
    pub(crate) reports: Vec<Arc<dyn Handler>>,
}

/// A handler for each kind of job.
pub(crate) fn handlers(tools: Tools) -> Result<Vec<Arc<dyn Handler>>, KindError> {
    let Tools { accounts, audit_kept, mail, upkeep, keyframes, reports } = tools;
    let kind = Kind::new(CLEAN_UP_ACCOUNTS)?;
    let mut handlers: Vec<Arc<dyn Handler>> = vec![
        Arc::new(CleanUp { kind, accounts, audit_kept }),
        Arc::new(upkeep),
        Arc::new(keyframes),
    ];
    if let Some((mailer, pepper)) = mail {
        handlers.push(Arc::new(SendMail { kind: Kind::new(MAIL)?, mailer, pepper }));
    }
    handlers.extend(reports);
    Ok(handlers)
}

/// What comes again by the clock.
pub(crate) fn cron() -> Result<Vec<CronJob>, JobsError> {
    let job = NewJob::new(Kind::new(CLEAN_UP_ACCOUNTS)?, json!({}));
    let clean_up = CronJob::new(CLEAN_UP_ACCOUNTS, CLEAN_UP_AT, job)?;
    let mut all = vec![clean_up, Upkeep::cron()?, Keyframes::cron()?, CleanUpLocations::cron()?];
    all.extend(Sweeper::cron()?);
    Ok(all)
}

/// Who does which jobs.
pub(crate) struct Crew {
    pub(crate) handlers: Vec<Arc<dyn Handler>>,
    pub(crate) traveller: Arc<dyn Handler>,
    pub(crate) operator: Arc<dyn Handler>,
}

/// Runners of one process: journeys have one of their own, and so have operations of the fleet, since each of
/// them mostly waits, and would keep mail and reports waiting too.
#[derive(Debug)]
pub(crate) struct Runners {
    jobs: RunnerTask,
    journeys: RunnerTask,
    fleet: RunnerTask,
}

impl Runners {
    /// Tells whether the jobs are worked on.
    pub(crate) fn turning(&self) -> Turning {
        self.jobs.turning()
    }

    /// Waits until every job is done or given back. Cancel the token first.
    pub(crate) async fn finished(self) {
        self.jobs.finished().await;
        self.journeys.finished().await;
        self.fleet.finished().await;
    }
}

/// Starts to run jobs until `stop`.
pub(crate) fn run(
    config: &Config,
    jobs: &Jobs,
    crew: Crew,
    stop: &CancellationToken,
) -> Result<Runners, JobsError> {
    let settings = &config.jobs;
    let id = settings.runner_id.clone().unwrap_or_else(runner_id);
    tracing::info!(runner = id, concurrency = settings.concurrency, "running background jobs");
    let options = RunnerOptions {
        id,
        concurrency: settings.concurrency,
        poll: settings.poll,
        ttl: settings.lock_ttl,
        grace: settings.stop,
    };
    let Crew { handlers, traveller, operator } = crew;
    let alone = |handler, options| {
        Runner::start(jobs.clone(), vec![handler], vec![], options, stop.clone())
    };
    let journeys = alone(traveller, of_journeys(&options));
    let fleet = alone(operator, of_fleet(&options));
    let jobs = Runner::start(jobs.clone(), handlers, cron()?, options, stop.clone());
    Ok(Runners { jobs, journeys, fleet })
}

fn of_journeys(options: &RunnerOptions) -> RunnerOptions {
    RunnerOptions {
        id: format!("{}:journeys", options.id),
        concurrency: JOURNEYS_AT_ONCE,
        ttl: options.ttl.min(JOURNEY_LEASE),
        ..options.clone()
    }
}

fn of_fleet(options: &RunnerOptions) -> RunnerOptions {
    RunnerOptions {
        id: format!("{}:fleet", options.id),
        concurrency: OPERATIONS_AT_ONCE,
        ttl: options.ttl.min(OPERATION_LEASE),
        grace: options.grace.min(OPERATION_GRACE),
        poll: options.poll,
    }
}

/// Host name and process id: it tells people where to look, and fences nothing.
fn runner_id() -> String {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    format!("{name}:{}", std::process::id())
}

/// Puts letters into the queue.
pub(crate) struct JobLetterbox {
    pub(crate) jobs: Jobs,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Letterbox for JobLetterbox {
    fn put<'a>(&'a self, tx: &'a mut Tx, letter: SealedLetter) -> Posted<'a> {
        Box::pin(async move {
            let queued = async {
                let written_at = self.clock.now().as_millis();
                let payload = json!({ "sealed": letter.0, "written_at": written_at });
                self.jobs.enqueue(tx, NewJob::new(Kind::new(MAIL)?, payload)).await
            };
            match queued.await {
                Ok(_) => Ok(true),
                Err(JobsError::Store(error)) => Err(AccountsError::from(error)),
                Err(error) => {
                    tracing::error!(%error, "a mail could not be queued");
                    Ok(false)
                }
            }
        })
    }
}

struct SendMail {
    kind: Kind,
    mailer: Mailer,
    pepper: Pepper,
}

impl Handler for SendMail {
    fn kind(&self) -> Kind {
        self.kind.clone()
    }

    fn run<'a>(&'a self, job: &'a Claimed, _: &'a Context) -> BoxFuture<'a, Result<(), JobError>> {
        Box::pin(async move {
            let sealed = job.payload.get("sealed").and_then(Value::as_str);
            let letter = SealedLetter(sealed.unwrap_or_default().to_owned());
            let written_at = job.payload.get("written_at").and_then(Value::as_i64);
            let written_at = Timestamp::from_millis(written_at.unwrap_or_default());
            let sent = deliver(&self.mailer, &self.pepper, &letter, job.id, written_at).await;
            sent.map_err(|error| unsent(&error))
        })
    }
}

/// What becomes of a mail that was not sent.
fn unsent(error: &Undelivered) -> JobError {
    let (reason, message) = (error.reason(), error.to_string());
    match error {
        Undelivered::Unreadable
        | Undelivered::Unsent(SendError::Mail(_) | SendError::Refused { .. }) => {
            JobError::fatal(reason, message)
        }
        Undelivered::Unsent(SendError::Later { .. }) => JobError::retriable(reason, message),
        Undelivered::Unsent(SendError::LeftAlone { retry_after }) => {
            JobError::PutOff { wait: *retry_after }
        }
    }
}

struct CleanUp {
    kind: Kind,
    accounts: Accounts,
    audit_kept: Duration,
}

impl Handler for CleanUp {
    fn kind(&self) -> Kind {
        self.kind.clone()
    }

    fn run<'a>(&'a self, _: &'a Claimed, _: &'a Context) -> BoxFuture<'a, Result<(), JobError>> {
        Box::pin(async {
            let cleaned = self.accounts.clean_up(self.audit_kept).await;
            cleaned
                .map(drop)
                .map_err(|error| JobError::retriable("clean_up_failed", error.to_string()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_by_the_clock_can_be_read() {
        assert_eq!(cron().unwrap().len(), 6);
    }

    #[test]
    fn a_mail_is_tried_again_only_where_that_may_help() {
        let alone = SendError::LeftAlone { retry_after: Duration::from_secs(30) };
        assert_eq!(
            unsent(&Undelivered::Unsent(alone)),
            JobError::PutOff { wait: Duration::from_secs(30) }
        );
        let never = unsent(&Undelivered::Unreadable);
        assert!(matches!(never, JobError::Fatal { .. }), "{never}");
    }

    #[test]
    fn operations_of_the_fleet_are_soon_anothers_whatever_the_lease_of_jobs() {
        let usual = RunnerOptions::new("a");
        let fleet = of_fleet(&usual);
        assert_eq!((fleet.id.as_str(), fleet.ttl), ("a:fleet", Duration::from_secs(15)));
        assert_eq!(fleet.grace, Duration::from_secs(2));
        let short = of_fleet(&RunnerOptions { ttl: Duration::from_secs(3), ..usual });
        assert_eq!(short.ttl, Duration::from_secs(3));
    }

    #[test]
    fn journeys_whose_process_died_are_soon_run_again_whatever_the_lease_of_jobs() {
        let usual = RunnerOptions::new("a");
        assert!(usual.ttl > JOURNEY_LEASE, "{:?}", usual.ttl);
        let journeys = of_journeys(&usual);
        assert_eq!((journeys.id.as_str(), journeys.ttl), ("a:journeys", JOURNEY_LEASE));
        assert_eq!(journeys.grace, usual.grace);
        let short = of_journeys(&RunnerOptions { ttl: Duration::from_secs(3), ..usual });
        assert_eq!(short.ttl, Duration::from_secs(3));
    }

    #[test]
    fn a_runner_says_where_it_is() {
        let id = runner_id();
        assert!(id.ends_with(&format!(":{}", std::process::id())) && id.len() > 2, "{id}");
    }
}
