//! An open database: reads from a pool, writes through the gate.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use mainstay_base::{Clock, Moment, Secret, Timestamp};
use sqlx::{PgPool, SqlitePool};
use tokio::sync::OwnedSemaphorePermit;

use crate::error::StoreError;
use crate::gate::Gate;
use crate::lease::{Lease, Pooled};
use crate::options::{StoreOptions, Target};
use crate::probe::Writes;
use crate::row::Row;
use crate::sql::{Dialect, Sql};
use crate::statement;
use crate::tx::{Snapshot, Tx};
use crate::value::Value;
use crate::{measure, migrate, postgres, sqlite};

/// An open database. A clone is another handle to the same one.
#[derive(Clone)]
pub struct Db {
    shared: Arc<Shared>,
}

struct Shared {
    pools: Pools,
    /// Writes: one on SQLite, about half of the connections on PostgreSQL.
    writers: Gate,
    /// Read transactions.
    readers: Gate,
    options: StoreOptions,
    writes: Writes,
    /// Milliseconds added to PostgreSQL's clock by tests.
    shift: AtomicI64,
}

/// The connections of each kind.
pub(crate) enum Pools {
    Sqlite { writer: SqlitePool, readers: SqlitePool },
    Postgres { pool: PgPool },
}

impl Pools {
    /// Whether every connection there may be is in use: the database answers, but others are first.
    fn are_full(&self) -> bool {
        match self {
            Self::Sqlite { .. } => true,
            Self::Postgres { pool } => {
                pool.num_idle() == 0 && pool.size() >= pool.options().get_max_connections()
            }
        }
    }
}

#[derive(Clone, Copy)]
enum Mode {
    Write,
    Read,
}

impl Mode {
    const fn name(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Read => "read",
        }
    }
}

/// The longest that closing waits for what is under way.
pub const CLOSE_LIMIT: Duration = Duration::from_secs(2);

const PING: Sql = Sql::same("store.ping", "SELECT 1 AS one");

impl Db {
    /// Opens the database and checks that it is Mainstay's, suits, and is not newer than this
    /// binary. It does not migrate: see [`migrate::up`].
    ///
    /// # Errors
    /// A [`StoreError`] that says what to do.
    pub async fn open(options: StoreOptions) -> Result<Self, StoreError> {
        let pools = match &options.target {
            Target::Sqlite { path } => sqlite::open(path, &options).await?,
            Target::Postgres { url } => postgres::open(url, &options).await?,
        };
        let (writers, readers) = shares(&options);
        let shared = Shared {
            pools,
            writers: Gate::new(writers, options.wait),
            readers: Gate::new(readers, options.wait),
            options,
            writes: Writes::default(),
            shift: AtomicI64::new(0),
        };
        let db = Self { shared: Arc::new(shared) };
        migrate::refuse_newer(&db).await?;
        Ok(db)
    }

