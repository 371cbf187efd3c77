//! Copies an SQLite database while it is served, and brings a copy back.
//!
//! PostgreSQL has its own tools for this (`pg_dump`, `pg_basebackup`); see the runbook.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use mainstay_base::Timestamp;
use sqlx::{Connection as _, Row as _, SqliteConnection};

use crate::error::StoreError;
use crate::lock::{DatabaseLock, LockError};
use crate::migrate;
use crate::sqlite::{self, restoring_path, with_suffix};

/// A backup or a restore that did not happen.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The target is there already.
    #[error("{} exists already; choose another name, a backup never overwrites", path.display())]
    Exists {
        /// The target.
        path: PathBuf,
    },
    /// There is nothing to copy.
    #[error("{} is not there; give the file that `mainstay backup` wrote", path.display())]
    Missing {
        /// The source.
        path: PathBuf,
    },
    /// The copy is damaged.
    #[error("{} is damaged: {reason}; nothing was changed: use another backup", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What SQLite's check found first.
        reason: String,
    },
    /// A file can't be written.
    #[error("{} can't be written: {cause}; check the folder's rights and the room on the disk", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// The database is served.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The database can't be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What was copied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copied {
    /// The size of the copy.
    pub bytes: u64,
    /// The schema version in it.
    pub version: i64,
    /// Where a restore put the database that was there before.
    pub replaced: Option<PathBuf>,
}

/// Copies the database at `database` into the new file `target`: a consistent state, checked, on
/// disk before this returns, and never half a file under the final name.
///
/// # Errors
/// [`BackupError`]; then there is no file at `target`.
pub async fn backup(database: &Path, target: &Path) -> Result<Copied, BackupError> {
    if target.exists() {
        return Err(BackupError::Exists { path: target.to_owned() });
    }
    require(database)?;
    sqlite::refuse_foreign(database).await?;
    let partial = Partial::claim(with_suffix(target, ".partial"))?;
    copy_into(database, &partial.path).await?;
    let version = check(&partial.path).await?;
    let bytes = partial.publish(target)?;
    Ok(Copied { bytes, version, replaced: None })
}

/// Puts the backup `source` in the place of the database at `database`, which is kept beside it
/// under a name with the time `now`. Refused while a server uses it.
///
/// # Errors
/// [`BackupError`]; then the database is as it was, or the next start says that the restore must
/// be run again.
pub async fn restore(
    source: &Path,
    database: &Path,
    now: Timestamp,
) -> Result<Copied, BackupError> {
    require(source)?;
    sqlite::refuse_foreign(source).await?;
    check(source).await?;
    let _lock = DatabaseLock::take(database)?;
    let staged = restoring_path(database);
    remove_if_there(&staged)?;
    copy_into(source, &staged).await?;
    let version = check(&staged).await?;
    let bytes = sync(&staged)?;
    let replaced = set_aside(database, now).await?;
    std::fs::rename(&staged, database).map_err(|cause| write_error(database, cause))?;
    sync_folder(database)?;
    Ok(Copied { bytes, version, replaced })
}

/// A file under a passing name, removed when it is not published.
struct Partial {
    path: PathBuf,
}

impl Partial {
    fn claim(path: PathBuf) -> Result<Self, BackupError> {
        remove_if_there(&path)?;
        Ok(Self { path })
    }

