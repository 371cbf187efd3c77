//! A server that hangs, or is not there at all.

use std::time::Duration;

use mainstay_outbound::SendError;
use mainstay_outbound::mail::config::FAILURES_TO_OPEN;
use mainstay_testkit::{ClosedPort, quiet_port};

use crate::server::Server;
use crate::{Post, config, reason, start};

/// Tries until the server is left alone.
async fn fail_until_open(post: &Post) {
    for _ in 0..FAILURES_TO_OPEN {
        assert_eq!(reason(post.send("ada@example.com").await), "unreachable");
    }
}

#[tokio::test]
async fn a_server_that_hangs_costs_its_time_and_no_more() {
    let server = Server::start(&["--hang"]).await;
    let mut config = config(&server.address());
    config.pace.attempt_timeout = Duration::from_secs(1);
    assert_eq!(reason(start(&config).send("ada@example.com").await), "timeout");
    let told = server.rest().await;
    assert!(told.len() <= 1, "{told:?}");
    assert!(told.iter().all(|told| told["event"] == "recipient"), "{told:?}");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_left_alone_by_every_clone() {
    let nobody = ClosedPort::new();
    let mut config = config(&format!("smtp://{}", nobody.address()));
    config.pace.open_for = Duration::from_secs(60);
    let post = start(&config);
    fail_until_open(&post).await;
    let clone = Post { mailer: post.mailer.clone(), ..post };
    match clone.send("ada@example.com").await {
        Err(SendError::LeftAlone { retry_after }) => {
            assert!(retry_after <= Duration::from_secs(60), "{retry_after:?}");
            assert!(retry_after > Duration::from_secs(30), "{retry_after:?}");
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_server_that_comes_back_gets_the_mail() {
    let port = quiet_port();
    let post = start(&config(&format!("smtp://127.0.0.1:{port}")));
    fail_until_open(&post).await;
    let server = Server::start(&["--port", &port.to_string()]).await;
    loop {
        match post.send("ada@example.com").await {
            Err(SendError::LeftAlone { retry_after }) => tokio::time::sleep(retry_after).await,
            sent => break sent.unwrap(),
        }
    }
    let told = server.rest().await;
    assert_eq!(told.iter().filter(|told| told["event"] == "mail").count(), 1, "{told:?}");
}
