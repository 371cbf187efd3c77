//! Opens a pool of connections to PostgreSQL.

use std::str::FromStr as _;
use std::time::Duration;

use mainstay_base::Secret;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{ConnectOptions as _, Connection as _, PgConnection, Row as _};

use crate::db::Pools;
use crate::error::StoreError;
use crate::options::StoreOptions;
use crate::patience::within;
use crate::sql::{Begin, Dialect};

/// The oldest server that is tested.
const MIN_VERSION: i64 = 150_000;

/// How long the first connection may take before the server counts as unreachable.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The bounds of a session: a transaction that nobody drives any more frees its locks, a statement
/// that runs away is ended, nobody waits for a lock for ever, and an answer that nobody takes from the
/// network ends its transaction too, which no other bound does.
const SESSION: &str = "SET idle_in_transaction_session_timeout = '30s'; \
     SET statement_timeout = '30s'; \
     SET lock_timeout = '5s'; \
     SET tcp_user_timeout = '5s'";

/// How transactions begin where each has a session of its own.
pub(crate) const BEGIN: Begin =
    Begin { write: "BEGIN", read: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" };

/// The same behind a transaction pooler, where a session belongs to somebody else after each
/// transaction: the bounds are set anew for each, and leave with it.
pub(crate) const BEGIN_POOLED: Begin = Begin {
    write: "BEGIN; \
        SET LOCAL idle_in_transaction_session_timeout = '30s'; \
        SET LOCAL statement_timeout = '30s'; \
        SET LOCAL lock_timeout = '5s'; \
        SET LOCAL tcp_user_timeout = '5s'",
    read: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; \
        SET LOCAL idle_in_transaction_session_timeout = '30s'; \
        SET LOCAL statement_timeout = '30s'; \
        SET LOCAL tcp_user_timeout = '5s'",
};

/// Connects once to learn the exact reason of a failure, then opens the pool.
pub(crate) async fn open(
    url: &Secret<String>,
    options: &StoreOptions,
) -> Result<Pools, StoreError> {
    let connect = connect_options(url)?;
    let shown = shown(&connect);
    let mut connection = connect_once(&connect, &shown).await?;
    let suits = within(Some(CONNECT_TIMEOUT), check(&mut connection, &shown)).await.unwrap_or_else(
        |late| Err(StoreError::of_statement(Dialect::Postgres, "store.check", late)),
    );
    suits?;
    // A connection that only looked has nothing to lose.
    let _ = within(Some(CONNECT_TIMEOUT), connection.close()).await;
    let pool =
        PgPoolOptions::new().max_connections(options.connections).acquire_timeout(options.wait);
    let pool = if options.is_pooled() {
        // A prepared statement stays with a session that is somebody else's by then.
        pool.connect_lazy_with(connect.statement_cache_capacity(0))
    } else {
        pool.after_connect(|connection, _| {
            Box::pin(async move { sqlx::raw_sql(SESSION).execute(connection).await.map(drop) })
        })
        .connect_lazy_with(connect)
    };
    Ok(Pools::Postgres { pool })
}

/// The address in `url`, checked; nothing of the text appears in the error, it holds a password.
pub(crate) fn connect_options(url: &Secret<String>) -> Result<PgConnectOptions, StoreError> {
    let parsed = PgConnectOptions::from_str(url.expose()).map_err(|_| StoreError::Unreachable {
        database: "PostgreSQL".to_owned(),
        reason: "the address is not of the form postgres://user:password@host:5432/database"
            .to_owned(),
    })?;
    // Poolers refuse parameters that they do not know, and floats are exact without this one.
    let parsed = parsed.extra_float_digits(None);
    Ok(parsed.application_name("mainstay").disable_statement_logging())
}

/// A connection outside the pool, within a bounded time.
pub(crate) async fn connect_once(
    options: &PgConnectOptions,
    shown: &str,
) -> Result<PgConnection, StoreError> {
    let unreachable =
        |reason: String| StoreError::Unreachable { database: shown.to_owned(), reason };
    match tokio::time::timeout(CONNECT_TIMEOUT, options.connect()).await {
        Ok(Ok(connection)) => Ok(connection),
        Ok(Err(sqlx::Error::Database(error))) => Err(unreachable(error.message().to_owned())),
        Ok(Err(error)) => Err(unreachable(error.to_string())),
        Err(_elapsed) => {
            Err(unreachable(format!("no answer within {} s", CONNECT_TIMEOUT.as_secs())))
        }
    }
}

/// How the database is named to people: never with its user or password.
pub(crate) fn shown(options: &PgConnectOptions) -> String {
    let host = options.get_socket().map_or_else(
        || format!("{}:{}", options.get_host(), options.get_port()),
        |socket| socket.display().to_string(),
    );
    format!("PostgreSQL at {host}/{}", options.get_database().unwrap_or("(default database)"))
}

async fn check(connection: &mut PgConnection, shown: &str) -> Result<(), StoreError> {
    let failed = |error| StoreError::of_statement(Dialect::Postgres, "store.check", error);
    // In one go: a pooler may give the parts of another way to ask to different sessions.
    let row = sqlx::raw_sql(
        "SELECT current_setting('server_version_num')::bigint AS version,
                current_setting('server_encoding') AS encoding",
    )
    .fetch_one(connection)
    .await
    .map_err(failed)?;
    let version: i64 = row.try_get("version").map_err(failed)?;
    let encoding: String = row.try_get("encoding").map_err(failed)?;
    let reason = if version < MIN_VERSION {
        format!("it is version {}, and Mainstay needs 15 or newer: upgrade it", version / 10_000)
    } else if encoding != "UTF8" {
        format!(
            "its encoding is {encoding}, and Mainstay needs UTF8: create the database anew with ENCODING 'UTF8'"
        )
    } else {
        return Ok(());
    };
    Err(StoreError::Unsuitable { database: shown.to_owned(), reason })
}
