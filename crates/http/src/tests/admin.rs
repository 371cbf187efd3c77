//! What admins do: users, invites, requests for access, the audit log.

use mainstay_accounts::Role;
use serde_json::{Value, json};

use super::house::{House, Plan};
use super::people::{PASSWORD, Person, ROOT};
use super::raw::post_json;
use crate::{CookieName, Site};

const NOBODY: &str = "019a8b3c-0000-7000-8000-000000000000";

async fn invite(admin: &Person, body: &Value) -> super::raw::Answer {
    admin.send("POST", "/api/admin/invites", &body.to_string()).await
}

#[tokio::test]
async fn users_are_listed_and_changed() {
    let house = House::open().await;
    let admin = house.admin().await;
    let user = house.user(&admin, "ada@example.com", Role::Viewer).await;
    let list = admin.get("/api/admin/users").await.json();
    let emails: Vec<_> =
        list["items"].as_array().unwrap().iter().map(|item| item["email"].clone()).collect();
    assert_eq!(emails.len(), 2);
    assert!(emails.contains(&json!(ROOT)) && emails.contains(&json!("ada@example.com")));
    let first = admin.get("/api/admin/users?limit=1").await.json();
    assert!(first["next_cursor"].is_string());

    let target = format!("/api/admin/users/{}", user.id());
    let changed = admin.send("PATCH", &target, r#"{"role":"editor"}"#).await.json();
    assert_eq!((&changed["role"], &changed["status"]), (&json!("editor"), &json!("active")));
    assert_eq!(user.get("/api/auth/me").await.json()["user"]["role"], "editor");
    let changed = admin.send("PATCH", &target, r#"{"status":"disabled"}"#).await.json();
    assert_eq!((&changed["role"], &changed["status"]), (&json!("editor"), &json!("disabled")));
    assert_eq!(user.get("/api/auth/me").await.status, 401);

    let own = format!("/api/admin/users/{}", admin.id());
    for body in [r#"{"role":"viewer"}"#, r#"{"status":"disabled"}"#] {
        let answer = admin.send("PATCH", &own, body).await;
        assert_eq!((answer.status, answer.code().as_str()), (409, "last_admin"), "{body}");
    }
    for (target, body, status, code) in [
        (format!("/api/admin/users/{NOBODY}"), "{}", 404, "not_found"),
        ("/api/admin/users/1".to_owned(), "{}", 400, "invalid_path"),
        (target.clone(), r#"{"role":"root"}"#, 400, "invalid_body"),
        (target.clone(), r#"{"email":"x@example.com"}"#, 400, "invalid_body"),
        (target.clone(), r#"{"status":1}"#, 400, "invalid_body"),
        (target, "", 400, "malformed_json"),
    ] {
        let answer = admin.send("PATCH", &target, body).await;
        assert_eq!((answer.status, answer.code().as_str()), (status, code), "{target} {body}");
    }
}

#[tokio::test]
async fn an_invites_link_leads_to_the_site() {
    let public = Some("https://mainstay.example".to_owned());
    for (alone, https, origin) in [(true, false, None), (false, true, public)] {
        let site = Site {
            alone,
            https,
            origin,
            metrics_public: false,
            cookie: CookieName::default(),
            is_demo: false,
        };
        let house = House::build(Plan { site, ..Plan::default() }).await;
        let admin = house.admin().await;
        let made = invite(&admin, &json!({"email": "Ada@example.com"})).await;
        assert_eq!(made.status, 201);
        let made = made.json();
        let start = format!("{}/invite#", house.origin);
        let token = made["link"].as_str().unwrap().strip_prefix(&start).unwrap().to_owned();
        assert_eq!((token.len(), &made["mailed"]), (43, &json!(false)));
        let item = &made["item"];
        assert_eq!((&item["email"], &item["role"]), (&json!("ada@example.com"), &json!("viewer")));
        assert_eq!((&item["status"], &item["created_by"]), (&json!("pending"), &json!(ROOT)));
        let listed = admin.get("/api/admin/invites").await;
        assert!(!String::from_utf8(listed.body.clone()).unwrap().contains(&token));
        assert_eq!(listed.json()["items"], json!([item]));
    }
}

#[tokio::test]
async fn invites_that_can_not_be_made_or_taken_back() {
    let house = House::open().await;
    let admin = house.admin().await;
    for (body, status, code) in [
        (json!({"email": ROOT}), 409, "user_exists"),
        (json!({"email": "ROOT@EXAMPLE.COM"}), 409, "user_exists"),
        (json!({"email": "x@example.com", "access_request_id": NOBODY}), 404, "not_found"),
        (json!({"email": "x@example.com", "access_request_id": "1"}), 400, "invalid_body"),
        (json!({"email": "x@example.com\r\nBcc: y@example.com"}), 400, "invalid_email"),
        (json!({"email": "x@example.com\u{0}"}), 400, "invalid_email"),
        (json!({"email": "root@exаmple.com"}), 400, "invalid_email"),
        (json!({"email": "x".repeat(300)}), 400, "invalid_email"),
        (json!({"email": ""}), 400, "invalid_email"),
        (json!({"email": 1}), 400, "invalid_body"),
        (json!({"email": "x@example.com", "role": "root"}), 400, "invalid_body"),
        (json!({"email": "x@example.com", "link": "x"}), 400, "invalid_body"),
        (json!({}), 400, "invalid_body"),
    ] {
        let answer = invite(&admin, &body).await;
        assert_eq!((answer.status, answer.code().as_str()), (status, code), "{body}");
    }
    let made = invite(&admin, &json!({"email": "x@example.com", "role": "admin"})).await.json();
    let target = format!("/api/admin/invites/{}", made["item"]["id"].as_str().unwrap());
    assert_eq!(admin.send("DELETE", &target, "").await.status, 204);
    let again = admin.send("DELETE", &target, "").await;
    assert_eq!((again.status, again.code().as_str()), (409, "invite_not_pending"));
    let unknown = admin.send("DELETE", &format!("/api/admin/invites/{NOBODY}"), "").await;
    assert_eq!(unknown.status, 404);
    let listed = admin.get("/api/admin/invites").await.json();
    assert_eq!(listed["items"][0]["status"], "revoked");
}

#[tokio::test]
async fn an_admin_invites_thirty_a_minute() {
    let house = House::open().await;
    let admin = house.admin().await;
    let second = house.user(&admin, "second@example.com", Role::Admin).await;
    for number in 0..30 {
        // A refusal of the route itself counts too.
        let answer = invite(&admin, &json!({"email": ROOT})).await;
        assert_eq!(answer.status, 409);
        assert_eq!(answer.header("ratelimit-limit"), Some("30"));
        let left = (29 - number).to_string();
        assert_eq!(answer.header("ratelimit-remaining"), Some(left.as_str()));
        let reset: u64 = answer.header("ratelimit-reset").unwrap().parse().unwrap();
        assert!((1..=60).contains(&reset), "{reset}");
    }
    let answer = invite(&admin, &json!({"email": "x@example.com"})).await;
    assert_eq!((answer.status, answer.code().as_str()), (429, "rate_limited"));
    assert_eq!(answer.header("ratelimit-remaining"), Some("0"));
    assert_eq!(answer.header("ratelimit-reset"), answer.header("retry-after"));
    // Another admin has a window of their own, and nothing else is limited.
    assert_eq!(invite(&second, &json!({"email": "x@example.com"})).await.status, 201);
    let listed = admin.get("/api/admin/invites").await;
    assert_eq!((listed.status, listed.header("ratelimit-limit")), (200, None));
}

#[tokio::test]
async fn what_is_set_is_shown_to_admins() {
    let house = House::open().await;
    let admin = house.admin().await;
    let list = admin.get("/api/admin/settings").await.json();
    assert_eq!(
        list,
        json!({
            "items": [{
                "key": "http.listen",
                "value": "\"0.0.0.0:80\"",
                "masked": false,
                "source": "flag",
                "source_name": "--listen",
                "default": "127.0.0.1:7373",
                "help": "Address to listen on",
                "variables": ["MAINSTAY_LISTEN"],
                "flag": "--listen",
                "needs_restart": true,
            }],
            "next_cursor": null,
        })
    );
}

#[tokio::test]
async fn the_audit_log_tells_who_did_what() {
    let house = House::open().await;
    let admin = house.admin().await;
    let made = invite(&admin, &json!({"email": "ada@example.com", "role": "editor"})).await;
    let request_id = made.header("x-request-id").unwrap().to_owned();
    let id = made.json()["item"]["id"].clone();
    let body = json!({"email": ROOT, "password": PASSWORD}).to_string();
    assert_eq!(post_json(house.address, "/api/auth/login", &body).await.status, 200);

    let line = admin.get("/api/admin/audit?action=invite.create").await.json()["items"][0].clone();
    assert_eq!(line["actor"], json!({"kind": "user", "id": admin.id(), "email": ROOT}));
    assert_eq!(line["target"], json!({"kind": "invite", "id": id}));
    assert_eq!(line["detail"]["role"], "editor");
    assert_eq!((&line["address"], &line["request_id"]), (&json!("127.0.0.1"), &json!(request_id)));

    let count = async |query: &str| {
        let list = admin.get(&format!("/api/admin/audit?{query}")).await.json();
        list["items"].as_array().unwrap().len()
    };
    assert_eq!(count("").await, 3);
    assert_eq!(count("action=&actor=&target=").await, 3);
    assert_eq!(count("action=invite.create").await, 1);
    assert_eq!(count("actor=Root%40example.com").await, 3);
    assert_eq!(count("actor=nobody%40example.com").await, 0);
    assert_eq!(count(&format!("target={}", id.as_str().unwrap())).await, 1);
    assert_eq!(count("action=%00&target=%F0%9F%92%A5'--").await, 0);
    assert_eq!(count("limit=1").await, 1);
    for query in ["limit=0", "limit=201", "cursor=x", "cursor=", "page=1", "action=a&action=b"] {
        let answer = admin.get(&format!("/api/admin/audit?{query}")).await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "invalid_query"), "{query}");
    }
}
