//! What polls find reaches the graph.

use std::time::Duration;

use mainstay_testkit::each_database;
use serde_json::json;

use crate::house::{House, down, until, up};

each_database! {
    async fn every_result_that_matters_reaches_the_graph(database: &TestDatabase) {
        let house = House::new(database).await;
        let shop = house.service("Shop").await;
        house.until(&["Shop unknown"]).await;
        house.answers(&shop, &json!([up("db"), up("cache")])).await;
        house.until(&["(cache) healthy", "(db) healthy", "Shop healthy", "Shop → (cache) healthy", "Shop → (db) healthy"]).await;
        // A new one that is fine, and one that fails.
        house.answers(&shop, &json!([down("db"), up("cache"), up("mail")])).await;
        house.until(&["(cache) healthy", "(db) down", "(mail) healthy", "Shop degraded", "Shop → (cache) healthy", "Shop → (db) down", "Shop → (mail) healthy"]).await;
        let picture = house.graphs.picture().await.unwrap();
        assert_eq!(picture.causes.roots.len(), 1);
        // It is not reported any more.
        house.answers(&shop, &json!([down("db"), up("cache")])).await;
        house.until(&["(cache) healthy", "(db) down", "(mail) unknown", "Shop degraded", "Shop → (cache) healthy", "Shop → (db) down", "Shop → (mail) unknown missing"]).await;
        // The service does not answer: nobody knows how the rest is.
        house.fails(&shop).await;
        house.until(&["(cache) unknown", "(db) unknown", "(mail) unknown", "Shop down", "Shop → (cache) unknown", "Shop → (db) unknown", "Shop → (mail) unknown missing"]).await;
        house.answers(&shop, &json!([up("db"), up("cache")])).await;
        house.until(&["(cache) healthy", "(db) healthy", "(mail) unknown", "Shop healthy", "Shop → (cache) healthy", "Shop → (db) healthy", "Shop → (mail) unknown missing"]).await;
        // It leaves when nobody has reported it for a day.
        house.advance(Duration::from_hours(25));
        house.until(&["(cache) healthy", "(db) healthy", "Shop healthy", "Shop → (cache) healthy", "Shop → (db) healthy"]).await;
    }

    async fn what_was_there_before_is_read_at_the_start_and_another_instance_hears_of_news(database: &TestDatabase) {
        let house = House::new(database).await;
        let shop = house.service("Shop").await;
        house.answers(&shop, &json!([up("db")])).await;
        let before = ["(db) healthy", "Shop healthy", "Shop → (db) healthy"];
        house.until(&before).await;
        let other = house.another().await;
        until(&other, &before).await;
        house.answers(&shop, &json!([down("db")])).await;
        let after = ["(db) down", "Shop degraded", "Shop → (db) down"];
        house.until(&after).await;
        until(&other, &after).await;
    }
}
