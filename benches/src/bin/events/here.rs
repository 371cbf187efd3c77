//! An instance in this process: nothing that the real binary can be asked for writes an event, so that
//! whoever wants to write and to serve in one process must be it.

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use mainstay_accounts::{Accounts, HashingLimits, NoPost, Options, Pepper};
use mainstay_base::{Clock, IdSource, SystemClock, SystemRng};
use mainstay_events::Events;
use mainstay_fleet::agents::WebAgents;
use mainstay_fleet::{AgentKey, Fleet, FleetOptions, Pace, Providers};
use mainstay_http::{
    Asset, Assets, BuildInfo, DatabaseKind, Limits, Live, Monitor, Probe, Proofs, Site, Surface,
    SystemCheck, SystemDatabase,
};
use mainstay_jobs::{Jobs, JobsOptions};
use mainstay_journeys::{Journeys, JourneysOptions};
use mainstay_monitor::aliases::Aliases;
use mainstay_monitor::engine::PollNowError;
use mainstay_monitor::latency::Retention;
use mainstay_monitor::polling::{Answering, PollAnswer, ScheduleView};
use mainstay_monitor::shards::Instances;
use mainstay_monitor::views::MISSING_SHOWN_FOR;
use mainstay_monitor::{
    Fetch, Graphs, GraphsOptions, Past, PollFailure, Polling, Seal, ServiceNumber, Services,
    Tenure, Views,
};
use mainstay_outbound::{BlobPlace, Blobs};
use mainstay_reports::{READ_TIME, Reports, ReportsOptions, TokenHash};
use mainstay_store::Db;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::instance::PEPPER;
use crate::writer::Writer;

/// The surface and what it stands on.
pub(crate) struct Here {
    pub(crate) address: String,
    writer: Writer,
    stop: CancellationToken,
    serving: JoinHandle<()>,
}

impl Here {
    pub(crate) async fn start(db: Db) -> anyhow::Result<Self> {
        let writer = Writer::start(db.clone()).await?;
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?.to_string();
        let service = mainstay_http::service(surface(db, &writer.events)?);
        let stop = CancellationToken::new();
        let stopped = stop.clone().cancelled_owned();
        let serving = tokio::spawn(async move {
            mainstay_http::serve(listener, None, service, stopped, Duration::ZERO).await;
        });
        Ok(Self { address, writer, stop, serving })
    }

    pub(crate) fn events(&self) -> &Events {
        &self.writer.events
    }

    pub(crate) async fn end(self) {
        self.stop.cancel();
        // It has measured what it should: how it ends does not matter.
        let _ = self.serving.await;
        self.writer.end().await;
    }
}

fn surface(db: Db, events: &Events) -> anyhow::Result<Surface> {
    let (clock, rng) = (Arc::new(SystemClock::new()) as Arc<dyn Clock>, Arc::new(SystemRng));
    let ids = IdSource::new(Arc::clone(&clock), rng.clone());
    let options = Options {
        db,
        clock: Arc::clone(&clock),
        ids: ids.clone(),
        rng: rng.clone(),
        pepper: Pepper::new(PEPPER)?,
        hashing: HashingLimits { at_once: 1, waiting: 1 },
        post: Arc::new(NoPost),
        changed: Arc::new(|| ()),
    };
    let (accounts, _) = Accounts::new(options)?;
    let options = JobsOptions::default();
    let jobs = Jobs::new(events.clone(), Arc::clone(&clock), ids.clone(), rng.clone(), options);
    Ok(Surface {
        reports: reports(events, &jobs, &ids)?,
        fleet: fleet(events, &jobs, &ids, &clock)?,
        journeys: Journeys::new(JourneysOptions {
            events: events.clone(),
            jobs: jobs.clone(),
            ids: ids.clone(),
            secret_names: BTreeSet::new(),
        }),
        live: Live {
            connections: events.connections().clone(),
            events: events.clone(),
            proofs: Proofs::new(accounts.clone(), Arc::clone(&clock)),
            rng,
            max_per_user: 1,
            max_per_token: 1,
        },
        monitor: monitor(events, &clock, &ids),
        jobs,
        accounts,
        ids,
        build: BuildInfo { version: "bench", commit: None },
        started_at: clock.now(),
        clock,
        probe: Arc::new(Nothing),
        assets: Arc::new(Nothing),
        metrics: Arc::new(String::new),
        site: Site { alone: true, ..Site::default() },
        trusts: Arc::new(|_| false),
        settings: Arc::new([]),
        limits: Limits::default(),
    })
}

