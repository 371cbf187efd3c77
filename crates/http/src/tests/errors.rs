//! The shape of errors, the host check, request ids, and the headers on every kind of answer.

use serde_json::Value;

use super::house::{House, Plan};
use super::raw::{Answer, exchange, get, post_json, request};
use crate::{CONTENT_SECURITY_POLICY, Limits, Site};

#[tokio::test]
async fn what_is_not_there() {
    let house = House::open().await;
    for (method, target, status, code) in [
        ("GET", "/api", 404, "not_found"),
        ("GET", "/api/", 404, "not_found"),
        ("GET", "/api/nothing", 404, "not_found"),
        ("POST", "/api/nothing", 404, "not_found"),
        ("GET", "/missing.js", 404, "not_found"),
        ("GET", "/assets/missing-abc.css", 404, "not_found"),
        ("DELETE", "/api/system", 405, "method_not_allowed"),
        ("PURGE", "/api/system", 405, "method_not_allowed"),
        ("POST", "/healthz", 405, "method_not_allowed"),
        ("POST", "/", 405, "method_not_allowed"),
        ("PUT", "/services/1", 405, "method_not_allowed"),
        ("OPTIONS", "*", 405, "method_not_allowed"),
    ] {
        let answer = request(house.address, method, target, "", "").await;
        assert_eq!(answer.status, status, "{method} {target}");
        assert_eq!(answer.code(), code, "{method} {target}");
        let allow = answer.header("allow");
        assert_eq!(allow, (status == 405).then_some("GET,HEAD"), "{method} {target}");
    }
    let answer = request(house.address, "GET", "/api/test/json", "", "").await;
    assert_eq!((answer.status, answer.header("allow")), (405, Some("POST")));
}

#[tokio::test]
async fn a_tunnel_is_not_opened() {
    let house = House::open().await;
    let text = "CONNECT localhost:80 HTTP/1.1\r\nHost: localhost:80\r\nConnection: close\r\n\r\n";
    let answer = Answer::parse(&exchange(house.address, text.as_bytes()).await);
    assert_eq!((answer.status, answer.code().as_str()), (405, "method_not_allowed"));
}

#[tokio::test]
async fn a_failure_on_our_side_says_nothing_about_its_cause() {
    let house = House::open().await;
    for target in ["/api/test/internal", "/api/test/panic"] {
        let answer = get(house.address, target).await;
        assert_eq!((answer.status, answer.code().as_str()), (500, "internal"));
        let text = String::from_utf8(answer.body).unwrap();
        for word in ["secret", "10.0.0.7", "postgres", "panic", "src/"] {
            assert!(!text.contains(word), "{text}");
        }
    }
}

#[tokio::test]
async fn a_panic_ends_neither_the_connection_nor_the_process() {
    let house = House::open().await;
    let text = format!(
        "GET /api/test/panic HTTP/1.1\r\nHost: {0}\r\n\r\n\
         GET /healthz HTTP/1.1\r\nHost: {0}\r\nConnection: close\r\n\r\n",
        house.address
    );
    let text = String::from_utf8(exchange(house.address, text.as_bytes()).await).unwrap();
    assert!(text.starts_with("HTTP/1.1 500 "), "{text}");
    assert!(text.ends_with(r#"{"status":"alive"}"#), "{text}");
}

#[tokio::test]
async fn when_alone_only_loopback_names_are_answered() {
    let house = House::open().await;
    for (hosts, status, code) in [
        ("Host: localhost\r\n", 200, ""),
        ("Host: mainstay.localhost:9\r\n", 200, ""),
        ("Host: [::1]:7373\r\n", 200, ""),
        ("Host: evil.example\r\n", 421, "unknown_host"),
        ("Host: localhost\r\nHost: localhost\r\n", 400, "invalid_host"),
        ("Host: a b\r\n", 400, "invalid_host"),
        ("", 400, "invalid_host"),
    ] {
        for target in ["/api/openapi.json", "/healthz", "/assets/app-abc.js"] {
            let text = format!("GET {target} HTTP/1.1\r\nConnection: close\r\n{hosts}\r\n");
            let answer = Answer::parse(&exchange(house.address, text.as_bytes()).await);
            assert_eq!(answer.status, status, "{hosts}{target}");
            if status != 200 {
                assert_eq!(answer.code(), code, "{hosts}{target}");
            }
        }
    }
    let text = "GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n";
    let answer = Answer::parse(&exchange(house.address, text.as_bytes()).await);
    assert!(answer.json()["detail"].as_str().unwrap().contains("--public-url"));
}

#[tokio::test]
async fn a_site_for_others_answers_to_every_name() {
    let site =
        Site { alone: false, https: true, origin: None, metrics_public: false, ..Site::default() };
    let house = House::build(Plan { site, ..Plan::default() }).await;
    let text = "GET /healthz HTTP/1.1\r\nHost: mainstay.example\r\nConnection: close\r\n\r\n";
    let answer = Answer::parse(&exchange(house.address, text.as_bytes()).await);
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("strict-transport-security"), Some("max-age=63072000"));
}

#[tokio::test]
async fn alone_over_tls_other_sites_on_loopback_are_not_forced_to_it() {
    let site =
        Site { alone: true, https: true, origin: None, metrics_public: false, ..Site::default() };
    let house = House::build(Plan { site, ..Plan::default() }).await;
    let answer = get(house.address, "/healthz").await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("strict-transport-security"), None);
}

