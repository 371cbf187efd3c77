//! The first account, over real sockets.

use serde_json::json;

use super::house::House;
use super::people::{PASSWORD, ROOT};
use super::raw::{get, post_json, request};

fn body(token: &str, email: &str, password: &str) -> String {
    json!({"token": token, "email": email, "password": password}).to_string()
}

#[tokio::test]
async fn a_link_signs_in_once_and_only_where_one_was_given_out() {
    let house = House::open().await;
    house.admin().await;
    let enter = async |token: &str| {
        post_json(house.address, "/api/auth/enter", &json!({ "token": token }).to_string()).await
    };
    let refused = enter("made-up").await;
    assert_eq!((refused.status, refused.code().as_str()), (400, "invalid_or_expired_token"));
    let first = house.accounts.entry_token(&ROOT.parse().unwrap()).await.unwrap().reveal();
    let token = house.accounts.entry_token(&ROOT.parse().unwrap()).await.unwrap().reveal();
    assert_eq!(enter(&first).await.status, 400, "the newer one counts");
    let answer = enter(&token).await;
    assert_eq!((answer.status, &answer.json()["user"]["email"]), (200, &json!(ROOT)));
    let cookie = answer.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    let headers = format!("Cookie: {cookie}\r\n");
    assert_eq!(request(house.address, "GET", "/api/auth/me", &headers, "").await.status, 200);
    let again = enter(&token).await;
    assert_eq!((again.status, again.code().as_str()), (400, "invalid_or_expired_token"));
    assert_eq!(again.header("set-cookie"), None);
}

#[tokio::test]
async fn the_first_account_is_made_by_the_link_and_signed_in() {
    let house = House::open().await;
    assert_eq!(get(house.address, "/api/auth/setup").await.json(), json!({"needed": true}));
    let token = house.accounts.setup_token().await.unwrap().unwrap().reveal();
    for (token, email, password, code) in [
        ("made-up", "ada@example.com", PASSWORD, "invalid_or_expired_token"),
        (&token[1..], "ada@example.com", PASSWORD, "invalid_or_expired_token"),
        (&"x".repeat(100_000), "ada@example.com", PASSWORD, "invalid_or_expired_token"),
        (&token, "ada@example.com\r\nBcc: x@y", PASSWORD, "invalid_email"),
        (&token, "аda@example.com", PASSWORD, "invalid_email"),
        (&token, "ada@example.com", "short", "weak_password"),
        (&token, "ada@example.com", "twelve\u{0}letters", "weak_password"),
    ] {
        let body = body(token, email, password);
        let answer = post_json(house.address, "/api/auth/setup", &body).await;
        assert_eq!((answer.status, answer.code().as_str()), (400, code), "{email}");
        assert_eq!(answer.header("set-cookie"), None);
    }
    let body = body(&token, " Ada@Example.com ", PASSWORD);
    let answer = post_json(house.address, "/api/auth/setup", &body).await;
    assert_eq!(answer.status, 200);
    let user = &answer.json()["user"];
    assert_eq!((&user["email"], &user["role"]), (&json!("ada@example.com"), &json!("admin")));
    let cookie = answer.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    let headers = format!("Cookie: {cookie}\r\n");
    let me = request(house.address, "GET", "/api/auth/me", &headers, "").await.json();
    assert_eq!(&me["user"], user);
    assert_eq!(get(house.address, "/api/auth/setup").await.json(), json!({"needed": false}));
    let again = post_json(house.address, "/api/auth/setup", &body).await;
    assert_eq!((again.status, again.code().as_str()), (409, "setup_done"));
}
