//! Fly Machines.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::Secret;
use mainstay_outbound::WebRequest;
use mainstay_standins::fly::{FlyOptions, FlyServer};
use mainstay_testkit::FakeClock;
use serde_json::{Value, json};

use crate::Client;

const MACHINES: &str = "/v1/apps/standin/machines";

async fn house(options: FlyOptions) -> (Arc<FakeClock>, FlyServer, Client) {
    let clock = Arc::new(FakeClock::new());
    let server = FlyServer::start(options, Arc::clone(&clock) as _).await.unwrap();
    let client = Client::new(server.base_url(), "fly-standin-token");
    (clock, server, client)
}

async fn made(client: &Client, name: &str) -> String {
    let config =
        json!({ "image": "x", "metadata": { "who": name }, "restart": { "policy": "no" } });
    let (status, machine) = client.post(MACHINES, &json!({ "name": name, "config": config })).await;
    assert_eq!((status, &machine["state"]), (200, &json!("created")));
    machine["id"].as_str().unwrap().to_owned()
}

async fn state(client: &Client, id: &str) -> Value {
    client.get(&format!("{MACHINES}/{id}")).await.1["state"].clone()
}

#[tokio::test]
async fn only_who_has_the_token_is_answered() {
    let (_, server, _) = house(FlyOptions::default()).await;
    let stranger = Client::new(server.base_url(), "wrong");
    let (status, body) = stranger.get(MACHINES).await;
    assert_eq!((status, body), (401, json!({ "error": "Authenticate: token validation error" })));
}

#[tokio::test]
async fn a_machine_comes_up_while_it_is_read_and_says_what_fly_says() {
    let (_, _server, client) = house(FlyOptions::default()).await;
    let id = made(&client, "a").await;
    assert_eq!(state(&client, &id).await, "created");
    assert_eq!(state(&client, &id).await, "created");
    let (_, machine) = client.get(&format!("{MACHINES}/{id}")).await;
    assert_eq!(machine["state"], "started");
    for field in ["name", "region", "instance_id", "private_ip", "created_at", "config", "events"] {
        assert!(!machine[field].is_null(), "{field}: {machine}");
    }
    assert_eq!(machine["host_status"], "ok");
    let answer = client.answer(WebRequest::get("test", &client.url(MACHINES))).await;
    assert!(answer.request_id().unwrap().starts_with("01STANDIN-"));
}

#[tokio::test]
async fn who_asks_too_often_is_told_so_in_plain_text() {
    let (clock, server, client) = house(FlyOptions::default()).await;
    let id = made(&client, "a").await;
    let stop = format!("{MACHINES}/{id}/stop");
    for _ in 0..3 {
        assert_ne!(client.post(&stop, &json!({})).await.0, 429);
    }
    let (status, body) = client.post(&stop, &json!({})).await;
    assert!(status == 429 && body.as_str().unwrap().contains("rate limit"), "{body}");
    clock.advance(Duration::from_secs(1));
    assert_eq!(client.post(&stop, &json!({})).await.0, 412, "it is on its way up");
    for _ in 0..10 {
        assert_eq!(client.get(&format!("{MACHINES}/{id}")).await.0, 200);
    }
    assert_eq!(client.get(&format!("{MACHINES}/{id}")).await.0, 429);
    server.switch(|switches| switches.retry_after = Some(3));
    let limited = client.answer(WebRequest::get("test", &client.url(&format!("{MACHINES}/{id}"))));
    assert_eq!(limited.await.retry_after(), Some(Duration::from_secs(3)));
}

fn unlimited() -> FlyOptions {
    FlyOptions { is_limited: false, ..FlyOptions::default() }
}

