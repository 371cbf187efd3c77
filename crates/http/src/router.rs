//! Puts the routes together and the observing layer around them.

use std::fmt;
use std::sync::Arc;

use axum::Router;
use axum::extract::FromRef;
use bytes::Bytes;
use mainstay_accounts::Accounts;
use mainstay_base::{Clock, IdSource, Secret, Timestamp};
use mainstay_fleet::Fleet;
use mainstay_fleet::agent::Agent;
use mainstay_jobs::Jobs;
use mainstay_journeys::Journeys;
use mainstay_reports::Reports;
use tokio_util::sync::CancellationToken;

use crate::access::{self, Doors, Entry};
use crate::authenticate::{AuthenticateLayer, Guard};
use crate::client::Trusts;
use crate::gate::Gate;
use crate::limits::Limits;
use crate::observe::{ObserveLayer, Watch};
use crate::origin::SiteOrigin;
use crate::probe::SharedProbe;
use crate::settings::SettingView;
use crate::sse::Live;
use crate::surface::{Assets, BuildInfo, Monitor, Probe, Site, Surface, Vitals};
use crate::{headers, measure, openapi, routes};

/// The whole surface, ready for [`serve`](crate::serve).
#[derive(Clone)]
pub struct Service {
    pub(crate) router: Router,
    pub(crate) limits: Limits,
    pub(crate) trusts: Trusts,
    /// Ends what would go on for ever.
    pub(crate) stopping: CancellationToken,
}

impl fmt::Debug for Service {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Service").field("limits", &self.limits).finish_non_exhaustive()
    }
}

/// What the routes share.
pub(crate) struct State {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) accounts: Accounts,
    pub(crate) live: Live,
    pub(crate) jobs: Jobs,
    pub(crate) monitor: Monitor,
    pub(crate) journeys: Journeys,
    pub(crate) reports: Reports,
    pub(crate) fleet: Fleet,
    pub(crate) build: BuildInfo,
    pub(crate) started_at: Timestamp,
    pub(crate) probe: Arc<dyn Probe>,
    pub(crate) shared_probe: SharedProbe,
    pub(crate) assets: Arc<dyn Assets>,
    pub(crate) metrics: Metrics,
    pub(crate) site: Site,
    pub(crate) origin: SiteOrigin,
    pub(crate) openapi: Bytes,
    /// No more requests are taken, and streams have to end.
    pub(crate) stopping: CancellationToken,
    pub(crate) settings: Arc<[SettingView]>,
    pub(crate) limits: Limits,
}

/// The state as handlers take it.
pub(crate) type SharedState = Arc<State>;

impl FromRef<SharedState> for Limits {
    fn from_ref(state: &SharedState) -> Self {
        state.limits
    }
}

impl FromRef<SharedState> for SharedProbe {
    fn from_ref(state: &SharedState) -> Self {
        state.shared_probe.clone()
    }
}

impl FromRef<SharedState> for Metrics {
    fn from_ref(state: &SharedState) -> Self {
        state.metrics.clone()
    }
}

/// Every metric as text.
#[derive(Clone)]
pub(crate) struct Metrics(pub(crate) Arc<dyn Fn() -> String + Send + Sync>);

/// Builds the surface. The metrics recorder must be installed before, or nothing is counted.
#[must_use]
pub fn service(surface: Surface) -> Service {
    assemble(surface, Router::new(), &[])
}

/// The surface with `more` routes under the same layers and the same limits, for whom `entries` say.
pub(crate) fn assemble(surface: Surface, more: Router<SharedState>, entries: &[Entry]) -> Service {
    let (router, document) = openapi::documented();
    let limits = surface.limits;
    let trusts = Arc::clone(&surface.trusts);
    let Surface { clock, ids, site, accounts, .. } = &surface;
    let watch = watch(clock, ids, site, &limits);
    let guard = guard(accounts, site, entries);
    let stopping = CancellationToken::new();
    let router = router
        .merge(routes::undocumented())
        .merge(more)
        .fallback(routes::assets::fallback)
        // As one: each call of `layer` would cost an allocation for each request.
        .layer((ObserveLayer(watch), AuthenticateLayer(guard)))
        .with_state(state(surface, openapi::text(&document), stopping.clone()));
    Service { router, limits, trusts, stopping }
}

/// Builds the surface of a process that has no site: `/healthz`, `/readyz`, `/metrics` and nothing else,
/// under the same layers and the same limits.
#[must_use]
pub fn vitals(vitals: Vitals) -> Service {
    let Vitals { clock, ids, accounts, probe, metrics, site, limits } = vitals;
    let watch = watch(&clock, &ids, &site, &limits);
    let guard = guard(&accounts, &site, &[]);
    let probe = SharedProbe::new(probe, clock, &limits);
    let router = routes::vitals()
        .layer((ObserveLayer(watch), AuthenticateLayer(guard)))
        .with_state(VitalState { probe, metrics: Metrics(metrics) });
    // It stands behind no proxy of its own: whoever connects is who asks.
    let trusts = Arc::new(|_| false);
    Service { router, limits, trusts, stopping: CancellationToken::new() }
}

/// Builds the surface of an agent: its own routes for whoever has its token, and nothing of the site.
#[must_use]
pub fn agent(agent: Agent, token: Secret<String>, limits: Limits) -> Service {
    let router = routes::agent::routes(agent, token);
    Service { router, limits, trusts: Arc::new(|_| false), stopping: CancellationToken::new() }
}

/// What the routes of [`vitals`] share.
#[derive(Clone)]
pub(crate) struct VitalState {
    probe: SharedProbe,
    metrics: Metrics,
}

impl FromRef<VitalState> for SharedProbe {
    fn from_ref(state: &VitalState) -> Self {
        state.probe.clone()
    }
}

impl FromRef<VitalState> for Metrics {
    fn from_ref(state: &VitalState) -> Self {
        state.metrics.clone()
    }
}

fn watch(clock: &Arc<dyn Clock>, ids: &IdSource, site: &Site, limits: &Limits) -> Arc<Watch> {
    Arc::new(Watch {
        clock: Arc::clone(clock),
        ids: ids.clone(),
        in_flight: measure::in_flight(),
        gate: Gate::new(site, limits),
        // Browsers keep HSTS by host name for every port, so on loopback it would break the
        // machine's other sites.
        headers: headers::template(site.https && !site.alone),
        request_time: limits.request_time,
        upload_time: limits.upload_time,
    })
}

fn guard(accounts: &Accounts, site: &Site, entries: &[Entry]) -> Arc<Guard> {
    let table = access::TABLE.iter().chain(entries).copied();
    let (doors, cookie) = (Doors::new(table, site), site.cookie.clone());
    Arc::new(Guard { accounts: accounts.clone(), doors, cookie })
}

fn state(surface: Surface, openapi: String, stopping: CancellationToken) -> SharedState {
    let Surface {
        clock,
        accounts,
        live,
        jobs,
        monitor,
        journeys,
        reports,
        fleet,
        build,
        started_at,
        probe,
        assets,
        metrics,
        site,
        settings,
        limits,
        ..
    } = surface;
    let shared_probe = SharedProbe::new(Arc::clone(&probe), Arc::clone(&clock), &limits);
    let metrics = Metrics(metrics);
    let openapi = openapi.into();
    Arc::new(State {
        clock,
        accounts,
        live,
        jobs,
        monitor,
        journeys,
        reports,
        fleet,
        build,
        started_at,
        probe,
        shared_probe,
        assets,
        metrics,
        origin: SiteOrigin::new(&site),
        site,
        openapi,
        stopping,
        settings,
        limits,
    })
}
