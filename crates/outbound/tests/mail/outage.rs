//! A server that hangs, or is not there at all.

use std::time::Duration;

use mainstay_outbound::mail::queue::MAX_QUEUED;
use mainstay_outbound::{Mail, MailError};
use tokio::net::TcpListener;

use crate::server::Server;
use crate::{PATIENCE, config, start};

/// A port of loopback on which nobody listens.
async fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    format!("smtp://{}", listener.local_addr().unwrap())
}

#[tokio::test]
async fn a_server_that_hangs_costs_its_time_and_nobody_waits_for_it() {
    let server = Server::start(&["--hang"]).await;
    let mut config = config(&server.address());
    config.pace.attempt_timeout = Duration::from_secs(1);
    config.pace.tries = 2;
    let post = start(&config);
    post.send("ada@example.com");
    post.until_empty().await;
    let told = server.rest().await;
    assert!((1..=2).contains(&told.len()), "{told:?}");
    assert!(told.iter().all(|told| told["event"] == "recipient"), "{told:?}");
}

#[tokio::test]
async fn a_server_that_is_not_there_fills_the_queue_and_no_more() {
    let mut config = config(&nobody().await);
    config.pace.open_for = Duration::from_secs(60);
    let post = start(&config);
    let mail = Mail::new("ada@example.com", "Hello", "text").unwrap();
    let taken = (0..2 * MAX_QUEUED).filter(|_| post.mailer.send(mail.clone()).is_ok()).count();
    assert_eq!(taken, MAX_QUEUED);
    // The breaker is open long before each of them was tried: they wait for it together.
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(post.mailer.send(mail), Err(MailError::Full));
    assert_eq!(post.mailer.queued(), MAX_QUEUED);
    let mailer = post.mailer.clone();
    let stopped = tokio::time::timeout(PATIENCE, post.stopped());
    stopped.await.expect("an open breaker holds up no stop");
    assert_eq!(mailer.queued(), 0);
}

#[tokio::test]
async fn a_server_that_comes_back_gets_what_waited() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let mut config = config(&format!("smtp://{address}"));
    config.pace.tries = 100;
    let post = start(&config);
    for number in 0..5 {
        post.send(&format!("ada{number}@example.com"));
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(post.mailer.queued(), 5);
    let port = address.port().to_string();
    let server = Server::start(&["--port", &port]).await;
    post.until_empty().await;
    let told = server.rest().await;
    assert_eq!(told.iter().filter(|told| told["event"] == "mail").count(), 5, "{told:?}");
}
