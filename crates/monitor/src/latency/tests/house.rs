//! A database with services that were polled, and a clock to set.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{Clock, Timestamp};
use mainstay_store::{Db, Dialect, Sql, StoreError, Value, migrate, values};
use mainstay_testkit::{FakeClock, TestDatabase};
use tokio_util::sync::CancellationToken;

use crate::latency::rollup::Sizes;
use crate::latency::upkeep::Done;
use crate::latency::{Bucket, PointsRow, Range, Retention, Upkeep, chart, insert, points};
use crate::watch::ServiceNumber;

/// Portions so small that a few services need several.
pub(crate) const SMALL: Sizes = Sizes { services: 2, rows: 3, bytes: 1, steps: 2_000 };

/// Span, start, service and bytes of what was rolled up.
pub(crate) type Rollup = (i64, i64, i64, Vec<u8>);

/// Services that polls are written for.
pub(crate) struct House {
    pub(crate) clock: Arc<FakeClock>,
    pub(crate) db: Db,
    pub(crate) upkeep: Upkeep,
}

impl House {
    pub(crate) async fn new(database: &TestDatabase) -> Self {
        let clock = Arc::new(FakeClock::new());
        let db = database.open_with(Arc::clone(&clock) as Arc<dyn Clock>, |_| {}).await;
        migrate::up(&db).await.unwrap();
        let upkeep = Upkeep::new(db.clone(), Retention::default()).unwrap().with_sizes(SMALL);
        let house = Self { clock, db, upkeep };
        house.set_time(mainstay_testkit::clock::START).await;
        house
    }

    /// With so many services, numbered from 1 on.
    pub(crate) async fn with_services(database: &TestDatabase, count: i64) -> Self {
        let house = Self::new(database).await;
        let sql = Sql::same(
            "test.service",
            "INSERT INTO services (id, name, name_key, health_endpoint, format, poll_interval_ms,
               timeout_ms, header_names, is_active, revision, generation, created_at, updated_at)
             VALUES ($1, $1, $1, 'http://localhost/', 'status', 5000, 1000, '[]', 1, 1, 1, 0, 0)",
        );
        for number in 1..=count {
            house.execute(&sql, values![&number.to_string()]).await;
        }
        house
    }

    /// Sets every clock. PostgreSQL's goes on from there.
    pub(crate) async fn set_time(&self, at: Timestamp) {
        self.clock.step_wall(at);
        if self.db.dialect() == Dialect::Postgres {
            self.db.shift_clock(0);
            let real = self.db.now().await.unwrap();
            self.db.shift_clock(at.as_millis() - real.as_millis());
        }
    }

    pub(crate) async fn insert(&self, rows: &[PointsRow]) {
        let written = self.db.write(async |tx| insert(tx, rows).await);
        written.await.unwrap();
    }

    /// Does all that is due at a time.
    pub(crate) async fn run_at(&self, at: Timestamp) -> Done {
        self.set_time(at).await;
        self.upkeep.run_once(&CancellationToken::new()).await.unwrap()
    }

    pub(crate) async fn chart(
        &self,
        service: i64,
        slot: u32,
        range: Range,
        now: Timestamp,
    ) -> Vec<Bucket> {
        chart(&self.db, ServiceNumber(service), slot, range, now).await.unwrap()
    }

    pub(crate) async fn count(&self, sql: &'static str) -> i64 {
        let sql = Sql::same("test.count", sql);
        self.db.fetch_one(&sql, &[]).await.unwrap().get("n").unwrap()
    }

    /// The column `n` of every row.
    pub(crate) async fn column(&self, sql: &'static str) -> Vec<i64> {
        let rows = self.db.fetch_all(&Sql::same("test.column", sql), &[]).await.unwrap();
        rows.iter().map(|row| row.get("n").unwrap()).collect()
    }

    pub(crate) async fn execute(&self, sql: &Sql, values: &[Value<'_>]) {
        let written = self.db.write(async |tx| tx.execute(sql, values).await);
        written.await.map_err(|error: StoreError| error.to_string()).unwrap();
    }

    /// Every row that was rolled up, without the marks.
    pub(crate) async fn rollups(&self) -> Vec<Rollup> {
        let sql = Sql::same(
            "test.rollups",
            "SELECT span, start, service_no, summaries FROM latency_rollups WHERE service_no > 0
             ORDER BY span, start, service_no",
        );
        let rows = self.db.fetch_all(&sql, &[]).await.unwrap();
        let read = |row: &mainstay_store::Row| -> Result<_, StoreError> {
            Ok((row.get("span")?, row.get("start")?, row.get("service_no")?, row.get("summaries")?))
        };
        rows.iter().map(|row| read(row).unwrap()).collect()
    }
}

/// One poll of service `number`, with a latency for each slot from 0 on.
pub(crate) fn poll(number: i64, at: Timestamp, micros: &[u64]) -> PointsRow {
    let latencies = (0..).zip(micros.iter().map(|us| Duration::from_micros(*us)));
    let points = points::pack(&latencies.collect::<Vec<_>>());
    PointsRow { service_no: ServiceNumber(number), at, points }
}

/// Numbers without an order between `least` and `least + width`, the same ones every time.
pub(crate) fn scattered(seed: i64, least: u64, width: u64) -> impl Iterator<Item = u64> {
    let mut state = u64::try_from(seed).unwrap();
    std::iter::repeat_with(move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        least + (state >> 33) % width
    })
}

/// The time so many minutes and seconds later.
pub(crate) fn later(start: Timestamp, minutes: u64, seconds: u64) -> Timestamp {
    start.plus(Duration::from_secs(minutes * 60 + seconds))
}