    /// Which database speaks.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        self.shared.options.target.dialect()
    }

    /// Runs `work` in a write transaction. `Ok` commits, `Err` rolls back, and so does dropping
    /// the future; once the commit has begun, it is finished whoever waits for it.
    ///
    /// On SQLite writes come one after the other. On PostgreSQL they run side by side (READ
    /// COMMITTED): what was read before it is written must be locked (`SELECT … FOR UPDATE` in a
    /// [`Sql::pair`]) or be changed in one statement (`SET n = n + 1`, `ON CONFLICT`).
    ///
    /// # Errors
    /// What `work` returns, or why the transaction could not begin or commit.
    pub async fn write<T, E, F>(&self, work: F) -> Result<T, E>
    where
        F: AsyncFnOnce(&mut Tx) -> Result<T, E>,
        E: From<StoreError>,
    {
        let mut watch = Watch::start(self);
        let writes = &self.shared.writes;
        let begun = self.begin(Mode::Write).await.inspect_err(|error| writes.note_error(error))?;
        let mut tx = Tx::new(begun);
        let worked = self.shared.writers.inside(work(&mut tx)).await;
        if tx.is_refused() {
            writes.note_refusal();
        }
        let result = worked?;
        let committed = tx.commit().await.inspect_err(measure::count_error);
        committed.inspect_err(|error| writes.note_error(error))?;
        writes.note_commit();
        watch.committed = true;
        Ok(result)
    }

    /// Runs `work` in a read transaction, in which every statement sees the same state.
    ///
    /// # Errors
    /// What `work` returns, or why the transaction could not begin.
    pub async fn snapshot<T, E, F>(&self, work: F) -> Result<T, E>
    where
        F: AsyncFnOnce(&mut Snapshot) -> Result<T, E>,
        E: From<StoreError>,
    {
        let mut tx = Tx::new(self.begin(Mode::Read).await?);
        let result = work(&mut tx).await?;
        tx.commit().await?;
        Ok(result)
    }

    /// Every row of the answer, up to [`crate::MAX_ROWS`].
    ///
    /// # Errors
    /// When the statement fails or gives too many rows.
    pub async fn fetch_all(&self, sql: &Sql, values: &[Value<'_>]) -> Result<Vec<Row>, StoreError> {
        if self.shared.options.is_pooled() {
            return self.snapshot(async |snapshot| snapshot.fetch_all(sql, values).await).await;
        }
        let mut reader = self.reader().await?;
        let clock = &*self.shared.options.clock;
        statement::fetch_all(clock, reader.connection()?, sql, values).await
    }

    /// The first row of the answer, if there is one.
    ///
    /// # Errors
    /// When the statement fails.
    pub async fn fetch_optional(
        &self,
        sql: &Sql,
        values: &[Value<'_>],
    ) -> Result<Option<Row>, StoreError> {
        if self.shared.options.is_pooled() {
            return self
                .snapshot(async |snapshot| snapshot.fetch_optional(sql, values).await)
                .await;
        }
        let mut reader = self.reader().await?;
        let clock = &*self.shared.options.clock;
        statement::fetch_optional(clock, reader.connection()?, sql, values).await
    }

    /// The first row of the answer.
    ///
    /// # Errors
    /// When the statement fails, and [`StoreError::NoRow`] when there is none.
    pub async fn fetch_one(&self, sql: &Sql, values: &[Value<'_>]) -> Result<Row, StoreError> {
        let row = self.fetch_optional(sql, values).await?;
        row.ok_or(StoreError::NoRow { statement: sql.name() })
    }

    /// Runs one statement that writes and gives a row back. On PostgreSQL it is its own transaction,
    /// without a BEGIN and a COMMIT around it.
    ///
    /// It is for statements that bear being run twice (fenced by a token, or counting at worst one too
    /// many): after [`StoreError::Unreachable`], which invites another try, it may have happened.
    ///
    /// # Errors
    /// When the statement fails, and [`StoreError::NoRow`] when it gives no row.
    pub async fn write_one(&self, sql: &Sql, values: &[Value<'_>]) -> Result<Row, StoreError> {
        if self.writes_alone() {
            return self.fetch_one(sql, values).await;
        }
        self.write(async |tx| tx.fetch_one(sql, values).await).await
    }

    /// Runs one statement that writes and gives every row back. On PostgreSQL it is its own
    /// transaction, as with [`Db::write_one`].
    ///
    /// # Errors
    /// When the statement fails or gives too many rows.
    pub async fn write_all(&self, sql: &Sql, values: &[Value<'_>]) -> Result<Vec<Row>, StoreError> {
        if self.writes_alone() {
            return self.fetch_all(sql, values).await;
        }
        self.write(async |tx| tx.fetch_all(sql, values).await).await
    }

    /// The database's time; see [`Snapshot::now`].
    ///
    /// # Errors
    /// When PostgreSQL does not answer.
    pub async fn now(&self) -> Result<Timestamp, StoreError> {
        self.snapshot(async |snapshot| snapshot.now().await).await
    }

    /// Whether the database answers at all.
    ///
    /// # Errors
    /// Why it does not.
    pub async fn ping(&self) -> Result<(), StoreError> {
        self.fetch_one(&PING, &[]).await.map(drop)
    }

    /// Writes the use of the connections into the metrics.
    pub fn record_use(&self) {
        match &self.shared.pools {
            Pools::Sqlite { writer, readers } => {
                measure::connections("writer", writer.size(), writer.num_idle());
                measure::connections("readers", readers.size(), readers.num_idle());
            }
            Pools::Postgres { pool } => {
                measure::connections("shared", pool.size(), pool.num_idle());
            }
        }
    }

    /// Moves the database's clock by `millis`, for tests on PostgreSQL. SQLite takes its time from
    /// the injected clock.
    pub fn shift_clock(&self, millis: i64) {
        self.shared.shift.store(millis, Ordering::Relaxed);
    }

    /// By how many milliseconds tests have moved PostgreSQL's clock, for a statement that asks for
    /// the time itself.
    #[must_use]
    pub fn clock_shift(&self) -> i64 {
        self.shared.shift.load(Ordering::Relaxed)
    }

    /// Lets nobody in any more, gives the writes in flight [`CLOSE_LIMIT`] to finish, and closes
    /// every connection. What is not done by then is rolled back when the process ends.
    pub async fn close(&self) {
        let closing = async {
            self.shared.writers.close().await;
            self.shared.readers.close().await;
            match &self.shared.pools {
                Pools::Sqlite { writer, readers } => {
                    readers.close().await;
                    writer.close().await;
                }
                Pools::Postgres { pool } => pool.close().await,
            }
        };
        if tokio::time::timeout(CLOSE_LIMIT, closing).await.is_err() {
            tracing::warn!("a transaction was still open when the database was closed");
        }
    }

    pub(crate) fn writes(&self) -> &Writes {
        &self.shared.writes
    }

    /// PostgreSQL's address for a session of its own. None on SQLite.
    pub(crate) fn direct_address(&self) -> Option<&Secret<String>> {
        match &self.shared.options.target {
            Target::Sqlite { .. } => None,
            Target::Postgres { url } => Some(self.shared.options.direct.as_ref().unwrap_or(url)),
        }
    }

    /// Begins on a task of its own, so that a dropped caller leaves no transaction open.
    async fn begin(&self, mode: Mode) -> Result<Snapshot, StoreError> {
        let gate = match mode {
            Mode::Write => &self.shared.writers,
            Mode::Read => &self.shared.readers,
        };
        let clock = &self.shared.options.clock;
        let arrived = clock.moment();
        let permit = gate.enter().await.inspect_err(measure::count_error)?;
        measure::waited(mode.name(), clock.moment().since(arrived));
        let shared = Arc::clone(&self.shared);
        let beginning = tokio::spawn(async move { shared.begin(mode, permit).await });
        beginning.await.unwrap_or(Err(StoreError::Closed)).inspect_err(measure::count_error)
    }

    /// Whether a statement that writes is a transaction by itself. Behind a pooler it is prepared in
    /// one session and run in another, unless a transaction holds both together.
    fn writes_alone(&self) -> bool {
        self.dialect() == Dialect::Postgres && !self.shared.options.is_pooled()
    }

    /// A connection of the pool for one statement.
    async fn reader(&self) -> Result<Lease, StoreError> {
        let leased = self.shared.lease(Mode::Read).await;
        self.shared.checked("acquire", leased).inspect_err(measure::count_error)
    }
}

impl Shared {
    async fn begin(
        &self,
        mode: Mode,
        permit: OwnedSemaphorePermit,
    ) -> Result<Snapshot, StoreError> {
        let begin = match self.options.target.dialect() {
            Dialect::Sqlite => &sqlite::BEGIN,
            Dialect::Postgres if self.options.is_pooled() => &postgres::BEGIN_POOLED,
            Dialect::Postgres => &postgres::BEGIN,
        };
        let text = match mode {
            Mode::Write => begin.write,
            Mode::Read => begin.read,
        };
        let mut lease = self.checked("begin", self.lease(mode).await)?;
        self.checked("begin", lease.begin(text).await)?;
        let shift = self.shift.load(Ordering::Relaxed);
        Ok(Snapshot::new(lease, Arc::clone(&self.options.clock), shift, permit))
    }

    /// A connection of the pool for `mode`.
    async fn lease(&self, mode: Mode) -> Result<Lease, sqlx::Error> {
        let pooled = match (&self.pools, mode) {
            (Pools::Sqlite { writer, .. }, Mode::Write) => Pooled::Sqlite(writer.acquire().await?),
            (Pools::Sqlite { readers, .. }, Mode::Read) => Pooled::Sqlite(readers.acquire().await?),
            (Pools::Postgres { pool }, _) => Pooled::Postgres(pool.acquire().await?),
        };
        Ok(Lease::new(pooled, !self.options.is_pooled(), self.options.patience()))
    }

    fn checked<T>(
        &self,
        statement: &'static str,
        outcome: Result<T, sqlx::Error>,
    ) -> Result<T, StoreError> {
        let dialect = self.options.target.dialect();
        let waited = self.options.wait;
        outcome.map_err(|error| match (error, dialect) {
            (sqlx::Error::PoolTimedOut, _) if self.pools.are_full() => StoreError::Busy { waited },
            (sqlx::Error::PoolTimedOut, Dialect::Sqlite) => StoreError::Busy { waited },
            (sqlx::Error::PoolTimedOut, Dialect::Postgres) => StoreError::Unreachable {
                database: dialect.name().to_owned(),
                reason: format!(
                    "no connection was free or could be made in {} ms",
                    waited.as_millis()
                ),
            },
            (error, _) => match StoreError::of_statement(dialect, statement, error) {
                // Another program holds SQLite's writer.
                StoreError::Conflict { .. } if dialect == Dialect::Sqlite => {
                    StoreError::Busy { waited }
                }
                sorted => sorted,
            },
        })
    }
}

/// How many write and read transactions may be open at once. Together they leave a connection for
/// single statements, so that neither kind can starve the readiness check.
fn shares(options: &StoreOptions) -> (u32, u32) {
    match options.target.dialect() {
        Dialect::Sqlite => (1, sqlite::readers(options).saturating_sub(1).max(1)),
        Dialect::Postgres => {
            let shared = options.connections.saturating_sub(1);
            let readers = (shared / 2).max(1);
            (shared.saturating_sub(readers).max(1), readers)
        }
    }
}

/// Records the time of a write, however it ends: a dropped caller drops this too.
struct Watch<'a> {
    clock: &'a dyn Clock,
    started: Moment,
    committed: bool,
}

impl<'a> Watch<'a> {
    fn start(db: &'a Db) -> Self {
        let clock = &*db.shared.options.clock;
        Self { clock, started: clock.moment(), committed: false }
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        measure::transaction(self.committed, self.clock.moment().since(self.started));
    }
}

impl std::fmt::Debug for Db {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Db").field("dialect", &self.dialect()).finish_non_exhaustive()
    }
}
