//! Signing in and out, over real sockets.

use std::sync::Arc;

use mainstay_testkit::FakeClock;
use serde_json::{Value, json};

use super::house::{House, Plan};
use super::people::{PASSWORD, ROOT};
use super::raw::{Answer, post_json, request};
use crate::{CookieName, Site};

const FORM: &str = "Content-Type: application/x-www-form-urlencoded\r\n";

fn credentials(email: &str, password: &str) -> String {
    json!({"email": email, "password": password}).to_string()
}

async fn login(house: &House, body: &Value) -> Answer {
    post_json(house.address, "/api/auth/login", &body.to_string()).await
}

async fn submit(house: &House, path: &str, headers: &str, body: &str) -> Answer {
    let headers = format!("{FORM}{headers}");
    request(house.address, "POST", path, &headers, body).await
}

/// The cookie that an answer sets, as a request sends it.
fn cookie_of(answer: &Answer) -> String {
    answer.header("set-cookie").unwrap().split(';').next().unwrap().to_owned()
}

async fn me(house: &House, cookie: &str) -> Answer {
    request(house.address, "GET", "/api/auth/me", &format!("Cookie: {cookie}\r\n"), "").await
}

#[tokio::test]
async fn a_script_signs_in_and_out() {
    let house = House::open().await;
    let admin = house.admin().await;
    let given = json!({"email": " ROOT@example.com", "password": PASSWORD, "next": "/account?a=b"});
    let answer = login(&house, &given).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let user = json!({"id": admin.id(), "email": ROOT, "role": "admin"});
    assert_eq!(answer.json(), json!({"user": user, "next": "/account?a=b"}));

    let cookie = cookie_of(&answer);
    let told = me(&house, &cookie).await.json();
    assert_eq!(told["user"], user);
    assert!(told["session"]["id"].is_string() && told["session"]["expires_at"].is_string());

    let headers = format!("Cookie: {cookie}\r\nOrigin: {}\r\n", house.origin);
    let out = request(house.address, "POST", "/api/auth/logout", &headers, "").await;
    assert_eq!((out.status, out.body.len()), (204, 0));
    let forgotten = "session=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0";
    assert_eq!(out.header("set-cookie"), Some(forgotten));
    let gone = me(&house, &cookie).await;
    assert_eq!((gone.status, gone.code().as_str()), (401, "unauthenticated"));
    assert_eq!(me(&house, &format!("session={}", admin.session)).await.status, 200);
}

#[tokio::test]
async fn who_is_signed_out_can_sign_out() {
    let house = House::open().await;
    let own = format!("Origin: {}\r\n", house.origin);
    for headers in ["", "Cookie: session=made-up\r\n", "Authorization: Bearer x\r\n"] {
        let headers = format!("{own}{headers}");
        let out = request(house.address, "POST", "/api/auth/logout", &headers, "").await;
        assert_eq!(out.status, 204, "{headers}");
        assert!(out.header("set-cookie").unwrap().contains("Max-Age=0"));
    }
}

#[tokio::test]
async fn a_form_is_answered_with_the_next_page() {
    let house = House::open().await;
    house.admin().await;
    let body = "email=root%40example.com&password=correct+horse+battery";
    for (next, location) in [
        ("", "/"),
        ("&next=%2Faccount", "/account"),
        ("&next=%2Fgr%C3%B6%C3%9Fe+1", "/gr%C3%B6%C3%9Fe%201"),
        ("&next=%2F%2Fevil.example", "/"),
        ("&next=%2F%5Cevil.example", "/"),
        ("&next=%2F%09%2Fevil.example", "/"),
        ("&next=%2Fa%0D%0ASet-Cookie%3A+x%3Dy", "/"),
        ("&next=https%3A%2F%2Fevil.example", "/"),
        ("&next=javascript%3Aalert(1)", "/"),
    ] {
        let answer = submit(&house, "/api/auth/login", "", &format!("{body}{next}")).await;
        assert_eq!((answer.status, answer.header("location")), (303, Some(location)), "{next}");
        assert_eq!(me(&house, &cookie_of(&answer)).await.status, 200);
    }
    let wrong = "email=root%40example.com&password=wrong";
    for (next, location) in [
        ("", "/login?error=invalid_credentials"),
        ("&next=%2Faccount%3Fa", "/login?error=invalid_credentials&next=%2Faccount%3Fa"),
        ("&next=%2F%2Fevil.example", "/login?error=invalid_credentials"),
    ] {
        let answer = submit(&house, "/api/auth/login", "", &format!("{wrong}{next}")).await;
        assert_eq!((answer.status, answer.header("location")), (303, Some(location)), "{next}");
        assert_eq!(answer.header("set-cookie"), None);
    }
    let out = submit(&house, "/api/auth/logout", "", "").await;
    assert_eq!((out.status, out.header("location")), (303, Some("/login")));
    assert!(out.header("set-cookie").unwrap().contains("Max-Age=0"));
}