#[tokio::test]
async fn a_stop_is_asynchronous_and_lingers() {
    let (_, _server, client) = house(unlimited()).await;
    let id = made(&client, "a").await;
    for _ in 0..3 {
        state(&client, &id).await;
    }
    let (status, body) = client.post(&format!("{MACHINES}/{id}/stop"), &json!({})).await;
    assert_eq!((status, body), (200, json!({ "ok": true })));
    assert_eq!(state(&client, &id).await, "stopping");
    assert_eq!(state(&client, &id).await, "stopping");
    assert_eq!(state(&client, &id).await, "stopped");
    let start = format!("{MACHINES}/{id}/start");
    for _ in 0..2 {
        let (status, body) = client.post(&start, &json!({})).await;
        let message = "failed_precondition: machine still active, refusing to start";
        assert_eq!((status, body), (412, json!({ "error": message })));
    }
    let (status, body) = client.post(&start, &json!({})).await;
    assert_eq!((status, body), (200, json!({ "previous_state": "stopped" })));
}

#[tokio::test]
async fn waiting_blocks_runs_out_and_wants_the_instance_for_stopped() {
    let (_, _server, client) = house(unlimited()).await;
    let id = made(&client, "a").await;
    let wait = format!("{MACHINES}/{id}/wait");
    assert_eq!(
        client.get(&format!("{wait}?state=started&timeout=10")).await,
        (200, json!({ "ok": true }))
    );
    assert_eq!(client.get(&format!("{wait}?state=stopped&timeout=1")).await.0, 400);
    let instance = client.get(&format!("{MACHINES}/{id}")).await.1["instance_id"].clone();
    let instance = instance.as_str().unwrap();
    let (status, _) =
        client.get(&format!("{wait}?state=stopped&timeout=1&instance_id={instance}")).await;
    assert_eq!(status, 408);
}

#[tokio::test]
async fn a_lease_keeps_others_out_until_it_ends() {
    let (clock, _server, client) = house(unlimited()).await;
    let id = made(&client, "a").await;
    let lease = format!("{MACHINES}/{id}/lease");
    assert_eq!(client.get(&lease).await.0, 404);
    let (status, body) = client.post(&format!("{lease}?ttl=30"), &json!({})).await;
    assert_eq!((status, &body["status"]), (201, &json!("success")));
    let nonce = body["data"]["nonce"].as_str().unwrap().to_owned();
    let (status, held) = client.post(&format!("{lease}?ttl=30"), &json!({})).await;
    assert_eq!((status, &held["status"]), (409, &json!("error")));
    assert!(held["message"].as_str().unwrap().contains("lease currently held by"), "{held}");
    assert_eq!(client.delete(&format!("{MACHINES}/{id}?force=true")).await.0, 409);
    let mine = WebRequest::post("test", &client.url(&format!("{lease}?ttl=60")), "");
    let mine = mine.header("fly-machine-lease-nonce", Secret::new(nonce.clone()));
    assert_eq!(client.ask(mine).await.1["data"]["nonce"], nonce);
    clock.advance(Duration::from_secs(61));
    assert_eq!(client.delete(&format!("{MACHINES}/{id}?force=true")).await.0, 200);
}

#[tokio::test]
async fn lists_are_filtered_and_may_lie_while_the_machine_itself_is_there() {
    let (_, server, client) = house(unlimited()).await;
    let (a, _b) = (made(&client, "a").await, made(&client, "b").await);
    let listed = client.get(&format!("{MACHINES}?metadata.who=a")).await.1;
    assert_eq!((listed.as_array().unwrap().len(), &listed[0]["id"]), (1, &json!(a)));
    server.switch(|switches| switches.omitted = Some(a.clone()));
    assert_eq!(client.get(MACHINES).await.1.as_array().unwrap().len(), 1);
    server.switch(|switches| switches.empty_lists = true);
    assert_eq!(client.get(MACHINES).await.1, json!([]));
    assert_eq!(client.get(&format!("{MACHINES}/{a}")).await.0, 200);
    assert_eq!(
        client.get(&format!("{MACHINES}/none")).await,
        (404, json!({ "error": "machine not found" }))
    );
}

