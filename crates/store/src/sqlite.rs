//! Opens an SQLite file: one writer, a pool of readers.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions as _, Connection as _, Row as _, SqliteConnection, SqlitePool};

use crate::db::Pools;
use crate::error::StoreError;
use crate::migrate;
use crate::options::StoreOptions;
use crate::sql::Begin;

/// How transactions begin: whoever will write waits for the others at once.
pub(crate) const BEGIN: Begin = Begin { write: "BEGIN IMMEDIATE", read: "BEGIN" };

/// Marks a file as Mainstay's in its header: "MSTY".
pub(crate) const APPLICATION_ID: i64 = 0x4D53_5459;

const SQLITE_BUSY: u32 = 5;
const SQLITE_LOCKED: u32 = 6;
const SQLITE_CORRUPT: u32 = 11;
const SQLITE_NOTADB: u32 = 26;

/// How long SQLite itself waits for a lock that another program holds.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// The pause before a file that another program is opening is tried again.
const OPEN_RETRY: Duration = Duration::from_millis(20);

/// Pages of cache for each connection, as a negative number of KiB.
const CACHE_SIZE: &str = "-2000";

/// The write-ahead log is cut back to this many bytes after a checkpoint.
const JOURNAL_SIZE_LIMIT: &str = "67108864";

/// Readers beyond this gain nothing on one disk.
const MAX_READERS: u32 = 8;

/// Opens `path`, making it when it is missing. Whatever is not for this binary is refused on a
/// connection that only looks, so that nothing of it is touched.
pub(crate) async fn open(path: &Path, options: &StoreOptions) -> Result<Pools, StoreError> {
    let path = &resolved(path);
    refuse_interrupted_restore(path)?;
    create_private(path)?;
    let found = look(path).await?;
    found.refuse_newer()?;
    let connect = || connect_writer(path, options.wait, found.is_fresh);
    let writer = patiently(options.wait, connect).await.map_err(|error| unopened(path, &error))?;
    // A writer that is opened again later finds the mark there.
    writer.set_connect_options(writer_options(path, false));
    let reader_pool = SqlitePoolOptions::new()
        .max_connections(readers(options))
        .acquire_timeout(options.wait)
        .connect_lazy_with(reader_options(path));
    Ok(Pools::Sqlite { writer, readers: reader_pool })
}

/// How many connections read: all but the writer's, up to a bound.
pub(crate) fn readers(options: &StoreOptions) -> u32 {
    options.connections.saturating_sub(1).clamp(1, MAX_READERS)
}

/// A connection that only looks, for checks and copies. The file must be there.
pub(crate) async fn connect_to_look(path: &Path) -> Result<SqliteConnection, StoreError> {
    let options = base_options(path).read_only(true);
    let connected = patiently(BUSY_TIMEOUT, || options.connect()).await;
    connected.map_err(|error| unopened(path, &error))
}

/// A connection that may write, outside the pool. The file must be there.
pub(crate) async fn connect_to_write(path: &Path) -> Result<SqliteConnection, StoreError> {
    base_options(path).connect().await.map_err(|error| unopened(path, &error))
}

/// What a look at a file found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found {
    /// Nothing is in it yet.
    is_fresh: bool,
    /// The newest migration in it; 0 is none.
    pub(crate) version: i64,
}

impl Found {
    /// Refuses a file that a newer Mainstay has migrated.
    pub(crate) fn refuse_newer(self) -> Result<(), StoreError> {
        let known = migrate::newest();
        if self.version > known {
            return Err(StoreError::Newer { found: self.version, known });
        }
        Ok(())
    }
}

/// Looks at a file without writing, and refuses one that is not Mainstay's.
pub(crate) async fn look(path: &Path) -> Result<Found, StoreError> {
    let mut connection = connect_to_look(path).await?;
    let looked = read_marks(&mut connection).await;
    // Closing a connection that only read can't lose anything.
    let _ = connection.close().await;
    let looked = looked.map_err(|error| unopened(path, &error))?;
    looked.ok_or_else(|| foreign(path, "it holds tables of another program"))
}

/// The file that a path means: absolute, because SQLite takes a name such as `file:x` for an
/// address, and behind its links, because whoever comes by another name must meet the same lock.
pub(crate) fn resolved(path: &Path) -> PathBuf {
    let absolute = || std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    path.canonicalize().unwrap_or_else(|_| absolute())
}

/// The file that stands beside the database while a restore is under way.
pub(crate) fn restoring_path(database: &Path) -> PathBuf {
    with_suffix(database, ".restoring")
}

/// `path` with `suffix` behind its name: SQLite's own files are named so.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