#[tokio::test]
async fn who_is_unknown_wrong_or_disabled_is_told_no_more_than_needed() {
    let house = House::open().await;
    let admin = house.admin().await;
    let user = house.user(&admin, "ada@example.com", mainstay_accounts::Role::Viewer).await;
    let change = mainstay_accounts::UserChange {
        status: Some(mainstay_accounts::UserStatus::Disabled),
        role: None,
    };
    let changed = house.accounts.change_user(&admin.caller, user.id(), change, Default::default());
    changed.await.unwrap();
    let mut details = Vec::new();
    for (email, password, status, code) in [
        ("nobody@example.com", PASSWORD, 401, "invalid_credentials"),
        (ROOT, "wrong wrong wrong", 401, "invalid_credentials"),
        (ROOT, "", 401, "invalid_credentials"),
        ("no address", PASSWORD, 401, "invalid_credentials"),
        ("ada@example.com", "wrong wrong wrong", 401, "invalid_credentials"),
        ("ada@example.com", PASSWORD, 403, "user_disabled"),
    ] {
        let answer =
            post_json(house.address, "/api/auth/login", &credentials(email, password)).await;
        assert_eq!((answer.status, answer.code().as_str()), (status, code), "{email} {password}");
        assert_eq!(answer.header("set-cookie"), None);
        if status == 401 {
            details.push(answer.json()["detail"].as_str().unwrap().to_owned());
        }
    }
    details.dedup();
    assert_eq!(details.len(), 1, "they differ: {details:?}");
    assert_eq!(me(&house, &format!("session={}", user.session)).await.status, 401);
}

#[tokio::test]
async fn signing_in_again_ends_the_session_before() {
    let house = House::open().await;
    let admin = house.admin().await;
    let answer = admin.send("POST", "/api/auth/login", &credentials(ROOT, PASSWORD)).await;
    assert_eq!(answer.status, 200);
    assert_eq!(me(&house, &cookie_of(&answer)).await.status, 200);
    assert_eq!(admin.get("/api/auth/me").await.status, 401);
}

#[tokio::test]
async fn the_cookie_is_secure_where_the_site_is() {
    for (https, secure) in [(false, ""), (true, "; Secure")] {
        let origin = https.then(|| "https://mainstay.example".to_owned());
        let site = Site {
            alone: !https,
            https,
            origin,
            metrics_public: false,
            cookie: CookieName::default(),
            is_demo: false,
        };
        let house = House::build(Plan { site, ..Plan::default() }).await;
        house.admin().await;
        let answer =
            post_json(house.address, "/api/auth/login", &credentials(ROOT, PASSWORD)).await;
        let set = answer.header("set-cookie").unwrap();
        let (pair, attributes) = set.split_once("; ").unwrap();
        assert_eq!(pair.len(), "session=".len() + 43);
        let expected = format!("Path=/; HttpOnly; SameSite=Lax; Max-Age=1209600{secure}");
        assert_eq!(attributes, expected);
        let out = request(house.address, "POST", "/api/auth/logout", "", "").await;
        let expected = format!("session=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0{secure}");
        assert_eq!(out.header("set-cookie"), Some(expected.as_str()));
    }
}

#[tokio::test]
async fn attempts_are_throttled_by_account_whatever_address_is_claimed() {
    // They are counted by quarters of an hour: none ends meanwhile.
    let house = House::build(Plan { clock: Arc::new(FakeClock::new()), ..Plan::default() }).await;
    house.admin().await;
    for attempt in 0..12 {
        let headers =
            format!("Content-Type: application/json\r\nX-Forwarded-For: 203.0.113.{attempt}\r\n");
        let body = credentials(ROOT, "wrong wrong wrong");
        let answer = request(house.address, "POST", "/api/auth/login", &headers, &body).await;
        if attempt < 10 {
            assert_eq!((answer.status, answer.code().as_str()), (401, "invalid_credentials"));
            continue;
        }
        assert_eq!((answer.status, answer.code().as_str()), (429, "too_many_attempts"));
        let wait: u64 = answer.header("retry-after").unwrap().parse().unwrap();
        assert!((1..=900).contains(&wait), "{wait}");
    }
    let form = "email=root%40example.com&password=correct+horse+battery";
    let answer = submit(&house, "/api/auth/login", "", form).await;
    assert_eq!(answer.header("location"), Some("/login?error=too_many_attempts"));
}

#[tokio::test]
async fn no_answer_repeats_a_password() {
    let house = House::open().await;
    for body in [
        r#"{"email":"a@b.example","password":70707}"#,
        r#"{"email":"a@b.example","password":["70707"]}"#,
        r#"{"email":"a@b.example","password":{"70707":1}}"#,
        r#"{"email":"a@b.example","password":"70707""#,
        r#"{"email":1,"password":"70707"}"#,
        r#"{"password":"70707","passwort":"x"}"#,
        r#"["a@b.example",70707]"#,
        r#""70707""#,
        "70707",
    ] {
        let answer = post_json(house.address, "/api/auth/login", body).await;
        assert_eq!(answer.status, 400, "{body}");
        let text = String::from_utf8(answer.body).unwrap();
        assert!(!text.contains("70707"), "{body}: {text}");
    }
    for body in ["email=a%40b.example&password=70707&x=y", "password=70707", "password=70707%ff"] {
        let answer = submit(&house, "/api/auth/login", "", body).await;
        assert_eq!(answer.status, 400, "{body}");
        let text = String::from_utf8(answer.body).unwrap();
        assert!(!text.contains("70707"), "{body}: {text}");
    }
}

#[tokio::test]
async fn many_at_once_are_bounded_and_others_are_served() {
    let house = House::open().await;
    let admin = house.admin().await;
    let address = house.address;
    let attempts: Vec<_> = (0..300)
        .map(|number| {
            let body = credentials(&format!("user{number}@example.com"), "wrong wrong wrong");
            tokio::spawn(async move { post_json(address, "/api/auth/login", &body).await })
        })
        .collect();
    assert_eq!(admin.get("/api/auth/me").await.status, 200);
    let mut hashed = 0;
    for attempt in attempts {
        let answer = attempt.await.unwrap();
        match (answer.status, answer.code().as_str()) {
            (401, "invalid_credentials") => hashed += 1,
            (429, "too_many_attempts") | (503, "busy") => {
                assert!(answer.header("retry-after").is_some());
            }
            other => panic!("{other:?}"),
        }
    }
    assert!((1..=100).contains(&hashed), "{hashed} from one address");
}
