//! Every instance shows one drawing, and so does the next start.

use mainstay_graph::{Key, Place};
use mainstay_monitor::graph::drawing;
use mainstay_testkit::each_database;
use serde_json::json;

use crate::house::{House, eventually, until, up};

each_database! {
    async fn a_drawing_is_kept_and_taken_over(database: &TestDatabase) {
        let house = House::new(database).await;
        let shop = house.service("Shop").await;
        house.answers(&shop, &json!([up("db")])).await;
        let lines = ["(db) healthy", "Shop healthy", "Shop → (db) healthy"];
        let picture = until(&house.graphs, &lines).await;
        let stored = async || {
            let rows = house.rows("SELECT body FROM graph_drawing").await;
            rows.first().map(|row| drawing::decode(&row.get::<String>("body").unwrap()))
        };
        eventually("it is kept", async || stored().await.as_ref() == Some(&*picture.places)).await;
        // Somebody else has moved a node since.
        let mut moved = (*picture.places).clone();
        moved.insert(Key::Service(shop.number.0), Place { x: 77, y: -5 });
        house.execute(&format!(
            "UPDATE graph_drawing SET version = version + 1, body = '{}'", drawing::encode(&moved)
        )).await;
        eventually("it is taken over", async || *house.graphs.picture().await.unwrap().places == moved).await;
        let next = house.another().await;
        assert_eq!(*until(&next, &lines).await.places, moved);
        // A node that comes is drawn and kept, and nobody moves.
        house.answers(&shop, &json!([up("db"), up("mail")])).await;
        let lines = ["(db) healthy", "(mail) healthy", "Shop healthy", "Shop → (db) healthy", "Shop → (mail) healthy"];
        let after = until(&house.graphs, &lines).await;
        assert!(moved.iter().all(|(key, place)| after.places[key] == *place));
        eventually("both have it", async || {
            let (here, there) = (house.graphs.picture().await.unwrap(), next.picture().await.unwrap());
            here.places == there.places && stored().await.as_ref() == Some(&*here.places)
        }).await;
    }

    async fn a_drawing_that_can_not_be_read_is_made_anew(database: &TestDatabase) {
        let house = House::new(database).await;
        house.execute("INSERT INTO graph_drawing (singleton, version, body, updated_at) VALUES (1, 7, 'no JSON', 0)").await;
        house.service("Shop").await;
        let picture = until(&house.graphs, &["Shop unknown"]).await;
        assert_eq!(picture.places.len(), 1);
        eventually("it is replaced", async || {
            house.row("SELECT version FROM graph_drawing").await.get::<i64>("version").unwrap() == 8
        }).await;
    }
}
