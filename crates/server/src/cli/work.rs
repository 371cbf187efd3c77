//! `mainstay work`: a runner of jobs without the server.

use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;
use mainstay_base::{Clock, SystemClock};
use mainstay_http::Vitals;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::data::{DataFlags, Source};
use crate::config::{Config, jobs, log};
use crate::exit::Exit;
use crate::metrics::Recorder;
use crate::rooms::{self, Rooms};
use crate::saturation::Pulse;
use crate::wire::{self, WorkParts};
use crate::work::{self, Crew};
use crate::{data, journey, listen, runtime, shutdown};

const EXAMPLES: &str = "\
Examples:
  mainstay work --database postgres://mainstay:secret@db.internal/mainstay
  mainstay work --concurrency 8
  mainstay work --listen 0.0.0.0:7374
  WORKER_ID=reports-1 mainstay work

Start as many as you like, on as many machines: PostgreSQL shares the work out. An SQLite file belongs to
one process, so there `mainstay serve` runs the jobs itself.";

/// The flags of `work`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Work {
    #[command(flatten)]
    data: DataFlags,
    #[arg(long, value_name = "NUMBER", help = jobs::CONCURRENCY.help)]
    concurrency: Option<String>,
    #[arg(long, value_name = "ADDR", help = jobs::LISTEN.help)]
    listen: Option<String>,
    #[arg(long, value_name = "FORMAT", help = log::FORMAT.help)]
    log_format: Option<String>,
    #[arg(long, value_name = "LEVELS", help = log::LEVEL.help)]
    log_level: Option<String>,
}

impl Work {
    pub(crate) fn source(&self) -> Source<'_> {
        self.data
            .source()
            .with(&jobs::CONCURRENCY, self.concurrency.as_ref())
            .with(&jobs::LISTEN, self.listen.as_ref())
            .with(&log::FORMAT, self.log_format.as_ref())
            .with(&log::LEVEL, self.log_level.as_ref())
    }
}

/// Runs jobs until a signal asks to stop.
///
/// # Errors
/// What kept it from doing so, and what to do.
pub fn run(config: &Config) -> anyhow::Result<Exit> {
    runtime::block_on(run_jobs(config))?
}

async fn run_jobs(config: &Config) -> anyhow::Result<Exit> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let stop = CancellationToken::new();
    let grace = shutdown::grace(Some(config.jobs.stop));
    shutdown::on_signals(stop.clone(), grace).context("signals can't be listened to")?;
    let listener = match &config.jobs.listen {
        Some(address) => Some((listen::bind(address).await?, address)),
        None => None,
    };
    data::prepare_folder(config)?;
    let _lock = data::lock(config)?;
    let recorder = Recorder::install()?;
    let opening = rooms::open(config, Arc::clone(&clock));
    let Some(opened) = stop.run_until_cancelled(opening).await else {
        tracing::info!("stopped before the database was open");
        return Ok(Exit::Fine);
    };
    let (
        Rooms { db, ids, schema_version, jobs, handlers, operator, accounts, journeys, .. },
        ending,
    ) = opened?;
    let own_port = listener.as_ref().and_then(|(listener, _)| listener.local_addr().ok());
    let own_port = own_port.map(|address| address.port());
    let traveller = journey::runner(config, &clock, &journeys, own_port)?;
    let runner = work::run(config, &jobs, Crew { handlers, traveller, operator }, &stop)?;
    let pulse = Pulse::new(Arc::clone(&clock));
    let telling = listener.map(|(listener, address)| {
        let (recorder, pulse, runner) = (recorder.clone(), Arc::clone(&pulse), runner.turning());
        let parts = WorkParts { clock, ids, db, schema_version, recorder, pulse, accounts, runner };
        tell(listener, wire::vitals(config, address, parts), stop.clone())
    });
    pulse.beat(stop, || recorder.upkeep()).await;
    runner.finished().await;
    if let Some(telling) = telling {
        // It ends with the stop, and a panic has been logged.
        let _ = telling.await;
    }
    ending.close().await;
    tracing::info!("stopped");
    Ok(Exit::Fine)
}

/// Tells whoever asks how this runner is, until the stop.
fn tell(listener: TcpListener, vitals: Vitals, stop: CancellationToken) -> JoinHandle<()> {
    if let Ok(address) = listener.local_addr() {
        // Port 0 is known only now.
        tracing::info!(%address, "telling of this runner at http://{address}/readyz");
    }
    tokio::spawn(async move {
        let (service, stopped) = (mainstay_http::vitals(vitals), stop.cancelled_owned());
        mainstay_http::serve(listener, None, service, stopped, shutdown::DRAIN).await;
    })
}
