//! The dashboard's files.

use super::house::House;
use super::raw::{get, request};

#[tokio::test]
async fn a_page_of_the_dashboard_is_the_index() {
    let house = House::open().await;
    for target in ["/", "/system", "/services/1", "/apish", "/x?y=/api/z"] {
        let answer = get(house.address, target).await;
        assert_eq!(answer.status, 200, "{target}");
        assert!(answer.body.starts_with(b"<!doctype html>"), "{target}");
        assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"));
        assert_eq!(answer.header("cache-control"), Some("no-cache"));
    }
}

#[tokio::test]
async fn what_the_client_reads_decides_what_it_gets() {
    let house = House::open().await;
    for (accept, encoding, etag, length) in [
        ("", None, "\"tag\"", "25"),
        ("Accept-Encoding: gzip, deflate, br\r\n", Some("br"), "\"tag-br\"", "6"),
        ("Accept-Encoding: br;q=0.1, gzip;q=0.9\r\n", Some("gzip"), "\"tag-gzip\"", "7"),
        ("Accept-Encoding: br;q=0\r\n", None, "\"tag\"", "25"),
        ("Accept-Encoding: \u{fc}\r\n", None, "\"tag\"", "25"),
    ] {
        let answer = request(house.address, "GET", "/assets/app-abc.js", accept, "").await;
        assert_eq!(answer.status, 200, "{accept}");
        assert_eq!(answer.header("content-encoding"), encoding, "{accept}");
        assert_eq!(answer.header("etag"), Some(etag), "{accept}");
        assert_eq!(answer.header("content-length"), Some(length), "{accept}");
        assert_eq!(answer.header("vary"), Some("accept-encoding"), "{accept}");
        let cache = "public, max-age=31536000, immutable";
        assert_eq!(answer.header("cache-control"), Some(cache), "{accept}");
    }
}

#[tokio::test]
async fn what_the_client_has_is_not_sent_again() {
    let house = House::open().await;
    let br = "Accept-Encoding: br\r\n";
    for (headers, status) in [
        ("If-None-Match: \"tag\"\r\n".to_owned(), 304),
        ("If-None-Match: W/\"tag\"\r\n".to_owned(), 304),
        ("If-None-Match: \"other\", \"tag\"\r\n".to_owned(), 304),
        ("If-None-Match: *\r\n".to_owned(), 304),
        ("If-None-Match: \"other\"\r\n".to_owned(), 200),
        ("If-None-Match: tag\r\n".to_owned(), 200),
        (format!("{br}If-None-Match: \"tag-br\"\r\n"), 304),
        (format!("{br}If-None-Match: \"tag\"\r\n"), 200),
    ] {
        let answer = request(house.address, "GET", "/assets/app-abc.js", &headers, "").await;
        assert_eq!(answer.status, status, "{headers}");
        assert_eq!(answer.body.is_empty(), status == 304, "{headers}");
        assert!(answer.header("etag").is_some());
        assert!(answer.header("cache-control").unwrap().contains("immutable"));
    }
}
