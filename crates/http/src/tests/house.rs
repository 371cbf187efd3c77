//! A surface on a port of its own, with routes that only tests have.

use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::routing::{get, post};
use bytes::Bytes;
use mainstay_accounts::{Accounts, HashingLimits, NoPost, Options, Pepper};
use mainstay_base::{Clock, Id, IdSource, SystemClock, SystemRng, Timestamp};
use mainstay_events::{Doorbell, Events, EventsOptions, Topic};
use mainstay_fleet::Fleet;
use mainstay_jobs::{Jobs, JobsOptions, Kind, NewJob};
use mainstay_journeys::{Journeys, JourneysOptions};
use mainstay_monitor::aliases::Aliases;
use mainstay_monitor::latency::Retention;
use mainstay_monitor::shards::Instances;
use mainstay_monitor::views::MISSING_SHOWN_FOR;
use mainstay_monitor::{Graphs, GraphsOptions, Past, Services, Tenure, Views};
use mainstay_outbound::{BlobPlace, Blobs};
use mainstay_reports::{READ_TIME, ReportMaker, Reports, ReportsOptions, TokenHash};
use mainstay_store::{Db, Dialect, migrate};
use mainstay_testkit::TestDatabase;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::engine::{Engine, Plain};
use super::machines::{self, Machines};
use crate::access::{Entry, public};
use crate::client::Client;
use crate::extract::{Json, JsonOrForm, ListQuery, Media, Page, Path, Query};
use crate::router::{SharedState, assemble};
use crate::{
    Asset, Assets, BuildInfo, CheckStatus, DatabaseKind, Drained, Error, Limits, Live, Monitor,
    Probe, Proofs, SettingSource, SettingView, Site, Surface, SystemCheck, SystemDatabase, Tls,
    measure, serve,
};

/// The asset that is larger than every socket buffer.
pub(super) const LARGE: usize = 64 * 1024 * 1024;

/// A running surface.
pub(super) struct House {
    pub(super) address: SocketAddr,
    pub(super) world: Arc<World>,
    pub(super) accounts: Accounts,
    pub(super) events: Events,
    pub(super) jobs: Jobs,
    pub(super) monitor: Monitor,
    pub(super) reports: Reports,
    pub(super) fleet: Fleet,
    pub(super) machines: Arc<Machines>,
    /// The engine, as a test wants it.
    pub(super) engine: Arc<Engine>,
    /// Where its own pages come from.
    pub(super) origin: String,
    _database: TestDatabase,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<Drained>,
}

/// What a test can see and move behind the surface.
#[derive(Default)]
pub(super) struct World {
    pub(super) down: AtomicBool,
    pub(super) stuck: AtomicBool,
    pub(super) probes: AtomicUsize,
    pub(super) waiting: Notify,
    pub(super) go: Notify,
    pub(super) dropped: Notify,
}

/// How a house differs from the usual one.
pub(super) struct Plan {
    pub(super) limits: Limits,
    pub(super) site: Site,
    pub(super) tls: Option<Tls>,
    pub(super) trusts: fn(IpAddr) -> bool,
    pub(super) grace: Duration,
    pub(super) clock: Arc<dyn Clock>,
    /// Whether reports are switched on.
    pub(super) reports: bool,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            site: Site { alone: true, ..Site::default() },
            tls: None,
            trusts: |_| false,
            grace: Duration::from_secs(10),
            clock: Arc::new(SystemClock::new()),
            reports: true,
        }
    }
}

impl House {
    pub(super) async fn open() -> Self {
        Self::build(Plan::default()).await
    }

    pub(super) async fn limited(limits: Limits) -> Self {
        Self::build(Plan { limits, ..Plan::default() }).await
    }

