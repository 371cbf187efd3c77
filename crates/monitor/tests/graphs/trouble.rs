//! A database that fails for a while.

use mainstay_testkit::each_database;
use serde_json::json;

use crate::house::{House, down, up};

each_database! {
    async fn what_happened_while_the_graph_could_not_read_is_in_it_afterwards(database: &TestDatabase) {
        let house = House::new(database).await;
        let shop = house.service("Shop").await;
        house.answers(&shop, &json!([up("db")])).await;
        house.until(&["(db) healthy", "Shop healthy", "Shop → (db) healthy"]).await;
        // The graph reads this table with every bell; nobody else does here.
        house.execute("ALTER TABLE graph_drawing RENAME TO elsewhere").await;
        house.execute("ALTER TABLE services RENAME COLUMN health_endpoint TO gone").await;
        house.answers(&shop, &json!([down("db")])).await;
        // Whoever asks still gets what was last known.
        assert_eq!(house.graphs.picture().await.unwrap().snapshot.nodes().len(), 2);
        house.execute("ALTER TABLE services RENAME COLUMN gone TO health_endpoint").await;
        house.execute("ALTER TABLE elsewhere RENAME TO graph_drawing").await;
        house.until(&["(db) down", "Shop degraded", "Shop → (db) down"]).await;
    }

    async fn a_drawing_that_can_not_be_kept_does_not_make_the_graph_read_everything(database: &TestDatabase) {
        let house = House::new(database).await;
        house.until(&[]).await;
        // Reading works, writing does not.
        house.execute("ALTER TABLE graph_drawing ADD COLUMN more INTEGER CHECK (more IS NOT NULL)").await;
        let (shop, quiet) = (house.service("Shop").await, house.service("Quiet").await);
        house.until(&["Quiet unknown", "Shop unknown"]).await;
        // It is seen only by who reads everything.
        house.execute(&format!("UPDATE services SET name = 'Seen' WHERE id = '{}'", quiet.id)).await;
        for _ in 0..10 {
            house.answers(&shop, &json!([down("db")])).await;
            house.until(&["(db) down", "Quiet unknown", "Shop degraded", "Shop → (db) down"]).await;
            house.answers(&shop, &json!([up("db")])).await;
            house.until(&["(db) healthy", "Quiet unknown", "Shop healthy", "Shop → (db) healthy"]).await;
        }
        assert!(house.rows("SELECT version FROM graph_drawing").await.is_empty(), "nothing was kept");
    }

    async fn the_task_ends_with_its_owner(database: &TestDatabase) {
        let house = House::new(database).await;
        house.service("Shop").await;
        house.until(&["Shop unknown"]).await;
        house.stop.cancel();
        house.tasks.close();
        house.tasks.wait().await;
        // What was read last is still there for who asks.
        house.until(&["Shop unknown"]).await;
    }
}
