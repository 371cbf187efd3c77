//! The sliding windows that several instances share, on PostgreSQL.

use mainstay_store::{Db, Sql, StoreError, values};

/// What the database decided about one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) admitted: bool,
    /// Requests in the window, this one included if it was admitted.
    pub(crate) used: i64,
    /// How old the oldest of them is, in milliseconds.
    pub(crate) oldest_age: i64,
}

/// One statement and one row: the row's lock brings the instances into one order, and the
/// database's clock is the same for all. What a crash could lose is worth a minute, so nobody waits
/// for the disk. Stamps from the future (a clock that was set back) count for a second at most.
const TAKE: Sql = Sql::same(
    "accounts.take_from_window",
    "WITH relaxed AS (SELECT set_config('synchronous_commit', 'off', true) AS setting),
       clock AS (
         SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint + $5 AS now FROM relaxed
       )
     INSERT INTO request_windows AS kept (subject, route, stamps, admitted, touched_at)
     SELECT $1, $2, ARRAY[now], 1, now FROM clock
     ON CONFLICT (subject, route) DO UPDATE SET (stamps, admitted, touched_at) = (
       SELECT
         CASE WHEN cardinality(recent.stamps) < $3
           THEN recent.stamps || excluded.touched_at ELSE recent.stamps END,
         CASE WHEN cardinality(recent.stamps) < $3 THEN 1 ELSE 0 END,
         excluded.touched_at
       FROM (
         SELECT coalesce(array_agg(stamp ORDER BY stamp), '{}'::bigint[]) AS stamps
         FROM unnest(kept.stamps) AS stamp
         WHERE stamp > excluded.touched_at - $4 AND stamp <= excluded.touched_at + 1000
       ) AS recent
     )
     RETURNING admitted, cardinality(stamps)::bigint AS used,
       greatest(touched_at - stamps[1], 0) AS oldest_age",
);

pub(crate) async fn take(
    db: &Db,
    subject: &str,
    route: &str,
    limit: i64,
    window_ms: i64,
) -> Result<Taken, StoreError> {
    let values = values![subject, route, limit, window_ms, db.clock_shift()];
    let row = db.write_one(&TAKE, values).await?;
    Ok(Taken {
        admitted: row.get("admitted")?,
        used: row.get("used")?,
        oldest_age: row.get("oldest_age")?,
    })
}
