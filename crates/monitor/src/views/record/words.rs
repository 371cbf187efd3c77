//! What was said of dependencies and services at a moment of the past.

use std::collections::HashMap;

use mainstay_base::{Id, Timestamp};
use mainstay_store::{Db, Row, Sql, StoreError, values};

use super::services::json;
use crate::views::node_then::Words;

macro_rules! words {
    ($which:literal) => {
        concat!(
            "SELECT d.id, d.kind, d.description, d.impact, d.contact, e.error, e.error_message
             FROM dependencies AS d
             LEFT JOIN dependency_errors AS e ON e.number =
               (SELECT x.number FROM dependency_errors AS x
                WHERE x.dependency_no = d.number AND x.at <= $1 ORDER BY x.number DESC LIMIT 1)
             WHERE d.id ",
            $which
        )
    };
}
pub(super) const WORDS: Sql = Sql::pair(
    "monitor.words_of_then",
    words!("IN (SELECT value FROM json_each($2))"),
    words!("= ANY ($2)"),
);
pub(super) const POLL: Sql = Sql::same(
    "monitor.poll_of_then",
    "SELECT error_message FROM poll_history
     WHERE service_no = $1 AND at <= $2 ORDER BY number DESC LIMIT 1",
);

/// What was wrong with these dependencies at a moment, and what else is known of them now.
pub(in crate::views) async fn of_dependencies(
    db: &Db,
    at: Timestamp,
    ids: &[String],
) -> Result<HashMap<Id, Words>, StoreError> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let rows = db.fetch_all(&WORDS, values![at, ids]).await?;
    rows.iter().map(|row| Ok((row.get("id")?, words(row)?))).collect()
}

/// Why a service could not be polled at a moment, if it could not.
pub(in crate::views) async fn of_service(
    db: &Db,
    service_no: i64,
    at: Timestamp,
) -> Result<Option<String>, StoreError> {
    let row = db.fetch_optional(&POLL, values![service_no, at]).await?;
    Ok(row.map(|row| row.get("error_message")).transpose()?.flatten())
}

fn words(row: &Row) -> Result<Words, StoreError> {
    Ok(Words {
        error: json(row.get("error")?),
        error_message: row.get("error_message")?,
        kind: row.get("kind")?,
        description: row.get("description")?,
        impact: row.get("impact")?,
        contact: json(row.get("contact")?),
    })
}
