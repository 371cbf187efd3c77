//! The graph, as everybody sees it and editors decide.

use std::time::Duration;

use mainstay_base::Id;
use mainstay_events::{Event, Stream};
use mainstay_store::StoreError;
use serde_json::{Value, json};

use super::house::House;
use super::people::Person;
use super::raw::request;

const NOBODY: &str = "019a8b3c-0000-7000-8000-000000000000";

impl House {
    /// A service with a dependency that is down, once the graph has both.
    async fn leaning(&self, admin: &Person, service: &str, name: &str) -> (Id, Id) {
        let made = self.dependency(service, name).await;
        let fields = json!({"service_id": made.0, "service_name": service});
        let event = Event::new("service:updated", fields.as_object().unwrap()).unwrap();
        let rung: Result<(), StoreError> = self
            .events
            .write(async |_, out| {
                out.add(Stream::Org, event).unwrap();
                Ok(())
            })
            .await;
        rung.unwrap();
        until(admin, |graph| {
            let is_there = |wanted: &str| {
                let mut nodes = graph["nodes"].as_array().unwrap().iter();
                nodes.any(|node| node["name"].as_str().unwrap().eq_ignore_ascii_case(wanted))
            };
            is_there(service) && is_there(name)
        })
        .await;
        made
    }
}

