//! What leaves by age, in portions that hold the writer for a few milliseconds each.

use mainstay_store::{Db, Dialect, Sql, StoreError, values};

use crate::latency::budget::Budget;

/// Rows that one portion removes at most.
pub(crate) const PORTION: u64 = 2_000;

// PostgreSQL finds rows by where they are: by their keys it may choose to read the whole table.
macro_rules! by_place {
    ($table:literal, $which:literal) => {
        concat!(
            "DELETE FROM ",
            $table,
            " WHERE ctid = ANY (ARRAY(SELECT ctid FROM ",
            $table,
            $which,
            " LIMIT $2))"
        )
    };
}
/// On PostgreSQL days leave with their partitions, and only what has none is removed by row.
const POINTS: Sql = Sql::pair(
    "monitor.remove_points",
    "DELETE FROM latency_points WHERE (bucket, service_no, at) IN
       (SELECT bucket, service_no, at FROM latency_points WHERE bucket < $1
        ORDER BY bucket, service_no, at LIMIT $2)",
    by_place!("latency_points_rest", " WHERE bucket < $1 ORDER BY bucket, service_no, at"),
);
const ROLLUPS: Sql = Sql::pair(
    "monitor.remove_rollups",
    "DELETE FROM latency_rollups WHERE (span, start, service_no) IN
       (SELECT span, start, service_no FROM latency_rollups WHERE span = $3 AND start < $1
        ORDER BY start, service_no LIMIT $2)",
    by_place!("latency_rollups", " WHERE span = $3 AND start < $1 ORDER BY start, service_no"),
);
// The newest mark leaves last: until then it tells that there is more to take back.
const EARLY_ROLLUPS: Sql = Sql::pair(
    "monitor.remove_early_rollups",
    "DELETE FROM latency_rollups WHERE (span, start, service_no) IN
       (SELECT span, start, service_no FROM latency_rollups WHERE span = $3 AND start > $1
        ORDER BY service_no DESC, start LIMIT $2)",
    by_place!("latency_rollups", " WHERE span = $3 AND start > $1 ORDER BY service_no DESC, start"),
);
const CHANGES: Sql = Sql::pair(
    "monitor.remove_changes",
    "DELETE FROM changes WHERE number IN
       (SELECT number FROM changes WHERE at < $1 ORDER BY at LIMIT $2)",
    by_place!("changes", " WHERE at < $1 ORDER BY at"),
);
const ERRORS: Sql = Sql::pair(
    "monitor.remove_dependency_errors",
    "DELETE FROM dependency_errors WHERE number IN
       (SELECT number FROM dependency_errors WHERE at < $1 ORDER BY at LIMIT $2)",
    by_place!("dependency_errors", " WHERE at < $1 ORDER BY at"),
);
const POLLS: Sql = Sql::pair(
    "monitor.remove_poll_history",
    "DELETE FROM poll_history WHERE number IN
       (SELECT number FROM poll_history WHERE at < $1 ORDER BY at LIMIT $2)",
    by_place!("poll_history", " WHERE at < $1 ORDER BY at"),
);
const DAYS: Sql = Sql::same(
    "monitor.old_days_of_points",
    "SELECT d.day FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid,
       LATERAL (SELECT substring(c.relname FROM '^latency_points_([0-9]+)$')::bigint AS day) AS d
     WHERE i.inhparent = 'latency_points'::regclass AND d.day < $1 ORDER BY d.day",
);
const OPEN_DAY: Sql = Sql::same("monitor.open_day_of_points", "SELECT latency_points_open($1)");
const DROP_DAY: Sql = Sql::same("monitor.drop_day_of_points", "SELECT latency_points_drop($1)");

/// What leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Old {
    /// Points of the days before this one.
    Points { day: i64 },
    /// Roll-ups of a length that begin before this.
    Rollups { length: i64, start: i64 },
    /// Roll-ups of a length that begin after this: too early, not too late.
    EarlyRollups { length: i64, start: i64 },
    /// Changes before this.
    Changes { at: i64 },
    /// Errors of dependencies before this.
    Errors { at: i64 },
    /// Transitions of polls before this.
    Polls { at: i64 },
}

/// Removes one portion, and tells how many rows that were.
async fn remove(db: &Db, old: Old) -> Result<u64, StoreError> {
    let limit = i64::try_from(PORTION).unwrap_or(i64::MAX);
    db.write(async |tx| match old {
        Old::Points { day } => tx.execute(&POINTS, values![day, limit]).await,
        Old::Rollups { length, start } => tx.execute(&ROLLUPS, values![start, limit, length]).await,
        Old::EarlyRollups { length, start } => {
            tx.execute(&EARLY_ROLLUPS, values![start, limit, length]).await
        }
        Old::Changes { at } => tx.execute(&CHANGES, values![at, limit]).await,
        Old::Errors { at } => tx.execute(&ERRORS, values![at, limit]).await,
        Old::Polls { at } => tx.execute(&POLLS, values![at, limit]).await,
    })
    .await
}

/// Removes portions for as long as there are any and the budget allows, and tells how many rows.
pub(crate) async fn remove_all(
    db: &Db,
    old: Old,
    budget: &mut Budget<'_>,
) -> Result<u64, StoreError> {
    let mut removed = 0_u64;
    while budget.take() {
        let rows = remove(db, old).await?;
        removed = removed.saturating_add(rows);
        if rows < PORTION {
            break;
        }
    }
    Ok(removed)
}

/// Makes room for the points of a day, where days have rooms of their own.
pub(crate) async fn open_day(db: &Db, day: i64) -> Result<(), StoreError> {
    if db.dialect() == Dialect::Sqlite {
        return Ok(());
    }
    db.write(async |tx| tx.execute(&OPEN_DAY, values![day]).await.map(drop)).await
}

/// The days before `day` that have rooms of their own.
pub(crate) async fn days_before(db: &Db, day: i64) -> Result<Vec<i64>, StoreError> {
    if db.dialect() == Dialect::Sqlite {
        return Ok(Vec::new());
    }
    db.fetch_all(&DAYS, values![day]).await?.iter().map(|row| row.get("day")).collect()
}

/// Removes the points of a day with its room.
pub(crate) async fn drop_day(db: &Db, day: i64) -> Result<(), StoreError> {
    db.write(async |tx| tx.execute(&DROP_DAY, values![day]).await.map(drop)).await
}
