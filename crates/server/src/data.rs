//! The data folder, the lock on it, and the open database.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use mainstay_base::Clock;
use mainstay_store::lock::DatabaseLock;
use mainstay_store::{Db, StoreError, StoreOptions, Target};

use crate::config::{Config, DatabaseKind};

/// Makes the data folder, private to this user, if it is not there.
pub(crate) fn prepare_folder(config: &Config) -> anyhow::Result<()> {
    let folder = config.data_dir.as_path();
    make(folder).with_context(|| {
        format!(
            "the data folder {} can't be made; give this user the right to write there, or choose \
             another with --data-dir",
            folder.display()
        )
    })
}

/// Keeps other programs away from the SQLite file, as long as the lock lives. PostgreSQL needs
/// none: there, several instances share the database.
pub(crate) fn lock(config: &Config) -> anyhow::Result<Option<DatabaseLock>> {
    match &config.database.kind {
        DatabaseKind::Sqlite { path } => Ok(Some(DatabaseLock::take(path)?)),
        DatabaseKind::Postgres { .. } => Ok(None),
    }
}

/// Opens the database that the configuration names.
pub(crate) async fn open(config: &Config, clock: Arc<dyn Clock>) -> Result<Db, StoreError> {
    let target = match &config.database.kind {
        DatabaseKind::Sqlite { path } => Target::Sqlite { path: path.clone() },
        DatabaseKind::Postgres { url, .. } => Target::Postgres { url: url.clone() },
    };
    let mut options = StoreOptions::new(target, clock);
    options.connections = config.database.connections;
    options.direct = config.database.direct_url.clone();
    Db::open(options).await
}

/// The SQLite file, or an error that says what to use instead of `command` on PostgreSQL.
pub(crate) fn sqlite_file<'a>(
    config: &'a Config,
    command: &str,
    instead: &str,
) -> anyhow::Result<&'a Path> {
    match &config.database.kind {
        DatabaseKind::Sqlite { path } => Ok(path),
        DatabaseKind::Postgres { .. } => anyhow::bail!(
            "`mainstay {command}` works on SQLite, and this database is PostgreSQL; use {instead} \
             (docs/runbooks/backup-restore.md)"
        ),
    }
}

fn make(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
