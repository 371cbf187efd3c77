//! What `serve` and `work` both stand on: the open database, the event streams, the queue and the
//! accounts, tied together.

use std::sync::Arc;
use std::time::Duration;

use mainstay_accounts::{Accounts, Pepper, SeenQueue};
use mainstay_base::{Clock, IdSource, SystemRng};
use mainstay_events::{Events, EventsOptions, EventsTasks, Topic};
use mainstay_fleet::{CleanUpLocations, Fleet, Operator};
use mainstay_jobs::{Handler, Jobs, JobsOptions};
use mainstay_journeys::Journeys;
use mainstay_monitor::latency::Upkeep;
use mainstay_monitor::past::Keyframes;
use mainstay_outbound::Mailer;
use mainstay_reports::Reports;
use mainstay_store::{Db, installation, migrate};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::config::Config;
use crate::post::MailPost;
use crate::room::Ties;
use crate::work::{self, JobLetterbox};
use crate::{data, fleet, journey, report, room};

/// How long uploads may take to land at the stop.
const LANDING: Duration = Duration::from_secs(5);

/// What is worked with.
pub(crate) struct Rooms {
    pub(crate) db: Db,
    pub(crate) ids: IdSource,
    pub(crate) schema_version: i64,
    pub(crate) events: Events,
    pub(crate) jobs: Jobs,
    pub(crate) handlers: Vec<Arc<dyn Handler>>,
    /// Carries out the operations of the fleet.
    pub(crate) operator: Arc<dyn Handler>,
    pub(crate) accounts: Accounts,
    pub(crate) seen: SeenQueue,
    pub(crate) pepper: Pepper,
    pub(crate) journeys: Journeys,
    pub(crate) reports: Reports,
    pub(crate) fleet: Fleet,
}

/// What is ended when all work is done.
pub(crate) struct Ending {
    db: Db,
    jobs: Jobs,
    reports: Reports,
    tasks: EventsTasks,
    /// Dropped, it stops the streams, so that they end however opening fails.
    last: DropGuard,
}

/// Opens the database, brings it up to date, and opens the rooms on it.
pub(crate) async fn open(
    config: &Config,
    clock: Arc<dyn Clock>,
) -> anyhow::Result<(Rooms, Ending)> {
    let ids = IdSource::new(Arc::clone(&clock), Arc::new(SystemRng));
    let mail = config.mail.as_ref();
    let mailer = mail.map(|mail| Mailer::new(mail, Arc::clone(&clock))).transpose()?;
    // It can wait for the server, or for another instance that migrates.
    tracing::info!("opening the database");
    let db = data::open(config, Arc::clone(&clock)).await?;
    let moved = migrate::up(&db).await?;
    let installation = installation::find_or_create(&db, ids.next()).await?;
    tracing::info!(
        database = db.dialect().name(),
        schema_version = moved.version,
        migrations_applied = moved.steps.len(),
        installation = %installation.id,
        "database open"
    );
    let last = CancellationToken::new();
    let options = EventsOptions {
        kept_for: config.events.keep_age,
        kept_count: config.events.keep_count.into(),
        ..EventsOptions::default()
    };
    let rng = Arc::new(SystemRng);
    let starting = Events::start(db.clone(), options, Arc::clone(&clock), rng, last.clone());
    let last = last.drop_guard();
    let (events, tasks) = starting.await?;
    let rng = Arc::new(SystemRng);
    let jobs =
        Jobs::new(events.clone(), Arc::clone(&clock), ids.clone(), rng, JobsOptions::default());
    let ties = tie(config, mailer.is_some().then(|| Arc::clone(&clock)), &events, &jobs)?;
    let pepper = ties.pepper.clone();
    let (accounts, seen) = room::open(db.clone(), Arc::clone(&clock), ties)?;
    room::check_pepper(&accounts).await?;
    let ground =
        report::Ground { clock: &clock, ids: &ids, events: &events, jobs: &jobs, pepper: &pepper };
    let desk = report::open(config, &ground)?;
    let tools = work::Tools {
        accounts: accounts.clone(),
        audit_kept: config.accounts.audit_kept,
        mail: mailer.map(|mailer| (mailer, pepper.clone())),
        upkeep: upkeep(config, &db).await?,
        keyframes: Keyframes::new(db.clone(), config.history.hours())?,
        reports: desk.handlers,
    };
    let fleet = fleet::open(config, &ground)?;
    let mut handlers = work::handlers(tools)?;
    let operator: Arc<dyn Handler> = Arc::new(Operator::new(fleet.clone())?);
    handlers.push(Arc::new(CleanUpLocations::new(&fleet)?));
    jobs.register(&[desk.follower]);
    jobs.register(&handlers);
    jobs.register(&[Arc::clone(&operator)]);
    let schema_version = moved.version;
    let (journeys, reports) = (journey::open(config, &events, &jobs, &ids), desk.reports);
    let ending =
        Ending { db: db.clone(), jobs: jobs.clone(), reports: reports.clone(), tasks, last };
    let rooms = Rooms {
        db,
        ids,
        schema_version,
        events,
        jobs,
        handlers,
        operator,
        accounts,
        seen,
        pepper,
        journeys,
        reports,
        fleet,
    };
    Ok((rooms, ending))
}

/// Rolls latencies up and removes what is not kept; where today's go to is made now.
async fn upkeep(config: &Config, db: &Db) -> anyhow::Result<Upkeep> {
    let upkeep = Upkeep::new(db.clone(), config.history)?;
    upkeep.open_days().await?;
    Ok(upkeep)
}

impl Ending {
    /// Ends the uploads, then the streams, after all who still wrote events, then the database.
    pub(crate) async fn close(self) {
        // Whoever sent them is gone: they are stored or undone in a moment.
        if tokio::time::timeout(LANDING, self.reports.landed()).await.is_err() {
            tracing::warn!("an upload was still under way at the stop; the sweeper ends it");
        }
        self.jobs.forget_handlers();
        drop(self.last);
        self.tasks.finished().await;
        self.db.close().await;
    }
}

/// What ties accounts to the queue of mail, if that is configured, and to the streams of those whose
/// access changes.
fn tie(
    config: &Config,
    clock: Option<Arc<dyn Clock>>,
    events: &Events,
    jobs: &Jobs,
) -> anyhow::Result<Ties> {
    let mut ties = Ties::alone(config)?;
    let doorbell = events.doorbell().clone();
    ties.changed = Arc::new(move || doorbell.ring(Topic::Access, ""));
    if let Some(clock) = clock {
        let letterbox = Arc::new(JobLetterbox { jobs: jobs.clone(), clock });
        let site = config.http.public_url.as_ref().map(|url| url.as_str().to_owned());
        let (pepper, rng) = (ties.pepper.clone(), Arc::new(SystemRng));
        ties.post = Arc::new(MailPost { letterbox, pepper, rng, site });
    }
    Ok(ties)
}
