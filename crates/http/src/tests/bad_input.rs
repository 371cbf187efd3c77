//! What clients send by mistake or by malice: a clear 4xx or a closed connection, never a 500.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::house::House;
use super::raw::{Answer, PATIENCE, exchange, get, post_json, read_to_end, request};
use crate::{Limits, limits::MAX_HEAD_BYTES};

#[tokio::test]
async fn bodies_that_are_not_as_expected() {
    let house = House::open().await;
    for (body, status, code, word) in [
        (r#"{"name":"a","count":1}"#, 200, None, ""),
        ("{\n\"name\":", 400, Some("malformed_json"), "Line 2"),
        ("", 400, Some("malformed_json"), "Line 1"),
        ("\u{0}", 400, Some("malformed_json"), "Line 1"),
        (r#"{"name":"a","count":"one"}"#, 400, Some("invalid_body"), "`count`"),
        (r#"{"name":"a","count":256}"#, 400, Some("invalid_body"), "from 0 to 255"),
        (r#"{"name":"a"}"#, 400, Some("invalid_body"), "missing field `count`"),
        (r#"{"name":"a","count":1,"more":1}"#, 400, Some("invalid_body"), "unknown field `more`"),
        (r#"{"name":"a","name":"b","count":1}"#, 400, Some("invalid_body"), "duplicate field"),
        (r#"["a",1]"#, 400, Some("invalid_body"), "found a list, expected an object"),
        ("[]", 400, Some("invalid_body"), "The body"),
        ("null", 400, Some("invalid_body"), "The body"),
    ] {
        let answer = post_json(house.address, "/api/test/json", body).await;
        assert_eq!(answer.status, status, "{body}");
        if let Some(code) = code {
            assert_eq!(answer.code(), code, "{body}");
            let detail = answer.json()["detail"].as_str().unwrap().to_owned();
            assert!(detail.contains(word), "{body}: {detail}");
        }
    }
}

#[tokio::test]
async fn invalid_utf8_inside_json_is_malformed() {
    let house = House::open().await;
    let head = format!(
        "POST /api/test/json HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: 22\r\n\r\n",
        house.address
    );
    let mut bytes = head.into_bytes();
    bytes.extend_from_slice(b"{\"name\":\"\xff\",\"count\":1}");
    let answer = Answer::parse(&exchange(house.address, &bytes).await);
    assert_eq!((answer.status, answer.code().as_str()), (400, "malformed_json"));
}

#[tokio::test]
async fn bodies_of_another_kind() {
    let house = House::open().await;
    for headers in [
        "",
        "Content-Type: text/plain\r\n",
        "Content-Type: application/x-www-form-urlencoded\r\n",
        "Content-Type: \u{1}\r\n",
        "Content-Type: application/json\r\nContent-Encoding: gzip\r\n",
    ] {
        let answer = request(house.address, "POST", "/api/test/json", headers, "{}").await;
        if headers.contains('\u{1}') {
            assert_eq!(answer.status, 400, "hyper refuses a control character");
            continue;
        }
        assert_eq!((answer.status, answer.code().as_str()), (415, "unsupported_media_type"));
    }
}

#[tokio::test]
async fn paths_and_queries_that_are_not_as_expected() {
    let house = House::open().await;
    for (target, status, code) in [
        ("/api/test/id/019a8b3c-0000-7000-8000-000000000000", 200, ""),
        ("/api/test/id/1", 400, "invalid_path"),
        ("/api/test/id/019A8B3C-0000-7000-8000-000000000000", 400, "invalid_path"),
        ("/api/test/number/256", 400, "invalid_path"),
        ("/api/test/number/-1", 400, "invalid_path"),
        ("/api/test/text/a%20%E2%82%AC", 200, ""),
        ("/api/test/text/%ff", 400, "invalid_path"),
        ("/api/test/text/%zz", 400, "invalid_path"),
        ("/api/test/text/%", 400, "invalid_path"),
        ("/api/test/text/a%00b", 400, "invalid_path"),
        ("/%ff", 400, "invalid_path"),
        ("/assets/%c3%28", 400, "invalid_path"),
        ("/api/test/query?limit=5", 200, ""),
        ("/api/test/query?limit=five", 400, "invalid_query"),
        ("/api/test/query", 400, "invalid_query"),
        ("/api/test/query?limit=5&other=1", 400, "invalid_query"),
        ("/api/test/query?limit=5&limit=6", 400, "invalid_query"),
        ("/api/test/query?limit=%ff", 400, "invalid_query"),
    ] {
        let answer = get(house.address, target).await;
        assert_eq!(answer.status, status, "{target}");
        if status != 200 {
            assert_eq!(answer.code(), code, "{target}");
        }
    }
    let long = format!("/api/test/id/{}", "x".repeat(20_000));
    assert_eq!(get(house.address, &long).await.code(), "invalid_path");
}

#[tokio::test]
async fn raw_bytes_in_the_request_line() {
    let house = House::open().await;
    for line in [&b"GET /\xff\xfe HTTP/1.1"[..], b"GET /\x01 HTTP/1.1", b"GET / HTTP/9.9"] {
        let mut bytes = line.to_vec();
        bytes.extend_from_slice(b"\r\nHost: localhost\r\n\r\n");
        let answer = exchange(house.address, &bytes).await;
        assert_eq!(Answer::parse(&answer).status, 400, "{}", String::from_utf8_lossy(line));
    }
}

#[tokio::test]
async fn garbage_instead_of_http() {
    let house = House::open().await;
    let tls_hello = [0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03, b'\n'];
    for bytes in [&tls_hello[..], b"\x00\x00\x00\x00\r\n\r\n", b"hello\r\n\r\n"] {
        let answer = exchange(house.address, bytes).await;
        assert!(answer.is_empty() || Answer::parse(&answer).status == 400);
    }
    assert_eq!(get(house.address, "/healthz").await.status, 200);
}

#[tokio::test]
async fn framing_that_smuggles() {
    let house = House::open().await;
    for headers in [
        "Content-Length: 5\r\nContent-Length: 6\r\n",
        "Content-Length: -1\r\n",
        "Transfer-Encoding: gzip\r\n",
        "Transfer-Encoding: chunked, identity\r\n",
    ] {
        let text = format!(
            "POST /api/test/json HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
             {headers}\r\n",
            house.address
        );
        let answer = Answer::parse(&exchange(house.address, text.as_bytes()).await);
        assert_eq!(answer.status, 400, "{headers}");
    }
}

#[tokio::test]
async fn too_much_of_a_head() {
    let house = House::open().await;
    let start = format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n", house.address);
    let many: String = (0..10_000).map(|number| format!("X-{number}: 1\r\n")).collect();
    let large = format!("X-Large: {}\r\n", "x".repeat(1024 * 1024));
    let target = format!("GET /{} HTTP/1.1\r\nHost: x\r\n\r\n", "x".repeat(1024 * 1024));
    for text in [format!("{start}{many}\r\n"), format!("{start}{large}\r\n"), target] {
        let answer = exchange(house.address, text.as_bytes()).await;
        // The rest of the head is not read, so the refusal may be lost in the reset.
        let status = (!answer.is_empty()).then(|| Answer::parse(&answer).status);
        assert!(matches!(status, None | Some(414 | 431)), "{status:?}");
    }
    let fits: String = (0..98).map(|number| format!("X-{number}: 1\r\n")).collect();
    let text = format!("{start}Connection: close\r\n{fits}\r\n");
    let answer = exchange(house.address, text.as_bytes()).await;
    assert_eq!(Answer::parse(&answer).status, 200, "100 headers are allowed");
    let text = format!("{start}Connection: close\r\n{fits}X-One-More: 1\r\n\r\n");
    let answer = exchange(house.address, text.as_bytes()).await;
    assert_eq!(Answer::parse(&answer).status, 431, "101 are not");
}

#[tokio::test]
async fn a_head_over_the_limit_of_bytes_is_refused_although_it_came_at_once() {
    let house = House::open().await;
    for length in [MAX_HEAD_BYTES, 100_000] {
        let text = format!(
            "GET /healthz HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nX-Large: {}\r\n\r\n",
            house.address,
            "x".repeat(length)
        );
        let answer = exchange(house.address, text.as_bytes()).await;
        // Of a head that comes in parts, the rest is not read; so the refusal may be lost.
        let status = (!answer.is_empty()).then(|| Answer::parse(&answer).status);
        assert!(matches!(status, None | Some(431)), "{status:?}");
    }
}

#[tokio::test]
async fn an_announced_body_over_the_limit_is_refused_before_it_is_sent() {
    let house = House::open().await;
    let mut stream = TcpStream::connect(house.address).await.unwrap();
    let head = format!(
        "POST /api/test/json HTTP/1.1\r\nHost: {}\r\nExpect: 100-continue\r\n\
         Content-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n",
        house.address
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let answer = Answer::parse(&read_to_end(&mut stream).await);
    assert_eq!((answer.status, answer.code().as_str()), (413, "body_too_large"));
    assert_eq!(answer.json()["limit_bytes"], Limits::default().body_bytes);
}

/// Pours a body of 512 MiB; gives how far the client came and the answer it got.
async fn pour(house: &House, headers: &str, part: Vec<u8>) -> (usize, Answer) {
    let mut stream = TcpStream::connect(house.address).await.unwrap();
    let head = format!(
        "POST /api/test/json HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
         {headers}\r\n",
        house.address
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let (mut reader, mut writer) = stream.into_split();
    let pouring = tokio::spawn(async move {
        let mut sent = 0;
        while sent < 512 * 1024 * 1024 && writer.write_all(&part).await.is_ok() {
            sent += part.len();
        }
        sent
    });
    let mut bytes = Vec::new();
    let _ = timeout(PATIENCE, reader.read_to_end(&mut bytes)).await.expect("the server hangs");
    (timeout(PATIENCE, pouring).await.unwrap().unwrap(), Answer::parse(&bytes))
}

/// The limit, what is thrown away after it, and what two socket buffers hold.
const MUCH_LESS_THAN_ALL: usize = 32 * 1024 * 1024;

#[tokio::test]
async fn a_body_over_the_limit_is_refused_and_not_taken_in() {
    let house = House::open().await;
    let zeros = vec![b'0'; 64 * 1024];
    let (sent, answer) = pour(&house, "Content-Length: 536870912\r\n", zeros.clone()).await;
    assert_eq!((answer.status, answer.code().as_str()), (413, "body_too_large"));
    assert!(sent < MUCH_LESS_THAN_ALL, "{sent}");

    let mut chunk = b"10000\r\n".to_vec();
    chunk.extend_from_slice(&zeros);
    chunk.extend_from_slice(b"\r\n");
    let (sent, answer) = pour(&house, "Transfer-Encoding: chunked\r\n", chunk).await;
    assert_eq!((answer.status, answer.code().as_str()), (413, "body_too_large"));
    assert!(sent < MUCH_LESS_THAN_ALL, "{sent}");
}

#[tokio::test]
async fn the_largest_body_is_taken_and_one_byte_more_is_not() {
    let house = House::open().await;
    let frame = r#"{"name":"","count":1}"#.len();
    let largest = Limits::default().body_bytes;
    for (length, status) in [(largest, 200), (largest + 1, 413)] {
        let name = "x".repeat(length - frame);
        let body = format!(r#"{{"name":"{name}","count":1}}"#);
        assert_eq!(body.len(), length);
        let answer = post_json(house.address, "/api/test/json", &body).await;
        assert_eq!(answer.status, status);
    }
}

#[tokio::test]
async fn a_body_that_ends_early_is_the_clients_fault() {
    let house = House::open().await;
    let mut stream = TcpStream::connect(house.address).await.unwrap();
    let head = format!(
        "POST /api/test/json HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
         Transfer-Encoding: chunked\r\n\r\nnothexadecimal\r\n",
        house.address
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let answer = Answer::parse(&read_to_end(&mut stream).await);
    assert_eq!((answer.status, answer.code().as_str()), (400, "body_unreadable"));
}
