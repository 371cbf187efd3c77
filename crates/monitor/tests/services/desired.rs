//! A whole document, applied to both databases.

use std::collections::HashSet;
use std::sync::atomic::Ordering;

use mainstay_monitor::desired::{
    Desired, DesiredError, Document, MAX_CHANGES, Plan, Refusal, Wanted,
};
use mainstay_monitor::services::Patch;
use mainstay_store::{Dialect, Row, Sql, StoreError};
use mainstay_testkit::{TestDatabase, each_database};
use metrics_exporter_prometheus::PrometheusBuilder;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::house::House;
use crate::names::{beside_a_recorder, wait};

fn wanted(document: &Value) -> Wanted {
    Wanted::check(serde_json::from_value(document.clone()).unwrap()).unwrap()
}

pub(crate) fn service(name: &str) -> Value {
    json!({"name": name, "health_endpoint": format!("https://{}.example.org/health", name.to_lowercase())})
}

fn services(names: impl IntoIterator<Item = String>) -> Value {
    let all: Vec<_> = names.into_iter().map(|name| service(&name)).collect();
    json!({"version": 1, "services": all})
}

fn is_changed(refused: &DesiredError) -> bool {
    matches!(refused, DesiredError::Refused { reason, .. } if **reason == Refusal::Changed)
}

impl House {
    fn desired(&self) -> Desired {
        Desired::new(self.services.clone(), self.aliases.clone())
    }

    pub(crate) async fn apply(&self, document: &Value, prune: bool) -> Result<Plan, DesiredError> {
        let (desired, wanted) = (self.desired(), wanted(document));
        let plan = desired.look(&wanted, prune).await?;
        let judged: HashSet<String> = plan.addresses().map(|(_, url)| url.to_owned()).collect();
        self.events
            .write(async |tx, out| desired.apply(tx, out, &wanted, prune, &judged).await)
            .await
    }

    async fn exported(&self) -> Value {
        let document: Document = self.desired().export().await.unwrap();
        serde_json::to_value(document).unwrap()
    }

    async fn names(&self) -> Vec<String> {
        let rows =
            self.rows("SELECT name FROM services WHERE removed_at IS NULL ORDER BY name").await;
        rows.iter().map(|row: &Row| row.get("name").unwrap()).collect()
    }
}

