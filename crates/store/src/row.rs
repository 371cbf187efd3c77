//! One row of an answer, read by column name and type.

use mainstay_base::{Id, Timestamp};
use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;
use sqlx::{ColumnIndex, Row as _};

use crate::error::StoreError;

/// One row of an answer.
pub struct Row(pub(crate) Inner);

pub(crate) enum Inner {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

impl Row {
    /// The value of `column`, as the type the caller wants.
    ///
    /// # Errors
    /// [`StoreError::Column`] when there is no such column, it holds another type, or it is NULL
    /// and `T` is not an `Option`.
    pub fn get<T: FromColumn>(&self, column: &str) -> Result<T, StoreError> {
        T::from_column(self, column)
    }

    fn read<'r, T>(&'r self, column: &str, wanted: &'static str) -> Result<T, StoreError>
    where
        T: sqlx::Decode<'r, sqlx::Sqlite>
            + sqlx::Type<sqlx::Sqlite>
            + sqlx::Decode<'r, sqlx::Postgres>
            + sqlx::Type<sqlx::Postgres>,
        for<'c> &'c str: ColumnIndex<SqliteRow> + ColumnIndex<PgRow>,
    {
        let read = match &self.0 {
            Inner::Sqlite(row) => row.try_get(column),
            Inner::Postgres(row) => row.try_get(column),
        };
        read.map_err(|error| unreadable(column, wanted, error))
    }
}

impl std::fmt::Debug for Row {
    /// A row may hold anything, so nothing of it is printed.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Row")
    }
}

/// A type that a column can be read as. For each there is also its `Option`.
pub trait FromColumn: Sized {
    /// Reads `column` of `row`.
    ///
    /// # Errors
    /// [`StoreError::Column`] when it can't be read as this type.
    fn from_column(row: &Row, column: &str) -> Result<Self, StoreError>;
}

macro_rules! plain_column {
    ($type:ty, $wanted:literal) => {
        impl FromColumn for $type {
            fn from_column(row: &Row, column: &str) -> Result<Self, StoreError> {
                // SQLite's driver reads a NULL as an empty text or a zero, so it is asked for.
                let optional: Option<Self> = row.read(column, $wanted)?;
                optional.ok_or_else(|| unreadable(column, $wanted, "it is NULL"))
            }
        }

        impl FromColumn for Option<$type> {
            fn from_column(row: &Row, column: &str) -> Result<Self, StoreError> {
                row.read(column, concat!($wanted, " or NULL"))
            }
        }
    };
}

plain_column!(i64, "a whole number");
plain_column!(f64, "a number");
plain_column!(String, "text");
plain_column!(Vec<u8>, "bytes");

macro_rules! converted_column {
    ($type:ty, $from:ty, $wanted:literal, $convert:expr) => {
        impl FromColumn for $type {
            fn from_column(row: &Row, column: &str) -> Result<Self, StoreError> {
                let raw = <$from>::from_column(row, column)?;
                $convert(raw).map_err(|error| unreadable(column, $wanted, error))
            }
        }

        impl FromColumn for Option<$type> {
            fn from_column(row: &Row, column: &str) -> Result<Self, StoreError> {
                let raw = <Option<$from>>::from_column(row, column)?;
                let converted = raw.map($convert).transpose();
                converted.map_err(|error| unreadable(column, $wanted, error))
            }
        }
    };
}

converted_column!(Timestamp, i64, "a time in ms", |raw| Ok::<_, NotABool>(Timestamp::from_millis(
    raw
)));
converted_column!(Id, String, "an id", |raw: String| raw.parse::<Id>());
converted_column!(bool, i64, "0 or 1", bool_from_int);

#[derive(Debug, thiserror::Error)]
#[error("the number is neither 0 nor 1")]
struct NotABool;

fn bool_from_int(raw: i64) -> Result<bool, NotABool> {
    match raw {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(NotABool),
    }
}

fn unreadable(
    column: &str,
    wanted: &'static str,
    cause: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> StoreError {
    StoreError::Column { column: column.to_owned(), wanted, cause: cause.into() }
}