pub(crate) fn unopened(path: &Path, error: &sqlx::Error) -> StoreError {
    match (primary_code(error), error) {
        (Some(SQLITE_NOTADB), _) => foreign(path, "it is no SQLite file"),
        (Some(SQLITE_CORRUPT), _) => {
            StoreError::Damaged { path: path.to_owned(), reason: words(error) }
        }
        (Some(SQLITE_BUSY | SQLITE_LOCKED), _) | (_, sqlx::Error::PoolTimedOut) => {
            StoreError::Busy { waited: BUSY_TIMEOUT }
        }
        _ => StoreError::File { path: path.to_owned(), reason: words(error) },
    }
}

/// What SQLite said, without the driver's words around it.
pub(crate) fn words(error: &sqlx::Error) -> String {
    error.as_database_error().map_or_else(|| error.to_string(), |error| error.message().to_owned())
}

async fn connect_writer(
    path: &Path,
    wait: Duration,
    is_fresh: bool,
) -> Result<SqlitePool, sqlx::Error> {
    SqlitePoolOptions::new()
        .max_connections(1)
        // The gate bounds the wait for the writer; this one is for opening and for SQLite's own.
        .acquire_timeout(BUSY_TIMEOUT.saturating_add(wait))
        .idle_timeout(None)
        .max_lifetime(None)
        .connect_with(writer_options(path, is_fresh))
        .await
}

/// Tries again, for at most `limit`, while another program is opening the same file: SQLite does
/// not wait by itself for whoever turns a fresh file into one with a write-ahead log.
async fn patiently<T, F>(limit: Duration, connect: impl Fn() -> F) -> Result<T, sqlx::Error>
where
    F: Future<Output = Result<T, sqlx::Error>>,
{
    let mut left = limit;
    loop {
        match connect().await {
            Err(error) if is_locked(&error) && !left.is_zero() => {
                tokio::time::sleep(OPEN_RETRY).await;
                left = left.saturating_sub(OPEN_RETRY);
            }
            outcome => return outcome,
        }
    }
}

/// `None` is a file with tables and without our mark.
async fn read_marks(connection: &mut SqliteConnection) -> Result<Option<Found>, sqlx::Error> {
    // In this order: whoever makes the file at the same moment marks it before its first table.
    let is_fresh = number(connection, "SELECT count(*) FROM sqlite_schema").await? == 0;
    if is_fresh {
        return Ok(Some(Found { is_fresh, version: 0 }));
    }
    if number(connection, "PRAGMA application_id").await? != APPLICATION_ID {
        return Ok(None);
    }
    let migrated = "SELECT count(*) FROM sqlite_schema WHERE name = 'schema_migrations'";
    let version = if number(connection, migrated).await? == 0 {
        0
    } else {
        number(connection, "SELECT coalesce(max(version), 0) FROM schema_migrations").await?
    };
    Ok(Some(Found { is_fresh, version }))
}

async fn number(connection: &mut SqliteConnection, text: &'static str) -> Result<i64, sqlx::Error> {
    sqlx::query(text).fetch_one(connection).await?.try_get(0)
}

fn base_options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(resolved(path))
        .create_if_missing(false)
        .busy_timeout(BUSY_TIMEOUT)
        .foreign_keys(true)
        .pragma("cache_size", CACHE_SIZE)
        .pragma("trusted_schema", "OFF")
        .disable_statement_logging()
}

fn writer_options(path: &Path, is_fresh: bool) -> SqliteConnectOptions {
    let options = base_options(path);
    // Written once: a mark that is set again would be a write at every start.
    let options = if is_fresh {
        options.pragma("application_id", APPLICATION_ID.to_string())
    } else {
        options
    };
    options
        .journal_mode(SqliteJournalMode::Wal)
        // An announced event must survive power loss.
        .synchronous(SqliteSynchronous::Full)
        .pragma("journal_size_limit", JOURNAL_SIZE_LIMIT)
        .optimize_on_close(true, None)
}

fn reader_options(path: &Path) -> SqliteConnectOptions {
    base_options(path).read_only(true)
}

/// SQLite would make the file with the process's umask; what it will hold is private.
pub(crate) fn create_private(path: &Path) -> Result<(), StoreError> {
    let mut open = OpenOptions::new();
    open.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut open, 0o600);
    open.open(path)
        .map(drop)
        .map_err(|error| StoreError::File { path: path.to_owned(), reason: error.to_string() })
}

fn refuse_interrupted_restore(path: &Path) -> Result<(), StoreError> {
    if restoring_path(path).exists() {
        return Err(StoreError::InterruptedRestore { path: path.to_owned() });
    }
    Ok(())
}

pub(crate) fn is_locked(error: &sqlx::Error) -> bool {
    matches!(primary_code(error), Some(SQLITE_BUSY | SQLITE_LOCKED))
}

/// The low byte; the others only say more about the same.
fn primary_code(error: &sqlx::Error) -> Option<u32> {
    let code = error.as_database_error()?.code()?;
    code.parse::<u32>().ok().map(|full| full & 0xff)
}

fn foreign(path: &Path, reason: &str) -> StoreError {
    StoreError::Foreign { database: path.display().to_string(), reason: reason.to_owned() }
}
