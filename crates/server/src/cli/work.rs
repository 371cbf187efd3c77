//! `mainstay work`: a runner of jobs without the server.

use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;
use mainstay_base::{Clock, SystemClock};
use tokio_util::sync::CancellationToken;

use super::data::{DataFlags, Source};
use crate::config::{Config, jobs, log};
use crate::exit::Exit;
use crate::metrics::Recorder;
use crate::rooms::{self, Rooms};
use crate::saturation::Pulse;
use crate::{data, runtime, shutdown, work};

const EXAMPLES: &str = "\
Examples:
  mainstay work --database postgres://mainstay:secret@db.internal/mainstay
  mainstay work --concurrency 8
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
    data::prepare_folder(config)?;
    let _lock = data::lock(config)?;
    let recorder = Recorder::install()?;
    let opening = rooms::open(config, Arc::clone(&clock));
    let Some(opened) = stop.run_until_cancelled(opening).await else {
        tracing::info!("stopped before the database was open");
        return Ok(Exit::Fine);
    };
    let (Rooms { jobs, handlers, .. }, ending) = opened?;
    let runner = work::run(config, jobs, handlers, stop.clone())?;
    let pulse = Pulse::new(clock);
    pulse.beat(stop, || recorder.upkeep()).await;
    runner.finished().await;
    ending.close().await;
    tracing::info!("stopped");
    Ok(Exit::Fine)
}
