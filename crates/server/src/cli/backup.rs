//! `mainstay backup FILE`.

use std::path::{Path, PathBuf};

use clap::Args;

use super::data::DataFlags;
use crate::config::Config;
use crate::exit::Exit;

const EXAMPLES: &str = "\
Examples:
  mainstay backup mainstay-backup.db
  mainstay backup /backups/monday.db --data-dir /var/lib/mainstay";

/// The arguments of `backup`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Backup {
    /// File to write; it must not exist yet
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) data: DataFlags,
}

/// Copies the database to `file`.
///
/// # Errors
/// What kept it from doing so, and what to do.
pub fn run(_file: &Path, _config: &Config) -> anyhow::Result<Exit> {
    anyhow::bail!("backup is not wired")
}