/// A fleet without machines.
fn fleet(
    events: &Events,
    jobs: &Jobs,
    ids: &IdSource,
    clock: &Arc<dyn Clock>,
) -> anyhow::Result<Fleet> {
    Ok(Fleet::new(FleetOptions {
        events: events.clone(),
        jobs: jobs.clone(),
        ids: ids.clone(),
        clock: Arc::clone(clock),
        rng: Arc::new(SystemRng),
        providers: Providers::default(),
        agents: Arc::new(WebAgents::new(Arc::clone(clock))?),
        key: AgentKey::new(PEPPER),
        pace: Pace::default(),
    }))
}

/// Reports that nobody makes.
fn reports(events: &Events, jobs: &Jobs, ids: &IdSource) -> anyhow::Result<Reports> {
    let folder = std::env::temp_dir().join("mainstay-bench-events");
    Ok(Reports::new(ReportsOptions {
        events: events.clone(),
        jobs: jobs.clone(),
        objects: Arc::new(Blobs::open(&BlobPlace::Folder(folder))?),
        ids: ids.clone(),
        rng: Arc::new(SystemRng),
        tokens: Arc::new(Nothing),
        is_configured: false,
        read_time: READ_TIME,
    }))
}

/// A monitor that polls nobody.
fn monitor(events: &Events, clock: &Arc<dyn Clock>, ids: &IdSource) -> Monitor {
    let seal = Arc::new(Nothing);
    let graphs = Graphs::start(
        events.clone(),
        Arc::clone(clock),
        GraphsOptions::default(),
        &TaskTracker::new(),
        CancellationToken::new(),
    );
    let views = Views::new(events.db().clone(), Arc::clone(clock), MISSING_SHOWN_FOR);
    Monitor {
        services: Services::new(events.clone(), ids.clone(), seal, Arc::new(|| ())),
        aliases: Aliases::new(events.clone(), ids.clone()),
        views: views.with_graphs(graphs.clone()),
        graphs,
        past: Past::new(events.db().clone(), Retention::default().hours()),
        polling: Arc::new(Nothing),
        instances: Instances::new(events.db().clone(), Arc::clone(clock), Tenure::alone()),
        fetch: Arc::new(Nothing),
    }
}

/// No dashboard, no look at its own health, and nothing to poll.
struct Nothing;

impl TokenHash for Nothing {
    fn hash(&self, _: &str) -> String {
        String::new()
    }
}

impl Seal for Nothing {
    fn seal(&self, _: &[u8]) -> String {
        String::new()
    }

    fn open(&self, _: &str) -> Option<Vec<u8>> {
        None
    }
}

impl Polling for Nothing {
    fn schedule(&self, _: ServiceNumber) -> Option<ScheduleView> {
        None
    }

    fn poll_now(&self, _: ServiceNumber) -> Answering<'_, Result<PollAnswer, PollNowError>> {
        Box::pin(std::future::ready(Err(PollNowError::Stopping)))
    }
}

impl Fetch for Nothing {
    fn judge<'a>(&'a self, _: &'a str) -> Answering<'a, Result<(), PollFailure>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn fetch<'a>(&'a self, _: &'a str) -> Answering<'a, Result<Vec<u8>, PollFailure>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }
}

impl Probe for Nothing {
    fn database(&self) -> SystemDatabase {
        SystemDatabase { kind: DatabaseKind::Postgres, schema_version: 0 }
    }

    fn check(&self) -> Pin<Box<dyn Future<Output = Vec<SystemCheck>> + Send + '_>> {
        Box::pin(std::future::ready(Vec::new()))
    }
}

impl Assets for Nothing {
    fn find(&self, _: &str) -> Option<Asset> {
        None
    }

    fn index(&self) -> Asset {
        Asset {
            content_type: "text/plain",
            etag: "\"\"",
            immutable: false,
            identity: b"",
            brotli: None,
            gzip: None,
        }
    }
}
