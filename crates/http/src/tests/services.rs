//! Services, as editors define them.

use mainstay_monitor::engine::PollNowError;
use mainstay_monitor::roster::NotNow;
use serde_json::{Value, json};

use super::house::House;
use super::people::Person;

const ENDPOINT: &str = "https://orders.example.org/health";
const NOBODY: &str = "019a8b3c-0000-7000-8000-000000000000";

async fn send(person: &Person, method: &str, target: &str, body: &Value) -> (u16, Value) {
    let answer = person.send(method, target, &body.to_string()).await;
    let json = if answer.body.is_empty() { Value::Null } else { answer.json() };
    (answer.status, json)
}

/// Times and ids, which differ with each run.
fn settled(mut value: Value) -> Value {
    fn settle(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                for (name, inner) in fields {
                    let is_time = name.ends_with("_at") || name.ends_with("_since") || name == "at";
                    if inner.is_string() && (is_time || name == "id" || name.ends_with("_id")) {
                        *inner = json!(format!("[{name}]"));
                    }
                    settle(inner);
                }
            }
            Value::Array(items) => items.iter_mut().for_each(settle),
            _ => {}
        }
    }
    settle(&mut value);
    value
}

#[tokio::test]
async fn a_service_is_added_shown_changed_and_removed() {
    let house = House::open().await;
    let admin = house.admin().await;
    let new = json!({
        "name": " Orders ", "health_endpoint": format!("{ENDPOINT}#part"), "team": "Shop",
        "format": "schema", "timeout_ms": 500, "poll_interval_ms": 5000,
        "schema_config": {"root": "checks", "fields": {"name": "id", "healthy": "ok"}},
        "headers": {"X-Key": "hunter2", "Authorization": "Bearer hunter2"},
    });
    let (status, made) = send(&admin, "POST", "/api/services", &new).await;
    assert_eq!(status, 201, "{made}");
    assert!(!made.to_string().contains("hunter2"));
    insta::assert_json_snapshot!("service", settled(made.clone()));
    let target = format!("/api/services/{}", made["id"].as_str().unwrap());
    let change = json!({
        "name": "Sales", "team": null, "format": "status", "is_active": false,
        "headers": {"x-key": null},
    });
    let (status, changed) = send(&admin, "PATCH", &target, &change).await;
    assert_eq!(status, 200, "{changed}");
    for (field, value) in [
        ("name", json!("Sales")),
        ("team", Value::Null),
        ("format", json!("status")),
        ("schema_config", Value::Null),
        ("header_names", json!(["Authorization"])),
        ("is_active", json!(false)),
        ("status", json!("unknown")),
    ] {
        assert_eq!(changed[field], value, "{field}");
    }
    let (_, cleared) = send(&admin, "PATCH", &target, &json!({"headers": null})).await;
    assert_eq!(cleared["header_names"], json!([]));
    for field in
        ["name", "health_endpoint", "format", "poll_interval_ms", "timeout_ms", "is_active"]
    {
        let (status, refused) = send(&admin, "PATCH", &target, &json!({field: null})).await;
        assert_eq!(status, 400, "{field} can't be taken away: {refused}");
    }
    assert_eq!(send(&admin, "DELETE", &target, &json!({})).await.0, 204);
    assert_eq!(admin.get(&target).await.code(), "not_found");
    for method in ["PATCH", "DELETE"] {
        assert_eq!(send(&admin, method, &target, &json!({})).await.0, 404, "{method}");
    }
}

#[tokio::test]
async fn a_service_is_shown_with_what_it_leans_on_and_why_it_is_polled() {
    let house = House::open().await;
    let admin = house.admin().await;
    let (id, _) = house.dependency("Orders", "orders-db").await;
    let shown = admin.get(&format!("/api/services/{id}")).await;
    assert_eq!(shown.status, 200);
    insta::assert_json_snapshot!("service_with_dependencies", settled(shown.json()));
}

