//! How strangers become users: invites and requests for access.

use std::sync::Arc;
use std::time::Duration;

use mainstay_accounts::Role;
use mainstay_testkit::FakeClock;
use serde_json::{Value, json};

use super::house::{House, Plan};
use super::people::{PASSWORD, Person};
use super::raw::{Answer, get, post_json, request};

async fn house() -> (Arc<FakeClock>, House, Person) {
    let clock = Arc::new(FakeClock::new());
    let shared = Arc::clone(&clock);
    let house = House::build(Plan { clock: shared, ..Plan::default() }).await;
    let admin = house.admin().await;
    (clock, house, admin)
}

async fn post(house: &House, target: &str, body: Value) -> Answer {
    post_json(house.address, target, &body.to_string()).await
}

#[tokio::test]
async fn an_invite_is_looked_at_and_accepted_once() {
    let (_, house, admin) = house().await;
    let token = house.invite(&admin, "ada@example.com", Role::Editor).await;
    let looked = post(&house, "/api/invites/look", json!({"token": token})).await;
    assert_eq!(looked.status, 200);
    let told = looked.json();
    assert_eq!((&told["email"], &told["role"]), (&json!("ada@example.com"), &json!("editor")));
    assert_eq!(told["expires_at"], "2026-01-08T00:00:00.000Z");

    let short = json!({"token": token, "password": "short"});
    let refused = post(&house, "/api/invites/accept", short).await;
    assert_eq!((refused.status, refused.code().as_str()), (400, "weak_password"));
    let given = json!({"token": token, "password": PASSWORD});
    let accepted = post(&house, "/api/invites/accept", given.clone()).await;
    assert_eq!(accepted.status, 200);
    let user = accepted.json()["user"].clone();
    assert_eq!((&user["email"], &user["role"]), (&json!("ada@example.com"), &json!("editor")));
    let cookie = accepted.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    let headers = format!("Cookie: {cookie}\r\n");
    let me = request(house.address, "GET", "/api/auth/me", &headers, "").await.json();
    assert_eq!(me["user"], user);

    for target in ["/api/invites/look", "/api/invites/accept"] {
        let mut given = given.clone();
        if target.ends_with("look") {
            given.as_object_mut().unwrap().remove("password");
        }
        let again = post(&house, target, given).await;
        assert_eq!((again.status, again.code().as_str()), (400, "invalid_or_expired_token"));
        assert_eq!(again.header("set-cookie"), None);
    }
}

#[tokio::test]
async fn every_bad_token_is_refused_alike_and_not_repeated() {
    let (clock, house, admin) = house().await;
    let setup = admin.session.clone();
    let api = house.token(&admin, mainstay_accounts::Scope::Write).await;
    let replaced = house.invite(&admin, "ada@example.com", Role::Viewer).await;
    let good = house.invite(&admin, "ada@example.com", Role::Viewer).await;
    let mut answers = Vec::new();
    let bad = [
        String::new(),
        "x".to_owned(),
        "A".repeat(43),
        good[1..].to_owned(),
        format!("{good} "),
        format!("{good}\u{0}"),
        "x".repeat(100_000),
        "é".repeat(43),
        setup,
        api,
        replaced,
    ];
    for token in &bad {
        for body in [json!({"token": token}), json!({"token": token, "password": PASSWORD})] {
            let accept = body.get("password").is_some();
            let target = if accept { "/api/invites/accept" } else { "/api/invites/look" };
            answers.push(post(&house, target, body).await);
        }
    }
    clock.advance(Duration::from_secs(7 * 24 * 3600));
    answers.push(post(&house, "/api/invites/look", json!({"token": good})).await);
    for answer in &answers {
        assert_eq!((answer.status, answer.code().as_str()), (400, "invalid_or_expired_token"));
        assert_eq!(answer.json()["detail"], answers[0].json()["detail"]);
        let text = String::from_utf8(answer.body.clone()).unwrap();
        assert!(bad.iter().all(|token| token.len() < 2 || !text.contains(token)), "{text}");
    }
    for value in ["70707", "true", "[70707]", "{\"70707\":1}", "null"] {
        let body = format!(r#"{{"token":{value},"password":{value}}}"#);
        let answer = post_json(house.address, "/api/invites/accept", &body).await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "invalid_body"), "{body}");
        assert!(!String::from_utf8(answer.body).unwrap().contains("70707"), "{body}");
    }
}

