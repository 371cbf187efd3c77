//! The own account: sessions, password, API tokens.

use mainstay_accounts::{Role, Scope};
use serde_json::{Value, json};

use super::house::House;
use super::people::{PASSWORD, ROOT, bearer};
use super::raw::{get, post_json, request};

const NOBODY: &str = "019a8b3c-0000-7000-8000-000000000000";

fn ids(list: &Value) -> Vec<String> {
    let items = list["items"].as_array().unwrap();
    items.iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn sessions_are_listed_by_page_and_ended() {
    let house = House::open().await;
    let admin = house.admin().await;
    let credentials = json!({"email": ROOT, "password": PASSWORD}).to_string();
    for number in 0..3 {
        let headers = format!("Content-Type: application/json\r\nUser-Agent: Browser/{number}\r\n");
        let answer =
            request(house.address, "POST", "/api/auth/login", &headers, &credentials).await;
        assert_eq!(answer.status, 200);
    }
    let all = admin.get("/api/account/sessions").await.json();
    assert_eq!((ids(&all).len(), &all["next_cursor"]), (4, &Value::Null));
    let current: Vec<_> =
        all["items"].as_array().unwrap().iter().filter(|item| item["current"] == true).collect();
    assert_eq!(current.len(), 1);
    let newest = &all["items"].as_array().unwrap().iter().find(|item| item["current"] == false);
    let newest = newest.unwrap();
    assert_eq!(newest["address"], "127.0.0.1");
    assert!(newest["user_agent"].as_str().unwrap().starts_with("Browser/"));
    for field in ["created_at", "last_seen_at", "expires_at"] {
        assert!(newest[field].as_str().unwrap().ends_with('Z'), "{field}");
    }

    let mut paged = Vec::new();
    let mut target = "/api/account/sessions?limit=3".to_owned();
    loop {
        let page = admin.get(&target).await.json();
        paged.extend(ids(&page));
        let Some(next) = page["next_cursor"].as_str() else { break };
        target = format!("/api/account/sessions?limit=3&cursor={next}");
    }
    assert_eq!(paged, ids(&all));
    let beyond = admin.get(&format!("/api/account/sessions?cursor={NOBODY}")).await.json();
    assert_eq!(beyond, json!({"items": [], "next_cursor": null}));

    let other = newest["id"].as_str().unwrap();
    let target = format!("/api/account/sessions/{other}");
    assert_eq!(admin.send("DELETE", &target, "").await.status, 204);
    assert_eq!(admin.send("DELETE", &target, "").await.code(), "not_found");
    let ended = admin.send("DELETE", "/api/account/sessions", "").await;
    assert_eq!((ended.status, ended.json()), (200, json!({"ended": 2})));
    assert_eq!(ids(&admin.get("/api/account/sessions").await.json()).len(), 1);
}

#[tokio::test]
async fn what_is_anothers_is_not_there() {
    let house = House::open().await;
    let admin = house.admin().await;
    let user = house.user(&admin, "ada@example.com", Role::Editor).await;
    house.token(&admin, Scope::Read).await;
    let session = ids(&admin.get("/api/account/sessions").await.json()).remove(0);
    let token = ids(&admin.get("/api/account/tokens").await.json()).remove(0);
    for target in
        [format!("/api/account/sessions/{session}"), format!("/api/account/tokens/{token}")]
    {
        let answer = user.send("DELETE", &target, "").await;
        assert_eq!((answer.status, answer.code().as_str()), (404, "not_found"), "{target}");
    }
    assert_eq!(ids(&user.get("/api/account/tokens").await.json()).len(), 0);
    assert!(!ids(&user.get("/api/account/sessions").await.json()).contains(&session));
    assert_eq!(admin.get("/api/auth/me").await.status, 200);
    assert_eq!(ids(&admin.get("/api/account/tokens").await.json()), [token]);
    for target in ["/api/account/sessions/1", "/api/account/tokens/..%2f", "/api/account/tokens/x"]
    {
        let answer = user.send("DELETE", target, "").await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "invalid_path"), "{target}");
    }
}

#[tokio::test]
async fn a_new_password_ends_the_other_sessions() {
    let house = House::open().await;
    let admin = house.admin().await;
    let credentials = |password: &str| json!({"email": ROOT, "password": password}).to_string();
    let other = post_json(house.address, "/api/auth/login", &credentials(PASSWORD)).await;
    let other = other.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    let new = "pässwörter sind lang €";
    for (current, given, status, code) in [
        ("wrong wrong wrong", new, 401, "invalid_credentials"),
        (PASSWORD, "short", 400, "weak_password"),
        (PASSWORD, &"x".repeat(257), 400, "weak_password"),
        (PASSWORD, "twelve\u{0}letters", 400, "weak_password"),
    ] {
        let body = json!({"current_password": current, "new_password": given}).to_string();
        let answer = admin.send("POST", "/api/account/password", &body).await;
        assert_eq!((answer.status, answer.code().as_str()), (status, code), "{given:?}");
    }
    let body = json!({"current_password": PASSWORD, "new_password": new}).to_string();
    let answer = admin.send("POST", "/api/account/password", &body).await;
    assert_eq!((answer.status, answer.body.len()), (204, 0));
    assert_eq!(admin.get("/api/auth/me").await.status, 200);
    let headers = format!("Cookie: {other}\r\n");
    assert_eq!(request(house.address, "GET", "/api/auth/me", &headers, "").await.status, 401);
    for (password, status) in [(PASSWORD, 401), (new, 200)] {
        let answer = post_json(house.address, "/api/auth/login", &credentials(password)).await;
        assert_eq!(answer.status, status);
    }
}

