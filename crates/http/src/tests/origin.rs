//! Requests that change something, from the site and from others, over real sockets.

use super::house::{House, Plan};
use super::raw::{Answer, request};
use crate::{CookieName, Site};

const ORDER: &str = r#"{"name":"a","count":1}"#;

async fn post(house: &House, headers: &str) -> Answer {
    let headers = format!("Content-Type: application/json\r\n{headers}");
    request(house.address, "POST", "/api/test/json", &headers, ORDER).await
}

fn public() -> Plan {
    let origin = Some("https://mainstay.example".to_owned());
    let site = Site {
        alone: false,
        https: true,
        origin,
        metrics_public: false,
        cookie: CookieName::default(),
        is_demo: false,
    };
    Plan { site, ..Plan::default() }
}

#[tokio::test]
async fn another_site_can_not_act_for_whoever_is_signed_in() {
    let house = House::build(public()).await;
    let cookie = "Cookie: session=abc\r\n";
    for (headers, status) in [
        ("Origin: https://mainstay.example\r\n", 200),
        ("Referer: https://mainstay.example/account\r\n", 200),
        ("Origin: https://evil.example\r\n", 403),
        ("Origin: null\r\n", 403),
        ("Referer: https://evil.example/\r\n", 403),
        ("", 403),
        ("Authorization: Bearer mst_abc\r\n", 200),
    ] {
        let answer = post(&house, &format!("{cookie}{headers}")).await;
        assert_eq!(answer.status, status, "{headers}");
        if status == 403 {
            assert_eq!(answer.code(), "csrf", "{headers}");
        }
    }
}

#[tokio::test]
async fn another_site_can_not_sign_anybody_in_and_a_program_can() {
    let house = House::build(public()).await;
    assert_eq!(post(&house, "").await.status, 200);
    let answer = post(&house, "Origin: https://evil.example\r\n").await;
    assert_eq!((answer.status, answer.code().as_str()), (403, "csrf"));
    let detail = answer.json()["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("`https://evil.example`") && detail.contains("--public-url"));
}

#[tokio::test]
async fn when_alone_the_site_is_where_it_was_reached() {
    let house = House::open().await;
    let own = format!("Cookie: session=abc\r\nOrigin: http://{}\r\n", house.address);
    assert_eq!(post(&house, &own).await.status, 200);
    let neighbour = "Cookie: session=abc\r\nOrigin: http://127.0.0.1:1\r\n";
    assert_eq!(post(&house, neighbour).await.code(), "csrf");
}