#[tokio::test]
async fn a_service_is_seen_from_here_first() {
    let house = House::open().await;
    let admin = house.admin().await;
    let (id, _) = house.dependency("Orders", "orders-db").await;
    let shown = admin.get(&format!("/api/services/{id}/locations")).await;
    assert_eq!(shown.status, 200);
    let items = shown.json()["items"].clone();
    assert_eq!(items.as_array().unwrap().len(), 1, "{items}");
    let here = &items[0];
    assert_eq!((&here["worker_id"], &here["worker"]), (&Value::Null, &json!("this server")));
    let service = admin.get(&format!("/api/services/{id}")).await.json();
    assert_eq!((&here["status"], &here["since"]), (&service["status"], &service["status_since"]));
    assert_eq!(here["checked_at"], service["last_poll"]["at"]);
    for wrong in ["01a1e102-8087-7707-8707-070707070707", "7"] {
        let refused = admin.get(&format!("/api/services/{wrong}/locations")).await;
        assert_eq!(refused.status, if wrong == "7" { 400 } else { 404 });
    }
}

#[tokio::test]
async fn each_field_that_does_not_hold_has_its_own_code() {
    let house = House::open().await;
    let admin = house.admin().await;
    let id = house.service("Taken").await;
    let target = format!("/api/services/{id}");
    for (field, value, code, says) in [
        ("name", json!(""), "invalid_name", "empty"),
        ("team", json!("a\nb"), "invalid_team", "one line"),
        ("health_endpoint", json!("ftp://a.example"), "invalid_health_endpoint", "https"),
        (
            "health_endpoint",
            json!("http://a:hunter2@b.example/"),
            "invalid_health_endpoint",
            "headers",
        ),
        ("format", json!("xml"), "invalid_format", "proactive-deps"),
        ("format", json!("schema"), "invalid_schema_config", "needs schema_config"),
        ("schema_config", json!({"a": 1}), "invalid_schema_config", "schema_config"),
        ("poll_interval_ms", json!(4999), "invalid_poll_interval_ms", "from 5000 to 3600000"),
        ("timeout_ms", json!(30_001), "invalid_timeout_ms", "from 100 to 30000"),
        ("headers", json!({"Host": "hunter2"}), "invalid_headers", "Host"),
        ("headers", json!("Bearer hunter2"), "invalid_body", "expected headers"),
        ("headers", json!(["hunter2"]), "invalid_body", "expected headers"),
        ("headers", json!({"X-Key": ["hunter2"]}), "invalid_body", "expected a text"),
    ] {
        let mut new = json!({"name": "Orders", "health_endpoint": ENDPOINT});
        new[field] = value.clone();
        for (method, target, body) in
            [("POST", "/api/services", &new), ("PATCH", &target, &json!({field: value}))]
        {
            let (status, refused) = send(&admin, method, target, body).await;
            assert_eq!((status, &refused["code"]), (400, &json!(code)), "{method} {refused}");
            assert!(refused["detail"].as_str().unwrap().contains(says), "{refused}");
            assert!(!refused.to_string().contains("hunter2"), "{refused}");
            assert!(refused["field"].is_string(), "{refused}");
        }
    }
}