    /// Gives the finished file its name; a file that came there meanwhile is kept.
    fn publish(self, target: &Path) -> Result<u64, BackupError> {
        let bytes = sync(&self.path)?;
        std::fs::hard_link(&self.path, target).map_err(|cause| match cause.kind() {
            io::ErrorKind::AlreadyExists => BackupError::Exists { path: target.to_owned() },
            _ => write_error(target, cause),
        })?;
        sync_folder(target)?;
        Ok(bytes)
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // What can't be removed is overwritten by the next backup of this name.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// SQLite writes the copy itself, from one consistent state, while others read and write.
async fn copy_into(source: &Path, target: &Path) -> Result<(), BackupError> {
    make_private(target)?;
    let mut connection = sqlite::connect_to_look(source).await?;
    let target_text = target.to_str().ok_or_else(|| {
        write_error(target, io::Error::new(io::ErrorKind::InvalidInput, "the name is not UTF-8"))
    })?;
    let copied = sqlx::query("VACUUM INTO $1").bind(target_text).execute(&mut connection).await;
    close(connection).await;
    copied.map(drop).map_err(|error| sqlite::unopened(target, &error).into())
}

/// The schema version of a sound copy.
async fn check(path: &Path) -> Result<i64, BackupError> {
    let mut connection = sqlite::connect_to_look(path).await?;
    let checked = read_check(&mut connection).await;
    close(connection).await;
    let (verdict, version) = checked.map_err(|error| BackupError::Damaged {
        path: path.to_owned(),
        reason: sqlite::unopened(path, &error).to_string(),
    })?;
    if verdict != "ok" {
        return Err(BackupError::Damaged { path: path.to_owned(), reason: verdict });
    }
    if version > migrate::newest() {
        return Err(StoreError::Newer { found: version, known: migrate::newest() }.into());
    }
    Ok(version)
}

async fn read_check(connection: &mut SqliteConnection) -> Result<(String, i64), sqlx::Error> {
    let verdict = sqlx::query("PRAGMA integrity_check(1)").fetch_one(&mut *connection).await?;
    let version = sqlx::query("SELECT coalesce(max(version), 0) FROM schema_migrations")
        .fetch_one(connection)
        .await?;
    Ok((verdict.try_get(0)?, version.try_get(0)?))
}

/// Keeps the present database under another name. The log of a database goes with it: beside
/// another file it would be poison.
async fn set_aside(database: &Path, now: Timestamp) -> Result<Option<PathBuf>, BackupError> {
    if !database.exists() {
        return Ok(None);
    }
    fold_in_log(database).await;
    let aside = with_suffix(database, &format!(".before-restore-{}", now.as_millis()));
    std::fs::hard_link(database, &aside).map_err(|cause| write_error(&aside, cause))?;
    for suffix in ["-wal", "-shm"] {
        let (from, to) = (with_suffix(database, suffix), with_suffix(&aside, suffix));
        match std::fs::rename(&from, &to) {
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => {
                return Err(write_error(&to, cause));
            }
            _ => {}
        }
    }
    Ok(Some(aside))
}

/// Moves the write-ahead log into the database file. It may be the damaged one that is being
/// replaced, so a failure only means that the log is kept as a file of its own.
async fn fold_in_log(database: &Path) {
    if let Ok(mut connection) = sqlite::connect_to_write(database).await {
        let _ = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut connection).await;
        close(connection).await;
    }
}

async fn close(connection: SqliteConnection) {
    // Nothing is pending on these connections.
    let _ = connection.close().await;
}

fn require(path: &Path) -> Result<(), BackupError> {
    if path.is_file() { Ok(()) } else { Err(BackupError::Missing { path: path.to_owned() }) }
}

fn remove_if_there(path: &Path) -> Result<(), BackupError> {
    match std::fs::remove_file(path) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(write_error(path, cause)),
        _ => Ok(()),
    }
}

/// `VACUUM INTO` takes an empty file, so its rights can be set before anything is in it.
fn make_private(path: &Path) -> Result<(), BackupError> {
    sqlite::create_private(path).map_err(BackupError::from)
}

fn sync(path: &Path) -> Result<u64, BackupError> {
    let synced = File::open(path).and_then(|file| {
        file.sync_all()?;
        Ok(file.metadata()?.len())
    });
    synced.map_err(|cause| write_error(path, cause))
}

/// A new name is only safe once its folder is on disk.
fn sync_folder(path: &Path) -> Result<(), BackupError> {
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(|cause| write_error(path, cause))
}

fn write_error(path: &Path, cause: io::Error) -> BackupError {
    BackupError::Write { path: path.to_owned(), cause }
}
