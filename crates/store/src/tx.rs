//! Transactions: [`Snapshot`] reads a consistent state, [`Tx`] also writes.
//!
//! `begin` and `commit` run on tasks of their own: a dropped `begin` costs a connection, and a
//! dropped `commit` leaves its outcome unknown. A client that hangs up drops its handler at any await, so neither may sit in it.

use std::ops::{Deref, DerefMut};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use mainstay_base::{Clock, Timestamp};
use tokio::sync::OwnedSemaphorePermit;

use crate::error::StoreError;
use crate::lease::Lease;
use crate::probe;
use crate::row::Row;
use crate::sql::{Dialect, Sql};
use crate::statement::{self, Connection, Session};
use crate::value::Value;

/// A read transaction: every statement sees the same state.
pub struct Snapshot {
    lease: Lease,
    clock: Arc<dyn Clock>,
    /// Added to the database's clock on PostgreSQL, so that tests can move it.
    shift: i64,
    /// A statement failed or was given up half way. PostgreSQL then turns COMMIT into ROLLBACK
    /// without a word, and SQLite does not: both are made to refuse.
    failed: bool,
    /// It failed because the database could not, for a reason of its own.
    refused: bool,
    permit: OwnedSemaphorePermit,
}

/// A write transaction. What its closure returns decides: `Ok` commits, `Err` rolls back.
pub struct Tx {
    snapshot: Snapshot,
    after_commit: Vec<Box<dyn FnOnce() + Send>>,
}

const NOW: Sql =
    Sql::same("store.now", "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now");

impl Snapshot {
    pub(crate) fn new(
        lease: Lease,
        clock: Arc<dyn Clock>,
        shift: i64,
        permit: OwnedSemaphorePermit,
    ) -> Self {
        Self { lease, clock, shift, failed: false, refused: false, permit }
    }

    /// Which database speaks.
    #[must_use]
    pub const fn dialect(&self) -> Dialect {
        self.lease.dialect()
    }

    /// The database's time: PostgreSQL's own clock, so that several instances agree; the injected
    /// clock on SQLite.
    ///
    /// # Errors
    /// When PostgreSQL does not answer.
    pub async fn now(&mut self) -> Result<Timestamp, StoreError> {
        match self.dialect() {
            Dialect::Sqlite => Ok(self.clock.now()),
            Dialect::Postgres => {
                let millis: i64 = self.fetch_one(&NOW, &[]).await?.get("now")?;
                Ok(Timestamp::from_millis(millis.saturating_add(self.shift)))
            }
        }
    }

    /// What a statement adds to `clock_timestamp()` to have the time of [`Self::now`]: 0 but in tests.
    #[must_use]
    pub const fn clock_shift(&self) -> i64 {
        self.shift
    }

