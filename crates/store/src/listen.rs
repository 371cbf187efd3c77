//! PostgreSQL's bells: a session that hears (LISTEN) and a session that rings (NOTIFY), each on a
//! connection of its own, past a pooler where there is one.
//!
//! Neither reconnects by itself: what was rung meanwhile is lost, so the owner must know of the gap.

use std::time::Duration;

use sqlx::postgres::{PgListener, PgPoolOptions};
use sqlx::{Connection as _, PgConnection, Row as _};

use crate::db::Db;
use crate::error::StoreError;
use crate::postgres;
use crate::sql::Dialect;

/// The longest a listening or ringing session waits for an answer before it counts as dead.
pub const ANSWER_LIMIT: Duration = Duration::from_secs(5);

/// The most bytes that one bell can carry: PostgreSQL refuses 8 000.
pub const MAX_NOTICE: usize = 7_999;

/// What a transaction that is lost in a crash would have told is found by the next look, so a bell
/// need not wait for the disk.
const RINGING_SESSION: &str = "SET synchronous_commit = off; SET statement_timeout = '5s'";

const RING: &str =
    "SELECT pg_notify(bell->>0, bell->>1) FROM json_array_elements($1::json) AS bell";

/// A bell that was heard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The channel.
    pub channel: String,
    /// What it carries.
    pub payload: String,
    /// The server process of the session that rang it.
    pub ringer: u32,
}

/// A session that hears.
pub struct Listener {
    inner: PgListener,
}

/// A session that rings.
pub struct Notifier {
    connection: PgConnection,
    process: u32,
}

impl Listener {
    /// Hears the bells of `channels` from now on. None on SQLite, which has no bells.
    ///
    /// # Errors
    /// When the server can't be reached.
    pub async fn connect(db: &Db, channels: &[&str]) -> Result<Option<Self>, StoreError> {
        let Some(url) = db.direct_address() else { return Ok(None) };
        let connecting = async {
            let pool = PgPoolOptions::new()
                .max_connections(1)
                .max_lifetime(None)
                .idle_timeout(None)
                .acquire_timeout(ANSWER_LIMIT)
                .connect_lazy_with(postgres::connect_options(url)?);
            let mut inner = PgListener::connect_with(&pool).await.map_err(lost)?;
            inner.eager_reconnect(false);
            inner.listen_all(channels.iter().copied()).await.map_err(lost)?;
            Ok(Some(Self { inner }))
        };
        within_limit(connecting).await
    }

    /// The next bell. Dropping the future loses none.
    ///
    /// # Errors
    /// When the connection is lost; this listener is then of no more use.
    pub async fn next(&mut self) -> Result<Notice, StoreError> {
        match self.inner.try_recv().await.map_err(lost)? {
            Some(heard) => Ok(Notice {
                channel: heard.channel().to_owned(),
                payload: heard.payload().to_owned(),
                ringer: heard.process_id(),
            }),
            None => Err(unreachable("the listening connection was lost")),
        }
    }

    /// Asks the server for a sign of life: a peer that is gone without a word is noticed so.
    ///
    /// # Errors
    /// When none comes within [`ANSWER_LIMIT`]; this listener is then of no more use.
    pub async fn probe(&mut self) -> Result<(), StoreError> {
        let asking = async {
            sqlx::query("SELECT 1").execute(&mut self.inner).await.map(drop).map_err(lost)
        };
        within_limit(asking).await
    }
}

impl Notifier {
    /// A session to ring from. None on SQLite, which has no bells.
    ///
    /// # Errors
    /// When the server can't be reached.
    pub async fn connect(db: &Db) -> Result<Option<Self>, StoreError> {
        let Some(url) = db.direct_address() else { return Ok(None) };
        let options = postgres::connect_options(url)?;
        let mut connection = postgres::connect_once(&options, &postgres::shown(&options)).await?;
        let preparing = async {
            sqlx::raw_sql(RINGING_SESSION).execute(&mut connection).await.map_err(lost)?;
            let row = sqlx::query("SELECT pg_backend_pid()::bigint AS process")
                .fetch_one(&mut connection)
                .await
                .map_err(lost)?;
            row.try_get::<i64, _>("process").map_err(lost)
        };
        let process = within_limit(preparing).await?;
        Ok(Some(Self { connection, process: u32::try_from(process).unwrap_or(0) }))
    }

    /// The server process of this session, which marks its bells.
    #[must_use]
    pub const fn process(&self) -> u32 {
        self.process
    }

    /// Rings each bell of `bells`, a JSON array of `[channel, payload]`. Equal ones ring once.
    ///
    /// # Errors
    /// When the server does not take them within [`ANSWER_LIMIT`]; this notifier is then of no more
    /// use.
    pub async fn ring(&mut self, bells: &str) -> Result<(), StoreError> {
        let ringing = async {
            let query = sqlx::query(RING).bind(bells);
            query.execute(&mut self.connection).await.map(drop).map_err(lost)
        };
        within_limit(ringing).await
    }

    /// Says good-bye to the server.
    pub async fn close(self) {
        // Nothing is pending on it.
        let _ = tokio::time::timeout(ANSWER_LIMIT, self.connection.close()).await;
    }
}

async fn within_limit<T>(
    work: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    let late = || unreachable(&format!("no answer within {} s", ANSWER_LIMIT.as_secs()));
    tokio::time::timeout(ANSWER_LIMIT, work).await.unwrap_or_else(|_elapsed| Err(late()))
}

fn lost(error: sqlx::Error) -> StoreError {
    StoreError::of_statement(Dialect::Postgres, "listen", error)
}

fn unreachable(reason: &str) -> StoreError {
    let database = Dialect::Postgres.name().to_owned();
    StoreError::Unreachable { database, reason: reason.to_owned() }
}

impl std::fmt::Debug for Listener {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Listener")
    }
}

impl std::fmt::Debug for Notifier {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Notifier").field("process", &self.process).finish_non_exhaustive()
    }
}
