//! The one row that says where nodes are drawn.

use mainstay_store::{Db, Sql, StoreError, Tx, values};

const VERSION: Sql = Sql::same("monitor.drawing_version", "SELECT version FROM graph_drawing");
const READ: Sql = Sql::same("monitor.drawing", "SELECT version, body FROM graph_drawing");
const WRITE: Sql = Sql::same(
    "monitor.write_drawing",
    "INSERT INTO graph_drawing (singleton, version, body, updated_at) VALUES (1, $1 + 1, $2, $3)
     ON CONFLICT (singleton) DO UPDATE SET version = $1 + 1, body = $2, updated_at = $3
       WHERE graph_drawing.version = $1
     RETURNING version",
);

/// The version of the row; 0 when there is none.
pub(in crate::graph) async fn version(db: &Db) -> Result<i64, StoreError> {
    db.fetch_optional(&VERSION, &[]).await?.map_or(Ok(0), |row| row.get("version"))
}

/// The row with its version.
pub(in crate::graph) async fn read(db: &Db) -> Result<Option<(i64, String)>, StoreError> {
    let row = db.fetch_optional(&READ, &[]).await?;
    row.map(|row| Ok((row.get("version")?, row.get("body")?))).transpose()
}

/// Writes the row, unless somebody has written it since `version`. Tells its version then.
pub(in crate::graph) async fn write(
    tx: &mut Tx,
    version: i64,
    body: &str,
) -> Result<Option<i64>, StoreError> {
    let now = tx.now().await?;
    let row = tx.fetch_optional(&WRITE, values![version, body, now]).await?;
    row.map(|row| row.get("version")).transpose()
}
