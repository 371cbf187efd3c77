//! What answers in a way that can't be understood.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;

use crate::server::{Server, answer, ok};
use crate::{failed, fetch, get, web};

async fn kind_of(said: impl Into<Vec<u8>>) -> (&'static str, String) {
    let server = Server::saying_once(said).await;
    failed(fetch(&web(), get(&server.url("/"))).await)
}

#[tokio::test]
async fn what_is_no_http_is_a_bad_body() {
    for said in [
        "<html>hello from 1991</html>",
        "SSH-2.0-OpenSSH_9.9\r\n",
        "HTTP/0.9 200 OK\r\n\r\nwell",
        "HTTP/3.0 200 OK\r\n\r\nwell",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "HTTP/1.1 2000 OK\r\n\r\n",
        "HTTP/1.1 abc\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon here\r\n\r\n",
        "HTTP/1.1 200 OK\r\nbad name: x\r\n\r\n",
        "HTTP/1.1 200 OK\r\nx: a\0b\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nwell!",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\n",
        "\u{15}\u{3}\u{1}\0\u{2}\u{2}\u{28}",
    ] {
        let (kind, message) = kind_of(said).await;
        assert_eq!(kind, "bad_body", "{said:?} {message}");
        assert!(message.contains("does not speak HTTP/1.1"), "{said:?} {message}");
    }
}

#[tokio::test]
async fn what_ends_before_its_end_is_a_bad_body() {
    for said in [
        "",
        "HTTP/1.1 200",
        "HTTP/1.1 200 OK\r\nContent-Le",
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n123",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\nx",
        "HTTP/1.1 100 Continue\r\n\r\n",
    ] {
        let (kind, message) = kind_of(said).await;
        assert_eq!(kind, "bad_body", "{said:?} {message}");
    }
}

#[tokio::test]
async fn a_connection_that_is_reset_is_a_bad_body() {
    let server = Server::start(|mut peer| async move {
        // What is left unread when a socket is closed resets the connection.
        let mut byte = [0_u8; 1];
        let _ = tokio::io::AsyncReadExt::read(&mut peer.stream, &mut byte).await;
    })
    .await;
    let (kind, message) = failed(fetch(&web(), get(&server.url("/"))).await);
    assert_eq!(kind, "bad_body", "{message}");
    assert!(message.contains("ended before the answer was complete"), "{message}");
}

#[tokio::test]
async fn what_can_not_be_unpacked_is_a_bad_body() {
    for (encoding, told) in [
        ("br", "was not asked for"),
        ("gzip, gzip", "was not asked for"),
        ("gzip", "can't be unpacked"),
    ] {
        let headers = format!("Content-Encoding: {encoding}\r\n");
        let (kind, message) = kind_of(answer("200 OK", &headers, "no gzip at all")).await;
        assert_eq!(kind, "bad_body");
        assert!(message.contains(told), "{message}");
    }
}

#[tokio::test]
async fn what_comes_behind_an_answer_counts_for_nothing() {
    let server = Server::saying(format!("{}HTTP/1.1 500 Injected\r\n\r\n", ok("well"))).await;
    let web = web();
    for _ in 0..3 {
        let answer = fetch(&web, get(&server.url("/"))).await.unwrap();
        assert_eq!((answer.status, &answer.body[..]), (200, &b"well"[..]));
    }
    assert_eq!(server.connections(), 3, "such a connection is not asked on again");
}

#[tokio::test]
async fn an_answer_before_the_question_counts_for_nothing() {
    let (poison, poisoned) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (wanted, given) = (Arc::clone(&poison), Arc::clone(&poisoned));
    let server = Server::start(move |mut peer| {
        let (wanted, given) = (Arc::clone(&wanted), Arc::clone(&given));
        async move {
            peer.question().await;
            peer.say(ok("well")).await;
            if peer.number == 1 {
                wanted.notified().await;
                peer.say(ok("poison")).await;
                given.notify_one();
            }
            peer.until_hung_up().await;
        }
    })
    .await;
    let web = web();
    assert_eq!(fetch(&web, get(&server.url("/"))).await.unwrap().body, "well");
    poison.notify_one();
    poisoned.notified().await;
    // The runtime is told about the socket with its next turn.
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert_eq!(fetch(&web, get(&server.url("/"))).await.unwrap().body, "well");
    assert_eq!(server.connections(), 2);
}

#[tokio::test]
async fn a_switch_of_protocols_is_no_answer_to_read_on() {
    let server =
        Server::saying("HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n").await;
    let web = web();
    for _ in 0..2 {
        let fetched = fetch(&web, get(&server.url("/")).timeout(crate::SHORT)).await;
        if let Ok(answer) = fetched {
            assert!(!answer.is_success(), "{answer:?}");
        }
    }
    assert_eq!(server.connections(), 2);
}
