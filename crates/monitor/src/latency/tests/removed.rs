//! What is too old leaves, and nothing else does.

use std::time::Duration;

use mainstay_base::Timestamp;
use mainstay_store::{Sql, values};
use mainstay_testkit::clock::START;
use mainstay_testkit::each_database;

use super::house::{House, poll};
use crate::latency::Retention;
use crate::latency::record::old::PORTION;
use crate::latency::span::{DAY_MS, FIVE_MINUTES_MS, HOUR_MS};

/// A minute, in which a test is done: PostgreSQL's clock does not stand still.
const MINUTE_MS: i64 = 60_000;

fn before(now: Timestamp, millis: i64) -> i64 {
    now.as_millis() - millis
}

each_database! {
    async fn points_leave_by_whole_days_that_are_all_too_old(database: &TestDatabase) {
        let house = House::with_services(database, 1).await;
        // Two days and a half before now is in the middle of a day: all of it stays.
        let now = START.plus(Duration::from_hours(5 * 24 + 12));
        let start = START.as_millis();
        let times = [0, 2 * DAY_MS, 3 * DAY_MS - 1, 3 * DAY_MS, 3 * DAY_MS + HOUR_MS, 5 * DAY_MS];
        let rows: Vec<_> = times.iter().map(|at| poll(1, Timestamp::from_millis(start + at), &[1_000])).collect();
        house.insert(&rows).await;
        assert_eq!(house.run_at(now).await.removed, 3);
        assert_eq!(house.column("SELECT at AS n FROM latency_points ORDER BY at").await, [
            start + 3 * DAY_MS, start + 3 * DAY_MS + HOUR_MS, start + 5 * DAY_MS,
        ]);
    }

    async fn rollups_stay_as_long_as_they_are_kept(database: &TestDatabase) {
        let house = House::with_services(database, 1).await;
        let now = START.plus(Duration::from_secs(30));
        let kept = Retention::default();
        let five_minutes = before(now, i64::try_from(kept.five_minutes().as_millis()).unwrap());
        let hours = before(now, i64::try_from(kept.hours().as_millis()).unwrap());
        let sql = Sql::pair(
            "test.rollup",
            "INSERT INTO latency_rollups (span, start, service_no, summaries) VALUES ($1, $2, $3, x'')",
            "INSERT INTO latency_rollups (span, start, service_no, summaries) VALUES ($1, $2, $3, '')",
        );
        // All is marked as rolled up; then one of each is over by a minute, and one is not.
        for (length, oldest) in [(FIVE_MINUTES_MS, five_minutes), (HOUR_MS, hours)] {
            house.execute(&sql, values![length, now.as_millis() / length * length - length, 0_i64]).await;
            for start in [oldest - 9 * length, oldest - length - MINUTE_MS, oldest - length + MINUTE_MS] {
                house.execute(&sql, values![length, start, 1_i64]).await;
            }
        }
        house.run_at(now).await;
        assert_eq!(
            house.column("SELECT start AS n FROM latency_rollups WHERE service_no = 1 ORDER BY span").await,
            [five_minutes - FIVE_MINUTES_MS + MINUTE_MS, hours - HOUR_MS + MINUTE_MS]
        );
    }

    async fn what_happened_stays_as_long_as_the_hours(database: &TestDatabase) {
        let house = House::new(database).await;
        let now = START.plus(Duration::from_secs(30));
        let oldest = before(now, i64::try_from(Retention::default().hours().as_millis()).unwrap());
        let tables = [
            Sql::same("test.change", "INSERT INTO changes (at, kind) VALUES ($1, 'service')"),
            Sql::same("test.error", "INSERT INTO dependency_errors (dependency_no, at) VALUES (1, $1)"),
            Sql::same("test.poll", "INSERT INTO poll_history (service_no, at) VALUES (1, $1)"),
        ];
        for sql in &tables {
            for at in [0, oldest - 1, oldest + MINUTE_MS, now.as_millis()] {
                house.execute(sql, values![at]).await;
            }
        }
        assert_eq!(house.run_at(now).await.removed, 6);
        let left = house.column("SELECT at AS n FROM changes UNION ALL SELECT at FROM dependency_errors
            UNION ALL SELECT at FROM poll_history ORDER BY n").await;
        assert_eq!(left, [[oldest + MINUTE_MS; 3], [now.as_millis(); 3]].concat());
    }

    async fn more_than_a_portion_leaves_in_one_run(database: &TestDatabase) {
        let house = House::new(database).await;
        let sql = Sql::same(
            "test.changes",
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
             INSERT INTO changes (at, kind) SELECT i, 'service' FROM n",
        );
        let many = i64::try_from(PORTION).unwrap() * 2 + 1;
        house.execute(&sql, values![many]).await;
        assert_eq!(house.run_at(START).await.removed, PORTION * 2 + 1);
        assert_eq!(house.count("SELECT count(*) AS n FROM changes").await, 0);
    }
}
