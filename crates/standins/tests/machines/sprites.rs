//! Sprites.

use std::sync::Arc;
use std::time::Duration;

use mainstay_outbound::WebRequest;
use mainstay_standins::sprites::{SpriteOptions, SpriteServer, Status};
use mainstay_testkit::FakeClock;
use serde_json::{Value, json};

use crate::Client;

async fn house() -> (Arc<FakeClock>, SpriteServer, Client) {
    let clock = Arc::new(FakeClock::new());
    let options = SpriteOptions::default();
    let server = SpriteServer::start(options, Arc::clone(&clock) as _).await.unwrap();
    let client = Client::new(server.base_url(), "sprites-standin-token");
    (clock, server, client)
}

async fn made(client: &Client, name: &str) -> Value {
    let body = json!({ "name": name, "url_settings": { "auth": "public" } });
    let (status, sprite) = client.post("/v1/sprites", &body).await;
    assert_eq!(status, 201, "{sprite}");
    sprite
}

fn agent() -> Value {
    json!({ "cmd": "sh", "args": ["-c", "", "sh", "token", "worker", "1"], "http_port": 8080 })
}

#[tokio::test]
async fn only_who_has_the_token_is_answered() {
    let (_, server, _) = house().await;
    assert_eq!(Client::new(server.base_url(), "x").get("/v1/sprites").await.0, 401);
}

#[tokio::test]
async fn a_sprite_is_made_read_and_removed_by_its_name() {
    let (_, _server, client) = house().await;
    let sprite = made(&client, "a").await;
    for field in ["id", "name", "organization", "url", "url_settings", "status", "created_at"] {
        assert!(!sprite[field].is_null(), "{field}: {sprite}");
    }
    let (status, taken) = client.post("/v1/sprites", &json!({ "name": "a" })).await;
    assert!(status == 400 && taken["message"].as_str().unwrap().contains("already exists"));
    assert_eq!(client.get("/v1/sprites/a").await.1["id"], sprite["id"]);
    assert_eq!(client.delete("/v1/sprites/a").await.0, 204);
    assert_eq!(client.get("/v1/sprites/a").await.0, 404);
    assert_eq!(client.delete("/v1/sprites/a").await.0, 404);
    assert_ne!(made(&client, "a").await["id"], sprite["id"], "the name comes back, the id never");
}

#[tokio::test]
async fn lists_come_in_pages() {
    let (_, _server, client) = house().await;
    for number in 0..5 {
        made(&client, &format!("a-{number}")).await;
    }
    made(&client, "other").await;
    let (_, first) = client.get("/v1/sprites?prefix=a-&max_results=3").await;
    assert_eq!((first["sprites"].as_array().unwrap().len(), &first["has_more"]), (3, &json!(true)));
    let token = first["next_continuation_token"].as_str().unwrap();
    let path = format!("/v1/sprites?prefix=a-&max_results=3&continuation_token={token}");
    let (_, rest) = client.get(&path).await;
    assert_eq!((rest["sprites"].as_array().unwrap().len(), &rest["has_more"]), (2, &json!(false)));
}

#[tokio::test]
async fn it_falls_asleep_by_the_clock_and_wakes_when_its_address_is_asked() {
    let (clock, server, client) = house().await;
    let sprite = made(&client, "a").await;
    client.put("/v1/sprites/a/services/s", &agent()).await;
    let url = sprite["url"].as_str().unwrap().to_owned();
    let status = || server.sprite("a").unwrap().1;
    assert_eq!(status(), Status::Running);
    clock.advance(Duration::from_secs(31));
    assert_eq!(client.get("/v1/sprites/a").await.1["status"], "warm");
    assert_eq!(status(), Status::Warm, "to be read does not wake it");
    let visitor = Client::new(url, "token");
    let before = visitor.get("/health").await.1["boot_id"].clone();
    assert_eq!(status(), Status::Running);
    clock.advance(Duration::from_secs(301));
    assert_eq!(client.get("/v1/sprites/a").await.1["status"], "cold");
    assert_ne!(visitor.get("/health").await.1["boot_id"], before, "its memory is lost");
    assert_eq!(server.sprite("a").unwrap().0.wakes(), 2);
}

#[tokio::test]
async fn services_are_defined_started_and_stopped_in_a_stream_of_lines() {
    let (_, server, client) = house().await;
    made(&client, "a").await;
    let service = "/v1/sprites/a/services/s";
    assert_eq!(client.get(service).await.0, 404);
    assert_eq!(client.put(service, &agent()).await.0, 200);
    let stop = WebRequest::post("test", &client.url(&format!("{service}/stop")), "");
    let lines = client.answer(stop).await;
    assert_eq!(lines.content_type(), Some("application/x-ndjson"));
    let lines = String::from_utf8(lines.body.to_vec()).unwrap();
    assert!(lines.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{lines}");
    assert_eq!(client.get(service).await.1["state"]["status"], "stopped");
    assert_eq!(client.post(&format!("{service}/start"), &json!({})).await.0, 200);
    assert_eq!(client.get(service).await.1["state"]["status"], "running");
    assert!(server.agent("a", "s").is_some());
}

#[tokio::test]
async fn limits_are_told_with_all_their_fields() {
    let (_, server, client) = house().await;
    server.switch(|switches| switches.limited = Some(9));
    let create = WebRequest::post("test", &client.url("/v1/sprites"), r#"{"name":"a"}"#);
    let limited = client.answer(create).await;
    assert_eq!((limited.status, limited.retry_after()), (429, Some(Duration::from_secs(9))));
    let body: Value = serde_json::from_slice(&limited.body).unwrap();
    assert_eq!(body["error"], "sprite_creation_rate_limited");
    assert_eq!(body["retry_after_seconds"], 9);
    server.switch(|switches| (switches.limited, switches.is_full) = (None, true));
    let (status, full) = client.post("/v1/sprites", &json!({ "name": "a" })).await;
    assert_eq!((status, &full["error"]), (429, &json!("concurrent_sprite_limit_exceeded")));
}
