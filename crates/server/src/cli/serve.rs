//! `mainstay serve`, and `mainstay` alone.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;
use mainstay_accounts::Token;
use mainstay_base::{Clock, SystemClock, SystemRng};
use mainstay_http::{CookieName, Drained, Live, Proofs, Surface, Tls};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::data::{DataFlags, Source};
use crate::config::{Config, http, log, tls};
use crate::exit::Exit;
use crate::metrics::Recorder;
use crate::rooms::{self, Rooms};
use crate::saturation::Pulse;
use crate::wire::{self, Parts};
use crate::work::{self, Crew, Runners};
use crate::{data, descriptors, journey, listen, monitor, runtime, shutdown};

const EXAMPLES: &str = "\
Examples:
  mainstay serve
  mainstay serve --listen 0.0.0.0:7373 --public-url https://mainstay.example.com
  mainstay serve --database postgres://mainstay:secret@db.internal/mainstay
  mainstay serve --print-config";

/// The flags of `serve`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Serve {
    #[command(flatten)]
    data: DataFlags,
    #[arg(long, value_name = "ADDR", help = http::LISTEN.help)]
    listen: Option<String>,
    #[arg(long, value_name = "URL", help = http::PUBLIC_URL.help)]
    public_url: Option<String>,
    #[arg(long, value_name = "FILE", help = tls::CERT.help)]
    tls_cert: Option<String>,
    #[arg(long, value_name = "FILE", help = tls::KEY.help)]
    tls_key: Option<String>,
    #[arg(long, value_name = "FORMAT", help = log::FORMAT.help)]
    log_format: Option<String>,
    #[arg(long, value_name = "LEVELS", help = log::LEVEL.help)]
    log_level: Option<String>,
    /// Show the effective configuration with secrets masked, and exit
    #[arg(long)]
    pub(crate) print_config: bool,
}

impl Serve {
    pub(crate) fn source(&self) -> Source<'_> {
        self.data
            .source()
            .with(&http::LISTEN, self.listen.as_ref())
            .with(&http::PUBLIC_URL, self.public_url.as_ref())
            .with(&tls::CERT, self.tls_cert.as_ref())
            .with(&tls::KEY, self.tls_key.as_ref())
            .with(&log::FORMAT, self.log_format.as_ref())
            .with(&log::LEVEL, self.log_level.as_ref())
    }
}

/// Serves until a signal asks to stop.
///
/// # Errors
/// What kept it from serving, and what to do.
pub fn run(config: &Config) -> anyhow::Result<Exit> {
    runtime::block_on(serve(config))?
}

async fn serve(config: &Config) -> anyhow::Result<Exit> {
    let stop = CancellationToken::new();
    let grace = shutdown::grace(config.jobs.embedded.then_some(config.jobs.stop));
    shutdown::on_signals(stop.clone(), grace).context("signals can't be listened to")?;
    let listener = listen::bind(&config.http.listen).await?;
    let opening = Opening {
        is_demo: false,
        cookie: |_| CookieName::default(),
        prepare: async |rooms: &Rooms| Ok(rooms.accounts.setup_token().await?),
        announce: |setup: Option<Token>, site: &str| {
            tell_setup(site, setup.as_ref());
            Ok(())
        },
    };
    serve_on(config, Arc::new(SystemClock::new()), listener, &stop, opening).await
}

/// What a command does when the doors open.
pub(crate) struct Opening<Prepare, Announce> {
    /// Whether what is watched is made up.
    pub(crate) is_demo: bool,
    /// What the cookie of a session is called, by the port.
    pub(crate) cookie: fn(u16) -> CookieName,
    /// With the rooms, before anybody is let in.
    pub(crate) prepare: Prepare,
    /// With what came of that and the address of the site, when everybody is.
    pub(crate) announce: Announce,
}

/// Serves on a bound address until `stop`.
pub(crate) async fn serve_on<Prepare, Announce, Prepared>(
    config: &Config,
    clock: Arc<dyn Clock>,
    listener: TcpListener,
    stop: &CancellationToken,
    opening: Opening<Prepare, Announce>,
) -> anyhow::Result<Exit>
where
    Prepare: AsyncFnOnce(&Rooms) -> anyhow::Result<Prepared>,
    Announce: FnOnce(Prepared, &str) -> anyhow::Result<()>,
{
    let tls =
        config.tls.as_ref().map(|files| Tls::from_files(&files.cert, &files.key)).transpose()?;
    descriptors::raise(config.http.max_connections);
    data::prepare_folder(config)?;
    let _lock = data::lock(config)?;
    let recorder = Recorder::install()?;
    let rooms = rooms::open(config, Arc::clone(&clock));
    let Some(opened) = stop.run_until_cancelled(rooms).await else {
        tracing::info!("stopped before the database was open");
        return Ok(Exit::Fine);
    };
    let (rooms, ending) = opened?;
    let mut tasks = Tasks::default();
    let process = Process { clock, recorder, listener, tls };
    let served = open_doors(config, process, rooms, opening, &mut tasks, stop).await;
    // However it ended, nothing of it goes on.
    stop.cancel();
    tasks.finished().await;
    ending.close().await;
    let drained = served?;
    tracing::info!(open = drained.open, cut = drained.cut, "stopped");
    Ok(Exit::Fine)
}

