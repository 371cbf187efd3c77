//! The rows of single polls. They stand by day, service and time, and leave by whole days.

use mainstay_base::Timestamp;
use mainstay_store::{Db, Dialect, Sql, StoreError, Tx, Value, values};

use crate::latency::DAY_MS;
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

// All points travel as one value and are cut by their offsets: no row costs a statement of its own.
const INSERT: Sql = Sql::pair(
    "monitor.insert_points",
    "INSERT INTO latency_points (bucket, service_no, at, points)
     SELECT (value ->> 1) / 86400000, value ->> 0, value ->> 1,
       substr($2, value ->> 2, value ->> 3)
     FROM json_each($1) WHERE true ON CONFLICT DO NOTHING",
    "INSERT INTO latency_points (bucket, service_no, at, points)
     SELECT n.at / 86400000, n.service_no, n.at,
       substring($1 FROM n.start::integer FOR n.length::integer)
     FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[])
       AS n (service_no, at, start, length)
     ON CONFLICT DO NOTHING",
);
const LATEST: Sql = Sql::same(
    "monitor.latest_points",
    "SELECT at, points FROM latency_points WHERE bucket = $1 AND service_no = $2
     ORDER BY at DESC LIMIT 1",
);

/// Days in which the newest row is looked for.
const LATEST_DAYS: i64 = 3;

/// Writes `rows` in one statement. A row that is there already stays as it is, and one without points
/// is left out.
///
/// # Errors
/// When the database fails.
pub async fn insert(tx: &mut Tx, rows: &[PointsRow]) -> Result<(), StoreError> {
    let mut sorted: Vec<&PointsRow> = rows.iter().filter(|row| !row.points.is_empty()).collect();
    if sorted.is_empty() {
        return Ok(());
    }
    // In the order of the key: neighbours are written together, and two writers of the same rows
    // can't wait for each other.
    sorted.sort_by_key(|row| (day(row.at), row.service_no, row.at));
    let bytes: Vec<u8> = sorted.iter().flat_map(|row| row.points.iter().copied()).collect();
    match tx.dialect() {
        Dialect::Sqlite => {
            let list = as_json(&sorted);
            tx.execute(&INSERT, values![&list, bytes.as_slice()]).await?;
        }
        Dialect::Postgres => {
            let lists = as_lists(&sorted);
            let [services, times, starts, lengths] = &lists;
            let values = values![bytes.as_slice(), services, times, starts, lengths];
            tx.execute(&INSERT, values).await?;
        }
    }
    Ok(())
}

/// The newest row of a service within [`LATEST_DAYS`], if there is one. It may be older than the last
/// poll, which may have brought no points.
///
/// # Errors
/// When the database fails.
pub async fn latest(
    db: &Db,
    service: ServiceNumber,
    now: Timestamp,
) -> Result<Option<PointsRow>, StoreError> {
    for back in 0..LATEST_DAYS {
        let values = [Value::from(day(now).saturating_sub(back)), Value::from(service.0)];
        if let Some(row) = db.fetch_optional(&LATEST, &values).await? {
            let (at, points) = (row.get("at")?, row.get("points")?);
            return Ok(Some(PointsRow { service_no: service, at, points }));
        }
    }
    Ok(None)
}

/// The day since 1970 that a time is in.
pub(crate) const fn day(at: Timestamp) -> i64 {
    at.as_millis().div_euclid(DAY_MS)
}

/// `[[service, at, start, length], …]`
fn as_json(rows: &[&PointsRow]) -> String {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(rows.len().saturating_mul(40));
    let mut start = 1_usize;
    for row in rows {
        let opening = if text.is_empty() { '[' } else { ',' };
        let (service, at, length) = (row.service_no.0, row.at.as_millis(), row.points.len());
        // Writing to a text can't fail.
        let _ = write!(text, "{opening}[{service},{at},{start},{length}]");
        start = start.saturating_add(length);
    }
    text.push(']');
    text
}

/// Services, times, starts and lengths.
fn as_lists(rows: &[&PointsRow]) -> [Vec<i64>; 4] {
    let mut start = 1_i64;
    let mut lists = [const { Vec::new() }; 4];
    let [services, times, starts, lengths] = &mut lists;
    for row in rows {
        let length = i64::try_from(row.points.len()).unwrap_or(i64::MAX);
        services.push(row.service_no.0);
        times.push(row.at.as_millis());
        starts.push(start);
        lengths.push(length);
        start = start.saturating_add(length);
    }
    lists
}