async fn stamp(house: &House) -> String {
    let form = get(house.address, "/api/access-requests/form").await;
    assert_eq!(form.header("cache-control"), Some("no-store"));
    form.json()["client_ts"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn taken_dropped_and_known_already_look_the_same() {
    let (clock, house, admin) = house().await;
    let fresh = stamp(&house).await;
    let quick = json!({"email": "quick@example.com", "client_ts": fresh});
    let quick = post(&house, "/api/access-requests", quick).await;
    clock.advance(Duration::from_secs(4));
    let full = json!({
        "email": " Ada@Example.com", "name": "Ada Lovelace", "company": "Analytical Engines",
        "note": "Hello,\nplease let me in. ☕", "website": "", "client_ts": fresh,
    });
    let taken = post(&house, "/api/access-requests", full.clone()).await;
    let again = json!({"email": "ada@example.com", "client_ts": stamp(&house).await});
    clock.advance(Duration::from_secs(4));
    let known = post(&house, "/api/access-requests", again).await;
    let mut bot = full;
    bot["website"] = json!("https://spam.example");
    bot["email"] = json!("bot@example.com");
    let bot = post(&house, "/api/access-requests", bot).await;
    for answer in [&taken, &quick, &known, &bot] {
        assert_eq!((answer.status, answer.json()), (202, json!({"status": "received"})));
        assert_eq!(answer.body, taken.body);
        let names = |answer: &Answer| {
            let lines = answer.head.lines().skip(1);
            let mut names: Vec<_> =
                lines.map(|line| line.split(':').next().unwrap().to_owned()).collect();
            names.sort();
            names
        };
        assert_eq!(names(answer), names(&taken));
    }
    let list = admin.get("/api/admin/access-requests?status=new").await.json();
    let items = list["items"].as_array().unwrap();
    assert_eq!(items.len(), 1);
    assert_eq!(items[0]["email"], "ada@example.com");
    assert_eq!(items[0]["note"], "Hello,\nplease let me in. ☕");
    assert_eq!((&items[0]["handled_by"], &items[0]["status"]), (&Value::Null, &json!("new")));
}

#[tokio::test]
async fn forms_that_are_refused() {
    let (clock, house, _) = house().await;
    let old = stamp(&house).await;
    clock.advance(Duration::from_secs(25 * 3600));
    let loaded = stamp(&house).await;
    clock.advance(Duration::from_secs(5));
    let forged = format!("0{loaded}");
    let email = "ada@example.com";
    let long = "x".repeat(2001);
    for (body, code) in [
        (json!({"email": "no address", "client_ts": loaded}), "invalid_email"),
        (
            json!({"email": "a@example.com\r\nBcc: b@example.com", "client_ts": loaded}),
            "invalid_email",
        ),
        (json!({"email": "аda@example.com", "client_ts": loaded}), "invalid_email"),
        (json!({"email": email, "client_ts": old}), "form_expired"),
        (json!({"email": email, "client_ts": forged}), "form_expired"),
        (json!({"email": email, "client_ts": ""}), "form_expired"),
        (json!({"email": email, "client_ts": "x".repeat(100_000)}), "form_expired"),
        (json!({"email": email, "client_ts": 1}), "invalid_body"),
        (json!({"email": email}), "invalid_body"),
        (json!({"email": email, "client_ts": loaded, "role": "admin"}), "invalid_body"),
        (
            json!({"email": email, "client_ts": loaded, "name": "a\r\nTo: b@example.com"}),
            "invalid_body",
        ),
        (json!({"email": email, "client_ts": loaded, "company": "a\u{0}\u{7}"}), "invalid_body"),
        (json!({"email": email, "client_ts": loaded, "name": ["a"]}), "invalid_body"),
        (json!({"email": email, "client_ts": loaded, "note": long}), "invalid_body"),
    ] {
        let answer = post(&house, "/api/access-requests", body.clone()).await;
        assert_eq!((answer.status, answer.code().as_str()), (400, code), "{body}");
    }
}

#[tokio::test]
async fn one_address_asks_ten_times_an_hour_whatever_it_claims() {
    let (clock, house, _) = house().await;
    for number in 0..11 {
        let client_ts = stamp(&house).await;
        clock.advance(Duration::from_secs(4));
        let body = json!({"email": format!("a{number}@example.com"), "client_ts": client_ts});
        let headers =
            format!("Content-Type: application/json\r\nX-Forwarded-For: 203.0.113.{number}\r\n");
        let target = "/api/access-requests";
        let answer = request(house.address, "POST", target, &headers, &body.to_string()).await;
        if number < 10 {
            assert_eq!(answer.status, 202, "{number}");
        } else {
            assert_eq!((answer.status, answer.code().as_str()), (429, "rate_limited"));
            let wait: u64 = answer.header("retry-after").unwrap().parse().unwrap();
            assert!((1..=3600).contains(&wait), "{wait}");
        }
    }
}

#[tokio::test]
async fn a_request_is_handled_and_answered_by_an_invite() {
    let (clock, house, admin) = house().await;
    for email in ["ada@example.com", "bob@example.com"] {
        let client_ts = stamp(&house).await;
        clock.advance(Duration::from_secs(4));
        let body = json!({"email": email, "client_ts": client_ts});
        assert_eq!(post(&house, "/api/access-requests", body).await.status, 202);
    }
    let list = admin.get("/api/admin/access-requests").await.json();
    let id = |index: usize| list["items"][index]["id"].as_str().unwrap().to_owned();
    assert_eq!(list["items"][0]["email"], "bob@example.com", "newest first");

    let target = format!("/api/admin/access-requests/{}", id(0));
    let handled = admin.send("PATCH", &target, r#"{"status":"rejected"}"#).await.json();
    assert_eq!(handled["status"], "rejected");
    assert_eq!(handled["handled_by"], "root@example.com");
    assert!(handled["handled_at"].is_string());
    let body = json!({"email": "ada@example.com", "access_request_id": id(1)}).to_string();
    assert_eq!(admin.send("POST", "/api/admin/invites", &body).await.status, 201);
    for (status, count) in [("new", 0), ("rejected", 1), ("approved", 1), ("contacted", 0)] {
        let target = format!("/api/admin/access-requests?status={status}");
        let list = admin.get(&target).await.json();
        assert_eq!(list["items"].as_array().unwrap().len(), count, "{status}");
    }
    assert_eq!(admin.get("/api/admin/access-requests?status=old").await.code(), "invalid_query");
    for (target, body, status) in [
        (target.as_str(), r#"{"status":"old"}"#, 400),
        (target.as_str(), r#"{"status":null}"#, 400),
        (target.as_str(), "{}", 400),
        ("/api/admin/access-requests/1", r#"{"status":"new"}"#, 400),
        (
            "/api/admin/access-requests/019a8b3c-0000-7000-8000-000000000000",
            r#"{"status":"new"}"#,
            404,
        ),
    ] {
        assert_eq!(admin.send("PATCH", target, body).await.status, status, "{target} {body}");
    }
}
