//! Journeys and their runs, as editors and readers see them.

use mainstay_accounts::Role;
use serde_json::{Value, json};

use super::house::House;
use super::people::Person;

const NOBODY: &str = "019a8b3c-0000-7000-8000-000000000000";
pub(super) const GOOD: &str = "journey: sign in\nevery: 1m\ntouches: [Orders]\nsteps:\n  - id: page\n    get: \"http://127.0.0.1:1/login\"\n    expect: { status: 200 }\n";

async fn send(person: &Person, method: &str, target: &str, body: &Value) -> (u16, Value) {
    let answer = person.send(method, target, &body.to_string()).await;
    (answer.status, if answer.body.is_empty() { Value::Null } else { answer.json() })
}

#[tokio::test]
async fn a_journey_is_made_changed_and_deleted_with_its_lines_in_the_audit_log() {
    let house = House::open().await;
    let admin = house.admin().await;
    let (status, made) = send(&admin, "POST", "/api/journeys", &json!({"source": GOOD})).await;
    assert_eq!(
        (status, &made["name"], &made["every_ms"]),
        (201, &json!("sign in"), &json!(60_000))
    );
    let target = format!("/api/journeys/{}", made["id"].as_str().unwrap());
    let (_, listed) = send(&admin, "GET", "/api/journeys", &json!({})).await;
    assert_eq!(listed["items"][0]["id"], made["id"]);
    assert_eq!(listed["items"][0]["source"], Value::Null, "a list carries no sources");
    let change = json!({"is_enabled": false, "generation": 1});
    let (status, changed) = send(&admin, "PATCH", &target, &change).await;
    assert_eq!(
        (status, &changed["generation"], &changed["next_run_at"]),
        (200, &json!(2), &Value::Null)
    );
    let (status, refused) = send(&admin, "PATCH", &target, &change).await;
    assert_eq!(
        (status, &refused["code"], &refused["generation"]),
        (409, &json!("journey_changed"), &json!(2))
    );
    let (status, _) = send(&admin, "DELETE", &target, &json!({})).await;
    assert_eq!(status, 204);
    assert_eq!(send(&admin, "GET", &target, &json!({})).await.0, 404);
    let audit = admin.get("/api/admin/audit").await.json();
    let actions: Vec<&str> = audit["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| line["action"].as_str().unwrap())
        .collect();
    for action in ["journey.create", "journey.change", "journey.delete"] {
        assert!(actions.contains(&action), "{action} {actions:?}");
    }
}

#[tokio::test]
async fn mistakes_are_told_with_their_places() {
    let house = House::open().await;
    let admin = house.admin().await;
    let bad = GOOD.replace("expect:", "expct:");
    let (status, refused) = send(&admin, "POST", "/api/journeys", &json!({"source": bad})).await;
    assert_eq!((status, &refused["code"]), (400, &json!("invalid_journey")));
    let detail = refused["detail"].as_str().unwrap();
    assert!(detail.starts_with("The journey has 1 mistake; the first is 7:"), "{detail}");
    assert!(detail.ends_with("did you mean expect?"), "{detail}");
    let mistake = &refused["mistakes"][0];
    assert_eq!((&mistake["line"], &mistake["nearest"]), (&json!(7), &json!("expect")));
    let (status, checked) =
        send(&admin, "POST", "/api/journeys/check", &json!({"source": bad})).await;
    assert_eq!(
        (status, &checked["mistakes"][0], &checked["journey"]),
        (200, mistake, &Value::Null)
    );
    let (_, checked) = send(&admin, "POST", "/api/journeys/check", &json!({"source": GOOD})).await;
    assert_eq!(
        (&checked["mistakes"], &checked["journey"]["steps"]),
        (&json!([]), &json!(["page"]))
    );
    for (method, target, body, status, code) in [
        ("POST", "/api/journeys", json!({"source": 7}), 400, "invalid_body"),
        ("POST", "/api/journeys", json!({}), 400, "invalid_body"),
        ("PATCH", &format!("/api/journeys/{NOBODY}"), json!({}), 404, "not_found"),
        ("POST", &format!("/api/journeys/{NOBODY}/run"), json!({}), 404, "not_found"),
        ("GET", &format!("/api/journeys/{NOBODY}/runs"), json!({}), 404, "not_found"),
        ("GET", &format!("/api/runs/{NOBODY}"), json!({}), 404, "not_found"),
        ("POST", &format!("/api/runs/{NOBODY}/cancel"), json!({}), 404, "not_found"),
        ("GET", "/api/runs/nobody", json!({}), 400, "invalid_path"),
    ] {
        let (got, refused) = send(&admin, method, target, &body).await;
        assert_eq!((got, &refused["code"]), (status, &json!(code)), "{method} {target}");
    }
}

#[tokio::test]
async fn a_run_is_asked_for_once_and_readers_only_read() {
    let house = House::open().await;
    let admin = house.admin().await;
    let (_, made) = send(&admin, "POST", "/api/journeys", &json!({"source": GOOD})).await;
    let target = format!("/api/journeys/{}", made["id"].as_str().unwrap());
    let (status, refused) =
        send(&admin, "POST", &format!("{target}/run"), &json!({"var": 1})).await;
    assert_eq!((status, &refused["code"]), (400, &json!("invalid_body")), "{refused}");
    let (status, run) = send(&admin, "POST", &format!("{target}/run"), &json!({})).await;
    assert_eq!(
        (status, &run["status"], &run["trigger"]),
        (202, &json!("queued"), &json!("manual"))
    );
    let (status, refused) = send(&admin, "POST", &format!("{target}/run"), &json!({})).await;
    assert_eq!(
        (status, &refused["code"], &refused["run_id"]),
        (409, &json!("run_in_progress"), &run["id"])
    );
    let viewer = house.user(&admin, "viewer@example.com", Role::Viewer).await;
    let (status, runs) = send(&viewer, "GET", &format!("{target}/runs"), &json!({})).await;
    assert_eq!((status, &runs["items"][0]["id"]), (200, &run["id"]));
    let whole = format!("/api/runs/{}", run["id"].as_str().unwrap());
    let (status, whole) = send(&viewer, "GET", &whole, &json!({})).await;
    assert_eq!(
        (status, &whole["record"], &whole["journey_name"]),
        (200, &Value::Null, &json!("sign in"))
    );
    let (status, _) = send(&viewer, "POST", &format!("{target}/run"), &json!({})).await;
    assert_eq!(status, 403);
}

#[tokio::test]
async fn a_run_is_cancelled_once_by_editors() {
    let house = House::open().await;
    let admin = house.admin().await;
    let (_, made) = send(&admin, "POST", "/api/journeys", &json!({"source": GOOD})).await;
    let begin = format!("/api/journeys/{}/run", made["id"].as_str().unwrap());
    let (_, run) = send(&admin, "POST", &begin, &json!({})).await;
    let target = format!("/api/runs/{}/cancel", run["id"].as_str().unwrap());
    let viewer = house.user(&admin, "viewer@example.com", Role::Viewer).await;
    assert_eq!(send(&viewer, "POST", &target, &json!({})).await.0, 403);
    let (status, ended) = send(&admin, "POST", &target, &json!({})).await;
    assert_eq!(
        (status, &ended["status"], &ended["id"], &ended["message"]),
        (200, &json!("aborted"), &run["id"], &json!("it was cancelled"))
    );
    let (status, refused) = send(&admin, "POST", &target, &json!({})).await;
    assert_eq!((status, &refused["code"]), (409, &json!("run_ended")), "{refused}");
    // The journey is free for the next one.
    assert_eq!(send(&admin, "POST", &begin, &json!({})).await.0, 202);
    let audit = admin.get("/api/admin/audit").await.json();
    let lines = audit["items"].as_array().unwrap();
    let cancelled = lines.iter().filter(|line| line["action"] == "journey.cancel").count();
    assert_eq!(cancelled, 1);
}

#[tokio::test]
async fn what_a_journey_names_and_nobody_knows_is_warned_of() {
    let house = House::open().await;
    let admin = house.admin().await;
    let service = json!({"name": "Orders", "health_endpoint": "http://127.0.0.1:1/health"});
    assert_eq!(send(&admin, "POST", "/api/services", &service).await.0, 201);
    // Its name is not one that only holds what is looked for.
    let other = json!({"name": "Nosuch thing", "health_endpoint": "http://127.0.0.1:1/nosuch"});
    assert_eq!(send(&admin, "POST", "/api/services", &other).await.0, 201);
    let source = GOOD.replace("[Orders]", "[' orders', Nosuch]");
    let source = source.replace("/login", "/{{ secret.NOT_SET }}");
    let ask = json!({"source": source});
    let (_, checked) = send(&admin, "POST", "/api/journeys/check", &ask).await;
    let (status, made) = send(&admin, "POST", "/api/journeys", &ask).await;
    assert_eq!((status, &made["warnings"]), (201, &checked["warnings"]));
    let warnings = made["warnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 2, "{made}");
    assert!(warnings[0].as_str().unwrap().contains("MAINSTAY_SECRET_NOT_SET"), "{made}");
    assert!(warnings[1].as_str().unwrap().starts_with("No service is called Nosuch"), "{made}");
    let target = format!("/api/journeys/{}", made["id"].as_str().unwrap());
    let (_, found) = send(&admin, "GET", &target, &json!({})).await;
    assert_eq!(found["warnings"], made["warnings"]);
}

#[tokio::test]
async fn the_list_is_searched_by_the_server_and_comes_in_pages() {
    let house = House::open().await;
    let admin = house.admin().await;
    for name in ["Pay", "sign in", "pay back"] {
        let source = GOOD.replace("journey: sign in", &format!("journey: {name}"));
        assert_eq!(send(&admin, "POST", "/api/journeys", &json!({"source": source})).await.0, 201);
    }
    let names = |list: &Value| -> Vec<String> {
        let items = list["items"].as_array().unwrap().iter();
        items.map(|one| one["name"].as_str().unwrap().to_owned()).collect()
    };
    let (_, found) = send(&admin, "GET", "/api/journeys?q=PAY&limit=1", &json!({})).await;
    assert_eq!(names(&found), ["pay back"]);
    let cursor = found["next_cursor"].as_str().unwrap();
    let target = format!("/api/journeys?q=PAY&limit=1&cursor={cursor}");
    let (_, found) = send(&admin, "GET", &target, &json!({})).await;
    assert_eq!((names(&found), &found["next_cursor"]), (vec!["Pay".to_owned()], &Value::Null));
    let (status, refused) = send(&admin, "GET", "/api/journeys?cursor=x", &json!({})).await;
    assert_eq!((status, &refused["code"]), (400, &json!("invalid_query")));
}

/// As long as a file may be, with the escapes of JSON around it.
#[tokio::test]
async fn a_file_of_the_greatest_length_can_be_sent() {
    let house = House::open().await;
    let admin = house.admin().await;
    let room = mainstay_journeys::bounds::MAX_FILE_BYTES - GOOD.len();
    let source = format!("{GOOD}{}", "#\n".repeat(room / 2));
    let (status, made) = send(&admin, "POST", "/api/journeys", &json!({"source": source})).await;
    assert_eq!(status, 201, "{made}");
}
