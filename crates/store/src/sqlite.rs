//! Opens an SQLite file: one writer, a pool of readers.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions as _, Connection as _, Row as _, SqliteConnection, SqlitePool};

use crate::db::Pools;
use crate::error::StoreError;
use crate::options::StoreOptions;

/// Marks a file as Mainstay's in its header: "MSTY".
pub(crate) const APPLICATION_ID: i64 = 0x4D53_5459;

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

/// Opens `path`, making it when it is missing.
pub(crate) async fn open(path: &Path, options: &StoreOptions) -> Result<Pools, StoreError> {
    refuse_interrupted_restore(path)?;
    create_private(path)?;
    refuse_foreign(path).await?;
    let writer = patiently(options.wait, || connect_writer(path, options.wait))
        .await
        .map_err(|error| unopened(path, &error))?;
    let readers = SqlitePoolOptions::new()
        .max_connections(options.connections.saturating_sub(1).clamp(1, MAX_READERS))
        .acquire_timeout(options.wait)
        .connect_lazy_with(reader_options(path));
    Ok(Pools::Sqlite { writer, readers })
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

/// What marks a file as ours: the id in its header, or nothing at all in it yet.
pub(crate) async fn refuse_foreign(path: &Path) -> Result<(), StoreError> {
    let mut connection = connect_to_look(path).await?;
    let checked = look_for_mark(&mut connection).await;
    // Closing a connection that only read can't lose anything.
    let _ = connection.close().await;
    match checked {
        Ok(true) => Ok(()),
        Ok(false) => Err(foreign(path, "it holds tables of another program")),
        Err(error) => Err(unopened(path, &error)),
    }
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
    if is_not_a_database(error) {
        return foreign(path, "it is no SQLite file");
    }
    let reason = match error {
        sqlx::Error::Database(database) => database.message().to_owned(),
        other => other.to_string(),
    };
    StoreError::File { path: path.to_owned(), reason }
}

async fn connect_writer(path: &Path, wait: Duration) -> Result<SqlitePool, sqlx::Error> {
    SqlitePoolOptions::new()
        .max_connections(1)
        .acquire_timeout(wait)
        .idle_timeout(None)
        .max_lifetime(None)
        .connect_with(writer_options(path))
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

async fn look_for_mark(connection: &mut SqliteConnection) -> Result<bool, sqlx::Error> {
    let id = sqlx::query("PRAGMA application_id").fetch_one(&mut *connection).await?;
    if id.try_get::<i64, _>(0)? == APPLICATION_ID {
        return Ok(true);
    }
    let tables = sqlx::query("SELECT count(*) FROM sqlite_schema").fetch_one(connection).await?;
    Ok(tables.try_get::<i64, _>(0)? == 0)
}

fn base_options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(false)
        .busy_timeout(BUSY_TIMEOUT)
        .foreign_keys(true)
        .pragma("cache_size", CACHE_SIZE)
        .pragma("trusted_schema", "OFF")
        .disable_statement_logging()
}

fn writer_options(path: &Path) -> SqliteConnectOptions {
    base_options(path)
        .journal_mode(SqliteJournalMode::Wal)
        // An announced event must survive power loss.
        .synchronous(SqliteSynchronous::Full)
        .pragma("journal_size_limit", JOURNAL_SIZE_LIMIT)
        .pragma("application_id", APPLICATION_ID.to_string())
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
    let marker = restoring_path(path);
    if marker.exists() {
        let reason = format!(
            "a restore was interrupted ({} is still there); run `mainstay restore FILE` again",
            marker.display()
        );
        return Err(StoreError::File { path: path.to_owned(), reason });
    }
    Ok(())
}

/// SQLITE_BUSY or SQLITE_LOCKED.
fn is_locked(error: &sqlx::Error) -> bool {
    matches!(primary_code(error), Some(5 | 6))
}

/// SQLITE_NOTADB.
fn is_not_a_database(error: &sqlx::Error) -> bool {
    primary_code(error) == Some(26)
}

/// The low byte; the others only say more about the same.
fn primary_code(error: &sqlx::Error) -> Option<u32> {
    let code = error.as_database_error()?.code()?;
    code.parse::<u32>().ok().map(|full| full & 0xff)
}

fn foreign(path: &Path, reason: &str) -> StoreError {
    StoreError::Foreign { database: path.display().to_string(), reason: reason.to_owned() }
}