/// Starts all that runs and answers everybody, until the stop.
async fn open_doors<Prepare, Announce, Prepared>(
    config: &Config,
    process: Process,
    rooms: Rooms,
    opening: Opening<Prepare, Announce>,
    tasks: &mut Tasks,
    stop: &CancellationToken,
) -> anyhow::Result<Drained>
where
    Prepare: AsyncFnOnce(&Rooms) -> anyhow::Result<Prepared>,
    Announce: FnOnce(Prepared, &str) -> anyhow::Result<()>,
{
    let Process { clock, recorder, listener, tls } = process;
    let prepared = (opening.prepare)(&rooms).await?;
    let bound = listener.local_addr().context("the bound address can't be read")?;
    let (own_port, is_demo) = (bound.port(), opening.is_demo);
    let beside = Beside { clock, recorder, own_port, cookie: (opening.cookie)(own_port), is_demo };
    let surface = start(config, beside, rooms, tasks, stop)?;
    let service = mainstay_http::service(surface);
    let site = announce(config, bound);
    (opening.announce)(prepared, &site)?;
    let stopped = stop.clone().cancelled_owned();
    Ok(mainstay_http::serve(listener, tls, service, stopped, shutdown::DRAIN).await)
}

/// What runs beside the requests, until the stop.
#[derive(Default)]
struct Tasks {
    tasks: JoinSet<()>,
    monitor: TaskTracker,
    runner: Option<Runners>,
}

/// What this process has whatever it does.
struct Process {
    clock: Arc<dyn Clock>,
    recorder: Recorder,
    listener: TcpListener,
    tls: Option<Tls>,
}

/// What is known of the process where its tasks start.
struct Beside {
    clock: Arc<dyn Clock>,
    recorder: Recorder,
    own_port: u16,
    cookie: CookieName,
    is_demo: bool,
}

impl Tasks {
    async fn finished(mut self) {
        // A task that panicked has been logged, and there is nothing left to do for it.
        while self.tasks.join_next().await.is_some() {}
        self.monitor.close();
        self.monitor.wait().await;
        if let Some(runner) = self.runner {
            runner.finished().await;
        }
    }
}

/// Starts what runs beside the requests. What `running` holds was started, even if not all could be.
fn start(
    config: &Config,
    beside: Beside,
    rooms: Rooms,
    running: &mut Tasks,
    stop: &CancellationToken,
) -> anyhow::Result<Surface> {
    let Beside { clock, recorder, own_port, cookie, is_demo } = beside;
    let Tasks { tasks, monitor: polls, runner } = running;
    let Rooms { db, ids, schema_version, events, jobs, handlers, accounts, seen, .. } = rooms;
    let Rooms { pepper, journeys, reports, fleet, operator, .. } = rooms;
    let parts = monitor::Parts {
        clock: Arc::clone(&clock),
        ids: ids.clone(),
        events: events.clone(),
        pepper,
        own_port,
    };
    let monitor = monitor::start(config, parts, polls, stop)?;
    tasks.spawn(mainstay_accounts::engine::run(accounts.clone(), seen, stop.clone()));
    let proofs = Proofs::new(accounts.clone(), Arc::clone(&clock));
    tasks.spawn(proofs.clone().run(events.doorbell().clone(), stop.clone()));
    let pulse = Pulse::new(Arc::clone(&clock));
    tasks.spawn({
        let (pulse, recorder, stop) = (Arc::clone(&pulse), recorder.clone(), stop.clone());
        async move { pulse.beat(stop, || recorder.upkeep()).await }
    });
    let sweeping = mainstay_fleet::Engine::new(fleet.clone()).start(stop.clone());
    tasks.spawn(sweeping.finished());
    let traveller = journey::runner(config, &clock, &journeys, Some(own_port))?;
    // Also where others run them: their runs follow what is done to their jobs here.
    jobs.register(&[Arc::clone(&traveller)]);
    tasks.spawn(mainstay_journeys::engine::run(journeys.clone(), stop.clone()));
    if config.jobs.embedded {
        let crew = Crew { handlers, traveller, operator };
        *runner = Some(work::run(config, &jobs, crew, stop)?);
    } else {
        // Whoever runs jobs elsewhere need not have metrics that are read.
        tasks.spawn(mainstay_jobs::tell_depth(jobs.clone(), stop.clone()));
    }
    let live = Live {
        connections: events.connections().clone(),
        events,
        proofs,
        rng: Arc::new(SystemRng),
        max_per_user: config.sse.max_per_user,
        max_per_token: config.sse.max_per_token,
    };
    let parts = Parts {
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
        runner: runner.as_ref().map(Runners::turning),
        cookie,
        is_demo,
    };
    Ok(wire::surface(config, parts))
}

/// Tells the log where the site is, and gives its address.
fn announce(config: &Config, bound: SocketAddr) -> String {
    if !config.alone() && !wire::is_https(config) {
        tracing::warn!(
            "serving plain HTTP beyond this machine: what is sent can be read on the way; set \
             --tls-cert and --tls-key, or --public-url https://... behind a proxy that speaks TLS"
        );
    }
    if !mainstay_web::built() {
        tracing::warn!("this build has no dashboard: install Node 20 or newer and build again");
    }
    let site = listen::site_address(config, bound);
    // The site's address need not be the bound one, and port 0 is known only now.
    tracing::info!(version = crate::VERSION, address = %bound, "Mainstay is ready at {site}");
    site
}

/// As long as nobody has an account, the log is the only place that says how to make one.
fn tell_setup(site: &str, setup: Option<&Token>) {
    if let Some(token) = setup {
        tracing::info!(
            "there is no account yet; make the first one within a day at {site}/setup#{}",
            token.reveal()
        );
    }
}

#[cfg(test)]
#[path = "serve_tests.rs"]
mod tests;
