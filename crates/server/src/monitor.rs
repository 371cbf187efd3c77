//! The monitor of this instance: services, the engine that polls them, and the recorder behind it.

use std::sync::{Arc, OnceLock};

use mainstay_accounts::Pepper;
use mainstay_base::{Clock, IdSource, Rng, SystemRng};
use mainstay_events::Events;
use mainstay_monitor::aliases::Aliases;
use mainstay_monitor::observe::WebObserver;
use mainstay_monitor::shards::{About, DatabaseClock, Errands, Instances};
use mainstay_monitor::{
    Engine, EngineParts, Graphs, GraphsOptions, Keeper, KeeperParts, Past, Recorder, Seal,
    Services, Tenure, Views,
};
use mainstay_outbound::{OwnDoor, Policy, Web, WebOptions};
use mainstay_store::Dialect;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::config::Config;

/// What the headers of services are sealed for.
const HEADERS: &str = "monitor.headers";

/// What the monitor is made of.
pub(crate) struct Parts {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: IdSource,
    pub(crate) events: Events,
    pub(crate) pepper: Pepper,
    /// Where Mainstay itself listens: nobody can have it poll that.
    pub(crate) own_port: u16,
}

/// The monitor of this instance.
#[derive(Clone)]
pub(crate) struct Monitor {
    pub(crate) engine: Engine,
    pub(crate) recorder: Recorder,
    /// What requests are answered from.
    pub(crate) surface: mainstay_http::Monitor,
    /// What whoever edits a service wakes.
    _woken: Arc<OnceLock<Engine>>,
}

/// Starts to poll until `stop`.
pub(crate) fn start(
    config: &Config,
    parts: Parts,
    tasks: &TaskTracker,
    stop: &CancellationToken,
) -> anyhow::Result<Monitor> {
    let Parts { clock, ids, events, pepper, own_port } = parts;
    let rng: Arc<dyn Rng> = Arc::new(SystemRng);
    let web = web(config, Arc::clone(&clock), Some(own_port))?;
    let observer = WebObserver::new(web, Arc::clone(&clock));
    // Whatever is stored of polls has the time of the database: clocks of instances may disagree.
    let wall = Arc::new(DatabaseClock::new(clock));
    let clock: Arc<dyn Clock> = Arc::clone(&wall) as _;
    // What is in the air at the stop is still recorded.
    let all_landed = CancellationToken::new();
    let (clock_of_recorder, stop_of_recorder) = (Arc::clone(&clock), all_landed.clone());
    let recorder =
        Recorder::start(events.clone(), clock_of_recorder, ids.clone(), tasks, stop_of_recorder);
    let tenure = match events.db().dialect() {
        Dialect::Sqlite => Tenure::alone(),
        Dialect::Postgres => Tenure::shared(),
    };
    // The engine asks the services, and the services wake the engine, but do not hold it: else neither
    // would ever end, nor the connections that the engine keeps.
    let woken: Arc<OnceLock<Engine>> = Arc::default();
    let edited = {
        let woken = Arc::downgrade(&woken);
        Arc::new(move || {
            if let Some(woken) = woken.upgrade()
                && let Some(engine) = woken.get()
            {
                engine.refresh();
            }
        })
    };
    let services = Services::new(events.clone(), ids.clone(), seal(pepper), edited);
    let views = Views::new(events.db().clone(), Arc::clone(&clock), config.history.missing());
    let past = Past::new(events.db().clone(), config.history.hours());
    let parts = EngineParts {
        policy: config.poll,
        source: Arc::new(services.clone()),
        observe: Arc::new(observer.clone()),
        sink: Arc::new(recorder.clone()),
        tenure: tenure.clone(),
        clock: Arc::clone(&clock),
        rng,
    };
    let engine = woken.get_or_init(|| Engine::start(parts, tasks, stop.clone())).clone();
    tasks.spawn(tell_when_landed(engine.clone(), stop.clone(), all_landed));
    let options =
        GraphsOptions { missing_for: config.history.missing(), ..GraphsOptions::default() };
    let graphs = Graphs::start(events.clone(), Arc::clone(&clock), options, tasks, stop.clone());
    let views = views.with_graphs(graphs.clone());
    let instances = Instances::new(events.db().clone(), Arc::clone(&clock), tenure.clone());
    let sharing = Sharing { events: &events, ids: &ids, tenure: &tenure, wall };
    keep_leases(sharing, &recorder, own_port, tasks, stop);
    let errands = Errands::start(
        events.clone(),
        ids.clone(),
        clock,
        engine.clone(),
        tenure,
        tasks,
        stop.clone(),
    );
    let surface = mainstay_http::Monitor {
        services,
        aliases: Aliases::new(events, ids),
        views,
        graphs,
        past,
        polling: Arc::new(errands),
        instances,
        fetch: Arc::new(observer),
    };
    Ok(Monitor { engine, recorder, surface, _woken: woken })
}

/// Ends the recorder when the last poll has landed, after the stop.
async fn tell_when_landed(engine: Engine, stop: CancellationToken, all_landed: CancellationToken) {
    stop.cancelled().await;
    engine.landed().await;
    all_landed.cancel();
}

/// What the instances share.
struct Sharing<'a> {
    events: &'a Events,
    ids: &'a IdSource,
    tenure: &'a Tenure,
    wall: Arc<DatabaseClock>,
}

/// Shares the polling with other instances on the same database.
fn keep_leases(
    sharing: Sharing<'_>,
    recorder: &Recorder,
    own_port: u16,
    tasks: &TaskTracker,
    stop: &CancellationToken,
) {
    let machine = rustix::system::uname();
    let name = format!("{}:{own_port}", machine.nodename().to_string_lossy());
    let parts = KeeperParts {
        events: sharing.events.clone(),
        wall: sharing.wall,
        ids: sharing.ids.clone(),
        tenure: sharing.tenure.clone(),
        about: About { name, version: env!("CARGO_PKG_VERSION") },
        recorded: recorder.ended(),
    };
    Keeper::start(parts, tasks, stop.clone());
}

/// Calls by HTTP, held to what the configuration allows.
pub(crate) fn web(
    config: &Config,
    clock: Arc<dyn Clock>,
    own_port: Option<u16>,
) -> anyhow::Result<Web> {
    let policy = Policy {
        private: config.alone(),
        allow: config.outbound.allow.clone(),
        own: own_port.map(OwnDoor::new),
    };
    let mut options = WebOptions::new(policy, clock)?;
    options.ca_file.clone_from(&config.outbound.ca_file);
    Ok(Web::new(&options)?)
}

/// Seals with the pepper of this installation.
pub(crate) fn seal(pepper: Pepper) -> Arc<dyn Seal> {
    Arc::new(PepperSeal { pepper, rng: Arc::new(SystemRng) })
}

struct PepperSeal {
    pepper: Pepper,
    rng: Arc<dyn Rng>,
}

impl Seal for PepperSeal {
    fn seal(&self, plain: &[u8]) -> String {
        self.pepper.seal(HEADERS, plain, &*self.rng)
    }

    fn open(&self, sealed: &str) -> Option<Vec<u8>> {
        self.pepper.open(HEADERS, sealed)
    }
}
