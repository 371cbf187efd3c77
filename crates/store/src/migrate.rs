//! Brings the schema up and down, one transaction for each step, under a lock.
//!
//! SQLite's `BEGIN IMMEDIATE` is the lock; on PostgreSQL it is an advisory lock that lives as long
//! as the step's transaction, so that it also holds behind a transaction pooler and is never left
//! behind. Whoever comes second waits, looks again, and finds the work done.

use mainstay_base::Timestamp;

use crate::db::Db;
use crate::error::StoreError;
use crate::migrations::{ALL, Migration};
use crate::sql::{Dialect, Sql};
use crate::tx::{Snapshot, Tx};
use crate::values;

/// Where one migration stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Its number.
    pub version: i64,
    /// Its name.
    pub name: &'static str,
    /// When it was applied, if it was.
    pub applied_at: Option<Timestamp>,
}

/// What a run did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// The migrations applied or reverted, in that order.
    pub steps: Vec<(i64, &'static str)>,
    /// The version the database has now; 0 is an empty one.
    pub version: i64,
}

struct Applied {
    version: i64,
    checksum: String,
    applied_at: Timestamp,
}

const LOCK: Sql = Sql::same("migrate.lock", "SELECT pg_advisory_xact_lock($1)");
const LOCK_KEY: i64 = 0x4D53_5459_0001;

/// A migration may rewrite a big table, so the session's bounds do not fit it; the wait for
/// whoever migrates before us must be longer than an ordinary lock's too. That a table stands already is
/// no news.
const UNBOUNDED: Sql = Sql::same(
    "migrate.unbounded",
    "SELECT set_config('statement_timeout', '0', true), set_config('lock_timeout', '120s', true),
            set_config('client_min_messages', 'warning', true)",
);

/// Other programs keep a table of this name too, with other columns.
const COLUMNS: Sql = Sql::pair(
    "migrate.columns",
    "SELECT count(*) AS columns,
            count(CASE WHEN name IN ('version', 'checksum', 'applied_at') THEN 1 END) AS ours
     FROM pragma_table_info('schema_migrations')",
    "SELECT count(*) AS columns,
            count(CASE WHEN attname IN ('version', 'checksum', 'applied_at') THEN 1 END) AS ours
     FROM pg_catalog.pg_attribute
     WHERE attrelid = to_regclass('schema_migrations') AND attnum > 0 AND NOT attisdropped",
);

const CREATE_TABLE: Sql = Sql::pair(
    "migrate.create_table",
    "CREATE TABLE IF NOT EXISTS schema_migrations (
       version INTEGER PRIMARY KEY,
       name TEXT NOT NULL,
       checksum TEXT NOT NULL,
       applied_at INTEGER NOT NULL
     ) STRICT",
    "CREATE TABLE IF NOT EXISTS schema_migrations (
       version BIGINT PRIMARY KEY,
       name TEXT COLLATE \"C\" NOT NULL,
       checksum TEXT COLLATE \"C\" NOT NULL,
       applied_at BIGINT NOT NULL
     )",
);

const LIST: Sql = Sql::same(
    "migrate.list",
    "SELECT version, checksum, applied_at FROM schema_migrations ORDER BY version",
);

const REMEMBER: Sql = Sql::same(
    "migrate.remember",
    "INSERT INTO schema_migrations (version, name, checksum, applied_at) VALUES ($1, $2, $3, $4)",
);

const FORGET: Sql = Sql::same("migrate.forget", "DELETE FROM schema_migrations WHERE version = $1");

/// The newest version this binary knows.
#[must_use]
pub fn newest() -> i64 {
    ALL.last().map_or(0, |migration| migration.version)
}

/// Every migration this binary knows, as it stands in a database that is not made yet.
#[must_use]
pub fn unapplied() -> Vec<Step> {
    let step = |one: &Migration| Step { version: one.version, name: one.name, applied_at: None };
    ALL.iter().map(step).collect()
}

/// Applies everything that is pending.
///
/// # Errors
/// When the database is newer than the binary, an applied text was changed, or a step fails; the
/// steps before it stay applied.
pub async fn up(db: &Db) -> Result<Moved, StoreError> {
    let mut moved = Moved { steps: Vec::new(), version: 0 };
    while let Some(migration) = db.write(async |tx| step_up(tx).await).await? {
        moved.steps.push((migration.version, migration.name));
    }
    moved.version = version(db).await?;
    Ok(moved)
}

/// Reverts the last `count` applied migrations; fewer when fewer are applied.
///
/// # Errors
/// As [`up`].
pub async fn down(db: &Db, count: u32) -> Result<Moved, StoreError> {
    let mut moved = Moved { steps: Vec::new(), version: 0 };
    for _ in 0..count {
        match db.write(async |tx| step_down(tx).await).await? {
            Some(migration) => moved.steps.push((migration.version, migration.name)),
            None => break,
        }
    }
    moved.version = version(db).await?;
    Ok(moved)
}

