//! The server goes and comes again: what it had begun goes on, and its agents are its own again.

use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use mainstay_base::SystemClock;
use mainstay_standins::fly::{FlyOptions, FlyServer};
use mainstay_testkit::quiet_port;
use serde_json::json;

use super::elsewhere::fly_variables;
use super::house::{House, NEVER, OFTEN};
use crate::client::send;
use crate::process::{PATIENCE, run_well};

#[test]
fn a_server_that_comes_again_adopts_its_agents_and_their_nets() {
    let mut house = House::new(NEVER);
    let worker = house.ready("process");
    let net = house.loaded("net", &worker);
    let agent = house.agent();
    for signal in ["TERM", "KILL"] {
        house.restart(signal);
        assert_eq!(house.agent(), agent, "it lives on after {signal}");
        let shown = house.operate(&worker, "health-check", "ready");
        assert_eq!(shown["nets"][0]["load_state"], "loaded", "{signal}");
    }
    assert_eq!(house.post(&format!("/api/nets/{net}/unload"), &json!({})).status, 200);
    house.operate(&worker, "stop", "stopped");
    assert!(!agent.is_alive(), "one that was adopted is ended too");
    house.operate(&worker, "start", "ready");
    house.operate(&worker, "destroy", "pending");
    assert_eq!(house.agents(), []);
}

#[test]
fn an_agent_that_died_while_the_server_was_away_is_found_by_the_first_sweep() {
    let mut house = House::new(OFTEN);
    let worker = house.ready("process");
    let net = house.loaded("net", &worker);
    let agent = house.agent();
    house.server.signal("KILL");
    house.server.wait();
    house.kill(&agent);
    house.restart_dead();
    house.until_status(&worker, "error");
    assert_eq!(house.load_state(&net), "unloaded");
}

#[test]
fn a_new_pepper_cuts_agents_off_which_is_told_and_mended_by_a_retry() {
    let mut house = House::new(NEVER);
    let worker = house.ready("process");
    let agent = house.agent();
    house.server.signal("TERM");
    house.server.wait();
    let data = house.folder.path().join("mainstay-data");
    std::fs::remove_file(data.join("token-hash-pepper")).unwrap();
    let told = run_well(house.folder.path(), &["admin", "rotate-pepper"]);
    assert!(told.contains("knows only the former pepper: 1; each will show as error"), "{told}");
    house.restart_dead();
    house.sign_in();
    let shown = house.operate(&worker, "health-check", "error");
    assert!(shown["reason"].as_str().unwrap().contains("refuses our token"), "{shown}");
    assert!(agent.is_alive(), "it is there, and does not know us");
    house.operate(&worker, "retry", "ready");
    assert!(!agent.is_alive(), "and goes when another takes its place");
}

#[test]
fn an_agent_of_before_its_rules_were_changed_is_told_and_mended_by_a_retry() {
    let mut house = House::new(NEVER);
    let worker = house.ready("process");
    let agent = house.agent();
    house.set("MAINSTAY_OUTBOUND_ALLOW", "10.1.0.0/16");
    house.restart("TERM");
    let shown = house.operate(&worker, "health-check", "error");
    let reason = shown["reason"].as_str().unwrap();
    assert!(reason.contains("other rules") && reason.contains("retry"), "{shown}");
    house.operate(&worker, "retry", "ready");
    assert!(!agent.is_alive(), "it called what it may not call any more");
    house.restart("TERM");
    house.operate(&worker, "health-check", "ready");
}

/// A house whose machines come from a stand-in, with more variables.
async fn with_fly(more: &[(&str, &str)]) -> (House, FlyServer) {
    let options = FlyOptions { agent_port: Some(quiet_port()), ..FlyOptions::default() };
    let clock = std::sync::Arc::new(SystemClock::new());
    let fly = FlyServer::start(options.clone(), clock).await.unwrap();
    let variables = fly_variables(&fly, &options);
    let variables = variables.iter().map(|(name, value)| (*name, value.as_str()));
    let variables: Vec<_> = variables.chain(more.iter().copied()).collect();
    (House::with(NEVER, &variables), fly)
}

/// Asks for a machine without waiting for the answer.
fn provision(house: &House, worker: &str) -> JoinHandle<()> {
    let (address, token) = (house.server.address.clone(), house.token.clone());
    let path = format!("/api/workers/{worker}/provision");
    std::thread::spawn(move || {
        let head = format!("POST {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n");
        let _ = send(&address, format!("{head}authorization: Bearer {token}\r\n\r\n").as_bytes());
    })
}

async fn until_asked(fly: &FlyServer) {
    let began = Instant::now();
    while fly.asked().is_empty() {
        assert!(began.elapsed() < PATIENCE, "Fly is not asked");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Kills the server while a create is carried out whose answer never comes.
async fn a_cut_off_provision_goes_on(mut house: House, fly: &FlyServer) {
    let worker = house.worker("fly");
    fly.switch(|switches| switches.silent = true);
    let asking = provision(&house, &worker);
    until_asked(fly).await;
    assert_eq!(house.status(&worker), "provisioning");
    house.server.signal("KILL");
    house.server.wait();
    let _ = asking.join();
    fly.switch(|switches| switches.silent = false);
    house.restart_dead();
    house.until_status(&worker, "ready");
    assert_eq!(fly.machines().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provision_that_was_cut_off_goes_on_and_makes_no_second_machine() {
    let (house, fly) = with_fly(&[]).await;
    a_cut_off_provision_goes_on(house, &fly).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn it_goes_on_long_before_the_lease_of_other_jobs_ends() {
    let (house, fly) = with_fly(&[("MAINSTAY_JOB_LOCK_TTL_SECONDS", "300")]).await;
    a_cut_off_provision_goes_on(house, &fly).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_provisions_keep_nobody_else_waiting() {
    let (house, fly) = with_fly(&[]).await;
    let worker = house.ready("process");
    let net = house.loaded("net", &worker);
    fly.switch(|switches| switches.silent = true);
    // As many as a runner has places for other jobs, and one more.
    let slow = ["a", "b", "c"].map(|name| house.worker_called(name, "fly"));
    let asking: Vec<_> = slow.iter().map(|worker| provision(&house, worker)).collect();
    until_asked(&fly).await;
    for what in ["unload", "load"] {
        let done = house.post(&format!("/api/nets/{net}/{what}"), &json!({}));
        assert_eq!(done.status, 200, "{what}: {}", done.text());
    }
    house.operate(&worker, "health-check", "ready");
    assert!(slow.iter().all(|worker| house.status(worker) == "provisioning"));
    // They are waited for no longer.
    drop(house);
    asking.into_iter().for_each(|one| one.join().unwrap());
}