    pub(super) async fn build(plan: Plan) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let world = Arc::new(World::default());
        let database = TestDatabase::new(Dialect::Sqlite).await;
        let db = database.open_with(Arc::clone(&plan.clock), |_| {}).await;
        migrate::up(&db).await.unwrap();
        let rooms = Rooms::open(&db, &plan.clock, plan.reports).await;
        let surface = surface(&world, &plan, &rooms);
        let service = assemble(surface, routes(Arc::clone(&world)), ROUTES);
        let scheme = if plan.site.https { "https" } else { "http" };
        let origin = plan.site.origin.clone();
        let origin = origin.unwrap_or_else(|| format!("{scheme}://{address}"));
        let (stop, stopped) = oneshot::channel();
        let stopped = async { stopped.await.unwrap_or(()) };
        let serving = tokio::spawn(serve(listener, plan.tls, service, stopped, plan.grace));
        let Rooms { accounts, events, jobs, monitor, reports, fleet, machines, engine, .. } = rooms;
        let _database = database;
        Self {
            address,
            world,
            accounts,
            events,
            jobs,
            monitor,
            reports,
            fleet,
            machines,
            engine,
            origin,
            _database,
            stop,
            serving,
        }
    }

    pub(super) async fn close(self) -> Drained {
        self.stop.send(()).unwrap();
        self.serving.await.unwrap()
    }

    /// Tells the surface to stop and leaves the waiting to the caller.
    pub(super) fn begin_to_close(self) -> JoinHandle<Drained> {
        self.stop.send(()).unwrap();
        self.serving
    }
}

fn recorder() -> &'static PrometheusHandle {
    static RECORDER: OnceLock<PrometheusHandle> = OnceLock::new();
    RECORDER.get_or_init(|| {
        let name = Matcher::Full(measure::REQUEST_DURATION.to_owned());
        let builder = PrometheusBuilder::new();
        let builder = builder.set_buckets_for_metric(name, &measure::DURATION_BUCKETS).unwrap();
        let handle = builder.install_recorder().unwrap();
        measure::describe();
        handle
    })
}

/// What the surface stands on.
struct Rooms {
    accounts: Accounts,
    events: Events,
    jobs: Jobs,
    monitor: Monitor,
    journeys: Journeys,
    reports: Reports,
    fleet: Fleet,
    machines: Arc<Machines>,
    engine: Arc<Engine>,
    proofs: Proofs,
}

impl Rooms {
    /// Their tasks end with the test's runtime.
    async fn open(db: &Db, clock: &Arc<dyn Clock>, reports_on: bool) -> Self {
        let (options, rng) = (EventsOptions::default(), Arc::new(SystemRng));
        let stop = CancellationToken::new();
        let starting =
            Events::start(db.clone(), options, Arc::clone(clock), Arc::clone(&rng) as _, stop);
        let events = starting.await.unwrap().0;
        let ids = IdSource::new(Arc::clone(clock), Arc::clone(&rng) as _);
        let options = JobsOptions::default();
        let jobs = Jobs::new(events.clone(), Arc::clone(clock), ids.clone(), rng, options);
        let engine = Arc::new(Engine::default());
        let graphs = Graphs::start(
            events.clone(),
            Arc::clone(clock),
            GraphsOptions::default(),
            &TaskTracker::new(),
            CancellationToken::new(),
        );
        let views = Views::new(db.clone(), Arc::clone(clock), MISSING_SHOWN_FOR);
        let monitor = Monitor {
            services: Services::new(events.clone(), ids.clone(), Arc::new(Plain), Arc::new(|| {})),
            aliases: Aliases::new(events.clone(), ids.clone()),
            graphs: graphs.clone(),
            views: views.with_graphs(graphs),
            past: Past::new(db.clone(), Retention::default().hours()),
            polling: Arc::clone(&engine) as _,
            instances: Instances::new(db.clone(), Arc::clone(clock), Tenure::alone()),
            fetch: Arc::clone(&engine) as _,
        };
        let journeys = Journeys::new(JourneysOptions {
            events: events.clone(),
            jobs: jobs.clone(),
            ids,
            secret_names: std::collections::BTreeSet::new(),
        });
        let doorbell = events.doorbell().clone();
        let reports = reports(&events, &jobs, clock, reports_on);
        let machines = Arc::<Machines>::default();
        let fleet = machines::fleet(&machines, &events, &jobs, clock);
        let accounts = accounts(db.clone(), clock, doorbell.clone());
        let proofs = Proofs::new(accounts.clone(), Arc::clone(clock));
        tokio::spawn(proofs.clone().run(doorbell, CancellationToken::new()));
        Self { accounts, events, jobs, monitor, journeys, reports, fleet, machines, engine, proofs }
    }
}

/// What is stored lies in a folder that goes with the process.
fn reports(events: &Events, jobs: &Jobs, clock: &Arc<dyn Clock>, is_on: bool) -> Reports {
    let folder = tempfile::tempdir().unwrap().keep();
    let reports = Reports::new(ReportsOptions {
        events: events.clone(),
        jobs: jobs.clone(),
        objects: Arc::new(Blobs::open(&BlobPlace::Folder(folder)).unwrap()),
        ids: IdSource::new(Arc::clone(clock), Arc::new(SystemRng)),
        rng: Arc::new(SystemRng),
        tokens: Arc::new(Backwards),
        is_configured: is_on,
        read_time: READ_TIME,
    });
    jobs.register(&[Arc::new(ReportMaker::new(reports.clone(), None).unwrap())]);
    reports
}

