//! What can go wrong with a database.
//!
//! The policy: a caller can tell by the variant whether to try again ([`StoreError::is_transient`]),
//! to answer "conflict" (`Unique`, `Reference`, `Check`), or to give up. A message says what
//! happened, to what, and what to do, and never holds a password or a value from a row. The
//! driver's own error is kept as the source, for the log.

use std::path::PathBuf;
use std::time::Duration;

use crate::sql::Dialect;

type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Any error of the store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The database can't be reached.
    #[error(
        "{database} can't be reached: {reason}; check that it runs and that the address, user and password in DATABASE_URL are right"
    )]
    Unreachable {
        /// Which one, without its password.
        database: String,
        /// What the driver said.
        reason: String,
    },
    /// The database file can't be opened or made.
    #[error("the database file {} can't be opened: {reason}; check that its folder exists, that this user may write there, and that the disk has room", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// The database file is damaged.
    #[error("the database file {} is damaged: {reason}; keep it, and bring a backup back with `mainstay restore FILE`", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        reason: String,
    },
    /// A restore did not finish.
    #[error("a restore of {} was interrupted; run the same `mainstay restore FILE` again", path.display())]
    InterruptedRestore {
        /// The database file.
        path: PathBuf,
    },
    /// The database does not let this user do that.
    #[error("{} refused `{statement}`: {reason}; {cure}", dialect.name())]
    Denied {
        /// Which database.
        dialect: Dialect,
        /// The statement.
        statement: &'static str,
        /// What the database said.
        reason: String,
        /// What to do.
        cure: &'static str,
    },
    /// The file or database holds something else.
    #[error(
        "{database} is not a Mainstay database: {reason}; choose another one with --database or --data-dir"
    )]
    Foreign {
        /// Which one.
        database: String,
        /// What was found.
        reason: String,
    },
    /// A newer Mainstay wrote the schema.
    #[error(
        "the database has schema version {found}, and this Mainstay knows versions up to {known}; it was left untouched: run the newer Mainstay, or restore a backup made before the upgrade"
    )]
    Newer {
        /// The version in the database.
        found: i64,
        /// The newest version this binary knows.
        known: i64,
    },
    /// An applied migration has another text than the one in this binary.
    #[error(
        "migration {version} was applied to this database with another text than this Mainstay holds; run the Mainstay that made the database, or restore a backup"
    )]
    ChangedMigration {
        /// The migration.
        version: i64,
    },
    /// A migration failed; its transaction was rolled back.
    #[error(
        "migration {version} ({name}) failed going {direction} and was rolled back; the database stands where it was before it"
    )]
    Migration {
        /// The migration.
        version: i64,
        /// Its name.
        name: &'static str,
        /// `up` or `down`.
        direction: &'static str,
        /// What the statement said.
        #[source]
        cause: Box<StoreError>,
    },
    /// The server does not suit.
    #[error("{database} does not suit: {reason}")]
    Unsuitable {
        /// Which one.
        database: String,
        /// What is missing and what to do.
        reason: String,
    },
    /// Nobody let us in within the bounded wait.
    #[error("the database was busy for {} ms; try again", waited.as_millis())]
    Busy {
        /// How long was waited.
        waited: Duration,
    },
    /// The database can't do it now, whatever is asked: no room, no memory, no time.
    #[error("{} could not do `{statement}` now: {reason}; look at its disk, memory and load, then try again", dialect.name())]
    Environment {
        /// Which database.
        dialect: Dialect,
        /// The statement.
        statement: &'static str,
        /// What the database said.
        reason: String,
    },
    /// Two transactions stood in each other's way and this one was ended.
    #[error("the transaction met another one in `{statement}` and was ended; try again")]
    Conflict {
        /// The statement.
        statement: &'static str,
    },
    /// A write was started inside a write of the same task.
    #[error("a write was started inside another write; pass the open transaction down instead")]
    NestedWrite,
    /// A statement of this transaction failed before, and somebody went on.
    #[error(
        "an earlier statement of this transaction failed, so it was rolled back; return that error instead of going on"
    )]
    Poisoned,
    /// Connection lost while committing: it may or may not have happened.
    #[error(
        "the connection was lost while committing, so it is not known whether the write happened; read before you write again"
    )]
    CommitUnknown {
        /// What the driver said.
        #[source]
        cause: Cause,
    },
    /// A number that is none reached the store: PostgreSQL would keep it, SQLite make it NULL.
    #[error("NaN was given to `{statement}` at ${position}; check the number where it is made")]
    NotANumber {
        /// The statement.
        statement: &'static str,
        /// The placeholder's number.
        position: usize,
    },
    /// A text with NUL reached the store.
    #[error(
        "text with a NUL character was given to `{statement}` at ${position}; replace it where the text is parsed (base::replace_nul)"
    )]
    NulInText {
        /// The statement.
        statement: &'static str,
        /// The placeholder's number.
        position: usize,
    },
    /// A value that the database can't take, whatever column it is for.
    #[error("{} can't take a value that `{statement}` gives: {reason}; check it where it is made", dialect.name())]
    Data {
        /// Which database.
        dialect: Dialect,
        /// The statement.
        statement: &'static str,
        /// What the database said.
        reason: String,
    },
    /// A UNIQUE or PRIMARY KEY rule was broken.
    #[error("`{statement}` would make a duplicate")]
    Unique {
        /// The statement.
        statement: &'static str,
    },
    /// A FOREIGN KEY rule was broken.
    #[error("`{statement}` refers to something that is not there")]
    Reference {
        /// The statement.
        statement: &'static str,
    },
    /// A CHECK or NOT NULL rule was broken.
    #[error("`{statement}` gives a value that its column refuses")]
    Check {
        /// The statement.
        statement: &'static str,
    },
    /// More rows than a caller may hold at once.
    #[error("`{statement}` gave more than {limit} rows; ask for a page")]
    TooManyRows {
        /// The statement.
        statement: &'static str,
        /// The bound.
        limit: usize,
    },
    /// A row was expected.
    #[error("`{statement}` gave no row")]
    NoRow {
        /// The statement.
        statement: &'static str,
    },
    /// A column is missing or holds another type than asked for.
    #[error("column `{column}` can't be read as {wanted}")]
    Column {
        /// The column.
        column: String,
        /// The type asked for.
        wanted: &'static str,
        /// What the driver said.
        #[source]
        cause: Cause,
    },
    /// The store is closed.
    #[error("the database is closed because Mainstay is stopping")]
    Closed,
    /// Anything else the driver said.
    #[error("{} failed in `{statement}`", dialect.name())]
    Statement {
        /// Which database.
        dialect: Dialect,
        /// The statement.
        statement: &'static str,
        /// What the driver said.
        #[source]
        cause: Cause,
    },
}

