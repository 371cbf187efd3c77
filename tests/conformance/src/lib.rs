//! What the conformance tests share: a table of their own, made through the same seam.

use mainstay_store::{Db, Sql, StoreError, values};

/// A table with every type, nullable.
pub const CREATE: Sql = Sql::pair(
    "test.create",
    "CREATE TABLE thing (
       id INTEGER PRIMARY KEY, name TEXT, amount INTEGER, share REAL, raw BLOB
     ) STRICT",
    "CREATE TABLE thing (
       id BIGINT PRIMARY KEY, name TEXT COLLATE \"C\", amount BIGINT,
       share DOUBLE PRECISION, raw BYTEA
     )",
);

/// Writes one row with a name.
pub const INSERT: Sql =
    Sql::same("test.insert", "INSERT INTO thing (id, name, amount) VALUES ($1, $2, $3)");

/// Counts the rows.
pub const COUNT: Sql = Sql::same("test.count", "SELECT count(*) AS count FROM thing");

/// Makes the table.
///
/// # Errors
/// When the database refuses.
pub async fn create(db: &Db) -> Result<(), StoreError> {
    db.write(async |tx| tx.execute(&CREATE, &[]).await.map(drop)).await
}

/// Writes one row.
///
/// # Errors
/// When the database refuses.
pub async fn insert(db: &Db, id: i64, name: Option<&str>) -> Result<(), StoreError> {
    db.write(async |tx| tx.execute(&INSERT, values![id, name, None::<i64>]).await.map(drop)).await
}

/// How many rows there are.
///
/// # Errors
/// When the database refuses.
pub async fn count(db: &Db) -> Result<i64, StoreError> {
    db.fetch_one(&COUNT, &[]).await?.get("count")
}
