//! A stop lets requests finish, and waits for nothing else.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::house::{House, Plan};
use super::raw::{PATIENCE, get, read_to_end};
use crate::{Drained, Limits};

#[tokio::test]
async fn a_request_in_flight_is_answered() {
    let house = House::open().await;
    let (address, world) = (house.address, Arc::clone(&house.world));
    let asking = tokio::spawn(async move { get(address, "/api/test/held").await });
    world.waiting.notified().await;
    let closing = house.begin_to_close();
    // The listener goes at once, so a new client is refused while the old one is served.
    timeout(PATIENCE, async {
        while TcpStream::connect(address).await.is_ok() {
            tokio::task::yield_now().await;
        }
    })
    .await
    .expect("still listening");
    world.go.notify_one();
    assert_eq!(asking.await.unwrap().status, 200);
    assert_eq!(closing.await.unwrap(), Drained { open: 1, cut: 0 });
}

#[tokio::test]
async fn a_stuck_request_is_cut_after_the_grace() {
    let grace = Duration::from_millis(100);
    let house = House::build(Plan { grace, ..Plan::default() }).await;
    let mut stuck = TcpStream::connect(house.address).await.unwrap();
    let request = format!("GET /api/test/held HTTP/1.1\r\nHost: {}\r\n\r\n", house.address);
    stuck.write_all(request.as_bytes()).await.unwrap();
    house.world.waiting.notified().await;
    let drained = timeout(PATIENCE, house.close()).await.unwrap();
    assert_eq!(drained, Drained { open: 1, cut: 1 });
    assert!(read_to_end(&mut stuck).await.is_empty());
}

#[tokio::test]
async fn idle_and_silent_connections_do_not_hold_it_up() {
    let limits = Limits { head_time: PATIENCE * 2, ..Limits::default() };
    let house = House::build(Plan { limits, grace: PATIENCE * 2, ..Plan::default() }).await;
    let mut silent = TcpStream::connect(house.address).await.unwrap();
    let mut half = TcpStream::connect(house.address).await.unwrap();
    half.write_all(b"GET /heal").await.unwrap();
    let mut idle = TcpStream::connect(house.address).await.unwrap();
    let request = format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n", house.address);
    idle.write_all(request.as_bytes()).await.unwrap();
    assert!(idle.read(&mut [0_u8; 4096]).await.unwrap() > 0);
    let drained = timeout(PATIENCE, house.close()).await.expect("it waits for the idle");
    assert_eq!(drained.cut, 0);
    for stream in [&mut silent, &mut half, &mut idle] {
        assert!(read_to_end(stream).await.is_empty());
    }
}
