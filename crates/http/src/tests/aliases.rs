//! Aliases, as editors make them.

use serde_json::{Value, json};

use super::house::House;

const NOBODY: &str = "019a8b3c-0000-7000-8000-000000000000";

#[tokio::test]
async fn an_alias_is_made_changed_and_deleted_and_its_dependencies_follow() {
    let house = House::open().await;
    let admin = house.admin().await;
    let (_, dependency) = house.dependency("Orders", "orders-db").await;
    let send = async |method: &str, target: &str, body: Value| {
        let answer = admin.send(method, target, &body.to_string()).await;
        (answer.status, if answer.body.is_empty() { Value::Null } else { answer.json() })
    };
    let canonical = async || {
        let shown = admin.get(&format!("/api/dependencies/{dependency}")).await.json();
        shown["canonical_name"].as_str().unwrap().to_owned()
    };
    let new = json!({"alias": "orders-db", "canonical_name": " Orders database "});
    let (status, made) = send("POST", "/api/aliases", new.clone()).await;
    assert_eq!((status, &made["canonical_name"]), (201, &json!("Orders database")));
    assert_eq!(canonical().await, "Orders database");
    let (status, refused) = send("POST", "/api/aliases", new).await;
    assert_eq!((status, &refused["code"]), (409, &json!("alias_taken")));
    let target = format!("/api/aliases/{}", made["id"].as_str().unwrap());
    let (status, changed) = send("PATCH", &target, json!({"canonical_name": "Main DB"})).await;
    assert_eq!((status, &changed["alias"]), (200, &json!("orders-db")));
    assert_eq!(canonical().await, "Main DB");
    assert_eq!(send("DELETE", &target, json!({})).await.0, 204);
    assert_eq!(canonical().await, "orders-db");
    for (method, target, body, status, code) in [
        ("PATCH", &*target, json!({}), 404, "not_found"),
        ("DELETE", &format!("/api/aliases/{NOBODY}"), json!({}), 404, "not_found"),
        (
            "POST",
            "/api/aliases",
            json!({"alias": " ", "canonical_name": "a"}),
            400,
            "invalid_alias",
        ),
        (
            "POST",
            "/api/aliases",
            json!({"alias": "a", "canonical_name": ""}),
            400,
            "invalid_canonical_name",
        ),
        ("POST", "/api/aliases", json!({"alias": "a"}), 400, "invalid_body"),
    ] {
        let (got, refused) = send(method, target, body).await;
        assert_eq!((got, &refused["code"]), (status, &json!(code)), "{method} {target}");
    }
}

#[tokio::test]
async fn aliases_are_listed_newest_first() {
    let house = House::open().await;
    let admin = house.admin().await;
    let mut made = Vec::new();
    for name in ["a", "b", "c"] {
        made.push(json!(house.alias(name, "Thing").await));
    }
    made.sort_by(|one, other| other.as_str().cmp(&one.as_str()));
    let first = admin.get("/api/aliases?limit=2").await.json();
    let cursor = first["next_cursor"].as_str().unwrap();
    let second = admin.get(&format!("/api/aliases?limit=2&cursor={cursor}")).await.json();
    assert_eq!(second["next_cursor"], Value::Null);
    let listed = [&first, &second].into_iter().flat_map(|page| page["items"].as_array().unwrap());
    assert_eq!(listed.map(|item| item["id"].clone()).collect::<Vec<_>>(), made);
}