#[tokio::test]
async fn request_ids() {
    let house = House::open().await;
    let longest = "x".repeat(64);
    let too_long = "x".repeat(65);
    for (given, kept) in [
        ("abc-123_4.5", true),
        (longest.as_str(), true),
        (too_long.as_str(), false),
        ("a b", false),
        ("<script>", false),
    ] {
        let header = format!("X-Request-Id: {given}\r\n");
        let answer = request(house.address, "GET", "/api/nothing", &header, "").await;
        answer.code();
        let id = answer.header("x-request-id").unwrap();
        assert_eq!(id == given, kept, "{given}");
        assert!(kept || id.parse::<mainstay_base::Id>().is_ok(), "{id}");
    }
    let first = get(house.address, "/healthz").await;
    let second = get(house.address, "/healthz").await;
    assert_ne!(first.header("x-request-id"), second.header("x-request-id"));
}

#[tokio::test]
async fn every_kind_of_answer_carries_the_security_headers() {
    let limits = Limits { request_time: std::time::Duration::from_millis(50), ..Limits::default() };
    let house = House::limited(limits).await;
    let address = house.address;
    let etag = "If-None-Match: \"tag\"\r\n";
    for (answer, status) in [
        (get(address, "/healthz").await, 200),
        (get(address, "/readyz").await, 200),
        (get(address, "/metrics").await, 200),
        (get(address, "/api/system").await, 401),
        (get(address, "/api/nothing").await, 404),
        (get(address, "/").await, 303),
        (get(address, "/assets/app-abc.js").await, 200),
        (request(address, "GET", "/favicon.svg", etag, "").await, 304),
        (request(address, "HEAD", "/", "", "").await, 303),
        (post_json(address, "/api/test/json", "{").await, 400),
        (post_json(address, "/healthz", "{}").await, 405),
        (get(address, "/api/test/panic").await, 500),
        (get(address, "/api/test/stuck").await, 503),
        (get(address, "/%ff").await, 400),
    ] {
        assert_eq!(answer.status, status);
        for (name, value) in [
            ("content-security-policy", CONTENT_SECURITY_POLICY),
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "same-origin"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
            ("x-frame-options", "DENY"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{}", answer.head);
        }
        assert!(answer.header("permissions-policy").is_some());
        assert!(answer.header("x-request-id").is_some());
        assert!(answer.header("cache-control").is_some());
        assert_eq!(answer.header("strict-transport-security"), None, "plain HTTP");
        assert_eq!(answer.header("server"), None);
    }
}

#[test]
fn the_content_security_policy_is_the_agreed_one() {
    assert_eq!(
        CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
         font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; \
         form-action 'self'; frame-ancestors 'none'"
    );
}

#[tokio::test]
async fn the_api_is_not_stored_by_caches() {
    let house = House::open().await;
    for target in ["/api/system", "/api/nothing", "/api/openapi.json", "/healthz"] {
        let answer = get(house.address, target).await;
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{target}");
        assert!(matches!(answer.json(), Value::Object(_)));
    }
}
