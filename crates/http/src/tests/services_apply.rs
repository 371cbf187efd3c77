//! Everything that is watched as one document.

use mainstay_accounts::{AuditFilter, PageAsk, Role, Scope};
use serde_json::{Value, json};

use super::house::House;
use super::people::{Person, bearer};
use super::raw::request;

const EXPORT: &str = "/api/services/export";
const APPLY: &str = "/api/services/apply";

fn service(name: &str) -> Value {
    json!({"name": name, "health_endpoint": format!("https://{}.example/", name.to_lowercase())})
}

async fn apply(person: &Person, document: &Value, more: &[(&str, bool)]) -> (u16, Value) {
    let mut body = json!({"document": document});
    for (name, value) in more {
        body[*name] = json!(value);
    }
    let answer = person.send("POST", APPLY, &body.to_string()).await;
    (answer.status, answer.json())
}

#[tokio::test]
async fn a_document_is_planned_applied_and_read_back() {
    let house = House::open().await;
    let admin = house.admin().await;
    let (shop, dependency) = house.dependency("Shop", "orders-api").await;
    let mut orders = service("Orders");
    orders["headers"] = json!({"X-Key": "hunter2"});
    let document = json!({
        "version": 1,
        "services": [orders, {"name": "SHOP", "health_endpoint": "https://shop.example.org/health", "team": "Web"}],
        "aliases": [{"alias": "db", "canonical_name": "Database"}],
        "links": [
            {"service": "shop", "dependency": "orders-api", "links_to": "orders"},
            {"service": "Orders", "dependency": "db", "links_to": "Shop"},
        ],
    });
    let (status, planned) = apply(&admin, &document, &[("dry_run", true)]).await;
    assert_eq!((status, &planned["applied"]), (200, &json!(false)), "{planned}");
    assert_eq!(admin.get(EXPORT).await.json()["services"].as_array().unwrap().len(), 1);
    let (status, done) = apply(&admin, &document, &[]).await;
    assert_eq!((status, &done["applied"]), (200, &json!(true)), "{done}");
    assert_eq!(done["plan"], planned["plan"]);
    assert!(!done.to_string().contains("hunter2"));
    insta::assert_json_snapshot!("services_applied", done);
    let exported = admin.get(EXPORT).await;
    assert!(!exported.body.windows(7).any(|part| part == b"hunter2"));
    insta::assert_json_snapshot!("services_exported", exported.json());
    assert_eq!(exported.json()["links"].as_array().unwrap().len(), 1);
    let linked = admin.get(&format!("/api/dependencies/{dependency}")).await.json();
    assert!(linked["linked_service_id"].is_string());
    assert_eq!(admin.get(&format!("/api/services/{shop}")).await.json()["name"], "SHOP");

    for (document, more) in [(&document, &[][..]), (&exported.json(), &[("prune", true)])] {
        let (status, again) = apply(&admin, document, more).await;
        assert_eq!((status, &again["applied"]), (200, &json!(false)), "{again}");
        assert_eq!(again["plan"]["changes"], json!([]));
    }
    let ask = PageAsk { after: None, limit: 200 };
    let log = house.accounts.audit_log(&AuditFilter::default(), ask).await.unwrap();
    let lines: Vec<_> = log.items.iter().filter(|line| line.action == "services.apply").collect();
    assert_eq!(lines.len(), 1, "what changes nothing is not written down");
    assert_eq!(
        serde_json::to_value(&lines[0].detail).unwrap(),
        json!({
            "added": 3, "changed": 1, "removed": 0, "prune": false,
            "names": ["service Orders", "service SHOP", "alias db", "link SHOP / orders-api"],
        })
    );
}

