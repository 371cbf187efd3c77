//! What was known of one node at a moment.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::Timestamp;
use mainstay_monitor::graph::GraphsError;
use mainstay_monitor::views::{BoardError, MISSING_SHOWN_FOR, Views};
use mainstay_testkit::each_database;
use serde_json::{Value, json};

use crate::house::{House, body};

const MINUTE: Duration = Duration::from_mins(1);

/// It fails, and its service says why, what breaks, and whom to ask.
fn failing(name: &str, message: &str) -> Value {
    json!([{
        "name": name, "healthy": false, "errorMessage": message, "impact": "Nobody can pay",
        "contact": {"slack": "#pay"}, "description": "The books",
    }])
}

each_database! {
    async fn a_node_of_the_past_is_told_with_what_was_known_then(database: &TestDatabase) {
        let house = House::new(database).await;
        let clock = Arc::clone(&house.clock) as _;
        let views = Views::new(house.db.clone(), clock, MISSING_SHOWN_FOR)
            .with_graphs(house.graphs(&house.stop));
        let told = async |node: &str, at: Timestamp| {
            let moment = house.past.at(at).await.unwrap();
            let answer = views.node_then(moment, node).await?;
            Ok::<Value, BoardError>(serde_json::from_slice(&answer.plain).unwrap())
        };
        let (ledger, shop) = (house.add("Ledger").await, house.add("Shop").await);
        house.poll(ledger, Some(body(&[("db", 0)]))).await;
        house.poll(shop, Some(body(&[("ledger", 0)]))).await;
        house.pass(MINUTE);
        let well = house.now();
        house.pass(MINUTE);
        let slow = house.now();
        house.poll(ledger, Some(failing("db", "too slow"))).await;
        house.poll(shop, Some(body(&[("ledger", 1)]))).await;
        house.pass(MINUTE);
        let refused = house.now();
        house.poll(ledger, Some(failing("db", "refused"))).await;
        house.pass(MINUTE);
        let silent = house.now();
        house.poll(ledger, None).await;
        house.pass(MINUTE);
        house.poll(ledger, Some(body(&[("db", 0)]))).await;
        house.poll(shop, Some(body(&[("ledger", 0)]))).await;
        house.pass(MINUTE);

        let db = told("external:db", slow).await.unwrap();
        assert_eq!((&db["at"], &db["node"]["status"], &db["since"]), (&json!(slow), &json!("down"), &json!(slow)));
        assert_eq!(db["root_cause"]["node_count"], 1);
        assert_eq!((&db["hurts"], &db["affected"], &db["report_count"]), (&json!(2), &json!(2), &json!(1)));
        assert_eq!((&db["hurt"][0]["name"], &db["hurt"][1]["name"]), (&json!("Ledger"), &json!("Shop")));
        let report = &db["reports"][0];
        assert_eq!((&report["service_id"], &report["service_name"]), (&json!(ledger), &json!("Ledger")));
        let dependency = &report["dependency"];
        for (field, value) in [
            ("name", json!("db")), ("status", json!("down")), ("status_since", json!(slow)),
            ("error_message", json!("too slow")), ("missing_since", Value::Null),
        ] {
            assert_eq!(dependency[field], value, "{field}");
        }
        // It answers without them now, and then that is how they are.
        assert_eq!(dependency["impact"], Value::Null);

        // The same status with another error.
        let later = told("external:db", refused).await.unwrap();
        let said = &later["reports"][0]["dependency"];
        assert_eq!((&said["error_message"], &said["status_since"]), (&json!("refused"), &json!(slow)));
        // What is wrong with what a service leans on is what it says.
        let own = told(&ledger.to_string(), refused).await.unwrap();
        assert_eq!((&own["node"]["status"], &own["error_message"]), (&json!("degraded"), &Value::Null));
        assert_eq!((&own["says"][0]["name"], &own["says"][0]["error_message"]), (&json!("db"), &json!("refused")));
        assert_eq!(own["reports"][0]["service_name"], "Shop");

        // It does not answer: nobody knows of the other, and why is told.
        let own = told(&ledger.to_string(), silent).await.unwrap();
        assert_eq!((&own["node"]["status"], &own["error_message"]), (&json!("down"), &json!("too slow")));
        assert_eq!(own["says"], json!([]));
        let db = told("external:db", silent).await.unwrap();
        assert_eq!((&db["node"]["status"], &db["reports"][0]["dependency"]["status"]), (&json!("unknown"), &json!("unknown")));

        let before = told("external:db", well).await.unwrap();
        assert_eq!((&before["node"]["status"], &before["root_cause"]), (&json!("healthy"), &Value::Null));
        assert_eq!(before["reports"][0]["dependency"]["error_message"], Value::Null);
        let after = told(&ledger.to_string(), house.now()).await.unwrap();
        assert_eq!((&after["error_message"], &after["says"]), (&Value::Null, &json!([])));
        for nobody in ["external:nothing", "Ledger"] {
            let refusal = told(nobody, slow).await;
            assert!(matches!(refusal, Err(BoardError::Graph(GraphsError::NoNodeThen { .. }))), "{nobody}");
        }
    }

    async fn what_nobody_records_is_as_it_is_now(database: &TestDatabase) {
        let house = House::new(database).await;
        let clock = Arc::clone(&house.clock) as _;
        let views = Views::new(house.db.clone(), clock, MISSING_SHOWN_FOR)
            .with_graphs(house.graphs(&house.stop));
        let ledger = house.add("Ledger").await;
        house.poll(ledger, Some(body(&[("db", 0)]))).await;
        house.pass(MINUTE);
        let then = house.now();
        house.pass(MINUTE);
        house.poll(ledger, Some(failing("db", "refused"))).await;
        house.pass(MINUTE);
        let moment = house.past.at(then).await.unwrap();
        let answer = views.node_then(moment, "external:db").await.unwrap();
        let told: Value = serde_json::from_slice(&answer.plain).unwrap();
        let dependency = &told["reports"][0]["dependency"];
        assert_eq!((&dependency["status"], &dependency["error_message"]), (&json!("healthy"), &Value::Null));
        assert_eq!((&dependency["impact"], &dependency["contact"]), (&json!("Nobody can pay"), &json!({"slack": "#pay"})));
        assert_eq!((&dependency["type"], &dependency["description"]), (&json!("other"), &json!("The books")));
    }
}
