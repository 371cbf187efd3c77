//! What was said of a dependency over a span of time, and by its service of itself.

use mainstay_base::Timestamp;
use mainstay_store::{Row, Snapshot, Sql, StoreError, values};

use crate::report::DependencyStatus;
use crate::views::holding::Holding;
use crate::views::timeline::{Known, Said};

pub(super) const SAID: Sql = Sql::same(
    "monitor.said_of_dependency",
    "SELECT number, at, kind, after FROM changes
     WHERE dependency_no = $1 AND kind IN ('added', 'dependency', 'missing')
       AND at >= $2 AND at <= $3 ORDER BY number DESC LIMIT $4",
);
pub(super) const STALE: Sql = Sql::same(
    "monitor.said_of_staleness",
    "SELECT number, at, kind, after FROM changes WHERE service_no = $1 AND kind = 'stale'
       AND at >= $2 AND at <= $3 ORDER BY at DESC, number DESC LIMIT $4",
);
const FIRST_SAID: Sql = Sql::same(
    "monitor.first_said_of_dependency",
    "SELECT at, kind, before AS after FROM changes
     WHERE dependency_no = $1 AND kind IN ('added', 'dependency') AND at >= $2
     ORDER BY number LIMIT 1",
);
const FIRST_MISSING: Sql = Sql::same(
    "monitor.first_missing",
    "SELECT at, kind, before AS after FROM changes
     WHERE dependency_no = $1 AND kind = 'missing' AND at >= $2 ORDER BY number LIMIT 1",
);
// Found by time, told by number: those whose time contradicts their number are near each other.
const FIRST_STALE: Sql = Sql::same(
    "monitor.first_stale",
    "SELECT at, kind, after FROM (SELECT number, at, kind, before AS after FROM changes
       WHERE service_no = $1 AND kind = 'stale' AND at >= $2 ORDER BY at, number LIMIT 50) AS near
     ORDER BY number LIMIT 1",
);
const AS_IT_IS: Sql = Sql::same(
    "monitor.dependency_as_it_is",
    "SELECT d.status, d.missing_since, st.stale_since
     FROM dependencies AS d JOIN service_states AS st ON st.service_no = d.service_no
     WHERE d.number = $1",
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
pub(super) const STALE_BEFORE: Sql = Sql::same(
    "monitor.stale_before",
    "SELECT number, at, kind, after FROM (SELECT number, at, kind, after FROM changes
       WHERE service_no = $1 AND kind = 'stale' AND at < $2 ORDER BY at DESC, number DESC LIMIT 50)
       AS near ORDER BY number DESC LIMIT 1",
);

/// Which dependency of which service.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Of {
    pub(crate) service_no: i64,
    pub(crate) dependency_no: i64,
}

/// What was said over a span of time.
#[derive(Debug)]
pub(crate) struct Heard {
    /// Oldest first.
    pub(crate) said: Vec<(Timestamp, Said)>,
    /// From when on that is all, if it was too much.
    pub(crate) cut_at: Option<Timestamp>,
}

/// What was said from `from` to `to`, at most `limit` and then the newest.
pub(crate) async fn said(
    snapshot: &mut Snapshot,
    of: Of,
    from: Timestamp,
    to: Timestamp,
    limit: usize,
) -> Result<Heard, StoreError> {
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
    let is_cut = rows.len() >= limit;
    rows.drain(..rows.len().saturating_sub(limit));
    let cut_at = rows.first().filter(|_| is_cut).map(|(at, ..)| *at);
    let mut holding = Holding::default();
    rows.retain(|(_, number, said)| holding.hears(std::mem::discriminant(said), *number));
    Ok(Heard { said: rows.into_iter().map(|(at, _, said)| (at, said)).collect(), cut_at })
}

/// What was known just before `from`. Changes are not kept for ever: where there is none before, the
/// next one tells from what it changed, and where there is none at all, it is as it was.
pub(crate) async fn known_before(
    snapshot: &mut Snapshot,
    of: Of,
    from: Timestamp,
) -> Result<Known, StoreError> {
    let mut known = Known::NOTHING;
    let [status, present, fresh] = as_it_is(snapshot, of).await?;
    for ([before, next], number, now) in [
        ([&STATUS_BEFORE, &FIRST_SAID], of.dependency_no, status),
        ([&MISSING_BEFORE, &FIRST_MISSING], of.dependency_no, present),
        ([&STALE_BEFORE, &FIRST_STALE], of.service_no, fresh),
    ] {
        let mut row = snapshot.fetch_optional(before, values![number, from]).await?;
        if row.is_none() {
            row = snapshot.fetch_optional(next, values![number, from]).await?;
        }
        let said = match &row {
            Some(row) => read(row)?,
            None => now,
        };
        if let Some(said) = said {
            known.hear(said);
        }
    }
    Ok(known)
}

/// What its row says: its status, whether it is reported, whether its service can be polled.
async fn as_it_is(snapshot: &mut Snapshot, of: Of) -> Result<[Option<Said>; 3], StoreError> {
    let Some(row) = snapshot.fetch_optional(&AS_IT_IS, values![of.dependency_no]).await? else {
        return Ok([None; 3]);
    };
    let status: String = row.get("status")?;
    let missing_since: Option<Timestamp> = row.get("missing_since")?;
    let stale_since: Option<Timestamp> = row.get("stale_since")?;
    Ok([
        DependencyStatus::from_name(&status).map(Said::Status),
        Some(Said::Present(missing_since.is_none())),
        Some(Said::Fresh(stale_since.is_none())),
    ])
}

fn read(row: &Row) -> Result<Option<Said>, StoreError> {
    let kind: String = row.get("kind")?;
    let after: Option<String> = row.get("after")?;
    let Some(after) = after else { return Ok(None) };
    Ok(match kind.as_str() {
        "missing" => Some(Said::Present(after == "present")),
        "stale" => Some(Said::Fresh(after == "fresh")),
        _ => DependencyStatus::from_name(&after).map(Said::Status),
    })
}