impl StoreError {
    /// Whether the same call may succeed a little later.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        matches!(
            self,
            Self::Unreachable { .. }
                | Self::Busy { .. }
                | Self::Conflict { .. }
                | Self::Environment { .. }
        )
    }

    /// A short, stable word for metrics.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Unreachable { .. } => "unreachable",
            Self::File { .. } => "file",
            Self::Damaged { .. } => "damaged",
            Self::InterruptedRestore { .. } => "interrupted_restore",
            Self::Denied { .. } => "denied",
            Self::Foreign { .. } => "foreign",
            Self::Newer { .. } => "newer",
            Self::ChangedMigration { .. } | Self::Migration { .. } => "migration",
            Self::Unsuitable { .. } => "unsuitable",
            Self::Busy { .. } => "busy",
            Self::Environment { .. } => "environment",
            Self::Conflict { .. } => "conflict",
            Self::NestedWrite => "nested_write",
            Self::Poisoned => "poisoned",
            Self::CommitUnknown { .. } => "commit_unknown",
            Self::NulInText { .. } => "nul_in_text",
            Self::Data { .. } => "data",
            Self::NotANumber { .. } => "not_a_number",
            Self::Unique { .. } => "unique",
            Self::Reference { .. } => "reference",
            Self::Check { .. } => "check",
            Self::TooManyRows { .. } => "too_many_rows",
            Self::NoRow { .. } => "no_row",
            Self::Column { .. } => "column",
            Self::Closed => "closed",
            Self::Statement { .. } => "statement",
        }
    }

    /// A server that takes no writes.
    pub(crate) fn read_only(dialect: Dialect, statement: &'static str) -> Self {
        Self::Denied { dialect, statement, reason: "it is read only".to_owned(), cure: PRIMARY }
    }

    /// Sorts a driver's error of a COMMIT. Only what the database says of the data or of other
    /// transactions is sure not to have happened: a server that is stopped may have committed first.
    pub(crate) fn of_commit(dialect: Dialect, error: sqlx::Error) -> Self {
        let code = error
            .as_database_error()
            .and_then(sqlx::error::DatabaseError::code)
            .unwrap_or_default();
        let definite = ["22", "23", "40", "55"].iter().any(|class| code.starts_with(class));
        let is_definite = match dialect {
            Dialect::Sqlite => error.as_database_error().is_some(),
            Dialect::Postgres => definite,
        };
        if is_definite {
            Self::of_statement(dialect, "commit", error)
        } else {
            Self::CommitUnknown { cause: Box::new(error) }
        }
    }

    /// Sorts a driver's error of `statement`.
    pub(crate) fn of_statement(
        dialect: Dialect,
        statement: &'static str,
        error: sqlx::Error,
    ) -> Self {
        use sqlx::error::ErrorKind;
        match &error {
            sqlx::Error::PoolClosed => return Self::Closed,
            sqlx::Error::RowNotFound => return Self::NoRow { statement },
            sqlx::Error::WorkerCrashed => {
                let reason = "the connection's worker ended".to_owned();
                return Self::Environment { dialect, statement, reason };
            }
            sqlx::Error::Io(io) => {
                return Self::Unreachable {
                    database: dialect.name().to_owned(),
                    reason: io.to_string(),
                };
            }
            sqlx::Error::Database(database) => {
                match database.kind() {
                    ErrorKind::UniqueViolation => return Self::Unique { statement },
                    ErrorKind::ForeignKeyViolation => return Self::Reference { statement },
                    ErrorKind::NotNullViolation | ErrorKind::CheckViolation => {
                        return Self::Check { statement };
                    }
                    _ => {}
                }
                if let Some(sorted) = of_code(dialect, statement, &**database) {
                    return sorted;
                }
                // The driver adds a line of the server's own source, which helps nobody.
                let cause = database.message().to_owned().into();
                return Self::Statement { dialect, statement, cause };
            }
            _ => {}
        }
        Self::Statement { dialect, statement, cause: Box::new(error) }
    }
}

