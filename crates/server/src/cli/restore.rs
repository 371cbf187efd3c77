//! `mainstay restore FILE`.

use std::path::{Path, PathBuf};

use clap::Args;

use super::data::DataFlags;
use crate::config::Config;
use crate::exit::Exit;

const EXAMPLES: &str = "\
Examples:
  mainstay restore mainstay-backup.db
  mainstay restore /backups/monday.db --data-dir /var/lib/mainstay";

/// The arguments of `restore`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Restore {
    /// Backup to bring back
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) data: DataFlags,
}

/// Brings the backup in `file` back.
///
/// # Errors
/// What kept it from doing so, and what to do.
pub fn run(_file: &Path, _config: &Config) -> anyhow::Result<Exit> {
    anyhow::bail!("restore is not wired")
}
