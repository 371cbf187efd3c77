//! What a poll that fails leaves behind: nothing green.

use mainstay_base::Clock;
use mainstay_store::Row;
use mainstay_testkit::each_database;
use serde_json::json;

use crate::house::{House, at, down, up};

each_database! {
    async fn a_service_that_does_not_answer_is_down_and_its_dependencies_are_stale(database: &TestDatabase) {
        let house = House::new(database).await;
        let service = house.service("orders").await;
        house.answers(&service, &json!([up("db")])).await;
        house.pass(30);
        let failed_at = at(house.clock.now());
        house.fails(&service, "no answer").await;
        house.pass(30);
        house.fails(&service, "no answer").await;
        let state = &house.rows("SELECT status, stale_since, error_kind, error_message, status_since FROM service_states", &[]).await[0];
        assert_eq!(state.get::<String>("status").unwrap(), "down");
        assert_eq!(state.get::<i64>("stale_since").unwrap(), failed_at);
        assert_eq!(state.get::<i64>("status_since").unwrap(), failed_at);
        assert_eq!(state.get::<String>("error_kind").unwrap(), "timeout");
        assert_eq!(house.told().await[2..], ["poll:error", "service:status"], "told once");
        house.pass(30);
        house.answers(&service, &json!([up("db")])).await;
        assert_eq!(house.told().await[4..], ["poll:recovered", "service:status"]);
        assert_eq!(house.number("SELECT count(*) AS v FROM service_states WHERE stale_since IS NULL AND error_kind IS NULL").await, 1);
        assert_eq!(house.changes().await[2..], [
            "service - healthy down", "stale - fresh stale", "service - down healthy", "stale - stale fresh",
        ]);
    }

    async fn what_gets_worse_fails_since_it_was_first_not_well_and_a_restart_forgets_nothing(database: &TestDatabase) {
        const SERVICES: &str = "SELECT failing_since AS v FROM service_states";
        const DEPENDENCIES: &str = "SELECT failing_since AS v FROM dependencies";
        let slow = json!([{ "name": "db", "healthy": true, "health": { "state": 1, "code": 200 } }]);
        let mut house = House::new(database).await;
        let service = house.service("orders").await;
        house.answers(&service, &json!([up("db")])).await;
        assert_eq!((house.since(SERVICES).await, house.since(DEPENDENCIES).await), (None, None));
        house.pass(30);
        let began = at(house.clock.now());
        house.answers(&service, &slow).await;
        house.pass(30);
        // Who starts anew goes on where the last one stopped.
        house.recorder = house.another_recorder();
        house.answers(&service, &json!([down("db")])).await;
        assert_eq!((house.since(SERVICES).await, house.since(DEPENDENCIES).await), (Some(began), Some(began)));
        house.pass(30);
        house.fails(&service, "no answer").await;
        assert_eq!((house.since(SERVICES).await, house.since(DEPENDENCIES).await), (Some(began), Some(began)));
        assert!(house.number("SELECT status_since AS v FROM service_states").await > began);
        house.pass(30);
        house.answers(&service, &json!([up("db")])).await;
        assert_eq!((house.since(SERVICES).await, house.since(DEPENDENCIES).await), (None, None));
        house.pass(30);
        let again = at(house.clock.now());
        house.answers(&service, &json!([up("db"), down("new")])).await;
        assert_eq!(house.since(SERVICES).await, Some(again));
        assert_eq!(house.since("SELECT failing_since AS v FROM dependencies WHERE name = 'new'").await, Some(again));
        // Nobody knows whether it failed all the while in which nobody polled it.
        house.pass(300);
        let known_again = at(house.clock.now());
        house.answers(&service, &json!([up("db"), down("new")])).await;
        assert_eq!(house.since(SERVICES).await, Some(known_again));
    }

    async fn the_history_of_polls_keeps_turns_and_not_each_poll(database: &TestDatabase) {
        let house = House::new(database).await;
        let service = house.service("orders").await;
        house.answers(&service, &json!([])).await;
        for message in ["no answer", "no answer", "refused", "refused"] {
            house.fails(&service, message).await;
        }
        house.answers(&service, &json!([])).await;
        house.answers(&service, &json!([])).await;
        let rows = house.rows("SELECT error_message FROM poll_history ORDER BY number", &[]).await;
        let lines: Vec<Option<String>> =
            rows.iter().map(|row: &Row| row.get("error_message").unwrap()).collect();
        assert_eq!(lines, [Some("no answer".to_owned()), Some("refused".to_owned()), None]);
        let events = house.told().await;
        assert_eq!(events.iter().filter(|event| *event == "poll:error").count(), 1);
    }

    async fn a_service_that_fails_at_once_was_never_healthy(database: &TestDatabase) {
        let house = House::new(database).await;
        let service = house.service("orders").await;
        house.fails(&service, "no answer").await;
        assert_eq!(house.told().await, ["poll:error", "service:status"]);
        assert_eq!(house.changes().await, ["service - unknown down", "stale - fresh stale"]);
    }
}
