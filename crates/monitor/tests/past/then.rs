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

    /// Told in docs/guide/graph.md and docs/guide/past.md.
    async fn the_incident_of_the_guide_is_told_as_the_guide_tells_it(database: &TestDatabase) {
        let house = House::new(database).await;
        // 21:00 by its clock.
        let nine = house.now();
        let mut services = Vec::new();
        for name in ["Checkout", "Orders", "Search"] {
            services.push(house.add(name).await);
        }
        let polled = async |checkout, orders, search| {
            for (index, said) in [orders, search, checkout].into_iter().enumerate() {
                let (service, named) =
                    [(1, "Orders database"), (2, "Orders database"), (0, "orders")][index];
                house.poll(services[service], Some(body(&[(named, said)]))).await;
                house.pass(Duration::from_secs(10));
            }
        };
        polled(0, 0, 0).await;
        house.pass(Duration::from_secs(220));
        let began = house.now();
        polled(1, 2, 0).await;
        house.pass(Duration::from_mins(27));
        polled(0, 0, 0).await;
        house.pass(Duration::from_mins(9));
        let graphs = house.graphs(&house.stop);
        let causes = async |minutes: u64| {
            let at = nine.plus(Duration::from_mins(minutes));
            let moment = house.past.at(at).await.unwrap();
            let answer = graphs.then(moment, None).await.unwrap();
            let graph: Value = serde_json::from_slice(&answer.plain).unwrap();
            let statuses: Vec<_> = graph["nodes"].as_array().unwrap().iter()
                .map(|node| node["status"].as_str().unwrap().to_owned()).collect();
            (statuses, graph["root_causes"].clone())
        };
        let fine = ["healthy"; 4];
        assert_eq!(causes(3).await, (fine.iter().map(ToString::to_string).collect(), json!([])));
        let (statuses, during) = causes(20).await;
        assert_eq!(statuses, ["degraded", "degraded", "healthy", "down"]);
        let database = json!({"id": "external:orders database", "kind": "external", "name": "Orders database", "status": "down"});
        assert_eq!(during, json!([{"nodes": [database], "node_count": 1, "since": began, "hurts": 3, "affected": 2, "contradicted": true}]));
        assert_eq!(causes(40).await, (fine.iter().map(ToString::to_string).collect(), json!([])));
    }
}
