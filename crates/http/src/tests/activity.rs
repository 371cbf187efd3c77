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
    assert_eq!(unstable["items"][0]["canonical_name"], "db");

    let alias = json!({"alias": "db", "canonical_name": "Orders database"});
    assert_eq!(admin.send("POST", "/api/aliases", &alias.to_string()).await.status, 201);
    let named = admin.get("/api/activity/unstable?limit=5").await.json();
    assert_eq!(named["items"][0]["dependency_name"], "db");
    assert_eq!(named["items"][0]["canonical_name"], "Orders database");
}

#[tokio::test]
async fn the_last_moments_are_whole_however_much_changed_in_one_of_them() {
    let house = House::open().await;
    let admin = house.admin().await;
    assert_eq!(
        admin.get("/api/activity/moments").await.json(),
        json!({"items": [], "is_cut": false})
    );
    let (service, _) = house.dependency("Orders", "db").await;
    let now = house.events.db().now().await.unwrap().as_millis();
    // Long before: twelve times something happened to the service.
    for hour in 0..12 {
        let at = now - (20 - hour) * 3_600_000;
        let (before, after) = if hour % 2 == 0 { ("healthy", "down") } else { ("down", "healthy") };
        house
            .execute(&format!(
                "INSERT INTO changes (at, kind, service_no, before, after)
                 SELECT {at}, 'service', number, '{before}', '{after}' FROM services"
            ))
            .await;
    }
    // Within a minute: what goes by 700 names slows, and then fails.
    house
        .execute(
            "INSERT INTO dependencies (id, service_no, slot, name, canonical_name, canonical_key, kind,
               healthy, state, code, skipped, status, status_since, first_seen_at)
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 700)
             SELECT printf('019a8b3c-0000-7000-8000-%012d', i), s.number, i, 'pool ' || i, 'Database',
               'database', 'other', 0, 2, 0, 0, 'down', 0, 0 FROM n, services AS s",
        )
        .await;
    for (at, before, after) in
        [(now - 50_000, "healthy", "degraded"), (now - 20_000, "degraded", "down")]
    {
        house
            .execute(&format!(
                "INSERT INTO changes (at, kind, service_no, dependency_no, before, after)
                 SELECT {at} + slot, 'dependency', service_no, number, '{before}', '{after}'
                 FROM dependencies WHERE name LIKE 'pool %'"
            ))
            .await;
    }
    house
        .execute(&format!(
            "INSERT INTO changes (at, kind, service_no, before, after)
             SELECT {now}, 'service', number, 'healthy', 'degraded' FROM services"
        ))
        .await;
    // Nobody was told of what was written by hand.
    house.dependency("Shop", "Mail").await;
    let told = admin.get("/api/activity/moments").await.json();
    let items = told["items"].as_array().unwrap();
    assert_eq!((items.len(), &told["is_cut"]), (10, &json!(false)));
    let newest = &items[0];
    assert_eq!(newest["path"], json!(["healthy", "degraded", "down"]));
    assert_eq!(newest["nodes"][0]["id"], "external:database");
    assert_eq!((&newest["followers"], &newest["follower_count"]), (&json!(["Orders"]), &json!(1)));
    assert_eq!(items[1]["nodes"][0]["id"], json!(service));
    assert_eq!(items[1]["path"], json!(["down", "healthy"]));
}
