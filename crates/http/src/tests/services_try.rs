//! A mapping tried out.

use serde_json::{Value, json};

use super::house::House;

async fn tried(body: Value) -> (u16, Value) {
    let house = House::open().await;
    let admin = house.admin().await;
    let answer = admin.send("POST", "/api/services/test-schema", &body.to_string()).await;
    let listed = admin.get("/api/services").await.json();
    assert_eq!(listed["items"], json!([]), "nothing is stored");
    (answer.status, answer.json())
}

#[tokio::test]
async fn a_sample_is_read_as_it_would_be_recorded() {
    let sample = r#"{"components": {"db": {"status": "UP"}, "mail": {"status": "DOWN"}, "x": {}}}"#;
    let (status, answer) = tried(json!({
        "body": sample, "format": "schema",
        "schema_config": {"root": "components", "fields": {"name": "$key", "healthy": "status"}},
    }))
    .await;
    assert_eq!((status, &answer["success"]), (200, &json!(true)), "{answer}");
    let read: Vec<_> = answer["dependencies"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["name"].as_str().unwrap(), one["status"].as_str().unwrap()))
        .collect();
    assert_eq!(read, [("db", "healthy"), ("mail", "down")]);
    assert_eq!(answer["warnings"].as_array().unwrap().len(), 1, "{answer}");
    assert_eq!(answer.get("error"), None);
}

#[tokio::test]
async fn an_address_is_asked_and_its_failure_is_part_of_the_answer() {
    let (status, answer) = tried(json!({"url": "http://up.example/health"})).await;
    assert_eq!((status, &answer["dependencies"][0]["latency_ms"]), (200, &json!(3.0)), "{answer}");
    for (url, kind) in
        [("http://blocked.example", "blocked_address"), ("http://down.example", "dns")]
    {
        let (status, answer) = tried(json!({"url": url})).await;
        assert_eq!((status, &answer["success"]), (200, &json!(false)));
        assert_eq!(answer["error"]["kind"], kind);
    }
    let (status, answer) = tried(json!({"body": "{}"})).await;
    assert_eq!((status, &answer["error"]["kind"]), (200, &json!("bad_body")), "{answer}");
}

#[tokio::test]
async fn what_can_not_be_tried_is_refused() {
    for (body, code) in [
        (json!({}), "invalid_body"),
        (json!({"url": "http://a.example", "body": "[]"}), "invalid_body"),
        (json!({"body": "[]", "format": "xml"}), "invalid_format"),
        (json!({"body": "[]", "format": "schema"}), "invalid_schema_config"),
        (json!({"body": "[]", "schema_config": {}}), "invalid_schema_config"),
        (json!({"body": []}), "invalid_body"),
        (json!({"url": "file:///etc/passwd"}), "invalid_health_endpoint"),
        (json!({"url": "http://a:b@c.example/"}), "invalid_health_endpoint"),
    ] {
        let (status, refused) = tried(body.clone()).await;
        assert_eq!((status, &refused["code"]), (400, &json!(code)), "{body}");
    }
}
