//! A connection on loan from its pool. It goes back when nothing is open on it; one on which a
//! BEGIN, COMMIT or ROLLBACK failed is closed instead, because nobody knows what is open on it: a
//! full disk makes SQLite roll back by itself, and the connection would refuse every later write.

use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::{Postgres, Sqlite};

use crate::error::StoreError;
use crate::patience::{Patience, within};
use crate::sql::Dialect;
use crate::sqlite;
use crate::statement::{Connection, Session};

/// The longest that closing one connection may take before it is let go.
const CLOSE_LIMIT: Duration = Duration::from_secs(5);

/// A connection that its pool gets back, or a new one in its place, when this is dropped.
pub(crate) struct Lease {
    /// Taken out when this is dropped.
    pooled: Option<Pooled>,
    dialect: Dialect,
    /// Statements stay prepared for the next who has the connection.
    prepared: bool,
    state: State,
    /// No answer came in time.
    is_silent: bool,
    /// How long an answer is waited for.
    limit: Option<Duration>,
    /// What runs now may take as long as it takes.
    is_unbounded: bool,
}

/// A connection of either pool.
pub(crate) enum Pooled {
    Sqlite(PoolConnection<Sqlite>),
    Postgres(PoolConnection<Postgres>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Idle,
    /// A transaction is open.
    Open,
    /// Not to be used again.
    Broken,
}

impl Lease {
    pub(crate) const fn new(pooled: Pooled, prepared: bool, limit: Option<Duration>) -> Self {
        let dialect = match pooled {
            Pooled::Sqlite(_) => Dialect::Sqlite,
            Pooled::Postgres(_) => Dialect::Postgres,
        };
        Self {
            pooled: Some(pooled),
            dialect,
            prepared,
            state: State::Idle,
            is_silent: false,
            limit,
            is_unbounded: false,
        }
    }

    pub(crate) const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The connection, for one statement.
    pub(crate) fn connection(&mut self) -> Result<Connection<'_>, StoreError> {
        let patience = Patience { limit: self.patience(), is_silent: &mut self.is_silent };
        let prepared = self.prepared;
        let session = match self.pooled.as_mut().ok_or(StoreError::Closed)? {
            Pooled::Sqlite(connection) => Session::Sqlite(connection),
            Pooled::Postgres(connection) => Session::Postgres { connection, prepared },
        };
        Ok(Connection { session, patience })
    }

    /// Waits from now on for every answer as long as it takes.
    pub(crate) const fn unbound(&mut self) {
        self.is_unbounded = true;
    }

    /// Begins a transaction with `text`.
    pub(crate) async fn begin(&mut self, text: &'static str) -> Result<(), sqlx::Error> {
        match self.settle(text, State::Open).await {
            // Another program writes: nothing was begun.
            Err(error) if self.dialect == Dialect::Sqlite && sqlite::is_locked(&error) => {
                self.state = State::Idle;
                Err(error)
            }
            outcome => outcome,
        }
    }

    /// Commits the open transaction.
    pub(crate) async fn commit(mut self) -> Result<(), sqlx::Error> {
        self.settle("COMMIT", State::Idle).await
    }

    /// Runs `text`, which brings the connection into the state `after`. Until that is certain, also
    /// when the future is dropped, the connection counts as broken.
    async fn settle(&mut self, text: &'static str, after: State) -> Result<(), sqlx::Error> {
        self.state = State::Broken;
        let limit = self.patience();
        let pooled = self.pooled.as_mut().ok_or(sqlx::Error::PoolClosed)?;
        within(limit, pooled.run(text)).await??;
        self.state = after;
        Ok(())
    }

    const fn patience(&self) -> Option<Duration> {
        if self.is_unbounded { None } else { self.limit }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(pooled) = self.pooled.take() {
            let state = if self.is_silent { State::Broken } else { self.state };
            tokio::spawn(pooled.give_back(state, self.limit));
        }
    }
}

impl Pooled {
    async fn run(&mut self, text: &'static str) -> Result<(), sqlx::Error> {
        match self {
            Self::Sqlite(connection) => {
                sqlx::raw_sql(text).execute(&mut **connection).await.map(drop)
            }
            Self::Postgres(connection) => {
                sqlx::raw_sql(text).execute(&mut **connection).await.map(drop)
            }
        }
    }

    async fn give_back(mut self, state: State, limit: Option<Duration>) {
        let is_whole = match state {
            State::Idle => true,
            State::Open => matches!(within(limit, self.run("ROLLBACK")).await, Ok(Ok(()))),
            State::Broken => false,
        };
        if is_whole {
            // The pool asks for a sign of life first, and would wait for it for ever.
            let returned = match &mut self {
                Self::Sqlite(connection) => within(limit, connection.return_to_pool()).await,
                Self::Postgres(connection) => within(limit, connection.return_to_pool()).await,
            };
            if returned.is_err() {
                tracing::info!("a connection fell silent and was closed");
            }
        } else {
            tracing::info!("a connection was closed after a transaction that did not end well");
            self.close().await;
        }
    }

    async fn close(self) {
        let closing = async {
            match self {
                Self::Sqlite(connection) => connection.close().await,
                Self::Postgres(connection) => connection.close().await,
            }
        };
        // What can't be closed politely is closed when it is dropped.
        let _ = tokio::time::timeout(CLOSE_LIMIT, closing).await;
    }
}
