//! Suggestions that are confirmed and dismissed.

use std::sync::Arc;

use mainstay_monitor::aliases::AliasesError;
use mainstay_monitor::graph::{Graphs, GraphsError};
use mainstay_testkit::each_database;
use serde_json::json;

use crate::house::{House, down, eventually, up};

async fn pairs(graphs: &Graphs) -> Vec<(String, String)> {
    let found = graphs.suggestions().await.unwrap();
    found.iter().map(|one| (one.key.to_string(), one.service_name.to_string())).collect()
}

fn pair(key: &str, service: &str) -> (String, String) {
    (key.to_owned(), service.to_owned())
}

each_database! {
    async fn a_confirmed_suggestion_links_everybody_who_is_not_linked(database: &TestDatabase) {
        let house = House::new(database).await;
        let (shop, mill) = (house.service("Shop").await, house.service("Mill").await);
        let payments = house.service("Payments").await;
        house.answers(&shop, &json!([up("payments-api")])).await;
        house.answers(&mill, &json!([up("Payments-API ")])).await;
        eventually("it is suggested", async || pairs(&house.graphs).await == [pair("payments-api", "Payments")]).await;
        let (aliases, events) = (&house.aliases, &house.events);
        let confirm = async || -> Result<usize, AliasesError> {
            let linked = events.write(async |tx, out| {
                aliases.link_named(tx, out, " PAYMENTS-api", payments.id).await
            });
            Ok(linked.await?.count)
        };
        assert_eq!(confirm().await.unwrap(), 2);
        house.until(&["Mill healthy", "Mill → Payments healthy", "Payments unknown", "Shop healthy", "Shop → Payments healthy"]).await;
        assert!(pairs(&house.graphs).await.is_empty());
        let changes = "SELECT count(*) AS n FROM changes WHERE kind = 'link' AND before IS NULL";
        assert_eq!(house.row(changes).await.get::<i64>("n").unwrap(), 2);
        assert!(matches!(confirm().await, Err(AliasesError::NoneNamed)), "there is nothing left to link");
        let told = "SELECT count(*) AS n FROM events WHERE kind = 'link:updated'";
        assert_eq!(house.row(told).await.get::<i64>("n").unwrap(), 1);
    }

    async fn what_was_dismissed_does_not_come_back(database: &TestDatabase) {
        let house = House::new(database).await;
        let shop = house.service("Shop").await;
        let (payments, other) = (house.service("Payments").await, house.another().await);
        house.answers(&shop, &json!([up("payments-api")])).await;
        for graphs in [&house.graphs, &other] {
            eventually("it is suggested", async || pairs(graphs).await.len() == 1).await;
        }
        let dismiss = async |service| -> Result<String, GraphsError> {
            let graphs = &house.graphs;
            house.db.write(async |tx| graphs.dismiss(tx, " Payments-API", service).await).await
        };
        // Twice is once.
        assert_eq!(dismiss(payments.id).await.unwrap(), "Payments");
        assert_eq!(dismiss(payments.id).await.unwrap(), "Payments");
        assert!(pairs(&house.graphs).await.is_empty() && pairs(&other).await.is_empty());
        let nobody = "019a8b3c-0000-7000-8000-000000000000".parse().unwrap();
        assert!(matches!(dismiss(nobody).await, Err(GraphsError::NoService)));
    }

    async fn what_only_turned_is_not_looked_through_again(database: &TestDatabase) {
        let house = House::new(database).await;
        let (shop, _payments) = (house.service("Shop").await, house.service("Payments").await);
        house.answers(&shop, &json!([up("payments-api")])).await;
        eventually("it is suggested", async || pairs(&house.graphs).await.len() == 1).await;
        let before = house.graphs.suggestions().await.unwrap();
        house.answers(&shop, &json!([down("payments-api")])).await;
        house.until(&["(payments-api) down", "Payments unknown", "Shop degraded", "Shop → (payments-api) down"]).await;
        assert!(Arc::ptr_eq(&before, &house.graphs.suggestions().await.unwrap()));
        house.service("Another").await;
        eventually("it is found anew", async || {
            !Arc::ptr_eq(&before, &house.graphs.suggestions().await.unwrap())
        }).await;
    }

    async fn a_host_at_the_beginning_of_long_details_is_a_reason(database: &TestDatabase) {
        let house = House::new(database).await;
        let (shop, _ledger) = (house.service("Shop").await, house.service("Ledger").await);
        let details = |text: String| json!([{"name": "money", "healthy": true, "checkDetails": {"to": text}}]);
        house.answers(&shop, &details(format!("https://ledger.example.org/ {}", "ä".repeat(5_000)))).await;
        eventually("it is suggested", async || pairs(&house.graphs).await == [pair("money", "Ledger")]).await;
    }
}
