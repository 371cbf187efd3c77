//! What is over and nobody needs: removed in bounded portions.

use mainstay_base::Timestamp;
use mainstay_store::{Db, Dialect, Sql, StoreError, values};

/// Rows that one statement removes.
pub(crate) const PORTION: i64 = 500;

/// A kind of rows that end, and the statement that removes those before a time.
pub(crate) struct Broom {
    pub(crate) what: &'static str,
    sql: Sql,
    /// The table is only there on PostgreSQL.
    postgres_only: bool,
}

pub(crate) const SESSIONS: Broom = Broom {
    what: "sessions",
    sql: Sql::same(
        "accounts.clean_sessions",
        "DELETE FROM sessions WHERE id IN
           (SELECT id FROM sessions WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2)",
    ),
    postgres_only: false,
};
pub(crate) const TOKENS: Broom = Broom {
    what: "api_tokens",
    sql: Sql::same(
        "accounts.clean_tokens",
        "DELETE FROM api_tokens WHERE id IN
           (SELECT id FROM api_tokens WHERE expires_at <= $1 ORDER BY expires_at NULLS LAST LIMIT $2)",
    ),
    postgres_only: false,
};
pub(crate) const INVITES: Broom = Broom {
    what: "invites",
    sql: Sql::same(
        "accounts.clean_invites",
        "DELETE FROM invites WHERE id IN
           (SELECT id FROM invites WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2)",
    ),
    postgres_only: false,
};
pub(crate) const SETUP_LINKS: Broom = Broom {
    what: "setup_links",
    sql: Sql::same(
        "accounts.clean_setup_links",
        "DELETE FROM setup_links WHERE token_hash IN
           (SELECT token_hash FROM setup_links WHERE expires_at <= $1 LIMIT $2)",
    ),
    postgres_only: false,
};
pub(crate) const BUCKETS: Broom = Broom {
    what: "rate_limit_buckets",
    sql: Sql::same(
        "accounts.clean_buckets",
        "DELETE FROM rate_limit_buckets WHERE (scope, subject_hash, bucket_start) IN
           (SELECT scope, subject_hash, bucket_start FROM rate_limit_buckets
            WHERE bucket_start <= $1 ORDER BY bucket_start LIMIT $2)",
    ),
    postgres_only: false,
};
pub(crate) const WINDOWS: Broom = Broom {
    what: "request_windows",
    sql: Sql::same(
        "accounts.clean_windows",
        "DELETE FROM request_windows WHERE (subject, route) IN
           (SELECT subject, route FROM request_windows WHERE touched_at <= $1 LIMIT $2)",
    ),
    postgres_only: true,
};
pub(crate) const REQUESTS: Broom = Broom {
    what: "access_requests",
    sql: Sql::same(
        "accounts.clean_access_requests",
        "DELETE FROM access_requests WHERE id IN
           (SELECT id FROM access_requests WHERE created_at <= $1 LIMIT $2)",
    ),
    postgres_only: false,
};
pub(crate) const AUDIT: Broom = Broom {
    what: "audit_log",
    sql: Sql::same(
        "accounts.clean_audit",
        "DELETE FROM audit_log WHERE id IN
           (SELECT id FROM audit_log WHERE at <= $1 ORDER BY at LIMIT $2)",
    ),
    postgres_only: false,
};

/// Removes one portion of what ended at or before `until`, and tells how many rows that were.
pub(crate) async fn sweep(db: &Db, broom: &Broom, until: Timestamp) -> Result<u64, StoreError> {
    if broom.postgres_only && db.dialect() != Dialect::Postgres {
        return Ok(0);
    }
    db.write(async |tx| tx.execute(&broom.sql, values![until, PORTION]).await).await
}
