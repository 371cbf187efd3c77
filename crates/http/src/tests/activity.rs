//! What changed lately.

use serde_json::{Value, json};

use super::house::House;

#[tokio::test]
async fn activity_comes_newest_first_page_by_page_and_after_a_change() {
    let house = House::open().await;
    let admin = house.admin().await;
    let (service, dependency) = house.dependency("Orders", "db").await;
    let at = house.events.db().now().await.unwrap().as_millis();
    for (before, after) in [("healthy", "down"), ("down", "healthy"), ("healthy", "degraded")] {
        house
            .execute(&format!(
                "INSERT INTO changes (at, kind, service_no, dependency_no, before, after)
                 SELECT {at}, 'dependency', service_no, number, '{before}', '{after}' FROM dependencies"
            ))
            .await;
    }
    let whole = admin.get("/api/activity").await.json();
    let items = whole["items"].as_array().unwrap();
    assert_eq!((items.len(), &whole["next_cursor"]), (3, &Value::Null));
    let newest = &items[0];
    for (field, value) in [
        ("service_id", json!(service)),
        ("service_name", json!("Orders")),
        ("dependency_id", json!(dependency)),
        ("dependency_name", json!("db")),
        ("canonical_name", json!("db")),
        ("previous", json!("healthy")),
        ("current", json!("degraded")),
    ] {
        assert_eq!(newest[field], value, "{field}");
    }
    let first = admin.get("/api/activity?limit=2").await.json();
    let cursor = first["next_cursor"].as_str().unwrap();
    let second = admin.get(&format!("/api/activity?limit=2&cursor={cursor}")).await.json();
    assert_eq!(second["items"], json!([items[2]]));
    let after = items[1]["id"].as_str().unwrap();
    let newer = admin.get(&format!("/api/activity?after={after}")).await.json();
    assert_eq!(newer["items"], json!([newest]));
    assert_eq!(admin.get("/api/activity?after=x").await.code(), "invalid_query");
    for (query, count) in [
        ("q=ORD&status=degraded".to_owned(), 1),
        ("q=nobody".to_owned(), 0),
        (format!("service={service}&of=dependency"), 3),
        ("of=service".to_owned(), 0),
        ("q=%20".to_owned(), 3),
    ] {
        let found = admin.get(&format!("/api/activity?{query}")).await.json();
        assert_eq!(found["items"].as_array().unwrap().len(), count, "{query}");
    }
    for query in ["status=well", "of=all", "service=1"] {
        assert_eq!(admin.get(&format!("/api/activity?{query}")).await.code(), "invalid_query");
    }

    // The longest text is looked for, and one that is longer is not cut.
    for (length, status) in [(200, 200), (201, 400)] {
        let answer = admin.get(&format!("/api/activity?q={}", "ä".repeat(length))).await;
        assert_eq!(answer.status, status, "{length}");
    }

    let unstable = admin.get("/api/activity/unstable?limit=5").await.json();
    assert_eq!(unstable["items"].as_array().unwrap().len(), 1);
    assert_eq!(unstable["items"][0]["transitions"], 3);
    assert_eq!(unstable["items"][0]["dependency_name"], "db");
}
