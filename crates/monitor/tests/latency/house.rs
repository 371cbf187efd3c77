//! A database with services that were polled, and a clock to move.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{Clock, Timestamp};
use mainstay_monitor::ServiceNumber;
use mainstay_monitor::latency::{self, PointsRow, points};
use mainstay_store::{Db, Sql, StoreError, migrate};
use mainstay_testkit::{FakeClock, TestDatabase};

/// Services that polls are written for.
pub(crate) struct House {
    pub(crate) clock: Arc<FakeClock>,
    pub(crate) db: Db,
}

impl House {
    pub(crate) async fn new(database: &TestDatabase) -> Self {
        let clock = Arc::new(FakeClock::new());
        let db = database.open_with(Arc::clone(&clock) as Arc<dyn Clock>, |_| {}).await;
        migrate::up(&db).await.unwrap();
        Self { clock, db }
    }

    pub(crate) async fn insert(&self, rows: &[PointsRow]) {
        let written = self.db.write(async |tx| latency::insert(tx, rows).await);
        written.await.unwrap();
    }

    pub(crate) async fn count(&self, sql: &'static str) -> i64 {
        let sql = Sql::same("test.count", sql);
        self.db.fetch_one(&sql, &[]).await.unwrap().get("n").unwrap()
    }

    pub(crate) async fn execute(&self, sql: &'static str) {
        let sql = Sql::same("test.execute", sql);
        let written = self.db.write(async |tx| tx.execute(&sql, &[]).await);
        written.await.map(drop).map_err(|error: StoreError| error.to_string()).unwrap();
    }
}

/// One poll of service `number`, with a latency for each slot from 0 on.
pub(crate) fn poll(number: i64, at: Timestamp, micros: &[u64]) -> PointsRow {
    let latencies = (0..).zip(micros.iter().map(|us| Duration::from_micros(*us)));
    let points = points::pack(&latencies.collect::<Vec<_>>());
    PointsRow { service_no: ServiceNumber(number), at, points }
}
