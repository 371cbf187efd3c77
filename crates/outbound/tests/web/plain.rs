//! What a call is when all is well.

use std::sync::Arc;
use std::time::Duration;

use mainstay_outbound::web::WebMethod;
use mainstay_outbound::{Web, WebRequest};
use mainstay_testkit::FakeClock;
use url::Url;

use crate::server::{Server, answer, ok};
use crate::{fetch, get, options, web};

#[tokio::test]
async fn an_answer_is_given_as_it_is() {
    let headers = "Content-Type: application/json\r\n";
    let server = Server::saying(answer("200 OK", headers, "[1, 2]")).await;
    let answer = fetch(&web(), get(&server.url("/health?full=1"))).await.unwrap();
    assert_eq!((answer.status, &answer.body[..]), (200, &b"[1, 2]"[..]));
    assert_eq!(answer.content_type(), Some("application/json"));
    let head = &server.heads()[0];
    assert!(head.starts_with("GET /health?full=1 HTTP/1.1\r\n"), "{head}");
    let host = format!("host: 127.0.0.1:{}\r\n", server.port);
    let agent = concat!("user-agent: Mainstay/", env!("CARGO_PKG_VERSION"), "\r\n");
    for line in [host.as_str(), agent, "accept-encoding: gzip\r\n"] {
        assert!(head.contains(line), "{line} {head}");
    }
}

#[tokio::test]
async fn a_status_is_no_failure_of_the_call() {
    for status in
        ["204 No Content", "304 Not Modified", "404 Not Found", "503 Unavailable", "300 Choices"]
    {
        let server =
            Server::saying(format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n")).await;
        let answer = fetch(&web(), get(&server.url("/"))).await.unwrap();
        assert_eq!(answer.status.to_string(), status[..3]);
        assert_eq!(answer.is_success(), status.starts_with('2'));
    }
}

#[tokio::test]
async fn every_framing_of_a_body_is_understood() {
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nwel\r\n1\r\nl\r\n0\r\nT: t\r\n\r\n";
    let until_close = "HTTP/1.1 200 OK\r\n\r\nwell";
    let old = "HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\nwell";
    let late =
        format!("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nx: y\r\n\r\n{}", ok("well"));
    for bytes in [chunked.to_owned(), until_close.to_owned(), old.to_owned(), late, ok("well")] {
        let server = Server::saying_once(bytes.clone()).await;
        let answer = fetch(&web(), get(&server.url("/"))).await;
        assert_eq!(
            answer.unwrap_or_else(|error| panic!("{error} {bytes}")).body,
            "well",
            "{bytes}"
        );
    }
}

#[tokio::test]
async fn a_body_in_many_pieces_is_one_body() {
    let server = Server::start(|mut peer| async move {
        peer.question().await;
        peer.say("HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n").await;
        for _ in 0..300 {
            peer.say([b'x'; 1_000]).await;
            tokio::task::yield_now().await;
        }
    })
    .await;
    let answer = fetch(&web(), get(&server.url("/"))).await.unwrap();
    assert_eq!(answer.body.len(), 300_000);
}

#[tokio::test]
async fn a_packed_body_is_unpacked() {
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write as _;
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(b"well").unwrap();
    let packed = encoder.finish().unwrap();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n",
        packed.len()
    );
    let server = Server::saying([head.as_bytes(), &packed].concat()).await;
    let answer = fetch(&web(), get(&server.url("/"))).await.unwrap();
    assert_eq!(answer.body, "well");
}

#[tokio::test]
async fn a_head_has_no_body() {
    let server = Server::saying("HTTP/1.1 200 OK\r\nContent-Length: 9999999\r\n\r\n").await;
    let (web, request) = (web(), get(&server.url("/")).method(WebMethod::Head));
    for _ in 0..2 {
        let answer = fetch(&web, request.clone()).await.unwrap();
        assert_eq!((answer.status, answer.body.len()), (200, 0));
    }
    assert!(server.heads()[0].starts_with("HEAD / HTTP/1.1\r\n"));
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn the_latency_goes_by_the_given_clock() {
    let clock = Arc::new(FakeClock::new());
    let hand = Arc::clone(&clock);
    let server = Server::start(move |mut peer| {
        let hand = Arc::clone(&hand);
        async move {
            peer.question().await;
            hand.advance(Duration::from_millis(1_234));
            peer.say(ok("well")).await;
        }
    })
    .await;
    let mut options = options();
    options.clock = clock;
    let answer = fetch(&Web::new(&options).unwrap(), get(&server.url("/"))).await.unwrap();
    assert_eq!(answer.latency, Duration::from_millis(1_234));
}

#[tokio::test]
async fn a_prepared_request_is_asked_again_and_again_by_many_at_once() {
    let server = Server::well().await;
    let url = Url::parse(&server.url("/")).unwrap();
    let (web, request) = (web(), WebRequest::get("test", &url).build().unwrap());
    let calls = (0..40).map(|_| {
        let (web, request) = (web.clone(), request.clone());
        tokio::spawn(async move {
            for _ in 0..5 {
                assert_eq!(web.fetch(&request).await.unwrap().body, "well");
            }
        })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await.unwrap();
    }
    assert_eq!(server.heads().len(), 200);
    assert!(server.connections() <= 40, "{}", server.connections());
}
