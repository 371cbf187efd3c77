//! `mainstay restore FILE`.

use std::path::{Path, PathBuf};

use clap::Args;
use mainstay_base::{Clock as _, SystemClock};
use mainstay_store::backup::restore;

use super::data::DataFlags;
use crate::config::Config;
use crate::exit::Exit;
use crate::output::write_stdout;
use crate::{data, runtime};

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
pub fn run(file: &Path, config: &Config) -> anyhow::Result<Exit> {
    let database = data::sqlite_file(config, "restore", "`pg_restore`")?;
    data::prepare_folder(config)?;
    let now = SystemClock::new().now();
    let copied = runtime::block_on(restore(file, database, now))??;
    let kept = copied.replaced.map_or_else(String::new, |path| {
        format!("the database that was there is kept as {}\n", path.display())
    });
    write_stdout(&format!(
        "{} holds the backup at schema version {}; `mainstay serve` brings it up to date\n{kept}",
        database.display(),
        copied.version,
    ))?;
    Ok(Exit::Fine)
}
