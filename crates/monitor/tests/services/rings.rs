//! Two who edit, and one who records, never wait for each other in a ring. On PostgreSQL alone: SQLite
//! has one writer at a time.

use mainstay_store::{Dialect, Sql, StoreError, Tx};
use mainstay_testkit::TestDatabase;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::desired::service;
use crate::house::House;
use crate::names::wait;

async fn run(tx: &mut Tx, sql: &'static str) -> Result<u64, StoreError> {
    tx.execute(&Sql::same("test.run", sql), &[]).await
}

/// Two who edit, the other one after the first waits, while somebody holds the state of the first
/// service.
async fn one_after_the_other<T, U>(
    house: &House,
    one: impl Future<Output = T>,
    other: impl Future<Output = U>,
) -> (T, U) {
    let (held, second, go_on) = (Notify::new(), Notify::new(), Notify::new());
    let holding = house.db.write(async |tx| {
        let touch = "UPDATE service_states SET poll_seq = poll_seq + 1 WHERE service_no = 1";
        run(tx, touch).await?;
        held.notify_one();
        go_on.notified().await;
        Ok::<_, StoreError>(())
    });
    let one = async {
        held.notified().await;
        one.await
    };
    let other = async {
        second.notified().await;
        other.await
    };
    let letting_go = async {
        wait(house, 1).await;
        second.notify_one();
        wait(house, 2).await;
        go_on.notify_one();
    };
    let (holding, one, other, ()) = tokio::join!(holding, one, other, letting_go);
    holding.unwrap();
    (one, other)
}

fn slower(name: &str) -> Value {
    let mut one = service(name);
    one["poll_interval_ms"] = json!(60_000);
    one
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_applies_and_who_changes_an_alias_go_one_after_the_other() {
    let database = TestDatabase::new(Dialect::Postgres).await;
    let house = House::new(&database).await;
    house.service("Orders").await;
    house.dependency("Orders", "db", "1").await;
    house.dependency("Orders", "cache", "2").await;
    let document = json!({
        "version": 1,
        "services": [slower("Orders")],
        "aliases": [{"alias": "db", "canonical_name": "Main"}],
    });
    let made = house.alias("cache", "Fast").await.unwrap();
    let changing = house.change_alias(made.id, None, Some("Faster"));
    let (changed, applied) =
        one_after_the_other(&house, changing, house.apply(&document, false)).await;
    changed.unwrap();
    assert_eq!(applied.unwrap().count(), 2);
    assert_eq!(house.known().await, ["db|Main|main", "cache|Faster|faster"]);
    house.dependency("Orders", "queue", "3").await;
    let further = |to: &str| {
        let mut further = document.clone();
        further["aliases"][0]["canonical_name"] = json!(to);
        further
    };
    let (one, other) = (further("Primary"), further("Store"));
    let adding = house.alias("queue", "Queue");
    let (added, applied) = one_after_the_other(&house, adding, house.apply(&one, false)).await;
    assert_eq!((added.unwrap().alias, applied.unwrap().count()), ("queue".to_owned(), 1));
    let deleting = house.delete_alias(made.id);
    let (deleted, applied) =
        one_after_the_other(&house, deleting, house.apply(&other, false)).await;
    assert_eq!((deleted.unwrap().id, applied.unwrap().count()), (made.id, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_applies_and_who_confirms_a_suggestion_go_one_after_the_other() {
    let database = TestDatabase::new(Dialect::Postgres).await;
    let house = House::new(&database).await;
    house.service("Shop").await;
    let orders = house.service("Orders").await;
    house.dependency("Shop", "orders", "1").await;
    let document = json!({"version": 1, "services": [slower("Shop"), slower("Orders")]});
    let aliases = &house.aliases;
    let confirming =
        house.events.write(async |tx, out| aliases.link_named(tx, out, "orders", orders).await);
    let (applied, linked) =
        one_after_the_other(&house, house.apply(&document, false), confirming).await;
    assert_eq!(applied.unwrap().count(), 2);
    assert_eq!(linked.unwrap().count, 1);
}

/// Somebody records results of `Shop`: its second dependency is written, then its first.
async fn beside_who_records_backwards<T, E: std::fmt::Debug>(
    house: &House,
    editing: impl Future<Output = Result<T, E>>,
) -> T {
    let (held, go_on) = (Notify::new(), Notify::new());
    let recording = house.db.write(async |tx| {
        run(tx, "UPDATE service_states SET poll_seq = poll_seq + 1 WHERE service_no = 1").await?;
        run(tx, "UPDATE dependencies SET code = code + 1 WHERE name = 'b'").await?;
        held.notify_one();
        go_on.notified().await;
        run(tx, "UPDATE dependencies SET code = code + 1 WHERE name = 'a'").await
    });
    let editing = async {
        held.notified().await;
        editing.await
    };
    let letting_go = async {
        wait(house, 1).await;
        go_on.notify_one();
    };
    let (recorded, edited, ()) = tokio::join!(recording, editing, letting_go);
    recorded.unwrap();
    edited.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_links_or_removes_waits_for_who_records_what_is_linked() {
    let database = TestDatabase::new(Dialect::Postgres).await;
    let house = House::new(&database).await;
    house.service("Shop").await;
    house.service("Orders").await;
    for (name, id) in [("a", "1"), ("b", "2")] {
        house.dependency("Shop", name, id).await;
    }
    let link =
        |name: &str, to: &str| json!({"service": "Shop", "dependency": name, "links_to": to});
    let document = |to: &str| {
        json!({
            "version": 1,
            "services": [service("Shop"), service(to)],
            "links": [link("a", to), link("b", to)],
        })
    };
    let linked = document("Orders");
    let done = beside_who_records_backwards(&house, house.apply(&linked, false)).await;
    assert_eq!(done.count(), 2);
    // One goes, and with it both links; another comes in its place.
    let pruning = json!({"version": 1, "services": [service("Shop"), service("Billing")]});
    assert_eq!(beside_who_records_backwards(&house, house.apply(&pruning, true)).await.count(), 2);
    house.apply(&document("Billing"), true).await.unwrap();
    let billing = house.row("SELECT id FROM services WHERE name = 'Billing'").await;
    beside_who_records_backwards(&house, house.delete(billing.get("id").unwrap())).await;
    let linked =
        house.rows("SELECT id FROM dependencies WHERE linked_service_no IS NOT NULL").await;
    assert!(linked.is_empty());
}