#[tokio::test]
async fn a_token_is_shown_once_works_and_is_revoked() {
    let house = House::open().await;
    let admin = house.admin().await;
    let body = json!({"name": "deploy script", "scope": "read"}).to_string();
    let made = admin.send("POST", "/api/account/tokens", &body).await;
    assert_eq!(made.status, 201);
    let (made, item) = (made.json(), made.json()["item"].clone());
    let token = made["token"].as_str().unwrap();
    assert!(token.starts_with("mst_") && token.len() == 47);
    assert_eq!((&item["name"], &item["scope"]), (&json!("deploy script"), &json!("read")));
    assert_eq!(item["prefix"], token[..8]);
    assert_eq!(item["last_used_at"], Value::Null);

    let me = request(house.address, "GET", "/api/auth/me", &bearer(token), "").await.json();
    assert_eq!((&me["user"]["email"], &me["session"]), (&json!(ROOT), &Value::Null));
    let listed = admin.get("/api/account/tokens").await;
    assert!(!String::from_utf8(listed.body.clone()).unwrap().contains(&token[8..]));
    assert_eq!(listed.json()["items"], json!([item]));

    let target = format!("/api/account/tokens/{}", item["id"].as_str().unwrap());
    assert_eq!(admin.send("DELETE", &target, "").await.status, 204);
    let answer = request(house.address, "GET", "/api/auth/me", &bearer(token), "").await;
    assert_eq!((answer.status, answer.code().as_str()), (401, "unauthenticated"));
    assert_eq!(admin.send("DELETE", &target, "").await.status, 404);
}

#[tokio::test]
async fn a_token_lives_as_long_as_its_owner_says() {
    let house = House::open().await;
    let admin = house.admin().await;
    let days = |item: &Value| {
        let at = |field: &str| -> mainstay_base::Timestamp {
            serde_json::from_value(item[field].clone()).unwrap()
        };
        at("expires_at").since(at("created_at")).as_secs() / 86_400
    };
    for (given, expected) in [
        (json!({}), Some(90)),
        (json!({"expires_in_days": 1}), Some(1)),
        (json!({"expires_in_days": 3650}), Some(3650)),
        (json!({"expires_in_days": null}), None),
    ] {
        let mut body = json!({"name": "n", "scope": "write"});
        body.as_object_mut().unwrap().extend(given.as_object().unwrap().clone());
        let made = admin.send("POST", "/api/account/tokens", &body.to_string()).await.json();
        let item = &made["item"];
        match expected {
            Some(expected) => assert_eq!(days(item), expected, "{given}"),
            None => assert_eq!(item["expires_at"], Value::Null),
        }
    }
    for body in [
        json!({"name": "n", "scope": "read", "expires_in_days": 0}),
        json!({"name": "n", "scope": "read", "expires_in_days": 3651}),
        json!({"name": "n", "scope": "read", "expires_in_days": -1}),
        json!({"name": "n", "scope": "read", "expires_in_days": "90"}),
        json!({"name": "n", "scope": "root"}),
        json!({"name": "", "scope": "read"}),
        json!({"name": "x".repeat(101), "scope": "read"}),
        json!({"name": "a\r\nSet-Cookie: b", "scope": "read"}),
        json!({"name": "a\u{202e}b", "scope": "read"}),
        json!({"name": 1, "scope": "read"}),
        json!({"scope": "read"}),
        json!({"name": "n", "scope": "read", "role": "admin"}),
    ] {
        let answer = admin.send("POST", "/api/account/tokens", &body.to_string()).await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "invalid_body"), "{body}");
    }
    for _ in 4..50 {
        house.token(&admin, Scope::Agent).await;
    }
    let body = json!({"name": "one more", "scope": "read"}).to_string();
    let answer = admin.send("POST", "/api/account/tokens", &body).await;
    assert_eq!((answer.status, answer.code().as_str()), (409, "too_many_tokens"));
    let first = admin.get("/api/account/tokens?limit=20").await.json();
    let next = first["next_cursor"].as_str().unwrap();
    let rest = admin.get(&format!("/api/account/tokens?limit=200&cursor={next}")).await.json();
    assert_eq!((ids(&first).len(), ids(&rest).len()), (20, 30));
}

#[tokio::test]
async fn a_role_that_is_taken_away_takes_its_tokens_along() {
    let house = House::open().await;
    let admin = house.admin().await;
    let second = house.user(&admin, "second@example.com", Role::Admin).await;
    let token = house.token(&second, Scope::Write).await;
    let users = async || {
        request(house.address, "GET", "/api/admin/users", &bearer(&token), "").await.status
    };
    assert_eq!(users().await, 200);
    let target = format!("/api/admin/users/{}", second.id());
    assert_eq!(admin.send("PATCH", &target, r#"{"role":"viewer"}"#).await.status, 200);
    assert_eq!(users().await, 403);
    assert_eq!(second.get("/api/admin/users").await.status, 403);
    assert_eq!(get(house.address, "/api/admin/users").await.status, 401);
}
