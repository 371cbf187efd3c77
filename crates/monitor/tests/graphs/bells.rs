//! Which events the graph hears, and what it does about what no event told of.

use std::time::Duration;

use mainstay_monitor::GraphsOptions;
use mainstay_monitor::answer::Answer;
use mainstay_testkit::each_database;
use serde_json::{Value, json};

use crate::house::{House, down, options, up};

/// The kinds that name a service. Aliases and links are told by name: see `edits` and `decisions`.
const OF_SERVICES: [&str; 7] = [
    "dependency:status",
    "poll:error",
    "poll:recovered",
    "service:started",
    "service:status",
    "service:stopped",
    "service:updated",
];

/// More events than are at hand for those who follow.
const MANY: usize = 6_000;

each_database! {
    async fn every_kind_of_event_about_a_service_is_heard(database: &TestDatabase) {
        let house = House::new(database).await;
        let shop = house.service("Shop").await;
        house.until(&["Shop unknown"]).await;
        for kind in OF_SERVICES {
            // Nobody is told of the new name but by this event.
            let name = format!("Shop after {kind}");
            house.execute(&format!("UPDATE services SET name = '{name}'")).await;
            house.announce([(kind, json!({"service_id": shop.id}))].into_iter()).await;
            house.until(&[&format!("{name} unknown")]).await;
        }
    }

    async fn aliases_and_links_are_heard_by_name(database: &TestDatabase) {
        let house = House::new(database).await;
        let shop = house.service("Shop").await;
        house.answers(&shop, &json!([up("db")])).await;
        house.until(&["(db) healthy", "Shop healthy", "Shop → (db) healthy"]).await;
        for (kind, fields) in [
            ("alias:updated", json!({"alias": "db"})),
            ("link:updated", json!({"canonical_key": "db", "service_id": shop.id})),
        ] {
            let name = format!("db after {kind}");
            house.execute(&format!("UPDATE dependencies SET canonical_name = '{name}'")).await;
            house.announce([(kind, fields)].into_iter()).await;
            let lines = [format!("({name}) healthy"), "Shop healthy".to_owned(), format!("Shop → ({name}) healthy")];
            house.until(&lines.each_ref().map(String::as_str)).await;
        }
    }

    async fn a_dependency_that_turns_is_heard_though_its_service_stays_as_it_is(database: &TestDatabase) {
        let house = House::new(database).await;
        let shop = house.service("Shop").await;
        house.answers(&shop, &json!([down("db"), up("mail")])).await;
        house.until(&["(db) down", "(mail) healthy", "Shop degraded", "Shop → (db) down", "Shop → (mail) healthy"]).await;
        house.answers(&shop, &json!([down("db"), down("mail")])).await;
        house.until(&["(db) down", "(mail) down", "Shop degraded", "Shop → (db) down", "Shop → (mail) down"]).await;
    }

    async fn what_no_event_told_of_is_seen_when_everything_is_read_again(database: &TestDatabase) {
        let reload_every = Duration::from_mins(10);
        let house = House::with(database, GraphsOptions { reload_every, ..options() }).await;
        house.service("Shop").await;
        house.until(&["Shop unknown"]).await;
        // By then the news of the shop itself have been heard too.
        house.service("Mill").await;
        house.until(&["Mill unknown", "Shop unknown"]).await;
        house.execute("UPDATE services SET name = 'Renamed' WHERE name = 'Shop'").await;
        // News of others do not show it.
        house.service("Bank").await;
        house.until(&["Bank unknown", "Mill unknown", "Shop unknown"]).await;
        house.advance(reload_every);
        house.until(&["Bank unknown", "Mill unknown", "Renamed unknown"]).await;
    }

    async fn who_falls_behind_reads_everything_and_goes_on(database: &TestDatabase) {
        // While it waits for more events, more come than are kept at hand. One page of them after the
        // other, it would wait for minutes.
        let window = Duration::from_secs(2);
        let house = House::with(database, GraphsOptions { window, ..options() }).await;
        let shop = house.service("Shop").await;
        house.until(&["Shop unknown"]).await;
        for _ in 0..3 {
            let told = ("service:updated", json!({"service_id": shop.id}));
            house.announce(std::iter::repeat_n(told, MANY / 3)).await;
        }
        house.service("Mill").await;
        house.until(&["Mill unknown", "Shop unknown"]).await;
        // And it hears what comes after.
        house.answers(&shop, &json!([up("db")])).await;
        house.until(&["(db) healthy", "Mill unknown", "Shop healthy", "Shop → (db) healthy"]).await;
    }
    async fn whoever_asks_after_an_event_finds_it_in_the_answer(database: &TestDatabase) {
        // So slow that nobody who does not wait for it sees it.
        let window = Duration::from_millis(300);
        let house = House::with(database, GraphsOptions { window, ..options() }).await;
        let shop = house.service("Shop").await;
        let name = |answer: &Answer| serde_json::from_slice::<Value>(&answer.plain).unwrap()["nodes"][0]["name"].clone();
        assert_eq!(name(&house.graphs.whole().await.unwrap()), "Shop");
        for new in ["Store", "Stall"] {
            house.execute(&format!("UPDATE services SET name = '{new}'")).await;
            house.announce([("service:updated", json!({"service_id": shop.id}))].into_iter()).await;
            assert_eq!(name(&house.graphs.around(shop.id, 1).await.unwrap()), new);
            assert_eq!(name(&house.graphs.whole().await.unwrap()), new);
        }
    }
}
