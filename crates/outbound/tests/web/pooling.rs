//! How many connections there are, and how they end.

use std::sync::Arc;
use std::time::Duration;

use mainstay_outbound::{Web, WebError, WebOptions};
use mainstay_testkit::FakeClock;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusRecorder};
use tokio::sync::Notify;

use crate::server::{Server, ok};
use crate::{PATIENCE, SHORT, failed, fetch, get, options};

fn bounded(connections: usize, idle: usize) -> WebOptions {
    let mut options = options();
    options.max_connections = connections;
    options.max_idle_per_origin = idle;
    options
}

/// Answers all questions of its connections at once, as soon as there are so many.
async fn together(count: usize) -> Server {
    let barrier = Arc::new(tokio::sync::Barrier::new(count));
    Server::start(move |mut peer| {
        let barrier = Arc::clone(&barrier);
        async move {
            while peer.question().await.is_some() {
                barrier.wait().await;
                peer.say(ok("well")).await;
            }
        }
    })
    .await
}

async fn call_at_once(web: &Web, url: &str, count: usize) {
    let calls: Vec<_> = (0..count)
        .map(|_| {
            let (web, url) = (web.clone(), url.to_owned());
            tokio::spawn(async move { fetch(&web, get(&url).timeout(PATIENCE)).await })
        })
        .collect();
    for call in calls {
        assert_eq!(call.await.unwrap().unwrap().body, "well");
    }
}

#[tokio::test]
async fn calls_at_once_have_connections_of_their_own() {
    let server = together(2).await;
    let web = Web::new(&options()).unwrap();
    for _ in 0..3 {
        call_at_once(&web, &server.url("/"), 2).await;
    }
    assert_eq!(server.connections(), 2);
}

#[tokio::test]
async fn only_so_many_are_kept_for_one_origin() {
    let server = together(6).await;
    let web = Web::new(&bounded(100, 2)).unwrap();
    call_at_once(&web, &server.url("/"), 6).await;
    server.open(2).await;
}

#[tokio::test]
async fn nothing_is_kept_where_nothing_may_be() {
    let server = Server::well().await;
    let web = Web::new(&bounded(100, 0)).unwrap();
    for _ in 0..3 {
        call_at_once(&web, &server.url("/"), 1).await;
        server.open(0).await;
    }
    assert_eq!(server.connections(), 3);
}

#[tokio::test]
async fn the_one_that_rested_longest_makes_room() {
    let (one, two, three) = (Server::well().await, Server::well().await, Server::well().await);
    let web = Web::new(&bounded(2, 8)).unwrap();
    for server in [&one, &two, &one, &three] {
        call_at_once(&web, &server.url("/"), 1).await;
    }
    for (server, open) in [(&one, 1), (&two, 0), (&three, 1)] {
        server.open(open).await;
    }
}

#[tokio::test]
async fn more_calls_than_connections_wait_their_turn() {
    let server = Server::start(|mut peer| async move {
        while peer.question().await.is_some() {
            tokio::time::sleep(Duration::from_millis(2)).await;
            peer.say(ok("well")).await;
        }
    })
    .await;
    let other = Server::well().await;
    let web = Web::new(&bounded(3, 8)).unwrap();
    let (url, other_url) = (server.url("/"), other.url("/"));
    tokio::join!(call_at_once(&web, &url, 30), call_at_once(&web, &other_url, 30));
    server.open(0).await;
}

#[tokio::test]
async fn a_call_that_finds_no_place_in_time_says_so() {
    let hanging = Server::start(|mut peer| async move { peer.until_hung_up().await }).await;
    let web = Web::new(&bounded(1, 8)).unwrap();
    let (busy, url) = (web.clone(), hanging.url("/"));
    let busy = tokio::spawn(async move { fetch(&busy, get(&url)).await });
    hanging.open(1).await;
    let well = Server::well().await;
    let (kind, message) = failed(fetch(&web, get(&well.url("/")).timeout(SHORT)).await);
    assert_eq!((kind, well.connections()), ("timeout", 0));
    assert!(message.contains("no connection came free"), "{message}");
    busy.abort();
    hanging.open(0).await;
    call_at_once(&web, &well.url("/"), 1).await;
}

#[tokio::test]
async fn connections_end_with_the_last_clone() {
    let server = Server::well().await;
    let web = Web::new(&options()).unwrap();
    let clone = web.clone();
    call_at_once(&web, &server.url("/"), 1).await;
    drop(web);
    call_at_once(&clone, &server.url("/"), 1).await;
    server.open(1).await;
    drop(clone);
    server.open(0).await;
}

/// How many connections rest, as the metrics tell.
fn resting(recorder: &PrometheusRecorder) -> Option<String> {
    let told = recorder.handle().render();
    let line = told.lines().find(|line| line.contains("connections{state=\"idle\"}"))?;
    line.split(' ').next_back().map(str::to_owned)
}

/// Lets the sweeper sweep until so many connections rest.
async fn sweep_down_to(recorder: &PrometheusRecorder, count: &str) {
    for _ in 0..1_000 {
        if resting(recorder).as_deref() == Some(count) {
            return;
        }
        tokio::time::advance(Duration::from_secs(11)).await;
    }
    panic!("{:?} connections rest, not {count}", resting(recorder));
}

/// The runtime's clock is moved only while no call is under way: the one that sweeps goes by it.
#[tokio::test]
async fn what_rests_too_long_or_was_ended_is_swept() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let _recording = metrics::set_default_local_recorder(&recorder);
    let clock = Arc::new(FakeClock::new());
    let mut options = options();
    options.clock = Arc::clone(&clock) as _;
    let web = Web::new(&options).unwrap();
    let leave = Arc::new(Notify::new());
    let told = Arc::clone(&leave);
    let leaving = Server::start(move |mut peer| {
        let told = Arc::clone(&told);
        async move {
            peer.question().await;
            peer.say(ok("well")).await;
            told.notified().await;
        }
    })
    .await;
    let server = Server::well().await;
    for server in [&server, &leaving] {
        fetch(&web, get(&server.url("/"))).await.unwrap();
    }
    assert_eq!(resting(&recorder).as_deref(), Some("2"));
    leave.notify_one();
    leaving.open(0).await;
    tokio::time::pause();
    // By the clock of ages no time has passed: only the one that was ended can go.
    sweep_down_to(&recorder, "1").await;
    server.open(1).await;
    clock.advance(Duration::from_secs(91));
    sweep_down_to(&recorder, "0").await;
    server.open(0).await;
}

#[tokio::test]
async fn a_bound_of_zero_is_refused() {
    assert!(matches!(Web::new(&bounded(0, 1)), Err(WebError::ZeroBound("max_connections"))));
}

#[test]
fn outside_of_the_runtime_nothing_starts() {
    assert!(matches!(Web::new(&options()), Err(WebError::NoRuntime)));
}
