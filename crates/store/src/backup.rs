//! Copies an SQLite database while it is served, and brings a copy back.
//!
//! Each copy, and each restored one, gets an event epoch of its own. PostgreSQL has its own tools for
//! copies (`pg_dump`, `pg_basebackup`); see the runbook.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use mainstay_base::Timestamp;
use sqlx::{Connection as _, Row as _, SqliteConnection};

use crate::error::StoreError;
use crate::lock::{DatabaseLock, LockError};
use crate::sqlite::{self, resolved, restoring_path, with_suffix};

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
    #[error("{} is not there or is no file; give the file that `mainstay backup` wrote", path.display())]
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
    let (database, target) = (&resolved(database), &resolved(target));
    if target.exists() {
        return Err(BackupError::Exists { path: target.clone() });
    }
    require(database)?;
    look(database).await?;
    // Two backups to one name at once must not write into one file.
    let partial = Partial::claim(with_suffix(target, &unique_suffix()))?;
    copy_into(database, &partial.path).await?;
    let version = check(&partial.path).await?;
    let bytes = partial.publish(target)?;
    Ok(Copied { bytes, version, replaced: None })
}

/// Puts the backup `source` in the place of the database at `database`, which is kept beside it
/// under a name with the time `now`. Refused while a server uses it.
///
/// The copy is made under a passing name: until all of it is there and sound, nothing of the
/// present database is touched, and a failure leaves no trace. The swap itself is two renames; the
/// first marks it, so that a start in between is refused instead of serving half of each.
///
/// # Errors
/// [`BackupError`].
pub async fn restore(
    source: &Path,
    database: &Path,
    now: Timestamp,
) -> Result<Copied, BackupError> {
    let (source, database) = (&resolved(source), &resolved(database));
    require(source)?;
    look(source).await?;
    check(source).await?;
    let _lock = DatabaseLock::take(database)?;
    let copy = Partial::claim(with_suffix(database, ".restore-copy"))?;
    copy_into(source, &copy.path).await?;
    let version = check(&copy.path).await?;
    let bytes = sync(&copy.path)?;
    let replaced = keep(database, now).await?;
    let marked = restoring_path(database);
    rename(&copy.path, &marked)?;
    move_log(database, replaced.as_deref())?;
    rename(&marked, database)?;
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
        match std::fs::hard_link(&self.path, target) {
            Ok(()) => {}
            Err(_) if target.exists() => {
                return Err(BackupError::Exists { path: target.to_owned() });
            }
            // Not every file system has links.
            Err(_) => rename(&self.path, target)?,
        }
        sync_folder(target)?;
        Ok(bytes)
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        for suffix in ["", "-journal"] {
            // What can't be removed is overwritten by the next try.
            let _ = std::fs::remove_file(with_suffix(&self.path, suffix));
        }
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
    copied.map(drop).map_err(|error| match sqlite::unopened(target, &error) {
        StoreError::Damaged { reason, .. } => {
            BackupError::Damaged { path: source.to_owned(), reason }
        }
        other => other.into(),
    })?;
    renew_epoch(target).await
}

/// From here on the copy numbers its own events, so nobody may take them for the original's.
async fn renew_epoch(copy: &Path) -> Result<(), BackupError> {
    let mut connection = sqlite::connect_to_write(copy).await?;
    let renewed = async {
        // A schema from before the event streams has none.
        let row = sqlx::query("SELECT count(*) FROM sqlite_schema WHERE name = 'event_epoch'")
            .fetch_one(&mut connection)
            .await?;
        if row.try_get::<i64, _>(0)? > 0 {
            sqlx::query("UPDATE event_epoch SET epoch = lower(hex(randomblob(8)))")
                .execute(&mut connection)
                .await?;
        }
        Ok(())
    }
    .await;
    close(connection).await;
    renewed.map_err(|error| sqlite::unopened(copy, &error).into())
}

/// The schema version of a sound copy.
async fn check(path: &Path) -> Result<i64, BackupError> {
    let damaged = |reason| BackupError::Damaged { path: path.to_owned(), reason };
    let mut connection = sqlite::connect_to_look(path).await?;
    let checked = sqlx::query("PRAGMA integrity_check(1)").fetch_one(&mut connection).await;
    close(connection).await;
    let verdict: String =
        checked.and_then(|row| row.try_get(0)).map_err(|error| damaged(sqlite::words(&error)))?;
    if verdict != "ok" {
        return Err(damaged(verdict));
    }
    let found = look(path).await?;
    found.refuse_newer()?;
    if found.version == 0 {
        return Err(damaged("there is nothing in it".to_owned()));
    }
    Ok(found.version)
}

/// A damaged file is told as the backup's trouble, not as the server's.
async fn look(path: &Path) -> Result<sqlite::Found, BackupError> {
    sqlite::look(path).await.map_err(|error| match error {
        StoreError::Damaged { path, reason } => BackupError::Damaged { path, reason },
        other => other.into(),
    })
}

/// Keeps the present database under another name, as a second name of the same file.
async fn keep(database: &Path, now: Timestamp) -> Result<Option<PathBuf>, BackupError> {
    if !database.exists() {
        return Ok(None);
    }
    fold_in_log(database).await;
    let aside = with_suffix(database, &format!(".before-restore-{}", now.as_millis()));
    if std::fs::hard_link(database, &aside).is_err() {
        // Not every file system has links.
        std::fs::copy(database, &aside).map_err(|cause| write_error(&aside, cause))?;
        sync(&aside)?;
    }
    Ok(Some(aside))
}

/// The log of a database goes with it: beside another file it would be poison.
fn move_log(database: &Path, aside: Option<&Path>) -> Result<(), BackupError> {
    for suffix in ["-wal", "-shm"] {
        let from = with_suffix(database, suffix);
        match aside {
            Some(aside) if from.exists() => rename(&from, &with_suffix(aside, suffix))?,
            _ => remove_if_there(&from)?,
        }
    }
    Ok(())
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

/// Unlike that of any other backup, in this process or another.
fn unique_suffix() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!(".partial-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

fn rename(from: &Path, to: &Path) -> Result<(), BackupError> {
    std::fs::rename(from, to).map_err(|cause| write_error(to, cause))
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