struct Backwards;

impl TokenHash for Backwards {
    fn hash(&self, token: &str) -> String {
        token.chars().rev().collect()
    }
}

fn accounts(db: Db, clock: &Arc<dyn Clock>, doorbell: Doorbell) -> Accounts {
    let options = Options {
        db,
        clock: Arc::clone(clock),
        ids: IdSource::new(Arc::clone(clock), Arc::new(SystemRng)),
        rng: Arc::new(SystemRng),
        pepper: Pepper::new("a pepper that is long enough for this").unwrap(),
        hashing: HashingLimits { at_once: 2, waiting: 256 },
        post: Arc::new(NoPost),
        changed: Arc::new(move || doorbell.ring(Topic::Access, "")),
    };
    Accounts::new(options).unwrap().0
}

fn surface(world: &Arc<World>, plan: &Plan, rooms: &Rooms) -> Surface {
    let recorder = recorder();
    let clock = Arc::clone(&plan.clock);
    Surface {
        ids: IdSource::new(Arc::clone(&clock), Arc::new(SystemRng)),
        clock,
        accounts: rooms.accounts.clone(),
        live: Live {
            events: rooms.events.clone(),
            connections: rooms.events.connections().clone(),
            proofs: rooms.proofs.clone(),
            rng: Arc::new(SystemRng),
            max_per_user: 1,
            max_per_token: 5,
        },
        jobs: rooms.jobs.clone(),
        monitor: rooms.monitor.clone(),
        journeys: rooms.journeys.clone(),
        reports: rooms.reports.clone(),
        fleet: rooms.fleet.clone(),
        build: BuildInfo { version: "1.2.3", commit: Some("abc1234") },
        started_at: Timestamp::from_millis(1_794_776_400_007),
        probe: Arc::new(Witness(Arc::clone(world))),
        assets: Arc::new(Files),
        metrics: Arc::new(|| recorder.render()),
        site: plan.site.clone(),
        trusts: Arc::new(plan.trusts),
        settings: Arc::new([listening()]),
        limits: plan.limits,
    }
}

/// A setting as `server` hands it in.
fn listening() -> SettingView {
    SettingView {
        key: "http.listen",
        value: Some("\"0.0.0.0:80\"".to_owned()),
        masked: false,
        source: SettingSource::Flag,
        source_name: Some("--listen".to_owned()),
        default: "127.0.0.1:7373",
        help: "Address to listen on",
        variables: &["MAINSTAY_LISTEN"],
        flag: Some("--listen"),
        needs_restart: true,
    }
}

struct Witness(Arc<World>);

impl Probe for Witness {
    fn database(&self) -> SystemDatabase {
        SystemDatabase { kind: DatabaseKind::Sqlite, schema_version: 1 }
    }

    fn check(&self) -> Pin<Box<dyn Future<Output = Vec<SystemCheck>> + Send + '_>> {
        Box::pin(async {
            self.0.probes.fetch_add(1, Ordering::SeqCst);
            if self.0.stuck.load(Ordering::SeqCst) {
                std::future::pending::<()>().await;
            }
            tokio::task::yield_now().await;
            let down = self.0.down.load(Ordering::SeqCst);
            vec![SystemCheck {
                name: "database".into(),
                status: if down { CheckStatus::Down } else { CheckStatus::Healthy },
                detail: "looked at".into(),
                latency_ms: 0.2,
            }]
        })
    }
}

struct Files;

const fn file(content_type: &'static str, immutable: bool, identity: &'static [u8]) -> Asset {
    Asset { content_type, etag: "\"tag\"", immutable, identity, brotli: None, gzip: None }
}

impl Assets for Files {
    fn find(&self, path: &str) -> Option<Asset> {
        static ZEROS: [u8; LARGE] = [0; LARGE];
        let script = file("text/javascript", true, b"the script in full length");
        match path {
            "/assets/app-abc.js" => {
                Some(Asset { brotli: Some(b"brotli"), gzip: Some(b"gzipped"), ..script })
            }
            "/assets/large-abc.bin" => Some(file("application/octet-stream", true, &ZEROS)),
            "/favicon.svg" => Some(file("image/svg+xml", false, b"<svg/>")),
            _ => None,
        }
    }

