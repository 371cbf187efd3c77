//! What is sent wrongly to the routes that take a body.

use mainstay_monitor::desired::MAX_DOCUMENT_BYTES;
use serde_json::Value;

use super::access::operations;
use super::house::House;
use super::raw::request;
use crate::Limits;
use crate::limits::MAX_JOURNEY_BODY_BYTES;

const JSON: &str = "Content-Type: application/json\r\n";

/// The operations that take a body of JSON, with their paths filled in.
fn taking_bodies() -> Vec<(String, String)> {
    let document: Value = serde_json::from_str(&crate::openapi()).unwrap();
    let takes = |(method, path): &(String, String)| {
        let body = &document["paths"][path][method.to_lowercase()]["requestBody"];
        body["content"]["application/json"].is_object()
    };
    let found: Vec<_> = operations().into_iter().filter(takes).collect();
    assert!(found.len() >= 10, "{found:?}");
    let id = "019a8b3c-0000-7000-8000-000000000000";
    found.into_iter().map(|(method, path)| (method, path.replace("{id}", id))).collect()
}

#[tokio::test]
async fn no_body_of_the_wrong_shape_is_taken() {
    let house = House::open().await;
    let admin = house.admin().await;
    for (method, target) in taking_bodies() {
        for (body, code) in [
            ("", "malformed_json"),
            ("{", "malformed_json"),
            ("\u{0}", "malformed_json"),
            ("null", "invalid_body"),
            ("7", "invalid_body"),
            ("\"text\"", "invalid_body"),
            (r#"{"unknown":1}"#, "invalid_body"),
            (r#"{"constructor":{"prototype":{}}}"#, "invalid_body"),
            (r#"{"":"","\u0000":"💥"}"#, "invalid_body"),
        ] {
            let answer = admin.send(&method, &target, body).await;
            let place = format!("{method} {target} {body}");
            assert_eq!((answer.status, answer.code().as_str()), (400, code), "{place}");
        }
        let headers = format!("{}Content-Type: text/plain\r\n", admin.cookie());
        let answer = request(house.address, &method, &target, &headers, "{}").await;
        assert_eq!((answer.status, answer.code().as_str()), (415, "unsupported_media_type"));
    }
}

#[tokio::test]
async fn no_body_is_larger_than_the_limit() {
    let house = House::open().await;
    let admin = house.admin().await;
    for (method, target) in taking_bodies() {
        let limit = match target.as_str() {
            "/api/services/apply" => MAX_DOCUMENT_BYTES,
            journeys if journeys.starts_with("/api/journeys") => MAX_JOURNEY_BODY_BYTES,
            _ => Limits::default().body_bytes,
        };
        let body = format!(r#"{{"email":"{}"}}"#, "x".repeat(limit));
        let answer = admin.send(&method, &target, &body).await;
        assert_eq!((answer.status, answer.code().as_str()), (413, "body_too_large"), "{target}");
    }
}

#[tokio::test]
async fn a_body_is_not_read_for_whoever_may_not_send_it() {
    let house = House::open().await;
    let body = "x".repeat(Limits::default().body_bytes + 1);
    for target in ["/api/account/tokens", "/api/admin/invites"] {
        let answer = request(house.address, "POST", target, JSON, &body).await;
        assert_eq!((answer.status, answer.code().as_str()), (401, "unauthenticated"), "{target}");
    }
}