#[tokio::test]
async fn what_is_taken_blocked_or_of_another_shape_is_refused() {
    let house = House::open().await;
    let admin = house.admin().await;
    house.service("Taken").await;
    let other = house.service("Other").await;
    let new = |name: &str, endpoint: &str| json!({"name": name, "health_endpoint": endpoint});
    let target = format!("/api/services/{other}");
    let nobody = format!("/api/services/{NOBODY}");
    for (method, target, body, status, code) in [
        ("POST", "/api/services", new("tAKEN", ENDPOINT), 409, "name_taken"),
        ("PATCH", &*target, json!({"name": "taken "}), 409, "name_taken"),
        ("POST", "/api/services", new("A", "http://blocked.example"), 422, "blocked_address"),
        (
            "PATCH",
            &target,
            json!({"health_endpoint": "http://blocked.example"}),
            422,
            "blocked_address",
        ),
        ("POST", "/api/services", json!({"name": "A"}), 400, "invalid_body"),
        (
            "POST",
            "/api/services",
            json!({"name": "A", "health_endpoint": ENDPOINT, "x": 1}),
            400,
            "invalid_body",
        ),
        ("PATCH", &target, json!({"poll_interval_ms": 1.5}), 400, "invalid_body"),
        ("PATCH", "/api/services/1", json!({}), 400, "invalid_path"),
        ("PATCH", &nobody, json!({}), 404, "not_found"),
        ("POST", &format!("{nobody}/poll"), json!({}), 404, "not_found"),
    ] {
        let (got, refused) = send(&admin, method, target, &body).await;
        assert_eq!((got, &refused["code"]), (status, &json!(code)), "{method} {target} {refused}");
    }
    // Whoever does not answer now may later.
    let (status, _) = send(&admin, "POST", "/api/services", &new("A", "http://down.example")).await;
    assert_eq!(status, 201);
}

#[tokio::test]
async fn a_poll_at_once_is_answered_or_refused_with_its_reason() {
    let house = House::open().await;
    let admin = house.admin().await;
    let target = format!("/api/services/{}/poll", house.service("Orders").await);
    let (status, answer) = send(&admin, "POST", &target, &json!({})).await;
    let expected = json!({
        "success": true, "dependencies_updated": 1, "status_changes": [], "latency_ms": 1.5,
    });
    assert_eq!((status, answer), (200, expected));
    let busy = NotNow::Busy("the host is busy".to_owned());
    for (not_now, status, code, retry) in [
        (PollNowError::NotNow(NotNow::NotWatched), 409, "not_polled", None),
        (PollNowError::Nobody, 503, "not_polled_now", Some("5")),
        (PollNowError::NotAsked, 503, "not_polled_now", Some("5")),
        (PollNowError::NotNow(NotNow::InProgress), 409, "poll_in_progress", None),
        (PollNowError::NotNow(busy), 429, "host_busy", Some("5")),
        (PollNowError::Stale, 409, "service_changed", None),
        (PollNowError::NotRecorded, 503, "poll_not_recorded", Some("5")),
        (PollNowError::Stopping, 503, "poll_not_recorded", Some("5")),
    ] {
        *house.engine.not_now.lock().unwrap() = Some(not_now);
        let answer = admin.send("POST", &target, "{}").await;
        assert_eq!((answer.status, answer.code().as_str()), (status, code));
        assert_eq!(answer.header("retry-after"), retry);
    }
}

#[tokio::test]
async fn poll_history_comes_page_by_page() {
    let house = House::open().await;
    let admin = house.admin().await;
    let id = house.service("Orders").await;
    house
        .execute(
            "INSERT INTO poll_history (service_no, at, error_kind, error_message)
             SELECT number, 1, 'dns', 'no such host' FROM services
             UNION ALL SELECT number, 2, NULL, NULL FROM services",
        )
        .await;
    let target = format!("/api/services/{id}/poll-history?limit=1");
    let first = admin.get(&target).await.json();
    let newest = json!([{"at": "1970-01-01T00:00:00.002Z", "success": true, "error": null}]);
    assert_eq!(first["items"], newest);
    let cursor = first["next_cursor"].as_str().unwrap();
    let second = admin.get(&format!("{target}&cursor={cursor}")).await.json();
    assert_eq!(second["items"][0]["error"], json!({"kind": "dns", "message": "no such host"}));
    assert_eq!(second["next_cursor"], Value::Null);
    let missing = admin.get(&format!("/api/services/{NOBODY}/poll-history")).await;
    assert_eq!(missing.code(), "not_found");
    assert_eq!(admin.get(&format!("{target}&cursor=x")).await.code(), "invalid_query");
}
