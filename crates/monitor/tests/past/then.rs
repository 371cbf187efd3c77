//! The graph of a moment: what stood near a service then.

use std::time::Duration;

use mainstay_base::Timestamp;
use mainstay_monitor::graph::GraphsError;
use mainstay_testkit::each_database;
use serde_json::{Value, json};

use crate::house::{House, body};

each_database! {
    async fn before_there_were_records_nothing_is_near_and_nothing_is_wrong(database: &TestDatabase) {
        let house = House::new(database).await;
        house.pass(Duration::from_hours(1));
        let early = house.now();
        house.pass(Duration::from_hours(1));
        let shop = house.add("Shop").await;
        house.poll(shop, Some(body(&[("db", 2)]))).await;
        house.pass(Duration::from_secs(1));
        let before = house.now();
        house.pass(Duration::from_hours(1));
        let mill = house.add("Mill").await;
        house.pass(Duration::from_hours(1));
        let graphs = house.graphs(&house.stop);
        let then = async |at: Timestamp, service| {
            let moment = house.past.at(at).await.unwrap();
            let answer = graphs.then(moment, Some((service, 1))).await?;
            Ok::<Value, GraphsError>(serde_json::from_slice(&answer.plain).unwrap())
        };
        let unknown = then(early, shop).await.unwrap();
        assert_eq!((&unknown["nodes"], &unknown["at"]), (&json!([]), &json!(early)));
        assert!(unknown["records_since"].is_string());
        let near = then(before, shop).await.unwrap();
        assert_eq!(near["nodes"].as_array().unwrap().len(), 2);
        // There are records, and it is not in them.
        assert!(matches!(then(before, mill).await, Err(GraphsError::NoServiceThen { .. })));
    }
}