/// Every migration this binary knows, and where it stands.
///
/// # Errors
/// When the database can't be read.
pub async fn status(db: &Db) -> Result<Vec<Step>, StoreError> {
    let applied = db.snapshot(async |snapshot| applied(snapshot).await).await?;
    let at = |version| applied.iter().find(|one| one.version == version).map(|one| one.applied_at);
    let mut steps = unapplied();
    for step in &mut steps {
        step.applied_at = at(step.version);
    }
    Ok(steps)
}

/// The version of the database's schema; 0 is an empty one.
///
/// # Errors
/// When the database can't be read.
pub async fn version(db: &Db) -> Result<i64, StoreError> {
    let applied = db.snapshot(async |snapshot| applied(snapshot).await).await?;
    Ok(applied.last().map_or(0, |last| last.version))
}

/// Refuses a database that a newer Mainstay has migrated, before anything is written to it.
pub(crate) async fn refuse_newer(db: &Db) -> Result<(), StoreError> {
    let applied = db.snapshot(async |snapshot| applied(snapshot).await).await?;
    check(db.dialect(), &applied)
}

async fn step_up(tx: &mut Tx) -> Result<Option<&'static Migration>, StoreError> {
    let (dialect, applied) = locked(tx).await?;
    let version = applied.last().map_or(0, |last| last.version);
    let Some(migration) = ALL.iter().find(|one| one.version > version) else {
        return Ok(None);
    };
    tx.execute(&CREATE_TABLE, &[]).await?;
    run(tx, migration, "up", migration.up(dialect)).await?;
    let now = tx.now().await?;
    let checksum = migration.checksum(dialect);
    let remembered = values![migration.version, migration.name, checksum.as_str(), now];
    tx.execute(&REMEMBER, remembered).await?;
    Ok(Some(migration))
}

async fn step_down(tx: &mut Tx) -> Result<Option<&'static Migration>, StoreError> {
    let (dialect, applied) = locked(tx).await?;
    let version = applied.last().map_or(0, |last| last.version);
    let Some(migration) = ALL.iter().find(|one| one.version == version) else {
        return Ok(None);
    };
    run(tx, migration, "down", migration.down(dialect)).await?;
    tx.execute(&FORGET, values![migration.version]).await?;
    Ok(Some(migration))
}

/// Takes the lock, then reads what is applied: whoever held it before may have moved.
async fn locked(tx: &mut Tx) -> Result<(Dialect, Vec<Applied>), StoreError> {
    let dialect = tx.dialect();
    if dialect == Dialect::Postgres {
        tx.fetch_all(&UNBOUNDED, &[]).await?;
        tx.unbound();
        tx.fetch_all(&LOCK, values![LOCK_KEY]).await?;
    }
    let applied = applied(tx).await?;
    check(dialect, &applied)?;
    Ok((dialect, applied))
}

async fn applied(snapshot: &mut Snapshot) -> Result<Vec<Applied>, StoreError> {
    let row = snapshot.fetch_one(&COLUMNS, &[]).await?;
    match (row.get::<i64>("columns")?, row.get::<i64>("ours")?) {
        (0, _) => return Ok(Vec::new()),
        (_, 3) => {}
        _ => {
            return Err(StoreError::Foreign {
                database: format!("this {} database", snapshot.dialect().name()),
                reason: "its table schema_migrations belongs to another program".to_owned(),
            });
        }
    }
    let rows = snapshot.fetch_all(&LIST, &[]).await?;
    rows.iter()
        .map(|row| {
            Ok(Applied {
                version: row.get("version")?,
                checksum: row.get("checksum")?,
                applied_at: row.get("applied_at")?,
            })
        })
        .collect()
}

fn check(dialect: Dialect, applied: &[Applied]) -> Result<(), StoreError> {
    for one in applied {
        let known = ALL.iter().find(|migration| migration.version == one.version);
        let Some(migration) = known else {
            let found = applied.last().map_or(one.version, |last| last.version);
            return Err(StoreError::Newer { found, known: newest() });
        };
        if migration.checksum(dialect) != one.checksum {
            return Err(StoreError::ChangedMigration { version: one.version });
        }
    }
    Ok(())
}

async fn run(
    tx: &mut Tx,
    migration: &'static Migration,
    direction: &'static str,
    text: &'static str,
) -> Result<(), StoreError> {
    tx.execute_script("migrate.step", text).await.map_err(|cause| StoreError::Migration {
        version: migration.version,
        name: migration.name,
        direction,
        cause: Box::new(cause),
    })
}
