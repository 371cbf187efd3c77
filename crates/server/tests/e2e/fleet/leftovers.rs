//! What providers hide: machines that no list shows, and sprites that sleep.

use std::sync::Arc;
use std::thread::{JoinHandle, sleep};
use std::time::{Duration, Instant};

use mainstay_standins::sprites::{SpriteOptions, SpriteServer};
use mainstay_testkit::FakeClock;
use serde_json::{Value, json};

use super::elsewhere::World;
use super::house::{House, OFTEN};
use crate::client::send;
use crate::people::post;
use crate::process::PATIENCE;

fn until(what: &str, holds: impl Fn() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE, "{what}");
        sleep(Duration::from_millis(50));
    }
}

/// Asks without waiting for the answer.
fn ask_aside(house: &House, path: String) -> JoinHandle<()> {
    let (address, token) = (house.server.address.clone(), house.token.clone());
    std::thread::spawn(move || {
        let head = format!("POST {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n");
        let text = format!("{head}authorization: Bearer {token}\r\ncontent-length: 0\r\n\r\n");
        let _ = send(&address, text.as_bytes());
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_that_was_called_off_while_lists_lie_is_ended_when_they_do_not() {
    let (world, house) = World::of("fly", OFTEN).await;
    let World::Fly(fly) = &world else { panic!("it is Fly") };
    let worker = house.worker("fly");
    fly.switch(|switches| {
        switches.empty_lists = true;
        // A list has 4 s.
        switches.slow = Some(Duration::from_secs(3));
    });
    let making = ask_aside(&house, format!("/api/workers/{worker}/provision"));
    until("it is made at once, and answered later", || world.machine(&worker).is_some());
    let ended = house.post(&format!("/api/workers/{worker}/destroy"), &json!({}));
    assert!(matches!(ended.status, 200 | 202), "{}", ended.text());
    house.until_status(&worker, "pending");
    making.join().unwrap();
    assert!(world.machine(&worker).is_some(), "nobody could know of it");
    fly.switch(|switches| (switches.empty_lists, switches.slow) = (false, None));
    until("the loop ends it", || world.machine(&worker).is_none());
    house.operate(&worker, "provision", "ready");
}

#[tokio::test(flavor = "multi_thread")]
async fn sprites_that_sleep_go_cold_or_come_back_as_others_are_told_apart_by_the_loop() {
    let clock = Arc::new(FakeClock::new());
    let options = SpriteOptions::default();
    let sprites = SpriteServer::start(options.clone(), Arc::clone(&clock) as _).await.unwrap();
    let base = sprites.base_url();
    let variables = [("SPRITES_TOKEN", options.token.as_str()), ("SPRITES_API_URL", &base)];
    let house = House::with(OFTEN, &variables);
    let worker = house.ready("sprite");
    let net = house.loaded("net", &worker);
    let shown = || house.get(&format!("/api/workers/{worker}"));
    let name = (1..50)
        .map(|generation| format!("mainstay-{}-{generation}", worker.replace('-', "")))
        .find(|name| sprites.sprite(name).is_some())
        .unwrap();
    let wakes = || sprites.sprite(&name).unwrap().0.wakes();
    let before = wakes();
    clock.advance(Duration::from_secs(31));
    until("it sleeps", || shown()["provider_state"] == "warm");
    assert_eq!(
        (house.status(&worker).as_str(), house.load_state(&net).as_str()),
        ("ready", "loaded")
    );
    clock.advance(Duration::from_secs(3_600));
    until("it is cold", || shown()["provider_state"] == "cold");
    assert_eq!(
        (house.status(&worker).as_str(), house.load_state(&net).as_str()),
        ("ready", "unloaded")
    );
    assert_eq!(wakes(), before, "the loop wakes nobody");
    sprites.remove(&name);
    let headers = format!("authorization: Bearer {}\r\n", options.token);
    let address = base.trim_start_matches("http://").trim_end_matches('/');
    let made = post(address, "/v1/sprites", &headers, &json!({"name": name}));
    assert_eq!(made.status, 201, "{}", made.text());
    house.until_status(&worker, "error");
    let reason: Value = shown()["reason"].clone();
    assert!(reason.as_str().unwrap().contains("another sprite"), "{reason}");
}
