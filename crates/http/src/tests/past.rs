//! The past, by HTTP.

use mainstay_base::Timestamp;
use serde_json::{Value, json};

use super::house::House;

const NOBODY: &str = "019a8b3c-0000-7000-8000-000000000000";
const HOUR: i64 = 3_600_000;

fn moment(millis: i64) -> String {
    Timestamp::from_millis(millis).to_string()
}

#[tokio::test]
async fn how_long_something_worked_is_told_with_what_is_not_known() {
    let house = House::open().await;
    let admin = house.admin().await;
    let (service, dependency) = house.dependency("Orders", "db").await;
    let now = house.events.db().now().await.unwrap().as_millis();
    house
        .execute(&format!(
            "UPDATE services SET created_at = {0}, updated_at = {0}",
            now - 12 * HOUR
        ))
        .await;
    house.execute(&format!("UPDATE dependencies SET first_seen_at = {}", now - 6 * HOUR)).await;
    for (ago, kind, number, before, after) in [
        (12, "service", "NULL", "unknown", "healthy"),
        (3, "service", "NULL", "healthy", "degraded"),
        (3, "dependency", "(SELECT number FROM dependencies)", "healthy", "down"),
    ] {
        house
            .execute(&format!(
                "INSERT INTO changes (at, kind, service_no, dependency_no, before, after)
                 SELECT {}, '{kind}', number, {number}, '{before}', '{after}' FROM services",
                now - ago * HOUR
            ))
            .await;
    }
    let uptime = admin.get(&format!("/api/services/{service}/uptime")).await.json();
    let day = &uptime["windows"][0];
    let rounded = |value: &Value| value.as_f64().map(|share| (share * 100.0).round());
    assert_eq!((&day["window"], rounded(&day["uptime"])), (&json!("24h"), Some(75.0)), "{uptime}");
    assert_eq!(rounded(&day["unknown"]), Some(0.0), "{uptime}");
    assert_eq!(uptime["windows"].as_array().unwrap().len(), 4);
    let uptime = admin.get(&format!("/api/dependencies/{dependency}/uptime")).await.json();
    assert_eq!(rounded(&uptime["windows"][0]["uptime"]), Some(50.0), "{uptime}");
    for (target, status, code) in [
        (format!("/api/services/{NOBODY}/uptime"), 404, "not_found"),
        (format!("/api/dependencies/{NOBODY}/uptime"), 404, "not_found"),
        ("/api/services/1/uptime".to_owned(), 400, "invalid_path"),
    ] {
        let answer = admin.get(&target).await;
        assert_eq!((answer.status, answer.code().as_str()), (status, code), "{target}");
    }
}

#[tokio::test]
async fn a_span_of_the_past_has_a_state_and_what_changed() {
    let house = House::open().await;
    let admin = house.admin().await;
    let (service, _) = house.dependency("Orders", "db").await;
    let now = house.events.db().now().await.unwrap().as_millis();
    house
        .execute(&format!(
            "INSERT INTO changes (at, kind, service_no, before, after)
             SELECT {}, 'service', number, 'unknown', 'down' FROM services",
            now + 1
        ))
        .await;
    while house.events.db().now().await.unwrap().as_millis() <= now + 2 {
        tokio::task::yield_now().await;
    }
    let target = format!("/api/graph/history?from={}&to={}", moment(now), moment(now + 2));
    let answer = admin.get(&target).await;
    assert_eq!(answer.status, 200, "{}", answer.head);
    assert!(answer.header("etag").is_some());
    let page = answer.json();
    assert_eq!(page["state"]["services"][0]["id"], json!(service));
    assert_eq!(page["state"]["services"][0]["status"], "unknown");
    assert_eq!(
        (&page["items"][0]["kind"], &page["items"][0]["after"]),
        (&json!("service"), &json!("down"))
    );
    assert_eq!((page["items"].as_array().unwrap().len(), &page["next_cursor"]), (1, &Value::Null));
    let cursor = format!("{target}&cursor={now}.0");
    let next = admin.get(&cursor).await.json();
    assert_eq!((&next["state"], next["items"].as_array().unwrap().len()), (&Value::Null, 1));
    let early = format!("/api/graph/history?from={}&to={}", moment(5), moment(6));
    let empty = admin.get(&early).await.json();
    assert_eq!(empty["state"], json!({"services": [], "dependencies": []}));
    assert!(empty["records_since"].is_string(), "{empty}");
}

#[tokio::test]
async fn what_is_no_span_is_refused() {
    let house = House::open().await;
    let admin = house.admin().await;
    let now = house.events.db().now().await.unwrap().as_millis();
    let day = 24 * HOUR;
    for (query, says) in [
        (String::new(), "missing field `from`"),
        (format!("from={}", moment(now)), "missing field `to`"),
        (format!("from=yesterday&to={}", moment(now)), "RFC 3339"),
        (format!("from={}&to={}", moment(now), moment(now - 1)), "no span"),
        (format!("from={}&to={}", moment(now - 32 * day), moment(now)), "31 days"),
        (format!("from={}&to={}", moment(now), moment(now + day)), "not come yet"),
        (format!("from={}&to={}", moment(now + day), moment(now + day)), "not come yet"),
        (format!("from={}&to={}&cursor=x", moment(now), moment(now)), "no cursor"),
        (format!("from={}&to={}&at=1", moment(now), moment(now)), "unknown field"),
    ] {
        let answer = admin.get(&format!("/api/graph/history?{query}")).await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "invalid_query"), "{query}");
        let detail = answer.json()["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains(says), "{query}: {detail}");
    }
}