const GRANT: &str = "give this user the right (on PostgreSQL: GRANT CREATE, USAGE ON SCHEMA … TO …, \
     and own the tables), or use another user";
const PRIMARY: &str = "use a database that takes writes: the primary, not a standby";

/// PostgreSQL: 40001 serialization failure, 40P01 deadlock, 55P03 lock timeout, 57P01–57P03 the
/// server is going down or coming up, 08 the connection, 53300 too many connections, 53 and 58 no
/// room or memory, 57014 and 25P03 out of time, 42501 no right, 25006 read only, 22 and 54 a value that can't be. SQLite: the low byte
/// 5 is busy, 6 locked, 7 no memory, 8 read only, 10 I/O error, 13 full, 14 can't open, 18 too big, 20 no such type.
fn of_code(
    dialect: Dialect,
    statement: &'static str,
    error: &dyn sqlx::error::DatabaseError,
) -> Option<StoreError> {
    let denied = |cure| {
        let reason = error.message().to_owned();
        StoreError::Denied { dialect, statement, reason, cure }
    };
    let environment = || {
        let reason = error.message().to_owned();
        StoreError::Environment { dialect, statement, reason }
    };
    let unreachable = || StoreError::Unreachable {
        database: dialect.name().to_owned(),
        reason: error.message().to_owned(),
    };
    let data = || {
        let reason = error.message().to_owned();
        StoreError::Data { dialect, statement, reason }
    };
    let code = error.code()?;
    match dialect {
        Dialect::Postgres => match &*code {
            "40001" | "40P01" | "55P03" => Some(StoreError::Conflict { statement }),
            "57P01" | "57P02" | "57P03" | "53300" => Some(unreachable()),
            "42501" => Some(denied(GRANT)),
            "25006" => Some(denied(PRIMARY)),
            "57014" | "25P03" => Some(environment()),
            other if other.starts_with("53") || other.starts_with("58") => Some(environment()),
            other if other.starts_with("08") => Some(unreachable()),
            other if other.starts_with("22") || other.starts_with("54") => Some(data()),
            _ => None,
        },
        Dialect::Sqlite => match code.parse::<u32>().map(|full| full & 0xff) {
            Ok(5 | 6) => Some(StoreError::Conflict { statement }),
            Ok(7 | 10 | 13 | 14) => Some(environment()),
            Ok(18 | 20) => Some(data()),
            Ok(8) => Some(denied("give this user the right to write the file and its folder")),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_may_pass_by_itself_is_transient() {
        let statement = "test";
        let reason = String::new;
        let dialect = Dialect::Sqlite;
        for (error, transient) in [
            (StoreError::Unreachable { database: reason(), reason: reason() }, true),
            (StoreError::Busy { waited: Duration::ZERO }, true),
            (StoreError::Conflict { statement }, true),
            (StoreError::Environment { dialect, statement, reason: reason() }, true),
            (StoreError::Unique { statement }, false),
            (StoreError::NulInText { statement, position: 1 }, false),
            (StoreError::CommitUnknown { cause: "lost".into() }, false),
            (StoreError::Poisoned, false),
            (StoreError::Closed, false),
        ] {
            assert_eq!(error.is_transient(), transient, "{error}");
        }
    }
}
