//! Everything at a glance, by HTTP.

use std::io::Read as _;

use serde_json::{Value, json};

use super::house::House;
use super::people::Person;
use super::raw::{Answer, request};

async fn get(house: &House, person: &Person, target: &str, headers: &str) -> Answer {
    request(house.address, "GET", target, &format!("{}{headers}", person.cookie()), "").await
}

#[tokio::test]
async fn a_board_is_packed_and_not_sent_again_to_who_has_it() {
    let house = House::open().await;
    let admin = house.admin().await;
    let (orders, _) = house.dependency("Orders", "db").await;
    let mut ids = vec![orders.to_string()];
    for name in ["a", "b", "c", "d", "e"] {
        ids.push(house.dependency(name, &format!("db of {name}")).await.0.to_string());
    }
    let strips = format!("/api/board/strips?ids={}", ids.join(","));
    for target in ["/api/now", "/api/board", "/api/wallboard", &strips] {
        let plain = get(&house, &admin, target, "").await;
        assert_eq!((plain.status, plain.header("content-encoding")), (200, None), "{target}");
        assert_eq!(plain.header("cache-control"), Some("private, no-cache"));
        let packed = get(&house, &admin, target, "Accept-Encoding: gzip, br\r\n").await;
        assert_eq!((packed.status, packed.header("content-encoding")), (200, Some("gzip")));
        let mut unpacked = Vec::new();
        flate2::read::GzDecoder::new(&*packed.body).read_to_end(&mut unpacked).unwrap();
        assert_eq!(unpacked, plain.body, "{target}");
        let (tag, packed_tag) = (plain.header("etag").unwrap(), packed.header("etag").unwrap());
        assert_ne!(tag, packed_tag, "other bytes have another tag");
        for (tag, accepts, status) in [
            (tag, "", 304),
            (packed_tag, "Accept-Encoding: gzip\r\n", 304),
            (tag, "Accept-Encoding: gzip\r\n", 200),
            ("\"other\"", "", 200),
            ("*", "", 304),
        ] {
            let headers = format!("If-None-Match: {tag}\r\n{accepts}");
            let answer = get(&house, &admin, target, &headers).await;
            assert_eq!(answer.status, status, "{target} {headers}");
            assert_eq!(answer.body.is_empty(), status == 304, "{target}");
            assert!(answer.header("etag").is_some(), "{target}");
        }
        let before = format!("If-None-Match: {tag}\r\n");
        match target {
            "/api/now" => drop(house.dependency("Market", "db").await),
            "/api/board" => drop(house.dependency("Shop", "db").await),
            "/api/wallboard" => drop(house.dependency("Store", "db").await),
            _ => {
                let now = house.events.db().now().await.unwrap().as_millis();
                let turned = format!(
                    "INSERT INTO changes (at, kind, service_no, before, after)
                     SELECT {now}, 'service', number, 'healthy', 'down' FROM services"
                );
                house.execute(&turned).await;
            }
        }
        let changed = get(&house, &admin, target, &before).await;
        assert_eq!(changed.status, 200, "{target}");
    }
}

#[tokio::test]
async fn the_board_the_wall_and_the_strips_show_what_is_watched() {
    let house = House::open().await;
    let admin = house.admin().await;
    let (id, _) = house.dependency("Orders", "db").await;
    let board = admin.get("/api/board").await.json();
    assert_eq!(
        (&board["items"][0]["id"], &board["items"][0]["name"]),
        (&json!(id), &json!("Orders"))
    );
    let wall = admin.get("/api/wallboard").await.json();
    assert_eq!((&wall["total"], &wall["items"][0]["canonical_name"]), (&json!(1), &json!("db")));
    assert_eq!(wall["items"][0]["reported_by"][0]["service_id"], json!(id));
    let strips = admin.get(&format!("/api/board/strips?ids={id},{id}")).await.json();
    let items = strips["items"].as_array().unwrap();
    assert_eq!(
        (items.len(), &items[0]["id"], &strips["cell_ms"]),
        (1, &json!(id), &json!(1_440_000))
    );
    assert_eq!(items[0]["cells"].as_array().unwrap().len(), 60);
    assert_eq!(items[0]["p95_ms"], Value::Array(vec![Value::Null; 24]));
}

#[tokio::test]
async fn strips_of_no_services_or_of_too_many_are_refused() {
    let house = House::open().await;
    let admin = house.admin().await;
    let id = |n: usize| format!("019a8b3c-0000-7000-8000-{n:012}");
    let many = |count: usize| (0..count).map(id).collect::<Vec<_>>().join(",");
    let hundred = format!("?ids={}", many(100));
    assert_eq!(admin.get(&format!("/api/board/strips{hundred}")).await.status, 200);
    for (query, says) in [
        (String::new(), "missing field `ids`"),
        ("?ids=".to_owned(), "not an id"),
        ("?ids=1".to_owned(), "not an id"),
        (format!("?ids={},", id(1)), "not an id"),
        (format!("?ids={}", many(101)), "more than 100 services"),
        (format!("?ids={}&cells=9", id(1)), "unknown field"),
    ] {
        let answer = admin.get(&format!("/api/board/strips{query}")).await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "invalid_query"), "{query}");
        let detail = answer.json()["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains(says), "{query}: {detail}");
    }
}
