//! Which of many sessions and tokens are alive, in one statement for many. The ids travel as one JSON
//! text, so that the statement is the same however many there are.

use mainstay_base::{Id, Timestamp};
use mainstay_store::{Db, Sql, StoreError, values};

macro_rules! alive {
    ($name:literal, $table:literal, $is_alive:literal) => {
        Sql::pair(
            $name,
            concat!(
                "SELECT t.id FROM ",
                $table,
                " t JOIN users u ON u.id = t.user_id
                 WHERE t.id IN (SELECT value FROM json_each($1))
                   AND u.status = 'active' AND ",
                $is_alive
            ),
            concat!(
                "SELECT t.id FROM ",
                $table,
                " t JOIN users u ON u.id = t.user_id
                 WHERE t.id = ANY (ARRAY(SELECT jsonb_array_elements_text($1::jsonb)))
                   AND u.status = 'active' AND ",
                $is_alive
            ),
        )
    };
}

const SESSIONS: Sql = alive!("accounts.alive_sessions", "sessions", "t.expires_at > $2");
const TOKENS: Sql =
    alive!("accounts.alive_tokens", "api_tokens", "(t.expires_at IS NULL OR t.expires_at > $2)");

pub(crate) async fn sessions(db: &Db, ids: &[Id], now: Timestamp) -> Result<Vec<Id>, StoreError> {
    those(db, &SESSIONS, ids, now).await
}

pub(crate) async fn tokens(db: &Db, ids: &[Id], now: Timestamp) -> Result<Vec<Id>, StoreError> {
    those(db, &TOKENS, ids, now).await
}

async fn those(db: &Db, sql: &Sql, ids: &[Id], now: Timestamp) -> Result<Vec<Id>, StoreError> {
    let ids: Vec<_> = ids.iter().map(ToString::to_string).collect();
    let ids = serde_json::Value::from(ids).to_string();
    let rows = db.fetch_all(sql, values![ids.as_str(), now]).await?;
    rows.iter().map(|row| row.get("id")).collect()
}
