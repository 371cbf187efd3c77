//! The rows of single polls. They stand by day, service and time, and leave by whole days.

use mainstay_base::Timestamp;
use mainstay_store::{Db, Row, Snapshot, Sql, StoreError, Tx, values};

use super::pieces::{self, Piece};
use crate::latency::span::{DAY_MS, Span};
use crate::watch::ServiceNumber;

/// The latencies of one poll of one service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PointsRow {
    /// The service.
    pub service_no: ServiceNumber,
    /// When its answer came.
    pub at: Timestamp,
    /// What [`crate::latency::points::pack`] made of the answer.
    pub points: Vec<u8>,
}

const INSERT: Sql = Sql::pair(
    "monitor.insert_points",
    "INSERT INTO latency_points (bucket, service_no, at, points)
     SELECT (value ->> 1) / 86400000, value ->> 0, value ->> 1,
       substr($2, value ->> 2, value ->> 3)
     FROM jsonb_each($1) WHERE true ON CONFLICT DO NOTHING",
    "INSERT INTO latency_points (bucket, service_no, at, points)
     SELECT n.at / 86400000, n.service_no, n.at,
       substring($1 FROM n.start::integer FOR n.length::integer)
     FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[])
       AS n (service_no, at, start, length)
     ON CONFLICT DO NOTHING",
);
const LATEST: Sql = Sql::same(
    "monitor.latest_points",
    "SELECT CAST(service_no AS BIGINT) AS service_no, at, points FROM latency_points
     WHERE bucket = $1 AND service_no = $2 ORDER BY at DESC LIMIT 1",
);
const FIRST_FROM: Sql = Sql::same(
    "monitor.first_day_of_points",
    "SELECT CAST(min(bucket) AS BIGINT) AS day FROM latency_points WHERE bucket >= $1",
);
// The services lead, so that only their rows of the span are looked at, not those of the whole day:
// without the plus SQLite looks at all of the portion for each of its services.
const PAGE: Sql = Sql::same(
    "monitor.page_points",
    "SELECT s.number AS service_no, p.at, p.points FROM services AS s CROSS JOIN latency_points AS p
     WHERE s.number >= $1 AND s.number <= $2 AND p.bucket = $3 AND p.service_no = +s.number
       AND p.at >= $4 AND p.at < $5 AND (s.number > $1 OR p.at > $6)
     ORDER BY s.number, p.at LIMIT $7",
);
const OF_SERVICE: Sql = Sql::same(
    "monitor.points_of_service",
    "SELECT CAST(service_no AS BIGINT) AS service_no, at, points FROM latency_points
     WHERE bucket = $1 AND service_no = $2 AND at >= $3 AND at < $4 ORDER BY at DESC LIMIT $5",
);

const OF_SERVICES: Sql = Sql::pair(
    "monitor.points_of_services",
    "SELECT CAST(service_no AS BIGINT) AS service_no, at, points FROM latency_points
     WHERE bucket = $1 AND service_no IN (SELECT value FROM json_each($2)) AND at >= $3 AND at < $4
     LIMIT $5",
    "SELECT CAST(service_no AS BIGINT) AS service_no, at, points FROM latency_points
     WHERE bucket = $1 AND service_no = ANY ($2) AND at >= $3 AND at < $4 LIMIT $5",
);

/// Days in which the newest row is looked for.
const LATEST_DAYS: i64 = 3;

/// Writes `rows` in one statement. A row that is there already stays as it is, and one without points
/// is left out.
///
/// # Errors
/// When the database fails.
pub async fn insert(tx: &mut Tx, rows: &[PointsRow]) -> Result<(), StoreError> {
    let mut pieces: Vec<Piece<'_>> = rows
        .iter()
        .filter(|row| !row.points.is_empty())
        .map(|row| Piece {
            service: row.service_no.0,
            time: row.at.as_millis(),
            bytes: &row.points,
        })
        .collect();
    // In the order of the key: neighbours are written together, and two writers of the same rows
    // can't wait for each other.
    pieces.sort_by_key(|piece| (piece.time.div_euclid(DAY_MS), piece.service, piece.time));
    pieces::insert(tx, &INSERT, &pieces, &[]).await
}

/// The newest row of a service within three days, if there is one. It may be older than the last poll,
/// which may have brought no points.
///
/// # Errors
/// When the database fails.
pub async fn latest(
    db: &Db,
    service: ServiceNumber,
    now: Timestamp,
) -> Result<Option<PointsRow>, StoreError> {
    let today = now.as_millis().div_euclid(DAY_MS);
    for back in 0..LATEST_DAYS {
        let day = today.saturating_sub(back);
        if let Some(row) = db.fetch_optional(&LATEST, values![day, service.0]).await? {
            return points_row(&row).map(Some);
        }
    }
    Ok(None)
}

/// When the first day begins, from that of `from` on, that has rows.
pub(crate) async fn first_from(db: &Db, from: i64) -> Result<Option<i64>, StoreError> {
    let row = db.fetch_one(&FIRST_FROM, values![from.div_euclid(DAY_MS)]).await?;
    Ok(row.get::<Option<i64>>("day")?.map(|day| day.saturating_mul(DAY_MS)))
}

/// Rows of a span within one day, of the services up to `last`, by service and time: those after
/// service and time of `after`, up to `limit`.
pub(crate) async fn page(
    db: &Db,
    span: Span,
    after: (i64, i64),
    last: i64,
    limit: usize,
) -> Result<Vec<PointsRow>, StoreError> {
    let ((service, at), day) = (after, span.start.div_euclid(DAY_MS));
    let values = values![service, last, day, span.start, span.end, at, row_limit(limit)];
    db.fetch_all(&PAGE, values).await?.iter().map(points_row).collect()
}

/// The newest rows of a service in the part of a span that is in `day`, up to `limit`.
pub(crate) async fn of_service(
    snapshot: &mut Snapshot,
    service: ServiceNumber,
    day: i64,
    span: Span,
    limit: usize,
) -> Result<Vec<PointsRow>, StoreError> {
    let values = values![day, service.0, span.start, span.end, row_limit(limit)];
    snapshot.fetch_all(&OF_SERVICE, values).await?.iter().map(points_row).collect()
}

/// The rows of some services in a span within one day, up to `limit`, in no order.
pub(crate) async fn of_services(
    snapshot: &mut Snapshot,
    services: &[i64],
    span: Span,
    limit: usize,
) -> Result<Vec<PointsRow>, StoreError> {
    let day = span.start.div_euclid(DAY_MS);
    let values = values![day, services, span.start, span.end, row_limit(limit)];
    snapshot.fetch_all(&OF_SERVICES, values).await?.iter().map(points_row).collect()
}

fn points_row(row: &Row) -> Result<PointsRow, StoreError> {
    let service_no = ServiceNumber(row.get("service_no")?);
    Ok(PointsRow { service_no, at: row.get("at")?, points: row.get("points")? })
}

fn row_limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

#[cfg(test)]
pub(crate) const PLANNED: [&Sql; 3] = [&LATEST, &PAGE, &OF_SERVICE];
/// For many services at once.
#[cfg(test)]
pub(crate) const PLANNED_FOR_MANY: [&Sql; 1] = [&OF_SERVICES];
