//! Runs one statement on a connection of either kind.

use futures_util::StreamExt as _;
use mainstay_base::Clock;
use sqlx::{PgConnection, SqliteConnection};

use crate::error::StoreError;
use crate::measure;
use crate::patience::Patience;
use crate::row::{Inner, Row};
use crate::sql::{Dialect, Sql};
use crate::value::Value;

/// The most rows one answer may have. A list that can be longer is read in pages.
pub const MAX_ROWS: usize = 100_000;

/// A connection, borrowed for one statement, and how long that may take.
pub(crate) struct Connection<'c> {
    pub(crate) session: Session<'c>,
    pub(crate) patience: Patience<'c>,
}

/// A session of either kind.
pub(crate) enum Session<'c> {
    Sqlite(&'c mut SqliteConnection),
    Postgres {
        connection: &'c mut PgConnection,
        /// Statements stay prepared; behind a pooler the session is somebody else's by then.
        prepared: bool,
    },
}

impl Session<'_> {
    const fn dialect(&self) -> Dialect {
        match self {
            Self::Sqlite(_) => Dialect::Sqlite,
            Self::Postgres { .. } => Dialect::Postgres,
        }
    }
}

/// Binds many values to one placeholder: PostgreSQL has arrays, SQLite reads JSON.
macro_rules! bind_many {
    (Sqlite, $query:expr, $many:expr) => {
        $query.bind(serde_json::Value::from($many).to_string())
    };
    (Postgres, $query:expr, $many:expr) => {
        $query.bind($many)
    };
}

/// Binds `values` to the text of `sql` for one database.
macro_rules! bound {
    (sqlx::$database:ident, $dialect:expr, $sql:expr, $values:expr) => {{
        let mut query = sqlx::query::<sqlx::$database>($sql.text($dialect));
        for value in $values {
            query = match value {
                Value::Int(int) => query.bind(*int),
                Value::Real(real) => query.bind(*real),
                Value::Text(text) => query.bind(*text),
                Value::OwnedText(text) => query.bind(text.as_str()),
                Value::Bytes(bytes) => query.bind(*bytes),
                Value::Ints(ints) => bind_many!($database, query, *ints),
                Value::Texts(texts) => bind_many!($database, query, *texts),
            };
        }
        query
    }};
}

/// Runs `sql` and tells how many rows it touched.
pub(crate) async fn execute(
    clock: &dyn Clock,
    connection: Connection<'_>,
    sql: &Sql,
    values: &[Value<'_>],
) -> Result<u64, StoreError> {
    let Connection { session, patience } = connection;
    let dialect = session.dialect();
    let running = async {
        refuse_unfit(sql, values)?;
        let touched = match session {
            Session::Sqlite(sqlite) => {
                let query = bound!(sqlx::Sqlite, dialect, sql, values);
                query.execute(sqlite).await.map(|done| done.rows_affected())
            }
            Session::Postgres { connection, prepared } => {
                let query = bound!(sqlx::Postgres, dialect, sql, values).persistent(prepared);
                query.execute(connection).await.map(|done| done.rows_affected())
            }
        };
        touched.map_err(|error| StoreError::of_statement(dialect, sql.name(), error))
    };
    measure::statement(clock, sql, answered(dialect, sql, patience, running)).await
}

/// Runs `sql` and gives every row, up to [`MAX_ROWS`].
pub(crate) async fn fetch_all(
    clock: &dyn Clock,
    connection: Connection<'_>,
    sql: &Sql,
    values: &[Value<'_>],
) -> Result<Vec<Row>, StoreError> {
    let Connection { session, patience } = connection;
    let dialect = session.dialect();
    let running = async {
        refuse_unfit(sql, values)?;
        let mut rows = Vec::new();
        let mut stream = match session {
            Session::Sqlite(sqlite) => bound!(sqlx::Sqlite, dialect, sql, values)
                .fetch(sqlite)
                .map(|row| row.map(|row| Row(Inner::Sqlite(row))))
                .boxed(),
            Session::Postgres { connection, prepared } => {
                bound!(sqlx::Postgres, dialect, sql, values)
                    .persistent(prepared)
                    .fetch(connection)
                    .map(|row| row.map(|row| Row(Inner::Postgres(row))))
                    .boxed()
            }
        };
        while let Some(row) = stream.next().await {
            if rows.len() == MAX_ROWS {
                return Err(StoreError::TooManyRows { statement: sql.name(), limit: MAX_ROWS });
            }
            rows.push(row.map_err(|error| StoreError::of_statement(dialect, sql.name(), error))?);
        }
        Ok(rows)
    };
    measure::statement(clock, sql, answered(dialect, sql, patience, running)).await
}

/// Runs `sql` and gives its first row, if there is one, without reading the others.
pub(crate) async fn fetch_optional(
    clock: &dyn Clock,
    connection: Connection<'_>,
    sql: &Sql,
    values: &[Value<'_>],
) -> Result<Option<Row>, StoreError> {
    let Connection { session, patience } = connection;
    let dialect = session.dialect();
    let running = async {
        refuse_unfit(sql, values)?;
        let row = match session {
            Session::Sqlite(sqlite) => {
                let query = bound!(sqlx::Sqlite, dialect, sql, values);
                query.fetch_optional(sqlite).await.map(|row| row.map(Inner::Sqlite))
            }
            Session::Postgres { connection, prepared } => {
                let query = bound!(sqlx::Postgres, dialect, sql, values).persistent(prepared);
                query.fetch_optional(connection).await.map(|row| row.map(Inner::Postgres))
            }
        };
        row.map(|row| row.map(Row))
            .map_err(|error| StoreError::of_statement(dialect, sql.name(), error))
    };
    measure::statement(clock, sql, answered(dialect, sql, patience, running)).await
}

/// Runs a statement for as long as its connection has patience.
async fn answered<T>(
    dialect: Dialect,
    sql: &Sql,
    patience: Patience<'_>,
    running: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    let late = |error| StoreError::of_statement(dialect, sql.name(), error);
    patience.wait(running).await.map_err(late).flatten()
}

/// What the two databases would keep differently, both refuse here, in the same words: SQLite keeps
/// a NUL and PostgreSQL does not; PostgreSQL keeps NaN and SQLite makes it NULL.
fn refuse_unfit(sql: &Sql, values: &[Value<'_>]) -> Result<(), StoreError> {
    let statement = sql.name();
    for (value, position) in values.iter().zip(1..) {
        if value.has_nul() {
            return Err(StoreError::NulInText { statement, position });
        }
        if matches!(value, Value::Real(Some(real)) if real.is_nan()) {
            return Err(StoreError::NotANumber { statement, position });
        }
    }
    Ok(())
}
