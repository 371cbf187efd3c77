//! What an answer leaves behind.

use mainstay_base::Clock;
use mainstay_monitor::DependencyStatus;
use mainstay_testkit::each_database;
use serde_json::json;

use crate::house::{House, at, down, up};

each_database! {
    async fn the_first_answer_is_written_with_its_dependencies(database: &TestDatabase) {
        let house = House::new(database).await;
        let service = house.service("orders").await;
        let summary = house.answers(&service, &json!([up("db"), up("cache")])).await;
        assert_eq!((summary.dependencies, summary.status_changes.len()), (2, 0));
        let rows = house.rows("SELECT name, canonical_name, slot, status, first_seen_at FROM dependencies ORDER BY slot", &[]).await;
        let names: Vec<String> = rows.iter().map(|row| row.get("name").unwrap()).collect();
        assert_eq!(names, ["db", "cache"]);
        assert_eq!(rows[0].get::<i64>("first_seen_at").unwrap(), at(house.clock.now()));
        let state = &house.rows("SELECT status, poll_seq, healthy_count, last_latency_us, next_poll_at, last_success_at FROM service_states", &[]).await[0];
        assert_eq!(state.get::<String>("status").unwrap(), "healthy");
        assert_eq!(state.get::<i64>("healthy_count").unwrap(), 2);
        assert_eq!(state.get::<i64>("last_latency_us").unwrap(), 12_000);
        assert_eq!(state.get::<i64>("next_poll_at").unwrap(), at(house.clock.now()) + 30_000);
        assert_eq!(house.changes().await, ["service - unknown healthy", "added db - healthy", "added cache - healthy"]);
        assert_eq!(house.told().await, ["service:status", "service:updated"]);
        assert_eq!(house.number("SELECT count(*) AS v FROM latency_points").await, 1);
    }

    async fn an_answer_without_news_touches_no_dependency(database: &TestDatabase) {
        let house = House::new(database).await;
        let service = house.service("orders").await;
        house.answers(&service, &json!([up("db"), down("cache")])).await;
        let told = house.told().await;
        let changes = house.changes().await;
        // A mark that any update of the row would take away.
        house.execute("UPDATE dependencies SET description = 'untouched'", &[]).await;
        house.pass(30);
        let mut body = json!([down("cache"), up("db")]);
        body[1]["health"]["latency"] = json!(99);
        let summary = house.answers(&service, &body).await;
        assert_eq!(summary.status_changes, []);
        let untouched = "SELECT count(*) AS v FROM dependencies WHERE description = 'untouched'";
        assert_eq!(house.number(untouched).await, 2);
        assert_eq!((house.told().await, house.changes().await), (told, changes));
        assert_eq!(house.number("SELECT poll_seq AS v FROM service_states").await, 2);
        assert_eq!(house.number("SELECT count(*) AS v FROM latency_points").await, 2);
    }

    async fn a_field_that_is_no_longer_reported_becomes_null(database: &TestDatabase) {
        let house = House::new(database).await;
        let service = house.service("orders").await;
        let mut rich = up("db");
        rich["contact"] = json!({ "slack": "#db", "email": "db@a.test" });
        rich["impact"] = json!("no orders");
        house.answers(&service, &json!([rich])).await;
        let contact = house.text("SELECT contact AS v FROM dependencies").await;
        assert_eq!(contact.as_deref(), Some(r##"{"email":"db@a.test","slack":"#db"}"##));
        house.answers(&service, &json!([up("db")])).await;
        assert_eq!(house.text("SELECT contact AS v FROM dependencies").await, None);
        assert_eq!(house.text("SELECT impact AS v FROM dependencies").await, None);
    }

    async fn a_dependency_that_fails_and_recovers_is_told_each_time_once(database: &TestDatabase) {
        let house = House::new(database).await;
        let service = house.service("orders").await;
        house.answers(&service, &json!([up("db")])).await;
        house.pass(30);
        let summary = house.answers(&service, &json!([down("db")])).await;
        assert_eq!(summary.status_changes[0].previous, Some(DependencyStatus::Healthy));
        assert_eq!(summary.status_changes[0].current, DependencyStatus::Down);
        let changed = house.number("SELECT last_status_change AS v FROM dependencies").await;
        assert_eq!(changed, at(house.clock.now()));
        house.pass(30);
        house.answers(&service, &json!([down("db")])).await;
        house.pass(30);
        house.answers(&service, &json!([up("db")])).await;
        let told = house.told().await;
        assert_eq!(told[2..], [
            "status:change db", "dependency:status db", "service:status",
            "status:change db", "dependency:status db", "service:status",
        ]);
        let events = house.all_events().await;
        let flips: Vec<_> = events.iter().filter(|event| event["type"] == "status:change").collect();
        assert_eq!(flips[0]["previous_healthy"], true);
        assert_eq!(flips[0]["current_healthy"], false);
        assert_eq!(flips[0]["service_name"], "orders");
        assert_eq!(flips[0]["service_id"], service.id.to_string());
        assert_eq!((&flips[1]["previous_healthy"], &flips[1]["current_healthy"]), (&json!(false), &json!(true)));
        assert_eq!(house.changes().await[2..], [
            "service - healthy degraded", "dependency db healthy down",
            "service - degraded healthy", "dependency db down healthy",
        ]);
    }

    async fn a_dependency_that_is_first_seen_unhealthy_is_news(database: &TestDatabase) {
        let house = House::new(database).await;
        let service = house.service("orders").await;
        house.answers(&service, &json!([down("db"), up("cache")])).await;
        let events = house.all_events().await;
        assert_eq!(events[0]["type"], "status:change");
        assert_eq!(events[0]["previous_healthy"], json!(null));
        assert_eq!(house.told().await, ["status:change db", "dependency:status db", "service:status", "service:updated"]);
    }

    async fn a_degraded_dependency_degrades_its_service_without_a_flip(database: &TestDatabase) {
        let house = House::new(database).await;
        let service = house.service("orders").await;
        house.answers(&service, &json!([up("db")])).await;
        let mut slow = up("db");
        slow["health"]["state"] = json!(1);
        house.answers(&service, &json!([slow])).await;
        assert_eq!(house.told().await[2..], ["dependency:status db", "service:status"]);
        assert_eq!(house.text("SELECT status AS v FROM service_states").await.as_deref(), Some("degraded"));
        assert_eq!(house.number("SELECT degraded_count AS v FROM service_states").await, 1);
    }

    async fn what_is_skipped_is_healthy_and_counts_for_nothing(database: &TestDatabase) {
        let house = House::new(database).await;
        let service = house.service("orders").await;
        house.answers(&service, &json!([{ "name": "db", "healthy": false, "health": { "skipped": true } }])).await;
        let row = &house.rows("SELECT healthy, skipped, status FROM dependencies", &[]).await[0];
        assert_eq!((row.get::<i64>("healthy").unwrap(), row.get::<i64>("skipped").unwrap()), (1, 1));
        assert_eq!(house.text("SELECT status AS v FROM service_states").await.as_deref(), Some("healthy"));
        assert_eq!(house.number("SELECT skipped_count AS v FROM service_states").await, 1);
        assert_eq!(house.number("SELECT count(*) AS v FROM dependency_errors").await, 0);
    }

    async fn a_dependency_that_vanishes_is_marked_and_comes_back_as_the_same(database: &TestDatabase) {
        let house = House::new(database).await;
        let service = house.service("orders").await;
        house.answers(&service, &json!([up("db"), up("cache")])).await;
        house.pass(30);
        house.answers(&service, &json!([up("db")])).await;
        let missing = "SELECT missing_since AS v FROM dependencies WHERE name = 'cache'";
        assert_eq!(house.number(missing).await, at(house.clock.now()));
        assert_eq!(house.number("SELECT healthy_count AS v FROM service_states").await, 1);
        let told = house.told().await;
        house.pass(30);
        house.answers(&service, &json!([up("db")])).await;
        assert_eq!(house.told().await, told, "it vanished once");
        house.answers(&service, &json!([up("db"), up("cache")])).await;
        assert_eq!(house.number("SELECT count(*) AS v FROM dependencies WHERE missing_since IS NULL").await, 2);
        assert_eq!(house.changes().await[3..], ["missing cache present missing", "missing cache missing present"]);
        assert_eq!(house.told().await.len(), told.len() + 1);
    }

    async fn a_failed_poll_is_no_vanishing(database: &TestDatabase) {
        let house = House::new(database).await;
        let service = house.service("orders").await;
        house.answers(&service, &json!([up("db")])).await;
        house.fails(&service, "no answer").await;
        assert_eq!(house.number("SELECT count(*) AS v FROM dependencies WHERE missing_since IS NULL").await, 1);
    }

    async fn an_alias_names_new_dependencies(database: &TestDatabase) {
        let house = House::new(database).await;
        let service = house.service("orders").await;
        house.execute("INSERT INTO aliases (id, alias, canonical_name, created_at, updated_at) VALUES ('a', 'pg-main', 'PostgreSQL Main', 1, 1)", &[]).await;
        house.answers(&service, &json!([up("pg-main"), up("PG-MAIN")])).await;
        let rows = house.rows("SELECT name, canonical_name, canonical_key FROM dependencies ORDER BY slot", &[]).await;
        let text = |row: usize, column: &str| rows[row].get::<String>(column).unwrap();
        assert_eq!((text(0, "canonical_name"), text(0, "canonical_key")), ("PostgreSQL Main".to_owned(), "postgresql main".to_owned()));
        assert_eq!(text(1, "canonical_name"), "PG-MAIN", "an alias is met exactly");
    }

    async fn warnings_are_replaced_at_each_poll_and_emptied_by_a_failure(database: &TestDatabase) {
        let house = House::new(database).await;
        let service = house.service("orders").await;
        let warnings = "SELECT poll_warnings AS v FROM service_states";
        house.answers(&service, &json!([up("db"), { "healthy": true }])).await;
        assert!(house.text(warnings).await.unwrap().contains("index 1"), "{:?}", house.text(warnings).await);
        house.answers(&service, &json!([up("db")])).await;
        assert_eq!(house.text(warnings).await, None);
        house.answers(&service, &json!([up("db"), 7])).await;
        house.fails(&service, "no answer").await;
        assert_eq!(house.text(warnings).await, None);
    }
}