    /// Every row of the answer, up to [`crate::MAX_ROWS`].
    ///
    /// # Errors
    /// When the statement fails or gives too many rows.
    pub async fn fetch_all(
        &mut self,
        sql: &Sql,
        values: &[Value<'_>],
    ) -> Result<Vec<Row>, StoreError> {
        let clock = Arc::clone(&self.clock);
        let outcome = statement::fetch_all(&*clock, self.connection()?, sql, values).await;
        self.note(outcome)
    }

    /// The first row of the answer, if there is one.
    ///
    /// # Errors
    /// When the statement fails.
    pub async fn fetch_optional(
        &mut self,
        sql: &Sql,
        values: &[Value<'_>],
    ) -> Result<Option<Row>, StoreError> {
        let clock = Arc::clone(&self.clock);
        let outcome = statement::fetch_optional(&*clock, self.connection()?, sql, values).await;
        self.note(outcome)
    }

    /// The first row of the answer.
    ///
    /// # Errors
    /// When the statement fails, and [`StoreError::NoRow`] when there is none.
    pub async fn fetch_one(&mut self, sql: &Sql, values: &[Value<'_>]) -> Result<Row, StoreError> {
        let row = self.fetch_optional(sql, values).await?;
        row.ok_or(StoreError::NoRow { statement: sql.name() })
    }

    fn connection(&mut self) -> Result<Connection<'_>, StoreError> {
        if self.failed {
            return Err(StoreError::Poisoned);
        }
        // Until the statement has ended well: a caller that stops waiting for it must not commit.
        self.failed = true;
        self.lease.connection()
    }

    fn note<T>(&mut self, outcome: Result<T, StoreError>) -> Result<T, StoreError> {
        self.failed = outcome.is_err();
        self.refused |= outcome.as_ref().is_err_and(probe::is_refusal);
        outcome
    }

    pub(crate) const fn is_refused(&self) -> bool {
        self.refused
    }

    /// Commits, and gives the permit back for whoever still has to ring under it.
    async fn finish(self) -> Result<OwnedSemaphorePermit, StoreError> {
        if self.failed {
            return Err(StoreError::Poisoned);
        }
        let dialect = self.dialect();
        let committed = self.lease.commit().await;
        committed.map_err(|error| StoreError::of_commit(dialect, error))?;
        Ok(self.permit)
    }
}

impl Tx {
    pub(crate) const fn new(snapshot: Snapshot) -> Self {
        Self { snapshot, after_commit: Vec::new() }
    }

    /// Runs a statement and tells how many rows it touched.
    ///
    /// # Errors
    /// When the statement fails. The transaction can then only be rolled back.
    pub async fn execute(&mut self, sql: &Sql, values: &[Value<'_>]) -> Result<u64, StoreError> {
        let clock = Arc::clone(&self.clock);
        let outcome = statement::execute(&*clock, self.connection()?, sql, values).await;
        self.note(outcome)
    }

    /// Runs several statements without values, as a migration holds them.
    pub(crate) async fn execute_script(
        &mut self,
        name: &'static str,
        text: &'static str,
    ) -> Result<(), StoreError> {
        let dialect = self.dialect();
        let Connection { session, patience } = self.connection()?;
        let running = async {
            match session {
                Session::Sqlite(sqlite) => sqlx::raw_sql(text).execute(sqlite).await.map(drop),
                Session::Postgres { connection, .. } => {
                    sqlx::raw_sql(text).execute(connection).await.map(drop)
                }
            }
        };
        let outcome = patience.wait(running).await.flatten();
        self.note(outcome.map_err(|error| StoreError::of_statement(dialect, name, error)))
    }

    /// Lets what follows take as long as it takes.
    pub(crate) const fn unbound(&mut self) {
        self.snapshot.lease.unbound();
    }

    /// Runs `ring` once the write is committed, and only then: nothing is announced that was not
    /// committed, and nothing committed stays silent because its caller hung up.
    pub fn after_commit(&mut self, ring: impl FnOnce() + Send + 'static) {
        self.after_commit.push(Box::new(ring));
    }

    /// Commits on a task of its own and waits for it.
    pub(crate) async fn commit(self) -> Result<(), StoreError> {
        let committing = tokio::spawn(async move {
            let Self { snapshot, after_commit } = self;
            let _permit = snapshot.finish().await?;
            for ring in after_commit {
                // The write is committed whatever its bell does, and the next bell must ring too.
                if catch_unwind(AssertUnwindSafe(ring)).is_err() {
                    tracing::error!("what rings after a commit panicked; the write is kept");
                }
            }
            Ok(())
        });
        // A task that was ended from outside may have committed before.
        committing
            .await
            .unwrap_or_else(|lost| Err(StoreError::CommitUnknown { cause: Box::new(lost) }))
    }
}

impl Deref for Tx {
    type Target = Snapshot;

    fn deref(&self) -> &Snapshot {
        &self.snapshot
    }
}

impl DerefMut for Tx {
    fn deref_mut(&mut self) -> &mut Snapshot {
        &mut self.snapshot
    }
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Snapshot").field("dialect", &self.dialect()).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Tx {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Tx").field("dialect", &self.dialect()).finish_non_exhaustive()
    }
}
