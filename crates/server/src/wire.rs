//! Joins the rooms: what `http` asks for is answered by `store`, `web` and the process itself.

use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use mainstay_accounts::Accounts;
use mainstay_base::{Clock, IdSource};
use mainstay_fleet::Fleet;
use mainstay_http::{
    Asset, Assets, BuildInfo, CheckStatus, CookieName, DatabaseKind, Limits, Live, Probe, Site,
    Surface, SystemCheck, SystemDatabase, Vitals,
};
use mainstay_jobs::{Jobs, Turning};
use mainstay_journeys::Journeys;
use mainstay_reports::Reports;
use mainstay_store::{Db, Dialect, StoreError, migrate};
use tokio::runtime::Handle;
use tokio::time::timeout;

use crate::config::{Config, ListenAddress};
use crate::metrics::Recorder;
use crate::monitor::Monitor;
use crate::saturation::{self, PULSE_LIMIT, Pulse};

/// The longest look at the database. It is shorter than the surface's own limit for a whole probe,
/// so that the answer still says which check it was.
const DATABASE_LIMIT: Duration = Duration::from_millis(1_500);

/// Connections at once to a runner alone: those who ask how it is.
const WORK_CONNECTIONS: usize = 100;

/// What `serve` has opened and started.
pub(crate) struct Parts {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: IdSource,
    pub(crate) db: Db,
    pub(crate) schema_version: i64,
    pub(crate) recorder: Recorder,
    pub(crate) pulse: Arc<Pulse>,
    pub(crate) accounts: Accounts,
    pub(crate) live: Live,
    pub(crate) jobs: Jobs,
    pub(crate) monitor: Monitor,
    pub(crate) journeys: Journeys,
    pub(crate) reports: Reports,
    pub(crate) fleet: Fleet,
    /// Whether the embedded runner turns, where there is one.
    pub(crate) runner: Option<Turning>,
    /// What the cookie of a session is called.
    pub(crate) cookie: CookieName,
    /// Whether what is watched is made up.
    pub(crate) is_demo: bool,
}

/// What `work` has opened and started.
pub(crate) struct WorkParts {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: IdSource,
    pub(crate) db: Db,
    pub(crate) schema_version: i64,
    pub(crate) recorder: Recorder,
    pub(crate) pulse: Arc<Pulse>,
    pub(crate) accounts: Accounts,
    pub(crate) runner: Turning,
}

/// Everything that the HTTP surface answers from.
pub(crate) fn surface(config: &Config, parts: Parts) -> Surface {
    let Parts {
        clock,
        ids,
        db,
        schema_version,
        recorder,
        pulse,
        accounts,
        live,
        jobs,
        monitor,
        journeys,
        reports,
        fleet,
        runner,
        cookie,
        is_demo,
    } = parts;
    let limits = Limits {
        connections: usize::try_from(config.http.max_connections).unwrap_or(usize::MAX),
        address_rate: config.http.address_rate,
        address_burst: config.http.address_burst,
        ..Limits::default()
    };
    let metrics = metrics(&recorder, db.clone());
    let surface = monitor.surface.clone();
    let (clock_of_probe, monitor) = (Arc::clone(&clock), Some(monitor));
    let probe = SystemProbe { clock: clock_of_probe, db, schema_version, pulse, monitor, runner };
    Surface {
        started_at: clock.now(),
        clock,
        ids,
        build: BuildInfo { version: env!("CARGO_PKG_VERSION"), commit: crate::COMMIT },
        probe: Arc::new(probe),
        assets: Arc::new(Dashboard),
        metrics,
        site: Site { is_demo, ..site(config, cookie) },
        trusts: trusts(config),
        settings: config.shown.clone().into(),
        accounts,
        live,
        jobs,
        monitor: surface,
        journeys,
        reports,
        fleet,
        limits,
    }
}

