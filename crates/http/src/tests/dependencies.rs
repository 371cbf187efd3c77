//! Dependencies: how one is, how it was, and which service it is.

use std::time::Duration;

use mainstay_monitor::ServiceNumber;
use mainstay_monitor::latency::{self, PointsRow};
use mainstay_store::Sql;
use serde_json::{Value, json};

use super::house::House;

const NOBODY: &str = "019a8b3c-0000-7000-8000-000000000000";

impl House {
    async fn number_of_first(&self) -> ServiceNumber {
        let sql = Sql::same("test.number", "SELECT min(number) AS n FROM services");
        ServiceNumber(self.events.db().fetch_one(&sql, &[]).await.unwrap().get("n").unwrap())
    }
}

#[tokio::test]
async fn a_dependency_is_linked_to_another_service_and_unlinked() {
    let house = House::open().await;
    let admin = house.admin().await;
    let (shop, dependency) = house.dependency("Shop", "orders").await;
    let orders = house.service("Orders").await;
    let target = format!("/api/dependencies/{dependency}/link");
    let link = async |target: &str, service: &str| {
        let body = json!({"service_id": service}).to_string();
        let answer = admin.send("POST", target, &body).await;
        (answer.status, answer.json())
    };
    let (status, linked) = link(&target, &orders.to_string()).await;
    assert_eq!((status, &linked["linked_service_id"]), (200, &json!(orders)));
    let nobody = format!("/api/dependencies/{NOBODY}/link");
    for (target, service, status, code) in [
        (&target, shop.to_string(), 409, "self_link"),
        (&target, NOBODY.to_owned(), 404, "not_found"),
        (&nobody, orders.to_string(), 404, "not_found"),
        (&target, "1".to_owned(), 400, "invalid_body"),
    ] {
        let (got, refused) = link(target, &service).await;
        assert_eq!((got, &refused["code"]), (status, &json!(code)), "{refused}");
    }
    assert_eq!(admin.send("DELETE", &target, "").await.status, 204);
    let shown = admin.get(&format!("/api/dependencies/{dependency}")).await.json();
    assert_eq!(shown["linked_service_id"], Value::Null);
    assert_eq!(shown["service_id"], json!(shop));
}

#[tokio::test]
async fn latencies_errors_and_the_timeline_of_a_dependency_are_shown() {
    let house = House::open().await;
    let admin = house.admin().await;
    let (_, id) = house.dependency("Orders", "db").await;
    let at = house.events.db().now().await.unwrap();
    let row = PointsRow {
        service_no: house.number_of_first().await,
        at,
        points: latency::pack(&[(0, Duration::from_micros(2_500))]),
    };
    let written = house.events.db().write(async |tx| latency::insert(tx, &[row]).await).await;
    written.unwrap();
    house
        .execute(&format!(
            "INSERT INTO dependency_errors (dependency_no, at, error, error_message)
             SELECT number, {0}, '{{\"code\":7}}', 'refused' FROM dependencies",
            at.as_millis()
        ))
        .await;
    for (ago, status) in [(7_200_000, "healthy"), (60_000, "down")] {
        house
            .execute(&format!(
                "INSERT INTO changes (at, kind, service_no, dependency_no, after)
                 SELECT {}, 'dependency', service_no, number, '{status}' FROM dependencies",
                at.as_millis() - ago
            ))
            .await;
    }
    let get = async |part: &str| {
        let answer = admin.get(&format!("/api/dependencies/{id}{part}")).await;
        assert_eq!(answer.status, 200, "{part}: {}", answer.head);
        answer.json()
    };
    assert_eq!(get("").await["latency_ms"], 2.5);
    let chart = get("/latency?range=1h").await;
    assert_eq!((&chart["range"], chart["buckets"].as_array().unwrap().len()), (&json!("1h"), 1));
    for (field, value) in [("count", json!(1)), ("min_ms", json!(2.5)), ("max_ms", json!(2.5))] {
        assert_eq!(chart["buckets"][0][field], value, "{chart}");
    }
    assert_eq!(get("/latency").await["range"], "24h");
    let errors = get("/errors").await;
    assert_eq!(errors["items"][0]["error"], json!({"code": 7}));
    assert_eq!(errors["next_cursor"], Value::Null);
    let hour = get("/timeline?range=1h").await;
    assert_eq!(hour["initial"], "healthy");
    assert_eq!(hour["transitions"].as_array().unwrap().len(), 1);
    assert_eq!(hour["transitions"][0]["status"], "down");
    assert_eq!(get("/timeline?range=6h").await["initial"], "unknown");
    for (target, status, code) in [
        (format!("{id}/timeline?range=2h"), 400, "invalid_query"),
        (format!("{id}/latency?range="), 400, "invalid_query"),
        (NOBODY.to_owned(), 404, "not_found"),
        (format!("{NOBODY}/latency"), 404, "not_found"),
        (format!("{NOBODY}/errors"), 404, "not_found"),
        (format!("{NOBODY}/timeline"), 404, "not_found"),
        ("1".to_owned(), 400, "invalid_path"),
    ] {
        let answer = admin.get(&format!("/api/dependencies/{target}")).await;
        assert_eq!((answer.status, answer.code().as_str()), (status, code), "{target}");
    }
}
