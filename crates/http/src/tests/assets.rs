//! The dashboard's files.

use super::house::House;
use super::raw::request;

/// What browsers send when they open a page.
const BROWSER: &str = "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n";

#[tokio::test]
async fn a_page_of_the_dashboard_is_the_index() {
    let house = House::open().await;
    let cookie = house.admin().await.cookie();
    for (target, accept) in [
        ("/", ""),
        ("/", "Accept: application/json\r\n"),
        ("/?tab=1", ""),
        ("/system", BROWSER),
        ("/services/1", BROWSER),
        ("/apish", BROWSER),
        ("/x?y=/api/z", BROWSER),
        ("/system", "Accept: application/json\r\nAccept: TEXT/HTML ; q=0.1\r\n"),
    ] {
        let headers = format!("{cookie}{accept}");
        let answer = request(house.address, "GET", target, &headers, "").await;
        assert_eq!(answer.status, 200, "{target} {accept}");
        assert!(answer.body.starts_with(b"<!doctype html>"), "{target}");
        assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        assert_eq!(answer.header("vary"), Some("accept, accept-encoding, cookie"), "{target}");
    }
}

#[tokio::test]
async fn a_program_that_misspells_a_path_is_told_so() {
    let house = House::open().await;
    for target in [
        "/readyz/",
        "/health",
        "/ready",
        "/metrics/",
        "//api/system",
        "/API/system",
        "/system",
        "//",
        "/health?x=/",
    ] {
        for accept in [
            "",
            "Accept: */*\r\n",
            "Accept: application/json, text/*\r\n",
            "Accept: text/html;q=0\r\n",
            "Accept: text/html2\r\n",
            "Accept: \u{fc}\r\n",
        ] {
            let answer = request(house.address, "GET", target, accept, "").await;
            assert_eq!(answer.status, 404, "{target} {accept}");
            assert_eq!(answer.code(), "not_found", "{target} {accept}");
        }
    }
}

#[tokio::test]
async fn a_file_that_is_missing_is_no_page_even_for_a_browser() {
    let house = House::open().await;
    for target in ["/assets/missing-abc.css", "/missing.js", "/api/nothing"] {
        let answer = request(house.address, "GET", target, BROWSER, "").await;
        assert_eq!((answer.status, answer.code().as_str()), (404, "not_found"), "{target}");
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
