//! Whose request it is, over real sockets.

use std::net::IpAddr;

use super::house::{House, Plan};
use super::raw::request;

async fn seen(house: &House, headers: &str) -> String {
    let answer = request(house.address, "GET", "/api/test/client", headers, "").await;
    assert_eq!(answer.status, 200, "{headers}");
    answer.json().as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_forged_header_changes_nothing() {
    let house = House::open().await;
    for headers in [
        "",
        "X-Forwarded-For: 6.6.6.6\r\n",
        "X-Forwarded-For: 6.6.6.6\r\nX-Forwarded-For: 6.6.6.7\r\n",
        "Forwarded: for=6.6.6.6\r\nX-Real-IP: 6.6.6.6\r\n",
    ] {
        assert_eq!(seen(&house, headers).await, "127.0.0.1", "{headers}");
    }
}

#[tokio::test]
async fn a_trusted_proxy_says_who_it_asks_for() {
    let trusts = |address: IpAddr| address.is_loopback();
    let house = House::build(Plan { trusts, ..Plan::default() }).await;
    for (headers, expected) in [
        ("", "127.0.0.1"),
        ("X-Forwarded-For: 203.0.113.9\r\n", "203.0.113.9"),
        ("X-Forwarded-For: 6.6.6.6, 203.0.113.9, 127.0.0.3\r\n", "203.0.113.9"),
        ("X-Forwarded-For: 6.6.6.6\r\nX-Forwarded-For: 203.0.113.9\r\n", "203.0.113.9"),
        ("X-Forwarded-For: nonsense\r\n", "127.0.0.1"),
    ] {
        assert_eq!(seen(&house, headers).await, expected, "{headers}");
    }
}