    fn index(&self) -> Asset {
        file("text/html; charset=utf-8", false, b"<!doctype html><title>Mainstay</title>")
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Order {
    pub(super) name: String,
    pub(super) count: u8,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Numbered {
    limit: u8,
}

const ROUTES: &[Entry] = &[
    public("POST", "/api/test/json"),
    public("POST", "/api/test/form"),
    public("GET", "/api/test/list"),
    public("GET", "/api/test/id/{id}"),
    public("GET", "/api/test/number/{number}"),
    public("GET", "/api/test/text/{text}"),
    public("GET", "/api/test/query"),
    public("GET", "/api/test/client"),
    public("GET", "/api/test/panic"),
    public("GET", "/api/test/internal"),
    public("GET", "/api/test/held"),
    public("GET", "/api/test/abandoned"),
    public("GET", "/api/test/stuck"),
    public("GET", "/api/test/stream"),
    public("POST", "/api/test/enqueue"),
];

fn routes(world: Arc<World>) -> Router<SharedState> {
    let held = Arc::clone(&world);
    Router::new()
        .route("/api/test/json", post(|Json(order): Json<Order>| async { Json(order) }))
        .route("/api/test/form", post(submit))
        .route("/api/test/list", get(|Query(query): Query<ListQuery>| async { list(query) }))
        .route("/api/test/id/{id}", get(|Path(id): Path<Id>| async move { Json(id) }))
        .route(
            "/api/test/number/{number}",
            get(|Path(number): Path<u8>| async move { Json(number) }),
        )
        .route("/api/test/text/{text}", get(|Path(text): Path<String>| async move { Json(text) }))
        .route("/api/test/query", get(|Query(page): Query<Numbered>| async { Json(page) }))
        .route("/api/test/client", get(|Client(address): Client| async move { Json(address) }))
        .route("/api/test/panic", get(panics))
        .route("/api/test/internal", get(fails))
        .route("/api/test/held", get(move || hold(held)))
        .route("/api/test/abandoned", get(move || hold(world)))
        .route("/api/test/stuck", get(stuck))
        .route("/api/test/stream", get(stream))
        .route("/api/test/enqueue", post(enqueue))
        // Nobody decided whom it is for.
        .route("/api/test/undecided", get(|| async { Json("reached") }))
}

async fn submit(sent: JsonOrForm<Order>) -> Json<(&'static str, Order)> {
    let kind = match sent.media {
        Media::Json => "json",
        Media::Form => "form",
    };
    Json((kind, sent.value))
}

/// One item that says how many were asked for, and the cursor that was given.
fn list(query: ListQuery) -> Json<Page<usize>> {
    let next_cursor = query.cursor.map(|cursor| cursor.as_str().to_owned());
    Json(Page { items: vec![query.limit.items()], next_cursor })
}

async fn panics() -> Json<()> {
    panic!("the handler's secret words")
}

async fn fails() -> Error {
    Error::internal(std::io::Error::other("postgres://user:secret@10.0.0.7 refused"))
}

async fn stuck() {
    std::future::pending::<()>().await;
}

/// Enqueues a job after it has waited, as a route does that reads the database first.
async fn enqueue(State(state): State<SharedState>) -> Json<Id> {
    tokio::task::yield_now().await;
    let new = NewJob::new(Kind::new("asked_for").unwrap(), serde_json::json!(null));
    let writing = state.live.events.write(async |tx, _| state.jobs.enqueue(tx, new).await);
    Json(writing.await.unwrap().id)
}

/// Waits until the test lets it go.
async fn hold(world: Arc<World>) -> Json<&'static str> {
    let dropped = Dropped(Arc::clone(&world));
    world.waiting.notify_one();
    world.go.notified().await;
    drop(dropped);
    Json("let go")
}

struct Dropped(Arc<World>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.dropped.notify_one();
    }
}

/// Three parts, 100 ms apart.
async fn stream() -> Body {
    let (sender, body) = http_body_util::channel::Channel::<Bytes>::new(1);
    tokio::spawn(async move {
        let mut sender = sender;
        for part in ["one ", "two ", "three"] {
            tokio::time::sleep(Duration::from_millis(100)).await;
            if sender.send_data(Bytes::from_static(part.as_bytes())).await.is_err() {
                return;
            }
        }
    });
    Body::new(body)
}
