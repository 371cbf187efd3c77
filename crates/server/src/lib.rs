//! The `mainstay` program: [`cli`] → [`config`] → [`telemetry`] → a command → [`exit`].
//!
//! `serve` binds (`listen`, `descriptors`), opens the data (`data`) and the rooms on it (`rooms`, `room` with `pepper`),
//! polls services (`monitor`), runs jobs (`work` with `post`), joins all to a surface (`wire`), watches itself (`metrics`, `saturation`) and ends by [`shutdown`].
//! `demo` plays a simulated company to it, `agent` runs nets on a worker.
//!
//! A library, so that tests reach its parts; the binary only calls [`run`].

mod agent;
pub mod cli;
pub mod config;
mod data;
mod demo;
mod descriptors;
pub mod exit;
mod fleet;
mod journey;
mod listen;
mod metrics;
mod monitor;
mod net;
pub mod output;
mod pepper;
mod post;
mod report;
mod room;
mod rooms;
mod runtime;
mod saturation;
pub mod shutdown;
pub mod telemetry;
mod timeline;
mod wire;
mod work;

use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser as _;
use mainstay_base::SystemClock;

use cli::data::Source;
use cli::{Cli, Command};
use config::environment::{self, Screen};
use config::{Config, Loaded};
use exit::Exit;

/// The version, with the commit where it is known.
pub const VERSION: &str = env!("BUILT_VERSION");

/// The commit that this was built from, where it is known.
pub const COMMIT: Option<&str> = option_env!("BUILT_COMMIT");

/// Does what the command line asks for.
#[must_use]
pub fn run() -> ExitCode {
    exit::conclude(execute(Cli::parse().chosen())).into()
}

fn execute(command: Command) -> anyhow::Result<Exit> {
    match command {
        Command::Serve(serve) if serve.print_config => print_config(serve.source()),
        Command::Serve(serve) => with_config(serve.source(), cli::serve::run),
        Command::Demo(demo) => cli::demo::run(&demo),
        Command::Work(work) => with_config(work.source(), cli::work::run),
        Command::Agent(agent) => cli::agent::run(&agent),
        Command::Admin(admin) => {
            with_config(admin.source(), |config| cli::admin::run(&admin.action, config))
        }
        Command::Check(check) => cli::check::run(&check),
        Command::Journey(journey) => cli::journey::run(&journey),
        Command::Services(services) => cli::services::run(&services),
        Command::Migrate(migrate) => {
            with_config(migrate.source(), |config| cli::migrate::run(&migrate.action, config))
        }
        Command::Backup(backup) => {
            with_config(backup.data.source(), |config| cli::backup::run(&backup.file, config))
        }
        Command::Restore(restore) => {
            with_config(restore.data.source(), |config| cli::restore::run(&restore.file, config))
        }
        Command::Openapi(_) => cli::openapi::run(),
    }
}

fn print_config(source: Source<'_>) -> anyhow::Result<Exit> {
    let loaded = config::load(source.input(environment::variables()))?;
    output::write_stdout(&config::print::print(&loaded.layers))?;
    Ok(Exit::Fine)
}

/// Runs a command with its configuration.
fn with_config(
    source: Source<'_>,
    command: impl FnOnce(&Config) -> anyhow::Result<Exit>,
) -> anyhow::Result<Exit> {
    let variables = environment::variables();
    let screen = environment::screen(&variables);
    under_log(config::load(source.input(variables))?, screen, command)
}

/// Runs a command under logging that is flushed when it ends.
fn under_log(
    loaded: Loaded,
    screen: Screen,
    command: impl FnOnce(&Config) -> anyhow::Result<Exit>,
) -> anyhow::Result<Exit> {
    let Loaded { config, warnings, .. } = loaded;
    let telemetry = telemetry::install(&config, screen, Arc::new(SystemClock::new()))?;
    for warning in warnings {
        tracing::warn!("{warning}");
    }
    let result = command(&config);
    telemetry.stop();
    result
}
