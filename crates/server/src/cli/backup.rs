//! `mainstay backup FILE`.

use std::path::{Path, PathBuf};

use clap::Args;
use mainstay_store::backup::backup;

use super::data::DataFlags;
use crate::config::Config;
use crate::exit::Exit;
use crate::output::write_stdout;
use crate::{data, runtime};

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
pub fn run(file: &Path, config: &Config) -> anyhow::Result<Exit> {
    let database = data::sqlite_file(config, "backup", "`pg_dump`")?;
    let copied = runtime::block_on(backup(database, file))??;
    write_stdout(&format!(
        "{} holds the database at schema version {} ({} bytes)\n",
        file.display(),
        copied.version,
        copied.bytes
    ))?;
    Ok(Exit::Fine)
}
