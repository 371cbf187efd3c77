//! `mainstay migrate up|down [N]|status`.

use std::sync::Arc;

use clap::{Args, Subcommand};
use mainstay_base::SystemClock;
use mainstay_store::migrate::{self, Moved, Step};

use super::data::{DataFlags, Source};
use crate::config::{Config, DatabaseKind};
use crate::exit::Exit;
use crate::output::write_stdout;
use crate::{data, runtime};

/// The most migrations that one `down` undoes.
const MAX_DOWN: i64 = 10_000;

const EXAMPLES: &str = "\
Examples:
  mainstay migrate status
  mainstay migrate up
  mainstay migrate down 1 --data-dir /var/lib/mainstay";

const UP_EXAMPLES: &str = "\
Examples:
  mainstay migrate up
  mainstay migrate up --database postgres://mainstay:secret@db.internal/mainstay";

const DOWN_EXAMPLES: &str = "\
Examples:
  mainstay migrate down
  mainstay migrate down 3";

const STATUS_EXAMPLES: &str = "\
Examples:
  mainstay migrate status
  mainstay migrate status --data-dir /var/lib/mainstay";

/// The arguments of `migrate`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, disable_help_subcommand = true)]
pub struct Migrate {
    #[command(subcommand)]
    pub(crate) action: Action,
}

/// What to do with the schema.
#[derive(Debug, Subcommand)]
pub enum Action {
    /// Apply every migration that is missing
    #[command(after_help = UP_EXAMPLES)]
    Up {
        /// Where the data is.
        #[command(flatten)]
        data: DataFlags,
    },
    /// Undo the latest migrations, which loses what only they can hold
    #[command(after_help = DOWN_EXAMPLES)]
    Down {
        /// How many to undo
        #[arg(
            value_name = "N",
            default_value_t = 1,
            value_parser = clap::value_parser!(u32).range(1..=MAX_DOWN)
        )]
        count: u32,
        /// Where the data is.
        #[command(flatten)]
        data: DataFlags,
    },
    /// Show which migrations are applied and which are missing
    #[command(after_help = STATUS_EXAMPLES)]
    Status {
        /// Where the data is.
        #[command(flatten)]
        data: DataFlags,
    },
}

impl Migrate {
    pub(crate) fn source(&self) -> Source<'_> {
        match &self.action {
            Action::Up { data } | Action::Down { data, .. } | Action::Status { data } => {
                data.source()
            }
        }
    }
}

/// Migrates the database, or shows where it stands.
///
/// # Errors
/// What kept it from doing so, and what to do.
pub fn run(action: &Action, config: &Config) -> anyhow::Result<Exit> {
    let report = runtime::block_on(async {
        match action {
            Action::Up { .. } => up(config).await,
            Action::Down { count, .. } => down(config, *count).await,
            Action::Status { .. } => status(config).await,
        }
    })??;
    write_stdout(&report)?;
    Ok(Exit::Fine)
}

async fn up(config: &Config) -> anyhow::Result<String> {
    data::prepare_folder(config)?;
    let db = data::open(config, clock()).await?;
    let moved = migrate::up(&db).await;
    db.close().await;
    Ok(told("applied", &moved?))
}

/// An SQLite file must not be served while its schema goes down; instances on PostgreSQL notice by
/// their readiness check. A database that is not there stays away.
async fn down(config: &Config, count: u32) -> anyhow::Result<String> {
    if is_missing(config) {
        return Ok(told("reverted", &Moved { steps: Vec::new(), version: 0 }));
    }
    let _lock = data::lock(config)?;
    let db = data::open(config, clock()).await?;
    let moved = migrate::down(&db, count).await;
    db.close().await;
    Ok(told("reverted", &moved?))
}

async fn status(config: &Config) -> anyhow::Result<String> {
    if is_missing(config) {
        return Ok(listed(&migrate::unapplied()));
    }
    let db = data::open(config, clock()).await?;
    let steps = migrate::status(&db).await;
    db.close().await;
    Ok(listed(&steps?))
}

fn clock() -> Arc<SystemClock> {
    Arc::new(SystemClock::new())
}

/// Looking at a database must not make one.
fn is_missing(config: &Config) -> bool {
    matches!(&config.database.kind, DatabaseKind::Sqlite { path } if !path.exists())
}

fn told(done: &str, moved: &Moved) -> String {
    let mut lines: String =
        moved.steps.iter().map(|(version, name)| format!("{done} {version} {name}\n")).collect();
    if moved.steps.is_empty() {
        lines = format!("nothing to do: no migration was {done}\n");
    }
    format!("{lines}the database is at schema version {}\n", moved.version)
}

fn listed(steps: &[Step]) -> String {
    steps
        .iter()
        .map(|step| {
            let state =
                step.applied_at.map_or_else(|| "pending".to_owned(), |at| format!("applied {at}"));
            format!("{:>4}  {:<24}  {state}\n", step.version, step.name)
        })
        .collect()
}