#[tokio::test]
async fn what_is_destroyed_lingers_and_is_listed_only_with_the_deleted() {
    let (_, _server, client) = house(unlimited()).await;
    let id = made(&client, "a").await;
    assert_eq!(client.delete(&format!("{MACHINES}/{id}")).await.0, 412);
    assert_eq!(
        client.delete(&format!("{MACHINES}/{id}?force=true")).await.1,
        json!({ "ok": true })
    );
    assert_eq!(state(&client, &id).await, "destroying");
    assert_eq!(state(&client, &id).await, "destroying");
    assert_eq!(state(&client, &id).await, "destroyed");
    assert_eq!(client.get(MACHINES).await.1, json!([]));
    let deleted = client.get(&format!("{MACHINES}?include_deleted=true")).await.1;
    assert_eq!(deleted.as_array().unwrap().len(), 1);
    assert_eq!(client.delete(&format!("{MACHINES}/{id}?force=true")).await.0, 404);
}

#[tokio::test]
async fn what_goes_wrong_with_a_create_is_told_in_flys_words() {
    let (_, server, client) = house(unlimited()).await;
    let body = json!({ "name": "a", "config": { "image": "x" } });
    server.switch(|switches| (switches.creates_dropped, switches.creates_lost) = (1, 1));
    assert_eq!(client.post(MACHINES, &body).await.0, 408);
    assert_eq!(server.machines().len(), 0);
    assert_eq!(client.post(MACHINES, &body).await.0, 408);
    assert_eq!(server.machines().len(), 1);
    let (status, taken) = client.post(MACHINES, &body).await;
    assert_eq!((status, &taken["status"]), (409, &json!("name_taken")));
    server.switch(|switches| switches.no_capacity = true);
    let (status, full) = client.post(MACHINES, &body).await;
    assert_eq!((status, &full["status"]), (412, &json!("insufficient_capacity")));
    assert_eq!(client.post(MACHINES, &json!({ "config": {} })).await.0, 422);
}

#[tokio::test]
async fn a_host_out_of_reach_can_be_read_and_nothing_can_be_done_but_mark_its_end() {
    let (_, server, client) = house(unlimited()).await;
    let id = made(&client, "a").await;
    server.switch(|switches| switches.unreachable.push(id.clone()));
    let (_, machine) = client.get(&format!("{MACHINES}/{id}")).await;
    assert_eq!(machine["host_status"], "unreachable");
    assert!(machine.get("config").is_none() && machine.get("incomplete_config").is_some());
    assert_eq!(client.post(&format!("{MACHINES}/{id}/stop"), &json!({})).await.0, 503);
    assert_eq!(client.delete(&format!("{MACHINES}/{id}?force=true")).await.0, 200);
    for _ in 0..5 {
        assert_eq!(state(&client, &id).await, "destroying");
    }
}

#[tokio::test]
async fn a_version_that_is_not_the_present_one_is_refused() {
    let (_, _server, client) = house(unlimited()).await;
    let id = made(&client, "a").await;
    let update = |version: &str| json!({ "config": { "image": "y" }, "current_version": version });
    let path = format!("{MACHINES}/{id}");
    assert_eq!(client.post(&path, &update("old")).await.0, 409);
    let instance = client.get(&path).await.1["instance_id"].clone();
    let (status, updated) = client.post(&path, &update(instance.as_str().unwrap())).await;
    assert_eq!(status, 200);
    assert_ne!(updated["instance_id"], instance);
}

#[tokio::test]
async fn a_crash_leaves_an_event_that_nobody_asked_for() {
    let (_, server, client) = house(unlimited()).await;
    let id = made(&client, "a").await;
    server.crash(&id, true).await;
    let (_, machine) = client.get(&format!("{MACHINES}/{id}")).await;
    assert_eq!(machine["state"], "stopped");
    let exit = &machine["events"][0]["request"]["exit_event"];
    assert_eq!((&exit["requested_stop"], &exit["oom_killed"]), (&json!(false), &json!(true)));
}
