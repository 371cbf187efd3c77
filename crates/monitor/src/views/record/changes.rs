//! What was said of a dependency over a span of time, and by its service of itself.

use mainstay_base::Timestamp;
use mainstay_store::{Row, Snapshot, Sql, StoreError, values};

use crate::report::DependencyStatus;
use crate::views::timeline::{Known, Said};

macro_rules! of_dependency {
    ($rest:literal) => {
        concat!(
            "SELECT number, at, kind, after FROM changes
             WHERE dependency_no = $1 AND kind IN ('added', 'dependency', 'missing') AND ",
            $rest
        )
    };
}
macro_rules! of_service {
    ($rest:literal) => {
        concat!(
            "SELECT number, at, kind, after FROM changes
             WHERE service_no = $1 AND kind = 'stale' AND ",
            $rest
        )
    };
}
pub(super) const SAID: Sql = Sql::same(
    "monitor.said_of_dependency",
    of_dependency!("at >= $2 AND at <= $3 ORDER BY number DESC LIMIT $4"),
);
pub(super) const STALE: Sql = Sql::same(
    "monitor.said_of_staleness",
    of_service!("at >= $2 AND at <= $3 ORDER BY at DESC, number DESC LIMIT $4"),
);
const STATUS_BEFORE: Sql = Sql::same(
    "monitor.status_before",
    "SELECT number, at, kind, after FROM changes
     WHERE dependency_no = $1 AND kind IN ('added', 'dependency') AND at < $2
     ORDER BY number DESC LIMIT 1",
);
const MISSING_BEFORE: Sql = Sql::same(
    "monitor.missing_before",
    "SELECT number, at, kind, after FROM changes
     WHERE dependency_no = $1 AND kind = 'missing' AND at < $2 ORDER BY number DESC LIMIT 1",
);
pub(super) const STALE_BEFORE: Sql =
    Sql::same("monitor.stale_before", of_service!("at < $2 ORDER BY at DESC, number DESC LIMIT 1"));

/// Which dependency of which service.
#[derive(Debug, Clone, Copy)]
pub(in crate::views) struct Of {
    pub(in crate::views) service_no: i64,
    pub(in crate::views) dependency_no: i64,
}

/// What was said from `from` to `to`, oldest first, at most `limit` and then the newest.
pub(in crate::views) async fn said(
    snapshot: &mut Snapshot,
    of: Of,
    from: Timestamp,
    to: Timestamp,
    limit: usize,
) -> Result<Vec<(Timestamp, Said)>, StoreError> {
    let most = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut rows = Vec::new();
    for (sql, number) in [(&SAID, of.dependency_no), (&STALE, of.service_no)] {
        for row in snapshot.fetch_all(sql, values![number, from, to, most]).await? {
            let number: i64 = row.get("number")?;
            if let Some(said) = read(&row)? {
                rows.push((row.get::<Timestamp>("at")?, number, said));
            }
        }
    }
    rows.sort_unstable_by_key(|(at, number, _)| (*at, *number));
    let extra = rows.len().saturating_sub(limit);
    Ok(rows.into_iter().skip(extra).map(|(at, _, said)| (at, said)).collect())
}

/// What was known just before `from`.
pub(in crate::views) async fn known_before(
    snapshot: &mut Snapshot,
    of: Of,
    from: Timestamp,
) -> Result<Known, StoreError> {
    let mut known = Known::NOTHING;
    for (sql, number) in [
        (&STATUS_BEFORE, of.dependency_no),
        (&MISSING_BEFORE, of.dependency_no),
        (&STALE_BEFORE, of.service_no),
    ] {
        let row = snapshot.fetch_optional(sql, values![number, from]).await?;
        if let Some(said) = row.as_ref().map(read).transpose()?.flatten() {
            known.hear(said);
        }
    }
    Ok(known)
}

fn read(row: &Row) -> Result<Option<Said>, StoreError> {
    let kind: String = row.get("kind")?;
    let after: Option<String> = row.get("after")?;
    let after = after.unwrap_or_default();
    Ok(match kind.as_str() {
        "missing" => Some(Said::Present(after == "present")),
        "stale" => Some(Said::Fresh(after == "fresh")),
        _ => DependencyStatus::from_name(&after).map(Said::Status),
    })
}
