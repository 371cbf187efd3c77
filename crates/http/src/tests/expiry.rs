//! What is too old opens nothing any more.

use std::sync::Arc;
use std::time::Duration;

use mainstay_testkit::FakeClock;
use serde_json::json;

use super::house::{House, Plan};
use super::people::{PASSWORD, bearer};
use super::raw::{post_json, request};

const DAY: Duration = Duration::from_hours(24);

async fn house() -> (Arc<FakeClock>, House) {
    let clock = Arc::new(FakeClock::new());
    let shared = Arc::clone(&clock);
    (clock, House::build(Plan { clock: shared, ..Plan::default() }).await)
}

#[tokio::test]
async fn a_session_ends_after_two_weeks_and_a_token_when_its_owner_said() {
    let (clock, house) = house().await;
    let admin = house.admin().await;
    let body = json!({"name": "n", "scope": "read", "expires_in_days": 7}).to_string();
    let made = admin.send("POST", "/api/account/tokens", &body).await.json();
    let token = made["token"].as_str().unwrap();
    let by_token =
        async || request(house.address, "GET", "/api/auth/me", &bearer(token), "").await.status;
    let almost = DAY - Duration::from_secs(1);
    clock.advance(DAY * 6 + almost);
    assert_eq!((by_token().await, admin.get("/api/auth/me").await.status), (200, 200));
    clock.advance(Duration::from_secs(1));
    assert_eq!((by_token().await, admin.get("/api/auth/me").await.status), (401, 200));
    clock.advance(DAY * 6 + almost);
    assert_eq!((admin.get("/api/auth/me").await.status, admin.get("/").await.status), (200, 200));
    clock.advance(Duration::from_secs(1));
    assert_eq!(admin.get("/api/auth/me").await.code(), "unauthenticated");
    assert_eq!(admin.get("/").await.status, 303);
}

#[tokio::test]
async fn the_link_to_the_first_account_ends_after_a_day() {
    let (clock, house) = house().await;
    let token = house.accounts.setup_token().await.unwrap().unwrap().reveal();
    clock.advance(DAY);
    let body = json!({"token": token, "email": "a@example.com", "password": PASSWORD}).to_string();
    let answer = post_json(house.address, "/api/auth/setup", &body).await;
    assert_eq!((answer.status, answer.code().as_str()), (400, "invalid_or_expired_token"));
}
