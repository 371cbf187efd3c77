//! `mainstay migrate up|down [N]|status`.

use clap::{Args, Subcommand};

use super::data::{DataFlags, Source};
use crate::config::Config;
use crate::exit::Exit;

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
pub fn run(_action: &Action, _config: &Config) -> anyhow::Result<Exit> {
    anyhow::bail!("migrate is not wired")
}
