//! When a connection is asked on again, and when it is not.

use std::sync::Arc;
use std::time::Duration;

use mainstay_outbound::{Web, WebOptions};
use mainstay_testkit::FakeClock;

use crate::server::{Server, answer, ok};
use crate::{SHORT, failed, fetch, get, options, web};

async fn well(web: &Web, server: &Server) {
    assert_eq!(fetch(web, get(&server.url("/"))).await.unwrap().body, "well");
}

fn timed() -> (WebOptions, Arc<FakeClock>) {
    let clock = Arc::new(FakeClock::new());
    let mut options = options();
    options.clock = Arc::clone(&clock) as _;
    (options, clock)
}

#[tokio::test]
async fn a_connection_is_asked_on_again() {
    let (server, web) = (Server::well().await, web());
    for _ in 0..5 {
        well(&web, &server).await;
    }
    assert_eq!((server.connections(), server.heads().len()), (1, 5));
}

#[tokio::test]
async fn a_server_that_says_close_is_taken_at_its_word() {
    for said in [
        answer("200 OK", "Connection: close\r\n", "well"),
        "HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\nwell".to_owned(),
    ] {
        let (server, web) = (Server::saying(said).await, web());
        well(&web, &server).await;
        server.open(0).await;
        well(&web, &server).await;
        assert_eq!(server.connections(), 2);
    }
}

#[tokio::test]
async fn a_connection_that_died_in_its_rest_is_replaced_unseen() {
    let server = Server::start(|mut peer| async move {
        peer.question().await;
        peer.say(ok("well")).await;
    })
    .await;
    let web = web();
    for _ in 0..3 {
        well(&web, &server).await;
        server.open(0).await;
    }
    assert_eq!((server.connections(), server.heads().len()), (3, 3));
}

#[tokio::test]
async fn a_connection_that_dies_of_the_question_is_replaced_once() {
    // Hangs up only when the second question is there, as a server does that is restarted.
    let server = Server::start(|mut peer| async move {
        peer.question().await;
        peer.say(ok("well")).await;
        peer.question().await;
    })
    .await;
    let web = web();
    well(&web, &server).await;
    well(&web, &server).await;
    assert_eq!((server.connections(), server.heads().len()), (2, 3));
}

#[tokio::test]
async fn a_fresh_connection_that_dies_is_not_tried_again() {
    let server = Server::start(|mut peer| async move {
        if peer.question().await.is_some() && peer.number == 1 {
            peer.say(ok("well")).await;
            peer.question().await;
        }
    })
    .await;
    let web = web();
    well(&web, &server).await;
    assert_eq!(failed(fetch(&web, get(&server.url("/"))).await).0, "bad_body");
    assert_eq!(server.connections(), 2);
}

#[tokio::test]
async fn a_question_that_was_answered_in_part_is_not_asked_again() {
    let server = Server::start(|mut peer| async move {
        peer.question().await;
        peer.say(ok("well")).await;
        peer.question().await;
        peer.say("HTTP/1.1 2").await;
    })
    .await;
    let web = web();
    well(&web, &server).await;
    assert_eq!(failed(fetch(&web, get(&server.url("/"))).await).0, "bad_body");
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn a_connection_grows_only_so_old() {
    let (options, clock) = timed();
    let (server, web) = (Server::well().await, Web::new(&options).unwrap());
    for _ in 0..5 {
        well(&web, &server).await;
        clock.advance(Duration::from_secs(60));
    }
    assert_eq!(server.connections(), 1);
    clock.advance(Duration::from_secs(1));
    well(&web, &server).await;
    assert_eq!(server.connections(), 2);
    server.open(1).await;
}

#[tokio::test]
async fn a_connection_rests_only_so_long() {
    let (options, clock) = timed();
    let (server, web) = (Server::well().await, Web::new(&options).unwrap());
    well(&web, &server).await;
    clock.advance(Duration::from_secs(90));
    well(&web, &server).await;
    assert_eq!(server.connections(), 1);
    clock.advance(Duration::from_secs(91));
    well(&web, &server).await;
    assert_eq!(server.connections(), 2);
}

#[tokio::test]
async fn a_body_that_was_not_read_to_its_end_ends_the_connection() {
    let (server, web) = (Server::saying(ok(&"x".repeat(5_000))).await, web());
    assert_eq!(failed(fetch(&web, get(&server.url("/")).max_body(100)).await).0, "too_large");
    server.open(0).await;
    assert!(fetch(&web, get(&server.url("/"))).await.is_ok());
    assert_eq!(server.connections(), 2);
}

#[tokio::test]
async fn a_call_that_ran_out_of_time_ends_its_connection() {
    let server = Server::start(|mut peer| async move {
        peer.question().await;
        peer.say(ok("well")).await;
        peer.until_hung_up().await;
    })
    .await;
    let web = web();
    well(&web, &server).await;
    let (kind, _) = failed(fetch(&web, get(&server.url("/")).timeout(SHORT)).await);
    assert_eq!(kind, "timeout");
    server.open(0).await;
}

#[tokio::test]
async fn connections_are_not_shared_between_origins() {
    let (server, web) = (Server::well().await, web());
    for host in ["127.0.0.1", "one.example", "two.example", "ONE.example", "one.example."] {
        let url = format!("http://{host}:{}/", server.port);
        assert_eq!(fetch(&web, get(&url)).await.unwrap().body, "well");
    }
    assert_eq!(server.connections(), 4);
}