#[tokio::test]
async fn one_bad_item_and_nothing_is_applied() {
    let house = House::open().await;
    let admin = house.admin().await;
    let good = service("Orders");
    let with = |field: &str, value: Value| {
        let mut one = service("Bad");
        one[field] = value;
        one
    };
    for (bad, status, code, says) in [
        (with("poll_interval_ms", json!(1)), 400, "invalid_poll_interval_ms", "from 5000"),
        (with("name", json!("")), 400, "invalid_name", "empty"),
        (
            with("health_endpoint", json!("http://blocked.example/")),
            422,
            "blocked_address",
            "blocked",
        ),
        (with("headers", json!({"X-Key": null})), 400, "invalid_document", "X-Key"),
        (with("name", json!(" ORDERS ")), 400, "invalid_document", "services[0]"),
        (with("colour", json!("red")), 400, "invalid_body", "colour"),
        (with("headers", json!({"X-Key": 70707})), 400, "invalid_body", "expected a text"),
        (with("headers", json!("Bearer 70707")), 400, "invalid_body", "expected headers"),
    ] {
        let document = json!({"version": 1, "services": [good, bad]});
        let (got, refused) = apply(&admin, &document, &[]).await;
        assert_eq!((got, &refused["code"]), (status, &json!(code)), "{refused}");
        let detail = refused["detail"].as_str().unwrap();
        assert!(detail.contains("services[1]") && detail.contains(says), "{detail}");
        assert!(!detail.contains("70707"), "{detail}");
        if code != "invalid_body" {
            assert_eq!(refused["item"], "services[1]", "{refused}");
        }
    }
    let document = json!({"version": 2});
    assert_eq!(apply(&admin, &document, &[]).await.1["code"], "invalid_document");
    assert_eq!(admin.get(EXPORT).await.json()["services"], json!([]));
    // One that merely does not answer now is watched.
    let down =
        json!({"version": 1, "services": [with("health_endpoint", json!("http://down.example/"))]});
    assert_eq!(apply(&admin, &down, &[]).await.0, 200);
}

#[tokio::test]
async fn only_pruning_removes() {
    let house = House::open().await;
    let admin = house.admin().await;
    for name in ["Orders", "Shop"] {
        house.service(name).await;
    }
    house.alias("db", "Database").await;
    let document = json!({"version": 1, "services": [{
        "name": "Orders", "health_endpoint": "https://orders.example.org/health",
    }]});
    assert_eq!(apply(&admin, &document, &[]).await.1["plan"]["changes"], json!([]));
    let (status, done) = apply(&admin, &document, &[("prune", true)]).await;
    assert_eq!(status, 200);
    assert_eq!(done["plan"]["changes"][0]["name"], "Shop");
    let left = admin.get(EXPORT).await.json();
    assert_eq!(left["services"].as_array().unwrap().len(), 1);
    assert_eq!(left["aliases"].as_array().unwrap().len(), 1, "its part names nothing");
}

#[tokio::test]
async fn a_token_that_reads_exports_and_one_that_writes_applies() {
    let house = House::open().await;
    let admin = house.admin().await;
    let editor = house.user(&admin, "editor@example.com", Role::Editor).await;
    let body = json!({"document": {"version": 1, "services": [service("Orders")]}}).to_string();
    let json = "Content-Type: application/json\r\n";
    for (scope, status) in [(Scope::Read, 403), (Scope::Write, 200)] {
        let headers = format!("{json}{}", bearer(&house.token(&editor, scope).await));
        assert_eq!(request(house.address, "GET", EXPORT, &headers, "").await.status, 200);
        let applied = request(house.address, "POST", APPLY, &headers, &body).await;
        assert_eq!(applied.status, status, "{}", applied.head);
    }
}

#[tokio::test]
async fn a_document_may_be_longer_than_another_body_and_not_without_end() {
    let house = House::open().await;
    let admin = house.admin().await;
    let long: Vec<_> = (0..2_000).map(|n| service(&format!("{}{n}", "s".repeat(90)))).collect();
    let (status, planned) =
        apply(&admin, &json!({"version": 1, "services": long}), &[("dry_run", true)]).await;
    assert_eq!((status, planned["plan"]["changes"].as_array().map(Vec::len)), (200, Some(2_000)));
    let many: Vec<_> = (0..2_001).map(|n| service(&format!("s{n}"))).collect();
    let (status, refused) = apply(&admin, &json!({"version": 1, "services": many}), &[]).await;
    assert_eq!((status, &refused["code"]), (400, &json!("too_many_changes")), "{refused}");
    let endless = format!("{{\"document\":{{\"version\":1,\"x\":\"{}\"}}}}", "x".repeat(32 << 20));
    let refused = admin.send("POST", APPLY, &endless).await;
    assert_eq!((refused.status, refused.code().as_str()), (413, "body_too_large"));
}
