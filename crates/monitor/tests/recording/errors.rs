//! The history of errors: a row when what is wrong changes, and one for a recovery.

use mainstay_store::Row;
use mainstay_testkit::each_database;
use serde_json::{Value, json};

use crate::house::{House, down, up};

type Line = (Option<String>, Option<String>);

async fn history(house: &House) -> Vec<Line> {
    let sql = "SELECT error, error_message FROM dependency_errors ORDER BY number";
    let line = |row: &Row| (row.get("error").unwrap(), row.get("error_message").unwrap());
    house.rows(sql, &[]).await.iter().map(line).collect()
}

fn with(mut body: Value, error: Value, message: Option<&str>) -> Value {
    if !error.is_null() {
        body["error"] = error;
    }
    if let Some(message) = message {
        body["errorMessage"] = json!(message);
    }
    json!([body])
}

fn line(error: &str, message: &str) -> Line {
    (Some(error.to_owned()), Some(message.to_owned()))
}

each_database! {
    async fn a_row_is_added_only_when_what_is_wrong_changes(database: &TestDatabase) {
        let house = House::new(database).await;
        let service = house.service("orders").await;
        let failing = |error: Value, message| with(down("db"), error, message);
        for body in [
            json!([up("db")]),
            // The first one, then the same with its keys in another order.
            failing(json!({ "code": 1, "at": "a" }), Some("refused")),
            failing(serde_json::from_str(r#"{"at":"a","code":1}"#).unwrap(), Some("refused")),
            failing(json!({ "code": 2 }), Some("refused")),
            failing(json!({ "code": 2 }), Some("timed out")),
            json!([up("db")]),
            json!([up("db")]),
            failing(json!({ "code": 2 }), Some("timed out")),
        ] {
            house.answers(&service, &body).await;
        }
        assert_eq!(history(&house).await, [
            line(r#"{"at":"a","code":1}"#, "refused"),
            line(r#"{"code":2}"#, "refused"),
            line(r#"{"code":2}"#, "timed out"),
            (None, None),
            line(r#"{"code":2}"#, "timed out"),
        ]);
    }

    async fn an_error_that_is_not_given_has_a_marker(database: &TestDatabase) {
        let house = House::new(database).await;
        let service = house.service("orders").await;
        house.answers(&service, &json!([down("db")])).await;
        house.answers(&service, &with(down("db"), Value::Null, Some("no route"))).await;
        assert_eq!(history(&house).await, [
            line(r#"{"unhealthy":true}"#, "Unhealthy"),
            line(r#"{"unhealthy":true}"#, "no route"),
        ]);
    }

    async fn what_only_degraded_is_noted_when_its_service_says_what_is_wrong(database: &TestDatabase) {
        let house = House::new(database).await;
        let service = house.service("orders").await;
        let slow = |message| with(json!({"name": "db", "healthy": true, "health": {"state": 1, "code": 200, "latency": 3}}), Value::Null, message);
        for body in [
            json!([up("db")]),
            // Nothing is said to be wrong.
            slow(None),
            slow(Some("waited 1 s")),
            slow(Some("waited 1 s")),
            with(down("db"), Value::Null, Some("refused")),
            slow(Some("waited 2 s")),
            slow(None),
            slow(Some("waited 3 s")),
            json!([up("db")]),
        ] {
            house.answers(&service, &body).await;
        }
        let told = |message| line(r#"{"unhealthy":true}"#, message);
        assert_eq!(history(&house).await, [
            told("waited 1 s"), told("refused"), told("waited 2 s"), (None, None), told("waited 3 s"), (None, None),
        ]);
    }

    async fn what_was_wrong_before_a_restart_is_not_noted_again(database: &TestDatabase) {
        let house = House::new(database).await;
        let service = house.service("orders").await;
        house.answers(&service, &with(down("db"), json!({ "b": 1, "a": [1, 2] }), None)).await;
        // Another process, which has to read what is known.
        let other = house.another_recorder();
        let report = house.read(&with(down("db"), json!({ "a": [1, 2], "b": 1 }), None));
        let mut result = house.result(&service, Ok(report));
        let (sender, recorded) = tokio::sync::oneshot::channel();
        result.recorded = Some(sender);
        mainstay_monitor::Sink::take(&other, result);
        recorded.await.unwrap();
        assert_eq!(history(&house).await.len(), 1);
        assert_eq!(house.number("SELECT poll_seq AS v FROM service_states").await, 2);
    }
}
