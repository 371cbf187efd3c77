//! Bodies of either kind, and lists, over real sockets.

use super::house::House;
use super::raw::{get, request};
use crate::Limits;

const FORM: &str = "Content-Type: application/x-www-form-urlencoded\r\n";
const JSON: &str = "Content-Type: application/json\r\n";

#[tokio::test]
async fn a_body_is_taken_as_json_or_as_a_form() {
    let house = House::open().await;
    for (headers, body, expected) in [
        (FORM, "name=a+b&count=7", r#"["form",{"name":"a b","count":7}]"#),
        (JSON, r#"{"name":"a","count":7}"#, r#"["json",{"name":"a","count":7}]"#),
    ] {
        let answer = request(house.address, "POST", "/api/test/form", headers, body).await;
        assert_eq!(answer.status, 200, "{body}");
        assert_eq!(String::from_utf8(answer.body).unwrap(), expected);
    }
    for (headers, body, status, code) in [
        (FORM, "name=a&count=x", 400, "invalid_body"),
        (FORM, "name=a&count=1&more=2", 400, "invalid_body"),
        (FORM, "name=%ff&count=1", 400, "invalid_body"),
        (FORM, r#"{"name":"a","count":7}"#, 400, "invalid_body"),
        (JSON, "name=a&count=7", 400, "malformed_json"),
        ("Content-Type: text/plain\r\n", "name=a&count=7", 415, "unsupported_media_type"),
        ("", "name=a&count=7", 415, "unsupported_media_type"),
    ] {
        let answer = request(house.address, "POST", "/api/test/form", headers, body).await;
        assert_eq!((answer.status, answer.code().as_str()), (status, code), "{headers}{body}");
    }
}

#[tokio::test]
async fn a_form_has_the_limit_of_every_body() {
    let house = House::open().await;
    let body = format!("name={}&count=1", "x".repeat(Limits::default().body_bytes));
    let answer = request(house.address, "POST", "/api/test/form", FORM, &body).await;
    assert_eq!((answer.status, answer.code().as_str()), (413, "body_too_large"));
}

#[tokio::test]
async fn a_list_is_asked_for_by_page() {
    let house = House::open().await;
    let answer = get(house.address, "/api/test/list?limit=3&cursor=abc").await;
    assert_eq!(answer.json(), serde_json::json!({"items": [3], "next_cursor": "abc"}));
    for query in ["limit=0", "limit=201", "cursor=", "page=2"] {
        let answer = get(house.address, &format!("/api/test/list?{query}")).await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "invalid_query"), "{query}");
    }
}
