//! However many names a service comes up with, what is kept of it has a bound.

use mainstay_base::Id;
use mainstay_monitor::Recorded;
use mainstay_store::{Row, values};
use mainstay_testkit::each_database;
use serde_json::json;

use crate::house::{House, up};

/// The most that is kept of one service.
const MOST_KEPT: i64 = 10_000;
/// More than the store gives at once.
const TOO_MANY_ROWS: i64 = 100_001;

impl House {
    /// The only service has not reported these for long: the first one is missing longest.
    async fn vanished(&self, count: i64) {
        self.execute(
            "WITH RECURSIVE t (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < $1)
             INSERT INTO dependencies (id, service_no, slot, name, canonical_name, canonical_key, kind,
               healthy, state, code, skipped, status, status_since, first_seen_at, missing_since)
             SELECT '019a8b3c-0000-7000-8000-' || (100000000000 + n), number, n, 'pod ' || n, 'pod', 'pod',
               'other', 1, 0, 200, 0, 'healthy', 1, 1, n FROM t CROSS JOIN services",
            values![count],
        )
        .await;
        self.execute(
            "INSERT INTO changes (at, kind, service_no, dependency_no, before, after)
             SELECT 1, 'dependency', service_no, number, 'down', 'healthy' FROM dependencies WHERE slot <= 9",
            &[],
        )
        .await;
        self.execute(
            "INSERT INTO dependency_errors (dependency_no, at)
             SELECT number, 1 FROM dependencies WHERE slot <= 9",
            &[],
        )
        .await;
    }
}

each_database! {
    async fn who_is_missing_longest_makes_room_for_what_is_new(database: &TestDatabase) {
        let house = House::new(database).await;
        let service = house.service("orders").await;
        house.vanished(MOST_KEPT - 1).await;
        let warnings = "SELECT poll_warnings AS v FROM service_states";
        // The first one is reported again: it stays.
        house.answers(&service, &json!([up("pod 1"), up("new")])).await;
        assert_eq!(house.text(warnings).await, None);
        house.answers(&service, &json!([up("pod 1"), up("new"), up("newer"), up("newest")])).await;
        assert_eq!(house.number("SELECT count(*) AS v FROM dependencies").await, MOST_KEPT);
        let slots = house.rows("SELECT slot FROM dependencies ORDER BY slot LIMIT 2", &[]).await;
        let slots: Vec<i64> = slots.iter().map(|row: &Row| row.get("slot").unwrap()).collect();
        assert_eq!(slots, [1, 4], "the second and the third are gone");
        for histories in ["SELECT count(DISTINCT dependency_no) AS v FROM changes WHERE at = 1", "SELECT count(*) AS v FROM dependency_errors"] {
            assert_eq!(house.number(histories).await, 7, "{histories}");
        }
        let text = house.text(warnings).await.unwrap();
        assert!(text.contains("no more than 10000"), "{text}");
        // Nothing had to go for this one.
        house.answers(&service, &json!([up("pod 1"), up("new")])).await;
        assert_eq!(house.text(warnings).await, None);
        assert_eq!(house.number("SELECT count(*) AS v FROM dependencies").await, MOST_KEPT);
    }

    async fn a_service_with_more_names_than_the_store_gives_at_once_is_recorded(database: &TestDatabase) {
        let house = House::new(database).await;
        let service = house.service("orders").await;
        house.vanished(TOO_MANY_ROWS).await;
        let result = house.result(&service, Ok(house.read(&json!([up("db")]))));
        assert!(matches!(house.hand_over(result).await, Recorded::Written(_)));
        assert!(house.number("SELECT count(*) AS v FROM dependencies").await < TOO_MANY_ROWS);
    }

    async fn what_was_closed_comes_back_as_itself(database: &TestDatabase) {
        let house = House::new(database).await;
        let service = house.service("orders").await;
        house.answers(&service, &json!([up("db"), up("cache")])).await;
        house.answers(&service, &json!([up("db")])).await;
        let id = async || {
            let rows = house.rows("SELECT id, slot, removed_at FROM dependencies WHERE name = 'cache'", &[]).await;
            let (id, slot): (Id, i64) = (rows[0].get("id").unwrap(), rows[0].get("slot").unwrap());
            (id, slot, rows[0].get::<Option<i64>>("removed_at").unwrap())
        };
        let (before, slot, _) = id().await;
        house.execute("UPDATE dependencies SET removed_at = 5 WHERE name = 'cache'", &[]).await;
        house.execute("UPDATE service_states SET dependency_revision = dependency_revision + 1", &[]).await;
        house.answers(&service, &json!([up("db")])).await;
        house.answers(&service, &json!([up("db"), up("queue"), up("cache")])).await;
        assert_eq!(id().await, (before, slot, None));
        let slots = house.rows("SELECT slot FROM dependencies ORDER BY slot", &[]).await;
        assert_eq!(slots.iter().map(|row| row.get::<i64>("slot").unwrap()).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(house.changes().await[3..], [
            "missing cache present missing", "added queue - healthy", "missing cache missing present",
        ]);
    }
}
