//! The rows of five minutes and of hours.
//!
//! A row of service 0, which no service is, marks that the roll-ups of its span and of all before are
//! complete: it is written when they are, and a run that was broken off goes on from there.

use mainstay_base::Timestamp;
use mainstay_store::{Db, Snapshot, Sql, StoreError, Tx, Value, values};

use super::pieces::{self, Piece};
use crate::latency::span::Span;
use crate::watch::ServiceNumber;

/// The latencies of a service over a span, packed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RollupRow {
    pub(crate) service: i64,
    pub(crate) start: Timestamp,
    pub(crate) summaries: Vec<u8>,
}

const COMPLETE: Sql = Sql::same(
    "monitor.complete_rollups",
    "SELECT max(start) AS start FROM latency_rollups WHERE service_no = 0 AND span = $1",
);
const FIRST_FROM: Sql = Sql::same(
    "monitor.first_rollup",
    "SELECT start FROM latency_rollups WHERE span = $1 AND start >= $2 AND service_no > 0
     ORDER BY start, service_no LIMIT 1",
);
const PORTION_END: Sql = Sql::same(
    "monitor.portion_of_services",
    "SELECT max(number) AS number FROM
       (SELECT number FROM services WHERE number > $1 ORDER BY number LIMIT $2) AS portion",
);
// SQLite takes the key, and with it the rows of every service in the span, unless it is told.
const PORTION: Sql = Sql::pair(
    "monitor.portion_of_rollups",
    "SELECT r.service_no, r.start, r.summaries FROM services AS s
       CROSS JOIN latency_rollups AS r INDEXED BY latency_rollups_by_service
     WHERE s.number > $1 AND s.number <= $2 AND r.service_no = +s.number AND r.span = $3
       AND r.start >= $4 AND r.start < $5 ORDER BY s.number, r.start",
    "SELECT r.service_no, r.start, r.summaries FROM services AS s, latency_rollups AS r
     WHERE s.number > $1 AND s.number <= $2 AND r.service_no = s.number AND r.span = $3
       AND r.start >= $4 AND r.start < $5 ORDER BY s.number, r.start",
);
const OF_SERVICE: Sql = Sql::pair(
    "monitor.rollups_of_service",
    "SELECT service_no, start, summaries
     FROM latency_rollups INDEXED BY latency_rollups_by_service
     WHERE service_no = $1 AND span = $2 AND start >= $3 AND start < $4 ORDER BY start",
    "SELECT service_no, start, summaries FROM latency_rollups
     WHERE service_no = $1 AND span = $2 AND start >= $3 AND start < $4 ORDER BY start",
);
const OF_SERVICES: Sql = Sql::pair(
    "monitor.rollups_of_services",
    "SELECT service_no, start, summaries FROM latency_rollups INDEXED BY latency_rollups_by_service
     WHERE service_no IN (SELECT value FROM json_each($1)) AND span = 3600000
       AND start >= $2 AND start < $3
     UNION ALL
     SELECT service_no, start, summaries FROM latency_rollups INDEXED BY latency_rollups_by_service
     WHERE service_no IN (SELECT value FROM json_each($1)) AND span = 300000
       AND start >= $3 AND start < $4",
    "SELECT service_no, start, summaries FROM latency_rollups
     WHERE service_no = ANY ($1) AND span = 3600000 AND start >= $2 AND start < $3
     UNION ALL
     SELECT service_no, start, summaries FROM latency_rollups
     WHERE service_no = ANY ($1) AND span = 300000 AND start >= $3 AND start < $4",
);
const INSERT: Sql = Sql::pair(
    "monitor.insert_rollups",
    "INSERT INTO latency_rollups (span, start, service_no, summaries)
     SELECT $3, value ->> 1, value ->> 0, substr($2, value ->> 2, value ->> 3)
     FROM jsonb_each($1) WHERE true ON CONFLICT DO NOTHING",
    "INSERT INTO latency_rollups (span, start, service_no, summaries)
     SELECT $6, n.at, n.service_no, substring($1 FROM n.start::integer FOR n.length::integer)
     FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[])
       AS n (service_no, at, start, length)
     ON CONFLICT DO NOTHING",
);
const MARK: Sql = Sql::pair(
    "monitor.mark_rollups",
    "INSERT INTO latency_rollups (span, start, service_no, summaries) VALUES ($1, $2, 0, x'')
     ON CONFLICT DO NOTHING",
    "INSERT INTO latency_rollups (span, start, service_no, summaries) VALUES ($1, $2, 0, '')
     ON CONFLICT DO NOTHING",
);