/// Everything that a runner alone answers from, when it listens at `address`.
pub(crate) fn vitals(config: &Config, address: &ListenAddress, parts: WorkParts) -> Vitals {
    let WorkParts { clock, ids, db, schema_version, recorder, pulse, accounts, runner } = parts;
    let metrics = metrics(&recorder, db.clone());
    let runner = Some(runner);
    let (clock_of_probe, monitor) = (Arc::clone(&clock), None);
    let probe = SystemProbe { clock: clock_of_probe, db, schema_version, pulse, monitor, runner };
    let limits = Limits { connections: WORK_CONNECTIONS, ..Limits::default() };
    let site = Site {
        alone: address.is_loopback(),
        https: false,
        origin: None,
        metrics_public: config.metrics.public,
        cookie: CookieName::default(),
        is_demo: false,
    };
    Vitals { clock, ids, accounts, probe: Arc::new(probe), metrics, site, limits }
}

fn metrics(recorder: &Recorder, db: Db) -> Arc<dyn Fn() -> String + Send + Sync> {
    let runtime = Handle::current();
    recorder.renderer(move || {
        db.record_use();
        saturation::record(&runtime);
    })
}

/// Whether browsers reach the site by HTTPS: through its own TLS or that of a proxy.
pub(crate) fn is_https(config: &Config) -> bool {
    let public = config.http.public_url.as_ref();
    config.tls.is_some() || public.is_some_and(crate::config::PublicUrl::is_https)
}

fn site(config: &Config, cookie: CookieName) -> Site {
    Site {
        alone: config.alone(),
        https: is_https(config),
        origin: config.http.public_url.as_ref().map(|url| url.as_str().to_owned()),
        metrics_public: config.metrics.public,
        cookie,
        is_demo: false,
    }
}

/// Whose `X-Forwarded-For` is believed.
fn trusts(config: &Config) -> Arc<dyn Fn(IpAddr) -> bool + Send + Sync> {
    let proxies = config.http.trusted_proxies.clone();
    Arc::new(move |address| proxies.iter().any(|proxy| proxy.contains(address)))
}

/// The embedded dashboard.
struct Dashboard;

impl Assets for Dashboard {
    fn find(&self, path: &str) -> Option<Asset> {
        mainstay_web::find(path).map(served)
    }

    fn index(&self) -> Asset {
        served(mainstay_web::index())
    }
}

fn served(asset: &'static mainstay_web::Asset) -> Asset {
    Asset {
        content_type: asset.content_type,
        etag: asset.etag,
        immutable: asset.immutable,
        identity: asset.identity,
        brotli: asset.brotli,
        gzip: asset.gzip,
    }
}

/// Looks at what Mainstay itself leans on.
struct SystemProbe {
    clock: Arc<dyn Clock>,
    db: Db,
    schema_version: i64,
    pulse: Arc<Pulse>,
    /// Where this process polls services.
    monitor: Option<Monitor>,
    /// Where this process runs jobs.
    runner: Option<Turning>,
}

impl Probe for SystemProbe {
    fn database(&self) -> SystemDatabase {
        let kind = match self.db.dialect() {
            Dialect::Sqlite => DatabaseKind::Sqlite,
            Dialect::Postgres => DatabaseKind::Postgres,
        };
        SystemDatabase { kind, schema_version: u32::try_from(self.schema_version).unwrap_or(0) }
    }

    fn check(&self) -> Pin<Box<dyn Future<Output = Vec<SystemCheck>> + Send + '_>> {
        Box::pin(async {
            let mut checks = vec![self.check_database().await, self.check_runtime()];
            checks.extend(self.runner.as_ref().map(check_runner));
            if let Some(monitor) = &self.monitor {
                checks.extend([check_polling(monitor), check_recorder(monitor)]);
            }
            checks
        })
    }
}

impl SystemProbe {
    async fn check_database(&self) -> SystemCheck {
        let name = self.db.dialect().name();
        let started = self.clock.moment();
        let (answer, written) = tokio::join!(
            timeout(DATABASE_LIMIT, migrate::version(&self.db)),
            self.db.probe_write(DATABASE_LIMIT)
        );
        let latency_ms = millis(self.clock.moment().since(started));
        let trouble = match answer {
            Ok(Ok(version)) if version == self.schema_version => written.err().map(|error| {
                tracing::warn!(cause = chain(&error), "the database takes no writes");
                format!("{name} takes no writes: {}", outward(&error))
            }),
            Ok(Ok(version)) => Some(format!(
                "{name} has schema version {version}, and this Mainstay works with {}",
                self.schema_version
            )),
            Ok(Err(error)) => {
                let cause = chain(&error);
                tracing::warn!(cause, "the database does not answer");
                Some(format!("{name} does not answer: {}", outward(&error)))
            }
            Err(_elapsed) => Some(format!("{name} did not answer within {latency_ms:.0} ms")),
        };
        let (status, detail) = match trouble {
            None => (CheckStatus::Healthy, format!("{name} answered in {latency_ms:.1} ms")),
            Some(trouble) => (CheckStatus::Down, trouble),
        };
        SystemCheck { name: "database".to_owned(), status, detail, latency_ms }
    }

