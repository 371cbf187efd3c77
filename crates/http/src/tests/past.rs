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
    let first: i64 = page["items"][0]["id"].as_str().unwrap().parse().unwrap();
    let cursor = format!("{target}&cursor={}", first - 1);
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
        (format!("from={0}&to={0}&most=0", moment(now)), "a number from 1 to 100000"),
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

#[tokio::test]
async fn the_graph_of_a_moment_names_what_was_broken_because_of_what() {
    let house = House::open().await;
    let admin = house.admin().await;
    let (service, _) = house.dependency("Orders", "db").await;
    let now = house.events.db().now().await.unwrap().as_millis();
    house.execute("DELETE FROM changes").await;
    for (ago, kind, number, after) in [
        (4, "added", "NULL", "Orders"),
        (4, "added", "(SELECT number FROM dependencies)", "down"),
        (4, "service", "NULL", "degraded"),
        (2, "dependency", "(SELECT number FROM dependencies)", "healthy"),
        (2, "service", "NULL", "healthy"),
    ] {
        house
            .execute(&format!(
                "INSERT INTO changes (at, kind, service_no, dependency_no, after)
                 SELECT {}, '{kind}', number, {number}, '{after}' FROM services",
                now - ago * HOUR
            ))
            .await;
    }
    let graph = async |ago: i64| {
        let at = moment(now - ago * HOUR);
        let answer = admin.get(&format!("/api/graph?at={at}")).await;
        assert_eq!(answer.status, 200, "{ago}");
        assert_eq!(answer.json()["at"], json!(at));
        assert_eq!(answer.json()["records_since"], json!(moment(now - 4 * HOUR)));
        answer.json()
    };
    let broken = graph(3).await;
    assert_eq!(broken["nodes"][0]["id"], json!(service));
    assert_eq!(broken["nodes"][0]["root_causes"], json!([0]), "{broken}");
    assert_eq!(broken["root_causes"][0]["nodes"][0]["id"], "external:db");
    assert_eq!(broken["root_causes"][0]["since"], json!(moment(now - 4 * HOUR)));
    let mended = graph(1).await;
    assert_eq!(
        (&mended["nodes"][1]["status"], &mended["root_causes"]),
        (&json!("healthy"), &json!([]))
    );
    assert_eq!(graph(5).await["nodes"], json!([]), "nobody knows what was before");

    let near = format!("/api/graph?service={service}&depth=1&at=");
    let at = moment(now - 3 * HOUR);
    assert_eq!(admin.get(&format!("{near}{at}")).await.json()["nodes"], broken["nodes"]);
    for (target, status, code) in [
        (format!("/api/graph?service={NOBODY}&at={at}"), 404, "not_found"),
        (format!("/api/graph?at={}", moment(now + HOUR)), 400, "invalid_query"),
        ("/api/graph?at=9999-12-31T23:59:59.999Z".to_owned(), 400, "invalid_query"),
        ("/api/graph?at=yesterday".to_owned(), 400, "invalid_query"),
        ("/api/graph?at=".to_owned(), 400, "invalid_query"),
    ] {
        let answer = admin.get(&target).await;
        assert_eq!((answer.status, answer.code().as_str()), (status, code), "{target}");
    }
    let early = format!("{near}{}", moment(now - 5 * HOUR));
    for target in ["/api/graph?at=0001-01-01T00:00:00.000Z", &early] {
        let answer = admin.get(target).await;
        assert_eq!((answer.status, &answer.json()["nodes"]), (200, &json!([])), "{target}");
    }
}
