//! Agents that lie, hang, or are none, and people who ask for two things at once.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::time::{Duration, Instant};

use mainstay_standins::agent::Manner;
use serde_json::json;

use super::elsewhere::World;
use super::follower::is_worker;
use super::house::{House, NEVER, OFTEN};
use crate::process::PATIENCE;

/// Whoever answers so is not the worker's agent, or might as well not be there.
#[tokio::test(flavor = "multi_thread")]
async fn who_is_no_agent_of_ours_loses_the_worker_and_a_health_check_brings_it_back() {
    let (world, house) = World::of("fly", OFTEN).await;
    let worker = house.ready("fly");
    let agent = world.agent(&worker);
    for manner in [
        Manner::Garbage,
        Manner::Stranger,
        Manner::Huge,
        Manner::HangsUp,
        Manner::BadGateway,
        Manner::Lying(77),
        Manner::Silent,
    ] {
        let net = house.loaded(&format!("{manner:?}"), &worker);
        let follower = house.follow();
        agent.behave(manner);
        let seen = follower.until(|event| is_worker(event, &worker, "error"));
        assert_eq!(seen.len(), 1, "{manner:?}: {seen:#?}");
        assert_eq!(house.load_state(&net), "unloaded", "{manner:?}");
        agent.behave(Manner::Well);
        house.operate(&worker, "health-check", "ready");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_boot_id_means_that_everything_in_memory_is_gone() {
    let (world, house) = World::of("fly", OFTEN).await;
    let worker = house.ready("fly");
    let (one, two) = (house.loaded("one", &worker), house.loaded("two", &worker));
    let follower = house.follow();
    world.agent(&worker).reboot();
    let mut nets = [follower.next(), follower.next()].map(|event| {
        assert_eq!(event["load_state"], "unloaded", "{event}");
        event["net_id"].as_str().unwrap().to_owned()
    });
    nets.sort();
    let mut expected = [one, two];
    expected.sort();
    assert_eq!((nets, house.status(&worker)), (expected, "ready".to_owned()));
}

/// A port that was an agent's is somebody else's now, who says yes to everything.
#[test]
fn somebody_elses_server_on_the_port_is_not_taken_for_the_agent() {
    let house = House::new(NEVER);
    let worker = house.ready("process");
    let net = house.loaded("net", &worker);
    let shown = house.get(&format!("/api/workers/{worker}"));
    let address = shown["url"].as_str().unwrap().strip_prefix("http://").unwrap().to_owned();
    house.kill(&house.agent());
    let listener = take(&address);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4_096]);
            let body = r#"{"status":"ok"}"#;
            let length = body.len();
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n");
            let _ = write!(stream, "{head}connection: close\r\n\r\n{body}");
        }
    });
    let refused = house.post(&format!("/api/nets/{net}/unload"), &json!({}));
    assert_eq!((refused.status, &refused.json()["code"]), (502, &json!("worker_unavailable")));
    house.operate(&worker, "health-check", "error");
    house.operate(&worker, "retry", "ready");
}

/// The last thread of a process that was killed may hold its port for a moment more.
fn take(address: &str) -> TcpListener {
    let began = Instant::now();
    loop {
        match TcpListener::bind(address) {
            Ok(listener) => return listener,
            Err(error) => assert!(began.elapsed() < PATIENCE, "{error}"),
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn destroy_during_provision_calls_it_off() {
    let (world, house) = World::of("fly", NEVER).await;
    let worker = house.worker("fly");
    // The machine is made, and its agent never comes up.
    world.slow_down();
    let (address, token) = (house.server.address.clone(), house.token.clone());
    let path = format!("/api/workers/{worker}/provision");
    let asking = std::thread::spawn(move || {
        let headers = format!("authorization: Bearer {token}\r\n");
        crate::people::post(&address, &path, &headers, &json!({}))
    });
    house.until_status(&worker, "provisioning");
    let busy = house.post(&format!("/api/workers/{worker}/health-check"), &json!({}));
    assert_eq!((busy.status, &busy.json()["code"]), (409, &json!("worker_busy")));
    house.operate(&worker, "destroy", "pending");
    assert_eq!(world.machine(&worker), None);
    let called_off = asking.join().unwrap();
    assert!(called_off.text().contains("called off"), "{}", called_off.text());
    assert_ne!(called_off.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_loads_at_once_one_is_told_that_the_net_is_busy() {
    let (world, house) = World::of("fly", NEVER).await;
    let worker = house.ready("fly");
    let net = house.net("net", &worker);
    let agent = world.agent(&worker);
    agent.behave(Manner::Slow(Duration::from_secs(2)));
    let load = |house: &House| {
        let (address, token) = (house.server.address.clone(), house.token.clone());
        let path = format!("/api/nets/{net}/load");
        std::thread::spawn(move || {
            let headers = format!("authorization: Bearer {token}\r\n");
            crate::people::post(&address, &path, &headers, &json!({})).status
        })
    };
    let mut answers = [load(&house), load(&house)].map(|one| one.join().unwrap());
    answers.sort_unstable();
    assert_eq!(answers, [200, 409]);
    assert_eq!(agent.loaded(), [net]);
}