/// Until when the roll-ups of `length` are complete.
pub(crate) async fn complete_until(
    snapshot: &mut Snapshot,
    length: i64,
) -> Result<Option<i64>, StoreError> {
    let start: Option<i64> = snapshot.fetch_one(&COMPLETE, values![length]).await?.get("start")?;
    Ok(start.map(|start| start.saturating_add(length)))
}

/// When the first span of `length` begins, from `from` on, that a service has a row of.
pub(crate) async fn first_from(db: &Db, length: i64, from: i64) -> Result<Option<i64>, StoreError> {
    let row = db.fetch_optional(&FIRST_FROM, values![length, from]).await?;
    row.map(|row| row.get("start")).transpose()
}

/// The last of the `limit` services after `after`, if there is any.
pub(crate) async fn portion_end(
    db: &Db,
    after: i64,
    limit: i64,
) -> Result<Option<i64>, StoreError> {
    db.fetch_one(&PORTION_END, values![after, limit]).await?.get("number")
}

/// The rows of `length` in a span, of the services after `after` up to `last`.
pub(crate) async fn portion(
    db: &Db,
    length: i64,
    span: Span,
    after: i64,
    last: i64,
) -> Result<Vec<RollupRow>, StoreError> {
    let values = values![after, last, length, span.start, span.end];
    db.fetch_all(&PORTION, values).await?.iter().map(rollup_row).collect()
}

/// The rows of `length` of a service that begin in a span.
pub(crate) async fn of_service(
    snapshot: &mut Snapshot,
    service: ServiceNumber,
    length: i64,
    span: Span,
) -> Result<Vec<RollupRow>, StoreError> {
    let values = values![service.0, length, span.start, span.end];
    snapshot.fetch_all(&OF_SERVICE, values).await?.iter().map(rollup_row).collect()
}

/// The hourly rows of some services from the first moment on, and from the second to the last those of
/// five minutes.
pub(crate) async fn of_services(
    snapshot: &mut Snapshot,
    services: &[i64],
    (from, between, end): (i64, i64, i64),
) -> Result<Vec<RollupRow>, StoreError> {
    let values = values![services, from, between, end];
    snapshot.fetch_all(&OF_SERVICES, values).await?.iter().map(rollup_row).collect()
}

/// Writes the packed summaries of services over a span. What is there already stays as it is.
pub(crate) async fn insert(
    tx: &mut Tx,
    span: Span,
    rows: &[(i64, Vec<u8>)],
) -> Result<(), StoreError> {
    let pieces: Vec<Piece<'_>> = rows
        .iter()
        .map(|(service, bytes)| Piece { service: *service, time: span.start, bytes })
        .collect();
    pieces::insert(tx, &INSERT, &pieces, &[Value::from(span.length())]).await
}

/// Writes that all of a span and before it is rolled up.
pub(crate) async fn mark(tx: &mut Tx, span: Span) -> Result<(), StoreError> {
    tx.execute(&MARK, values![span.length(), span.start]).await.map(drop)
}

fn rollup_row(row: &mainstay_store::Row) -> Result<RollupRow, StoreError> {
    let (service, start) = (row.get("service_no")?, row.get("start")?);
    Ok(RollupRow { service, start, summaries: row.get("summaries")? })
}

#[cfg(test)]
pub(crate) const PLANNED: [&Sql; 2] = [&PORTION, &OF_SERVICE];
/// Those that are for many services at once.
#[cfg(test)]
pub(crate) const PLANNED_FOR_MANY: [&Sql; 1] = [&OF_SERVICES];