each_database! {
    async fn a_document_is_applied_as_a_whole_and_leaves_nothing_to_do(database: &TestDatabase) {
        let house = House::new(database).await;
        house.service("Shop").await;
        house.service("Old").await;
        house.dependency("Shop", "orders-api", "1").await;
        house.dependency("Shop", "old-api", "2").await;
        let mut orders = service("Orders");
        orders["headers"] = json!({"X-Key": "hunter2"});
        let mut shop = service("Shop");
        shop["team"] = json!("Wébshop");
        let document = json!({
            "version": 1,
            "services": [orders, shop],
            "aliases": [{"alias": "orders-api", "canonical_name": "Orders"}],
            "links": [{"service": "SHOP ", "dependency": "orders-api", "links_to": "orders"}],
        });
        let (bells, before) = (house.bells.load(Ordering::SeqCst), house.told().await.len());
        let plan = house.apply(&document, true).await.unwrap();
        assert_eq!(plan.count(), 5);
        assert_eq!(
            house.told().await[before..],
            ["service:stopped", "service:updated", "service:started", "alias:updated", "service:updated"]
        );
        assert!(house.bells.load(Ordering::SeqCst) > bells, "the engine hears of it");
        assert_eq!(house.names().await, ["Orders", "Shop"]);
        let revisions = house.rows("SELECT DISTINCT revision FROM services").await;
        assert_eq!(revisions.len(), 3, "the engine reads them in pages by their numbers");
        let exported = house.exported().await;
        assert_eq!(exported["services"][0]["headers"], json!({"X-Key": null}));
        assert_eq!(exported["services"][1]["team"], "Wébshop");
        let link = json!([{"service": "Shop", "dependency": "orders-api", "links_to": "Orders"}]);
        assert_eq!(exported["links"], link);
        assert_eq!(exported["aliases"], document["aliases"]);
        for document in [&document, &exported] {
            let events = house.told().await.len();
            assert!(house.apply(document, true).await.unwrap().is_empty());
            assert_eq!(house.told().await.len(), events);
        }
        let watched = house.services.watches(0).await.unwrap();
        let key = watched.watched.iter().find(|(watch, _)| &*watch.name == "Orders").unwrap();
        assert_eq!(key.0.endpoint.headers[0].1.expose(), "hunter2");
    }

    async fn a_failure_in_the_middle_leaves_nothing(database: &TestDatabase) {
        let house = House::new(database).await;
        house.service("Old").await;
        let (desired, document) = (house.desired(), services(["New".to_owned(), "Newer".to_owned()]));
        let wanted = wanted(&document);
        let events = house.told().await.len();
        let judged: HashSet<String> = ["https://new.example.org/health".to_owned()].into();
        let half = house.events.write(async |tx, out| {
            desired.apply(tx, out, &wanted, true, &judged).await
        });
        let refused = half.await.unwrap_err();
        assert!(is_changed(&refused));
        assert!(refused.to_string().starts_with("services[1] \"Newer\": "), "{refused}");
        let late = house.events.write(async |tx, out| {
            let all = ["new", "newer"].map(|name| format!("https://{name}.example.org/health"));
            desired.apply(tx, out, &wanted, true, &all.into()).await?;
            Err::<(), _>(DesiredError::TooMuchToTell)
        });
        late.await.unwrap_err();
        assert_eq!(house.names().await, ["Old"]);
        assert_eq!(house.told().await.len(), events);
    }

    async fn as_many_changes_as_there_may_be_fit_into_one_write(database: &TestDatabase) {
        let house = House::new(database).await;
        let all = |interval: u32| {
            let mut document = services((0..MAX_CHANGES).map(|n| format!("s{n}")));
            for one in document["services"].as_array_mut().unwrap() {
                one["poll_interval_ms"] = json!(interval);
            }
            document
        };
        assert_eq!(house.apply(&all(30_000), false).await.unwrap().count(), MAX_CHANGES);
        assert_eq!(house.apply(&all(60_000), false).await.unwrap().count(), MAX_CHANGES);
        assert_eq!(house.names().await.len(), MAX_CHANGES);
        let numbers = house.rows("SELECT DISTINCT revision FROM services").await;
        assert_eq!(numbers.len(), MAX_CHANGES);
        let watched = house.services.watches(0).await.unwrap();
        assert_eq!(watched.watched.len(), MAX_CHANGES, "none is left out");
        let mut last = all(60_000);
        last["services"].as_array_mut().unwrap().truncate(1);
        assert_eq!(house.apply(&last, true).await.unwrap().count(), MAX_CHANGES - 1);
        assert_eq!(house.names().await, ["s0"]);
        let numbers = house.rows("SELECT DISTINCT revision FROM services").await;
        assert_eq!(numbers.len(), MAX_CHANGES);
        assert_eq!(house.services.watches(0).await.unwrap().watched.len(), 1);
    }

    async fn more_than_one_write_tells_is_refused_and_nothing_is_done(database: &TestDatabase) {
        let house = House::new(database).await;
        let document = services((0..1_500).map(|n| format!("s{n}")));
        house.apply(&document, false).await.unwrap();
        house.execute("UPDATE service_states SET status = 'down', breaker_state = 'open'").await;
        let mut moved = document.clone();
        for one in moved["services"].as_array_mut().unwrap() {
            one["is_active"] = json!(false);
            one["health_endpoint"] = json!("https://elsewhere.example.org/");
        }
        let refused = house.apply(&moved, false).await.unwrap_err();
        assert!(matches!(refused, DesiredError::TooMuchToTell), "{refused}");
        assert!(house.apply(&document, false).await.unwrap().is_empty());
    }

    async fn two_at_once_leave_what_one_of_them_wants(database: &TestDatabase) {
        let house = House::new(database).await;
        house.service("Old").await;
        let document = |interval: u32, own: &str| {
            let mut document = services((0..50).map(|n| format!("s{n}")).chain([own.to_owned()]));
            for one in document["services"].as_array_mut().unwrap() {
                one["poll_interval_ms"] = json!(interval);
            }
            document
        };
        let (one, other) = (document(10_000, "One"), document(20_000, "Other"));
        for _ in 0..3 {
            let applied = tokio::join!(house.apply(&one, true), house.apply(&other, true));
            let done = [&applied.0, &applied.1].iter().filter(|done| done.is_ok()).count();
            assert!(done > 0, "{applied:?}");
            for refused in [applied.0, applied.1].into_iter().filter_map(Result::err) {
                let conflict = matches!(refused, DesiredError::Store(StoreError::Conflict { .. }));
                assert!(conflict || is_changed(&refused), "{refused}");
            }
            let exported = house.exported().await;
            let all = exported["services"].as_array().unwrap();
            let own = if house.names().await.contains(&"One".to_owned()) { 10_000 } else { 20_000 };
            assert_eq!(all.len(), 51);
            assert!(all.iter().all(|one| one["poll_interval_ms"] == own), "never half of each");
        }
    }
}

