//! Health, metrics and the system's own description.

use std::sync::atomic::Ordering;
use std::time::Duration;

use mainstay_accounts::{Role, Scope};

use super::house::{House, Plan};
use super::people::bearer;
use super::raw::{get, request};
use crate::{Limits, Site};

#[tokio::test]
async fn alive_without_looking_at_anything() {
    let house = House::open().await;
    let answer = get(house.address, "/healthz").await;
    assert_eq!((answer.status, answer.body.as_slice()), (200, &br#"{"status":"alive"}"#[..]));
    assert_eq!(house.world.probes.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn ready_or_not() {
    let limits = Limits { probe_age: Duration::ZERO, ..Limits::default() };
    let house = House::limited(limits).await;
    let answer = get(house.address, "/readyz").await;
    assert_eq!((answer.status, answer.json()["status"].as_str()), (200, Some("ready")));
    assert_eq!(answer.json()["checks"][0]["name"], "database");

    house.world.down.store(true, Ordering::SeqCst);
    let answer = get(house.address, "/readyz").await;
    assert_eq!((answer.status, answer.json()["status"].as_str()), (503, Some("not_ready")));
    assert_eq!(answer.json()["checks"][0]["status"], "down");
    assert_eq!(answer.header("retry-after"), Some("5"));
}

#[tokio::test]
async fn checks_that_hang_are_down() {
    let limits = Limits { probe_time: Duration::from_millis(50), ..Limits::default() };
    let house = House::limited(limits).await;
    house.world.stuck.store(true, Ordering::SeqCst);
    let answer = get(house.address, "/readyz").await;
    assert_eq!(answer.status, 503);
    assert_eq!(answer.json()["checks"][0]["name"], "probe");
}

#[tokio::test]
async fn those_who_ask_together_share_one_look() {
    let limits = Limits { probe_age: Duration::from_secs(600), ..Limits::default() };
    let house = House::limited(limits).await;
    let address = house.address;
    let admin = house.admin().await;
    let asking: Vec<_> = (0..20)
        .map(|number| {
            let target = if number % 2 == 0 { "/readyz" } else { "/api/system" };
            let cookie = admin.cookie();
            tokio::spawn(async move { request(address, "GET", target, &cookie, "").await.status })
        })
        .collect();
    for asked in asking {
        assert_eq!(asked.await.unwrap(), 200);
    }
    assert_eq!(house.world.probes.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn the_system_describes_itself() {
    let house = House::open().await;
    let admin = house.admin().await;
    let system = admin.get("/api/system").await.json();
    assert_eq!(system["is_demo"], false);
    assert_eq!(system["version"], "1.2.3");
    assert_eq!(system["commit"], "abc1234");
    assert_eq!(system["started_at"], "2026-11-15T21:00:00.007Z");
    assert!(system["now"].as_str().unwrap().ends_with('Z'));
    assert_eq!(system["database"], serde_json::json!({"kind": "sqlite", "schema_version": 1}));
    assert_eq!(
        system["checks"],
        serde_json::json!([
            {"name": "database", "status": "healthy", "detail": "looked at", "latency_ms": 0.2}
        ])
    );
}

#[tokio::test]
async fn metrics_are_open_when_alone_or_public() {
    for (alone, metrics_public, status) in
        [(true, false, 200), (false, true, 200), (true, true, 200), (false, false, 401)]
    {
        let site = Site { alone, https: false, origin: None, metrics_public, ..Site::default() };
        let house = House::build(Plan { site, ..Plan::default() }).await;
        let answer = get(house.address, "/metrics").await;
        assert_eq!(answer.status, status, "{alone} {metrics_public}");
        if status == 200 {
            let format = "text/plain; version=0.0.4; charset=utf-8";
            assert_eq!(answer.header("content-type"), Some(format));
        } else {
            assert_eq!(answer.code(), "unauthenticated");
            let detail = answer.json()["detail"].as_str().unwrap().to_owned();
            assert!(detail.contains("metrics.public") && detail.contains("Bearer"), "{detail}");
        }
    }
}

#[tokio::test]
async fn metrics_of_a_site_for_others_take_a_token_that_reads() {
    let site =
        Site { alone: false, https: false, origin: None, metrics_public: false, ..Site::default() };
    let house = House::build(Plan { site, ..Plan::default() }).await;
    let admin = house.admin().await;
    let viewer = house.user(&admin, "viewer@example.com", Role::Viewer).await;
    for (headers, status, code) in [
        (bearer(&house.token(&viewer, Scope::Read).await), 200, ""),
        (bearer(&house.token(&viewer, Scope::Write).await), 200, ""),
        (viewer.cookie(), 200, ""),
        (bearer(&house.token(&admin, Scope::Agent).await), 403, "scope_missing"),
        (bearer("mst_made-up"), 401, "unauthenticated"),
    ] {
        let answer = request(house.address, "GET", "/metrics", &headers, "").await;
        assert_eq!(answer.status, status, "{headers}");
        if status != 200 {
            assert_eq!(answer.code(), code);
            assert!(answer.json()["detail"].as_str().unwrap().contains("metrics.public"));
        }
    }
}

#[tokio::test]
async fn head_is_get_without_the_body() {
    let house = House::open().await;
    let html = "Accept: text/html\r\n";
    for (target, accept) in [
        ("/healthz", ""),
        ("/api/openapi.json", ""),
        ("/", ""),
        ("/assets/app-abc.js", ""),
        ("/api/nothing", ""),
        ("/system", html),
        ("/system", ""),
        ("/readyz/", ""),
    ] {
        let full = request(house.address, "GET", target, accept, "").await;
        let head = request(house.address, "HEAD", target, accept, "").await;
        assert_eq!(head.status, full.status, "{target}");
        assert!(head.body.is_empty(), "{target}");
        assert_eq!(head.header("content-length"), full.header("content-length"), "{target}");
        assert_eq!(head.header("content-type"), full.header("content-type"), "{target}");
    }
}