    fn check_runtime(&self) -> SystemCheck {
        let (age, lag) = (self.pulse.age(), self.pulse.lag());
        let (status, detail) = if age > PULSE_LIMIT {
            let seconds = age.as_secs();
            (CheckStatus::Down, format!("The scheduler has not turned for {seconds} s"))
        } else {
            let lag_ms = millis(lag);
            (CheckStatus::Healthy, format!("The scheduler wakes tasks {lag_ms:.1} ms late"))
        };
        SystemCheck { name: "runtime".to_owned(), status, detail, latency_ms: millis(lag) }
    }
}

fn check_polling(monitor: &Monitor) -> SystemCheck {
    let pulse = monitor.engine.pulse();
    let (status, detail) = if pulse.is_late() {
        let (beat, sync) = (seconds(pulse.beat), seconds(pulse.sync));
        let detail = format!(
            "The poll loop last turned {beat} and last read the list of services {sync}; see the log"
        );
        (CheckStatus::Down, detail)
    } else if pulse.has_lapsed {
        let detail = "The lease could not be renewed: nothing is polled here until it is; look at the \
                      database";
        (CheckStatus::Down, detail.to_owned())
    } else {
        (CheckStatus::Healthy, "The poll loop turns".to_owned())
    };
    SystemCheck { name: "polling".to_owned(), status, detail, latency_ms: 0.0 }
}

fn check_recorder(monitor: &Monitor) -> SystemCheck {
    let health = monitor.recorder.health();
    let waiting = health.waiting;
    let (status, detail) = match health.failing_since {
        Some(since) => {
            let detail = format!(
                "Results can't be recorded since {since}; {waiting} wait; look at the database"
            );
            (CheckStatus::Down, detail)
        }
        None if waiting == 1 => (CheckStatus::Healthy, "1 result waits to be recorded".to_owned()),
        None => (CheckStatus::Healthy, format!("{waiting} results wait to be recorded")),
    };
    SystemCheck { name: "recorder".to_owned(), status, detail, latency_ms: 0.0 }
}

fn seconds(ago: Option<Duration>) -> String {
    ago.map_or_else(|| "never".to_owned(), |ago| format!("{} s ago", ago.as_secs()))
}

fn check_runner(runner: &Turning) -> SystemCheck {
    let age = runner.age();
    let (status, detail) = if runner.stands_still() {
        let seconds = age.as_secs();
        let cure = "its jobs are taken over when their leases end; restart this process";
        (CheckStatus::Down, format!("The job runner has not turned for {seconds} s; {cure}"))
    } else {
        (CheckStatus::Healthy, format!("The job runner turned {} ms ago", age.as_millis()))
    };
    SystemCheck { name: "runner".to_owned(), status, detail, latency_ms: 0.0 }
}

/// What may be told to everyone: the kind of trouble, without an address.
fn outward(error: &StoreError) -> &'static str {
    match error {
        StoreError::Unreachable { .. } => "it can't be reached",
        StoreError::Busy { .. } => "it is busy",
        StoreError::Closed => "Mainstay is stopping",
        StoreError::Environment { .. } => "it has no room, memory or time; the log says which",
        _ => "it gave an error; the log says which",
    }
}

/// An error with everything below it, for the log.
fn chain(error: &StoreError) -> String {
    let first: &dyn std::error::Error = error;
    let causes = std::iter::successors(Some(first), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// To the microsecond: more digits are noise.
fn millis(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1_000_000.0).round() / 1_000.0
}