/// Everything that can be done at once, to so many of each. While it is done, nobody else edits: what
/// grows with each item is the text of a statement, not their number.
async fn everything(house: &House, many: usize) {
    let mut document = services((0..many).map(|n| format!("s{n}")));
    house.apply(&document, false).await.unwrap();
    for n in 0..many {
        house.dependency(&format!("s{n}"), &format!("d{n}"), &n.to_string()).await;
    }
    let name = |n: usize| format!("d{n}");
    let aliases = |to: &str| -> Vec<_> {
        (0..many).map(|n| json!({"alias": name(n), "canonical_name": to})).collect()
    };
    let links = |by: usize| -> Vec<_> {
        let to = |n: usize| format!("s{}", (n + by) % many);
        let from = |n: usize| format!("s{n}");
        (0..many)
            .map(|n| json!({"service": from(n), "dependency": name(n), "links_to": to(n)}))
            .collect()
    };
    (document["aliases"], document["links"]) = (json!(aliases("One")), json!(links(1)));
    assert_eq!(house.apply(&document, false).await.unwrap().count(), 2 * many);
    for one in document["services"].as_array_mut().unwrap() {
        one["name"] = json!(one["name"].as_str().unwrap().to_uppercase());
        one["is_active"] = json!(false);
        one["health_endpoint"] = json!("https://elsewhere.example.org/");
    }
    (document["aliases"], document["links"]) = (json!(aliases("Two")), json!(links(2)));
    assert_eq!(house.apply(&document, false).await.unwrap().count(), 3 * many);
    let last = json!({
        "version": 1,
        "services": [service("Last")],
        "aliases": [{"alias": "last", "canonical_name": "Last"}],
    });
    assert_eq!(house.apply(&last, true).await.unwrap().count(), 2 * many + 2);
}

/// How many statements it takes. One thread, so that the recorder holds everywhere.
fn statements(dialect: Dialect, many: usize) -> usize {
    let recorder = PrometheusBuilder::new().build_recorder();
    let handle = recorder.handle();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    metrics::with_local_recorder(&recorder, || {
        runtime.block_on(async {
            let database = TestDatabase::new(dialect).await;
            everything(&House::new(&database).await, many).await;
        });
    });
    let metrics = handle.render();
    let counted = metrics.lines().filter_map(|line| {
        let line = line.strip_prefix("mainstay_store_statement_duration_seconds_count{")?;
        line.contains("\"monitor.").then_some(())?;
        line.rsplit_once(' ')?.1.parse::<usize>().ok()
    });
    counted.sum()
}

#[test]
fn a_larger_document_takes_no_more_statements() {
    for dialect in [Dialect::Sqlite, Dialect::Postgres] {
        let [few, many] = [3, 60].map(|many| statements(dialect, many));
        assert!(few > 20 && many == few, "{dialect:?}: {few} {many}");
    }
}

/// SQLite has one writer at a time: there is nobody to wait for in a ring.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_applies_and_who_records_never_wait_for_each_other_in_a_ring() {
    let database = TestDatabase::new(Dialect::Postgres).await;
    let house = House::new(&database).await;
    for name in ["Orders", "Shop", "Old"] {
        house.service(name).await;
    }
    house.dependency("Shop", "db", "1").await;
    house.dependency("Old", "db", "2").await;
    let mut orders = service("Orders");
    orders["poll_interval_ms"] = json!(60_000);
    let document = json!({
        "version": 1,
        "services": [orders, service("Shop"), service("Database")],
        "aliases": [{"alias": "db", "canonical_name": "Main"}],
        "links": [{"service": "Shop", "dependency": "db", "links_to": "Orders"}],
    });
    let done = beside_a_recorder(&house, house.apply(&document, true)).await;
    assert_eq!(done.count(), 5);
    let mut changed = document.clone();
    changed["aliases"][0]["canonical_name"] = json!("Primary");
    changed["links"][0]["links_to"] = json!("Database");
    assert_eq!(beside_a_recorder(&house, house.apply(&changed, true)).await.count(), 2);
    assert!(house.apply(&changed, true).await.unwrap().is_empty());
}

/// Somebody edits a service in the middle of it: the edit waits, and then comes on top.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_edits_one_service_waits_until_all_are_applied() {
    let database = TestDatabase::new(Dialect::Postgres).await;
    let house = House::new(&database).await;
    let orders = house.service("Orders").await;
    house.service("Shop").await;
    let mut document = services(["Orders".to_owned(), "Shop".to_owned()]);
    for one in document["services"].as_array_mut().unwrap() {
        one["poll_interval_ms"] = json!(60_000);
    }
    let (desired, wanted) = (house.desired(), wanted(&document));
    let (held, go_on) = (Notify::new(), Notify::new());
    let applying = house.events.write(async |tx, out| {
        let plan = desired.apply(tx, out, &wanted, false, &HashSet::new()).await?;
        held.notify_one();
        go_on.notified().await;
        tx.execute(&Sql::same("test.touch", "UPDATE services SET updated_at = updated_at"), &[])
            .await?;
        Ok::<_, DesiredError>(plan.count())
    });
    let editing = async {
        held.notified().await;
        let edit = Patch { team: Some(Some("Web".to_owned())), ..Patch::default() };
        let letting_go = async {
            wait(&house, 1).await;
            go_on.notify_one();
        };
        tokio::join!(house.update(orders, edit), letting_go).0
    };
    let (applied, edited) = tokio::join!(applying, editing);
    assert_eq!(applied.unwrap(), 2);
    edited.unwrap();
    let exported = house.exported().await;
    assert_eq!(exported["services"][0]["team"], "Web");
    assert_eq!(exported["services"][0]["poll_interval_ms"], 60_000);
}
