//! What nobody reports or watches any more.

use std::time::Duration;

use mainstay_base::Timestamp;
use mainstay_store::{Sql, values};
use mainstay_testkit::clock::START;
use mainstay_testkit::each_database;

use super::house::{House, later};
use crate::latency::Retention;

const MINUTE_MS: i64 = 60_000;
const STATES: Sql = Sql::same(
    "test.states",
    "INSERT INTO service_states (service_no, poll_seq, dependency_revision, status, status_since,
       breaker_state, breaker_failures, breaker_generation, backoff_attempt, healthy_count,
       degraded_count, down_count, skipped_count)
     SELECT number, 0, 0, 'unknown', 1, 'closed', 0, 0, 0, 0, 0, 0, 0 FROM services",
);
const DEPENDENCY: Sql = Sql::same(
    "test.dependency",
    "INSERT INTO dependencies (id, service_no, slot, name, canonical_name, canonical_key, kind,
       healthy, state, code, skipped, status, status_since, first_seen_at, missing_since, removed_at)
     VALUES ($2, $1, 1, $2, $2, $2, 'other', 1, 0, 200, 0, 'healthy', 1, 1, $3, $4)",
);
const CHANGE: Sql = Sql::same(
    "test.change_of",
    "INSERT INTO changes (at, kind, service_no, dependency_no)
     SELECT $2, 'link', service_no, number FROM dependencies WHERE name = $1",
);
const ERROR: Sql = Sql::same(
    "test.error_of",
    "INSERT INTO dependency_errors (dependency_no, at)
     SELECT number, $2 FROM dependencies WHERE name = $1",
);

fn before(now: Timestamp, kept: Duration) -> i64 {
    now.as_millis() - i64::try_from(kept.as_millis()).unwrap()
}

each_database! {
    async fn what_is_missing_for_long_is_closed_and_the_recorder_learns_of_it(database: &TestDatabase) {
        let house = House::with_services(database, 2).await;
        house.execute(&STATES, &[]).await;
        let now = START.plus(Duration::from_secs(30));
        let oldest = before(now, Retention::default().missing());
        for (service, name, missing_since) in [
            (1_i64, "long gone", Some(oldest - MINUTE_MS)),
            (1, "just gone", Some(oldest + MINUTE_MS)),
            (2, "there", None),
        ] {
            house.execute(&DEPENDENCY, values![service, name, missing_since, None::<i64>]).await;
        }
        // All dependencies are looked at only when an hour has begun.
        assert_eq!(house.run_at(later(START, 59, 0)).await.closed, 0);
        assert_eq!(house.run_at(now).await.closed, 1);
        assert_eq!(house.count("SELECT count(*) AS n FROM dependencies WHERE removed_at IS NOT NULL AND name = 'long gone'").await, 1);
        let revisions = "SELECT dependency_revision AS n FROM service_states ORDER BY service_no";
        assert_eq!(house.column(revisions).await, [1, 0]);
        assert_eq!(house.run_at(now).await.closed, 0);
        assert_eq!(house.column(revisions).await, [1, 0]);
    }

    async fn what_is_closed_leaves_with_the_last_of_its_history(database: &TestDatabase) {
        let house = House::with_services(database, 3).await;
        house.execute(&STATES, &[]).await;
        let now = START.plus(Duration::from_secs(30));
        let oldest = before(now, Retention::default().hours());
        for (service, name, removed_at) in [
            (1_i64, "forgotten", Some(oldest - MINUTE_MS)),
            (1, "remembered", Some(oldest - MINUTE_MS)),
            (1, "was wrong", Some(oldest - MINUTE_MS)),
            (1, "just closed", Some(oldest + MINUTE_MS)),
            (1, "open", None),
            (2, "of a removed one", Some(oldest - MINUTE_MS)),
        ] {
            house.execute(&DEPENDENCY, values![service, name, removed_at, removed_at]).await;
        }
        house.execute(&CHANGE, values!["remembered", oldest + MINUTE_MS]).await;
        house.execute(&ERROR, values!["was wrong", oldest + MINUTE_MS]).await;
        // What is too old itself keeps nothing.
        house.execute(&CHANGE, values!["forgotten", oldest - MINUTE_MS]).await;
        house.execute(&ERROR, values!["of a removed one", oldest - MINUTE_MS]).await;
        let remove = Sql::same("test.remove", "UPDATE services SET removed_at = $1 WHERE number >= 2");
        house.execute(&remove, values![oldest - MINUTE_MS]).await;
        let history = Sql::same("test.poll_of", "INSERT INTO poll_history (service_no, at) VALUES (3, $1)");
        house.execute(&history, values![oldest + MINUTE_MS]).await;
        // One change, one error, two dependencies and a service.
        assert_eq!(house.run_at(now).await.removed, 5);
        let names = Sql::same("test.names", "SELECT name FROM dependencies ORDER BY name");
        let rows = house.db.fetch_all(&names, &[]).await.unwrap();
        let names: Vec<String> = rows.iter().map(|row| row.get("name").unwrap()).collect();
        assert_eq!(names, ["just closed", "open", "remembered", "was wrong"]);
        assert_eq!(house.column("SELECT number AS n FROM services ORDER BY number").await, [1, 3]);
        assert_eq!(house.column("SELECT service_no AS n FROM service_states ORDER BY service_no").await, [1, 3]);
    }
}
