//! What the surface is given: `server` fills a [`Surface`] in, and nothing else reaches the routes.

use std::fmt;
use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;

use mainstay_accounts::Accounts;
use mainstay_base::{Clock, IdSource, Timestamp};
use mainstay_fleet::Fleet;
use mainstay_jobs::Jobs;
use mainstay_journeys::Journeys;
use mainstay_monitor::aliases::Aliases;
use mainstay_monitor::shards::Instances;
use mainstay_monitor::{Fetch, Graphs, Past, Polling, Services, Views};
use mainstay_reports::Reports;
use serde::Serialize;
use utoipa::ToSchema;

use crate::cookie::CookieName;
use crate::limits::Limits;
use crate::settings::SettingView;
use crate::sse::Live;

/// Everything the routes answer from.
#[derive(Clone)]
pub struct Surface {
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Where request ids come from.
    pub ids: IdSource,
    /// Who may do what.
    pub accounts: Accounts,
    /// What happens, as it happens.
    pub live: Live,
    /// Background work.
    pub jobs: Jobs,
    /// What is watched.
    pub monitor: Monitor,
    /// Scripted paths of a user.
    pub journeys: Journeys,
    /// Transcripts and the reports made of them.
    pub reports: Reports,
    /// Workers and their nets.
    pub fleet: Fleet,
    /// Which Mainstay this is.
    pub build: BuildInfo,
    /// When it started.
    pub started_at: Timestamp,
    /// How it looks at its own health.
    pub probe: Arc<dyn Probe>,
    /// The dashboard.
    pub assets: Arc<dyn Assets>,
    /// The metrics in Prometheus' text format.
    pub metrics: Arc<dyn Fn() -> String + Send + Sync>,
    /// Where it is reached from.
    pub site: Site,
    /// Which addresses are proxies whose `X-Forwarded-For` is believed.
    pub trusts: Arc<dyn Fn(IpAddr) -> bool + Send + Sync>,
    /// What is set, by key, secrets masked.
    pub settings: Arc<[SettingView]>,
    /// The bounds.
    pub limits: Limits,
}

/// What a process without a site answers from: whether it is alive and does its work, and its metrics.
#[derive(Clone)]
pub struct Vitals {
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Where request ids come from.
    pub ids: IdSource,
    /// Who may read the metrics.
    pub accounts: Accounts,
    /// How it looks at its own health.
    pub probe: Arc<dyn Probe>,
    /// The metrics in Prometheus' text format.
    pub metrics: Arc<dyn Fn() -> String + Send + Sync>,
    /// Where it is reached from.
    pub site: Site,
    /// The bounds.
    pub limits: Limits,
}

impl fmt::Debug for Vitals {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Vitals")
            .field("site", &self.site)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Surface {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Surface")
            .field("build", &self.build)
            .field("site", &self.site)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// What is watched, and who watches it.
#[derive(Clone)]
pub struct Monitor {
    /// Services as people define them.
    pub services: Services,
    /// Names and links of dependencies.
    pub aliases: Aliases,
    /// What is shown of both.
    pub views: Views,
    /// What leans on what.
    pub graphs: Graphs,
    /// How both were.
    pub past: Past,
    /// Who polls.
    pub polling: Arc<dyn Polling>,
    /// Which instances share the polling.
    pub instances: Instances,
    /// How an address is called that somebody names.
    pub fetch: Arc<dyn Fetch>,
}

impl fmt::Debug for Monitor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Monitor")
    }
}

/// Which Mainstay this is.
#[derive(Debug, Clone, Copy)]
pub struct BuildInfo {
    /// The version of the release.
    pub version: &'static str,
    /// The commit it was built from, where that is known.
    pub commit: Option<&'static str>,
}

/// Where the site is reached from.
#[derive(Debug, Clone, Default)]
pub struct Site {
    /// It listens on loopback, without a public URL and without a trusted proxy.
    pub alone: bool,
    /// Browsers reach it by HTTPS, through its own TLS or that of its public URL.
    pub https: bool,
    /// Its public URL, as an origin such as `https://mainstay.example.com`.
    pub origin: Option<String>,
    /// The metrics are open to everyone.
    pub metrics_public: bool,
    /// What the cookie of a session is called.
    pub cookie: CookieName,
    /// What it watches is made up.
    pub is_demo: bool,
}

/// Looks at the health of what Mainstay itself leans on.
///
/// What it says is shown to everyone who reaches `/readyz`: no inner address and no secret.
pub trait Probe: Send + Sync + 'static {
    /// The database that is in use.
    fn database(&self) -> SystemDatabase;

    /// Looks once. It is asked at most about once a second, and dropped when it takes too long.
    fn check(&self) -> Pin<Box<dyn Future<Output = Vec<SystemCheck>> + Send + '_>>;
}

/// The database that is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct SystemDatabase {
    /// Which kind it is.
    pub kind: DatabaseKind,
    /// The number of its newest migration.
    #[schema(example = 1)]
    pub schema_version: u32,
}

/// The kinds of databases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DatabaseKind {
    /// Embedded SQLite.
    Sqlite,
    /// PostgreSQL.
    Postgres,
}

/// One look at one thing that Mainstay leans on.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct SystemCheck {
    /// What was looked at.
    #[schema(example = "database")]
    pub name: String,
    /// What was found.
    pub status: CheckStatus,
    /// What was found, in a sentence.
    #[schema(example = "SQLite answered in 0.2 ms")]
    pub detail: String,
    /// How long looking took, in milliseconds.
    #[schema(example = 0.2)]
    pub latency_ms: f64,
}

/// What a check found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckStatus {
    /// It works.
    Healthy,
    /// It does not.
    Down,
}

/// The files of the dashboard.
pub trait Assets: Send + Sync + 'static {
    /// The file at exactly this path, such as `/assets/index-abc.js`.
    fn find(&self, path: &str) -> Option<Asset>;

    /// The page that every path of the dashboard opens.
    fn index(&self) -> Asset;
}

/// One file of the dashboard.
#[derive(Debug, Clone, Copy)]
pub struct Asset {
    /// Its media type.
    pub content_type: &'static str,
    /// A strong tag in quotes, made from its content.
    pub etag: &'static str,
    /// Its name holds a hash of its content, so it never changes.
    pub immutable: bool,
    /// Its bytes.
    pub identity: &'static [u8],
    /// Its bytes, compressed by Brotli.
    pub brotli: Option<&'static [u8]>,
    /// Its bytes, compressed by gzip.
    pub gzip: Option<&'static [u8]>,
}
