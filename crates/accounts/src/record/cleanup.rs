//! What is over and nobody needs: removed in bounded portions.

use mainstay_base::Timestamp;
use mainstay_store::{Db, Dialect, Sql, StoreError, values};

/// Rows that one statement removes.
pub(crate) const PORTION: i64 = 500;

/// A kind of rows that end, and the statement that removes those before a time.
pub(crate) struct Broom {
    sql: Sql,
    /// The table is only there on PostgreSQL.
    postgres_only: bool,
}

impl Broom {
    const fn new(name: &'static str, text: &'static str) -> Self {
        Self { sql: Sql::same(name, text), postgres_only: false }
    }

    const fn on_postgres(name: &'static str, text: &'static str) -> Self {
        Self { sql: Sql::same(name, text), postgres_only: true }
    }

    /// The name of its statement, for the log.
    pub(crate) const fn name(&self) -> &'static str {
        self.sql.name()
    }
}

pub(crate) const SESSIONS: Broom = Broom::new(
    "accounts.clean_sessions",
    "DELETE FROM sessions WHERE id IN
       (SELECT id FROM sessions WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2)",
);
pub(crate) const TOKENS: Broom = Broom::new(
    "accounts.clean_tokens",
    "DELETE FROM api_tokens WHERE id IN
       (SELECT id FROM api_tokens WHERE expires_at <= $1 ORDER BY expires_at NULLS LAST LIMIT $2)",
);
pub(crate) const INVITES: Broom = Broom::new(
    "accounts.clean_invites",
    "DELETE FROM invites WHERE id IN
       (SELECT id FROM invites WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2)",
);
pub(crate) const SETUP_LINKS: Broom = Broom::new(
    "accounts.clean_setup_links",
    "DELETE FROM setup_links WHERE token_hash IN
       (SELECT token_hash FROM setup_links WHERE expires_at <= $1 LIMIT $2)",
);
pub(crate) const BUCKETS: Broom = Broom::new(
    "accounts.clean_buckets",
    "DELETE FROM rate_limit_buckets WHERE (scope, subject_hash, bucket_start) IN
       (SELECT scope, subject_hash, bucket_start FROM rate_limit_buckets
        WHERE bucket_start <= $1 ORDER BY bucket_start LIMIT $2)",
);
pub(crate) const WINDOWS: Broom = Broom::on_postgres(
    "accounts.clean_windows",
    "DELETE FROM request_windows WHERE (subject, route) IN
       (SELECT subject, route FROM request_windows WHERE touched_at <= $1 LIMIT $2)",
);
pub(crate) const REQUESTS: Broom = Broom::new(
    "accounts.clean_access_requests",
    "DELETE FROM access_requests WHERE id IN
       (SELECT id FROM access_requests WHERE created_at <= $1 LIMIT $2)",
);
pub(crate) const AUDIT: Broom = Broom::new(
    "accounts.clean_audit",
    "DELETE FROM audit_log WHERE id IN
       (SELECT id FROM audit_log WHERE at <= $1 ORDER BY at LIMIT $2)",
);

/// Removes one portion of what ended at or before `until`, and tells how many rows that were.
pub(crate) async fn sweep(db: &Db, broom: &Broom, until: Timestamp) -> Result<u64, StoreError> {
    if broom.postgres_only && db.dialect() != Dialect::Postgres {
        return Ok(0);
    }
    db.write(async |tx| tx.execute(&broom.sql, values![until, PORTION]).await).await
}