/// The graph, once it is as told.
async fn until(admin: &Person, is_so: impl Fn(&Value) -> bool) -> Value {
    let waiting = async {
        loop {
            let graph = admin.get("/api/graph").await.json();
            if is_so(&graph) {
                return graph;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), waiting).await.unwrap()
}

#[tokio::test]
async fn the_graph_names_what_is_broken_because_of_what() {
    let house = House::open().await;
    let admin = house.admin().await;
    let (shop, dependency) = house.leaning(&admin, "Shop", "orders").await;
    let graph = admin.get("/api/graph").await.json();
    assert_eq!(graph["nodes"][0]["id"], json!(shop));
    assert_eq!(graph["nodes"][0]["kind"], "service");
    assert_eq!(graph["nodes"][0]["status"], "degraded");
    assert_eq!(graph["nodes"][0]["root_causes"], json!([0]));
    assert_eq!(graph["nodes"][1]["id"], "external:orders");
    assert_eq!(graph["nodes"][1]["kind"], "external");
    let y = |place: usize| graph["nodes"][place]["y"].as_i64().unwrap();
    assert!(y(0) < y(1), "{graph}");
    assert_eq!(graph["edges"], json!([{"from": 0, "to": 1, "status": "down"}]));
    let cause = &graph["root_causes"][0];
    assert_eq!((&cause["nodes"][0]["name"], &cause["hurts"]), (&json!("orders"), &json!(1)));
    assert_eq!((&graph["cycles"], &graph["truncated"]), (&json!([]), &json!(false)));

    let near = admin.get(&format!("/api/graph?service={shop}&depth=1")).await.json();
    assert_eq!(near["edges"][0]["dependency_ids"], json!([dependency]));
    let alone = admin.get(&format!("/api/graph?service={shop}&depth=0")).await.json();
    assert_eq!(alone["nodes"].as_array().unwrap().len(), 1);
    assert_eq!(alone["root_causes"][0]["nodes"][0]["id"], "external:orders");
    for (target, status, code) in [
        (format!("?service={NOBODY}"), 404, "not_found"),
        ("?service=1".to_owned(), 400, "invalid_query"),
        ("?depth=1".to_owned(), 400, "invalid_query"),
        (format!("?service={shop}&depth=21"), 400, "invalid_query"),
        (format!("?service={shop}&depth=-1"), 400, "invalid_query"),
        ("?from=1".to_owned(), 400, "invalid_query"),
    ] {
        let answer = admin.get(&format!("/api/graph{target}")).await;
        assert_eq!((answer.status, answer.code().as_str()), (status, code), "{target}");
    }
}

#[tokio::test]
async fn what_is_broken_now_is_told_with_why() {
    let house = House::open().await;
    let admin = house.admin().await;
    let (shop, dependency) = house.leaning(&admin, "Shop", "orders").await;
    let now = admin.get("/api/now").await.json();
    assert_eq!((&now["counts"]["root_causes"], &now["counts"]["affected"]), (&json!(1), &json!(1)));
    let cause = &now["items"][0];
    assert_eq!(cause["nodes"][0]["id"], "external:orders");
    assert_eq!(cause["reported_by"][0]["dependency_id"], json!(dependency));
    assert_eq!(cause["service_ids"], json!([shop]));
    assert_eq!(admin.get("/api/board").await.json()["items"][0]["cause"], "affected");
}

#[tokio::test]
async fn a_graph_that_the_caller_has_is_not_sent_again() {
    let house = House::open().await;
    let admin = house.admin().await;
    for number in 0..10 {
        house.leaning(&admin, &format!("Shop{number}"), &format!("thing {number}")).await;
    }
    let ask = async |headers: &str| {
        let headers = format!("{}{headers}", admin.cookie());
        request(house.address, "GET", "/api/graph", &headers, "").await
    };
    let plain = ask("").await;
    let tag = plain.header("etag").unwrap().to_owned();
    assert_eq!(plain.header("cache-control"), Some("private, no-cache"));
    let known = ask(&format!("If-None-Match: {tag}\r\n")).await;
    assert_eq!((known.status, known.body.is_empty()), (304, true));
    let packed = ask("Accept-Encoding: gzip\r\n").await;
    assert_eq!(packed.header("content-encoding"), Some("gzip"));
    let packed_tag = packed.header("etag").unwrap().to_owned();
    assert_ne!(packed_tag, tag);
    assert!(packed.header("content-length").is_some());
    let known = ask(&format!("Accept-Encoding: gzip\r\nIf-None-Match: {packed_tag}\r\n")).await;
    assert_eq!(known.status, 304);
    house.leaning(&admin, "Another", "thing 0").await;
    assert_eq!(ask(&format!("If-None-Match: {tag}\r\n")).await.status, 200);
}

#[tokio::test]
async fn the_impact_of_a_node_is_everybody_who_leans_on_it() {
    let house = House::open().await;
    let admin = house.admin().await;
    let (orders, _) = house.leaning(&admin, "Orders", "db").await;
    let (shop, _) = house.leaning(&admin, "Shop", "orders").await;
    let impact = async |node: &str| {
        let answer = admin.get(&format!("/api/graph/impact?node={node}")).await;
        assert_eq!(answer.status, 200, "{}", answer.head);
        answer.json()
    };
    let told = until(&admin, |graph| graph["edges"].as_array().unwrap().len() == 2).await;
    assert_eq!(told["nodes"].as_array().unwrap().len(), 3, "Orders is the service");
    let db = impact("external:db").await;
    assert_eq!((&db["service_count"], &db["direct_count"]), (&json!(2), &json!(1)));
    assert_eq!((&db["affected_count"], &db["services"][0]["affected"]), (&json!(2), &json!(true)));
    assert_eq!(db["services"][0]["id"], json!(orders));
    assert_eq!(db["services"][1]["id"], json!(shop));
    assert_eq!(db["services"][1]["via"], json!(orders));
    assert_eq!(db["services"][1]["only_through_others"], json!(true));
    assert_eq!(impact(&shop.to_string()).await["service_count"], 0);
    for (target, status, code) in [
        ("?node=external:nothing".to_owned(), 404, "not_found"),
        (format!("?node={NOBODY}"), 404, "not_found"),
        ("?node=".to_owned(), 404, "not_found"),
        (String::new(), 400, "invalid_query"),
    ] {
        let answer = admin.get(&format!("/api/graph/impact{target}")).await;
        assert_eq!((answer.status, answer.code().as_str()), (status, code), "{target}");
    }
}

#[tokio::test]
async fn a_thing_is_told_with_what_everybody_says_of_it() {
    let house = House::open().await;
    let admin = house.admin().await;
    let (shop, dependency) = house.leaning(&admin, "Shop", "orders db").await;
    let answer = admin.get("/api/graph/node?node=external:orders%20db").await;
    assert_eq!(answer.status, 200, "{}", answer.head);
    let told = answer.json();
    assert_eq!(told["node"]["name"], "orders db");
    assert_eq!((&told["hurts"], &told["affected"]), (&json!(1), &json!(1)));
    assert_eq!(told["root_cause"]["node_count"], 1);
    assert_eq!(told["hurt"][0]["id"], json!(shop));
    assert_eq!(told["report_count"], 1);
    let report = &told["reports"][0];
    assert_eq!(report["service_name"], "Shop");
    assert_eq!(report["dependency"]["id"], json!(dependency));
    assert_eq!(report["dependency"]["status"], "down");
    let own = admin.get(&format!("/api/graph/node?node={shop}")).await.json();
    assert_eq!((&own["reports"], &own["root_cause"]), (&json!([]), &Value::Null));
    let nothing = admin.get("/api/graph/node?node=external:nothing").await;
    assert_eq!((nothing.status, nothing.code().as_str()), (404, "not_found"));
}

#[tokio::test]
async fn a_thing_of_the_past_is_told_and_what_was_not_there_is_refused() {
    let house = House::open().await;
    let admin = house.admin().await;
    let (shop, _) = house.leaning(&admin, "Shop", "orders db").await;
    let now = house.events.db().now().await.unwrap();
    house.execute("DELETE FROM changes").await;
    for (kind, number, after) in [
        ("added", "NULL", "Shop"),
        ("added", "(SELECT number FROM dependencies)", "down"),
        ("service", "NULL", "degraded"),
    ] {
        let before = now.as_millis() - 60_000;
        let sql = format!(
            "INSERT INTO changes (at, kind, service_no, dependency_no, after)
             SELECT {before}, '{kind}', number, {number}, '{after}' FROM services"
        );
        house.execute(&sql).await;
    }
    let target = |node: &str, at: &str| format!("/api/graph/node/then?node={node}&at={at}");
    let told = admin.get(&target("external:orders%20db", &now.to_string())).await;
    assert_eq!(told.status, 200, "{}", told.head);
    let told = told.json();
    assert_eq!((&told["at"], &told["node"]["status"]), (&json!(now), &json!("down")));
    assert_eq!(told["reports"][0]["service_id"], json!(shop));
    assert_eq!(told["reports"][0]["dependency"]["status"], "down");
    let later = now.plus(Duration::from_hours(1)).to_string();
    for (node, at, status, code) in [
        ("external:nothing", now.to_string(), 404, "not_found"),
        ("nobody", now.to_string(), 404, "not_found"),
        ("external:orders%20db", "2001-01-01T00:00:00.000Z".to_owned(), 404, "not_found"),
        ("external:orders%20db", "yesterday".to_owned(), 400, "invalid_query"),
        ("external:orders%20db", later, 400, "invalid_query"),
    ] {
        let answer = admin.get(&target(node, &at)).await;
        assert_eq!((answer.status, answer.code().as_str()), (status, code), "{node} {at}");
    }
}

#[tokio::test]
async fn suggestions_are_confirmed_or_dismissed() {
    let house = House::open().await;
    let admin = house.admin().await;
    house.leaning(&admin, "Shop", "payments-api").await;
    house.leaning(&admin, "Mill", "ledger-svc").await;
    let (payments, ledger) = (house.service("Payments").await, house.service("Ledger").await);
    until(&admin, |graph| graph["nodes"].as_array().unwrap().len() == 6).await;
    let listed = async || {
        let page = admin.get("/api/graph/suggestions").await.json();
        assert_eq!(page["next_cursor"], Value::Null);
        page["items"].as_array().unwrap().clone()
    };
    let items = listed().await;
    assert_eq!(items.len(), 2, "{items:?}");
    assert_eq!(items[0]["key"], "ledger-svc");
    assert_eq!(items[0]["reasons"], json!([{"kind": "same_name"}]));
    assert_eq!(items[0]["service_id"], json!(ledger));
    let send = async |what: &str, body: Value| {
        let target = format!("/api/graph/suggestions/{what}");
        admin.send("POST", &target, &body.to_string()).await
    };
    let dismissed = send("dismiss", json!({"key": "ledger-svc", "service_id": ledger})).await;
    assert_eq!(dismissed.status, 204);
    let confirmed = send("confirm", json!({"key": "payments-api", "service_id": payments})).await;
    assert_eq!((confirmed.status, confirmed.json()), (200, json!({"linked": 1})));
    until(&admin, |graph| graph["nodes"].as_array().unwrap().len() == 5).await;
    assert!(listed().await.is_empty());
    for (what, body, status, code) in [
        ("confirm", json!({"key": "payments-api", "service_id": payments}), 404, "not_found"),
        ("confirm", json!({"key": "ledger-svc", "service_id": NOBODY}), 404, "not_found"),
        ("dismiss", json!({"key": "ledger-svc", "service_id": NOBODY}), 404, "not_found"),
        ("dismiss", json!({"key": " ", "service_id": ledger}), 400, "invalid_canonical_name"),
        ("dismiss", json!({"key": "a"}), 400, "invalid_body"),
        ("confirm", json!({"key": "a", "service_id": ledger, "x": 1}), 400, "invalid_body"),
    ] {
        let answer = send(what, body).await;
        assert_eq!((answer.status, answer.code().as_str()), (status, code), "{what}");
    }
}
