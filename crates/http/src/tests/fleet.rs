//! Workers and nets as their owners see them, and who gets none of it.

use std::sync::atomic::Ordering;
use std::time::Duration;

use mainstay_accounts::Role;
use serde_json::{Value, json};

use super::house::House;
use super::machines;
use super::people::Person;
use super::raw::{Answer, request};

async fn post(person: &Person, target: &str, body: Value) -> Answer {
    person.send("POST", target, &body.to_string()).await
}

async fn worker(person: &Person, name: &str, category: &str) -> String {
    let body = json!({"name": name, "provider": "process", "category": category});
    let made = post(person, "/api/workers", body).await;
    assert_eq!(made.status, 201, "{}", made.json());
    made.json()["id"].as_str().unwrap().to_owned()
}

async fn ready(person: &Person, name: &str) -> String {
    let id = worker(person, name, "persistent").await;
    let made = post(person, &format!("/api/workers/{id}/provision"), json!({})).await;
    assert_eq!((made.status, &made.json()["status"]), (200, &json!("ready")));
    id
}

async fn net(person: &Person, name: &str, worker: Option<&str>) -> String {
    let body = json!({"name": name, "definition": {"services": []}, "worker_id": worker});
    let made = post(person, "/api/nets", body).await;
    assert_eq!(made.status, 201, "{}", made.json());
    made.json()["id"].as_str().unwrap().to_owned()
}

async fn loaded(person: &Person, name: &str, worker: &str) -> String {
    let id = net(person, name, Some(worker)).await;
    let done = post(person, &format!("/api/nets/{id}/load"), json!({})).await;
    assert_eq!((done.status, &done.json()["load_state"]), (200, &json!("loaded")));
    id
}

/// A call that succeeds, prepared by what it needs.
pub(super) async fn succeed(house: &House, admin: &Person, method: &str, path: &str) -> Answer {
    machines::run(house);
    let send = async |path: String, body: Value| admin.send(method, &path, &body.to_string()).await;
    let at = |id: &str| path.replace("{id}", id);
    match (method, path) {
        ("POST", "/api/workers") => {
            let body = json!({"name": "w", "provider": "process", "category": "ephemeral"});
            send(path.to_owned(), body).await
        }
        ("POST", "/api/workers/{id}/provision") => {
            send(at(&worker(admin, "w", "persistent").await), json!({})).await
        }
        ("POST", "/api/workers/{id}/start") => {
            let id = ready(admin, "w").await;
            post(admin, &format!("/api/workers/{id}/stop"), json!({})).await;
            send(at(&id), json!({})).await
        }
        ("POST", "/api/workers/{id}/retry") => {
            let id = ready(admin, "w").await;
            house.machines.vanish();
            post(admin, &format!("/api/workers/{id}/health-check"), json!({})).await;
            send(at(&id), json!({})).await
        }
        (_, path) if path.starts_with("/api/workers/") => {
            send(at(&ready(admin, "w").await), json!({})).await
        }
        ("POST", "/api/nets") => {
            send(path.to_owned(), json!({"name": "n", "definition": {}})).await
        }
        ("POST", _) => {
            let id = ready(admin, "w").await;
            send(at(&net(admin, "n", Some(&id)).await), json!({})).await
        }
        ("PATCH", _) => send(at(&net(admin, "n", None).await), json!({"name": "m"})).await,
        _ => send(at(&net(admin, "n", None).await), json!({})).await,
    }
}

#[tokio::test]
async fn a_worker_and_its_nets_go_through_their_lives() {
    let house = House::open().await;
    machines::run(&house);
    let admin = house.admin().await;
    let id = ready(&admin, "w").await;
    let net = loaded(&admin, "n", &id).await;
    let shown = admin.get(&format!("/api/workers/{id}")).await.json();
    assert_eq!(shown["nets"], json!([{"id": net, "name": "n", "load_state": "loaded"}]));
    assert_eq!((&shown["operation"], &shown["url"]), (&Value::Null, &json!("http://127.0.0.1:9")));
    let stopped = post(&admin, &format!("/api/workers/{id}/stop"), json!({})).await.json();
    assert_eq!(
        (&stopped["status"], &stopped["nets"][0]["load_state"]),
        (&json!("stopped"), &json!("unloaded"))
    );
    let started = post(&admin, &format!("/api/workers/{id}/start"), json!({})).await.json();
    assert_eq!(started["status"], "ready");
    for _ in 0..2 {
        let gone = post(&admin, &format!("/api/workers/{id}/destroy"), json!({})).await;
        assert_eq!((gone.status, &gone.json()["status"]), (200, &json!("pending")));
    }
    assert_eq!(admin.send("DELETE", &format!("/api/workers/{id}"), "").await.status, 204);
    assert_eq!(admin.get(&format!("/api/workers/{id}")).await.status, 404);
    let left = admin.get(&format!("/api/nets/{net}")).await.json();
    assert_eq!((&left["worker_id"], &left["load_state"]), (&Value::Null, &json!("unloaded")));
}

#[tokio::test]
async fn a_load_on_a_dead_worker_says_so_in_the_agreed_words() {
    let house = House::open().await;
    machines::run(&house);
    let admin = house.admin().await;
    let id = ready(&admin, "w").await;
    let (one, two) = (loaded(&admin, "a", &id).await, loaded(&admin, "b", &id).await);
    house.machines.are_cut.store(true, Ordering::SeqCst);
    let failed = post(&admin, &format!("/api/nets/{one}/load"), json!({})).await;
    let told = failed.json();
    assert_eq!(failed.status, 502);
    assert_eq!(told["error"], "Worker is no longer available");
    assert_eq!(told["code"], "worker_unavailable");
    assert_eq!(
        (&told["worker_status"], &told["net_load_state"]),
        (&json!("error"), &json!("error"))
    );
    let detail = told["detail"].as_str().unwrap();
    assert!(detail.ends_with("Worker status has been updated to 'error'."), "{detail}");
    let other = admin.get(&format!("/api/nets/{two}")).await.json();
    assert_eq!(other["load_state"], "unloaded");
}

#[tokio::test]
async fn a_refusal_tells_each_net_its_own_state() {
    let house = House::open().await;
    machines::run(&house);
    let admin = house.admin().await;
    let id = ready(&admin, "w").await;
    let (one, two) = (loaded(&admin, "a", &id).await, loaded(&admin, "b", &id).await);
    house.machines.are_cut.store(true, Ordering::SeqCst);
    assert_eq!(post(&admin, &format!("/api/nets/{one}/load"), json!({})).await.status, 502);
    for (net, state) in [(&one, "error"), (&two, "unloaded")] {
        let refused = post(&admin, &format!("/api/nets/{net}/load"), json!({})).await;
        let told = refused.json();
        assert_eq!((refused.status, &told["code"]), (409, &json!("worker_not_ready")));
        assert_eq!(told["net_load_state"], state, "{told}");
        assert_eq!(told["worker_status"], "error", "{told}");
    }
    // What does not hold for all of them is not said of the worker.
    let refused = post(&admin, &format!("/api/workers/{id}/stop"), json!({})).await.json();
    assert_eq!(refused["worker_status"], "error", "{refused}");
    assert_eq!(refused.get("net_load_state"), None, "{refused}");
}

#[tokio::test]
async fn a_worker_whose_provider_is_there_is_not_forgotten_and_only_fly_has_sizes() {
    let house = House::open().await;
    machines::run(&house);
    let admin = house.admin().await;
    let id = ready(&admin, "w").await;
    let refused = admin.send("DELETE", &format!("/api/workers/{id}?forget=true"), "").await;
    let told = refused.json();
    assert_eq!((refused.status, &told["code"]), (409, &json!("wrong_status")), "{told}");
    assert!(told["detail"].as_str().unwrap().contains("without forget"), "{told}");
    for provider in ["process", "sprite"] {
        let wanted =
            json!({"name": "p", "provider": provider, "category": "persistent", "size": "large"});
        let refused = post(&admin, "/api/workers", wanted).await;
        assert_eq!((refused.status, &refused.json()["code"]), (400, &json!("invalid_size")));
    }
}

#[tokio::test]
async fn a_stop_on_a_gone_machine_is_no_failure_of_ours() {
    let house = House::open().await;
    machines::run(&house);
    let admin = house.admin().await;
    let id = ready(&admin, "w").await;
    house.machines.vanish();
    let refused = post(&admin, &format!("/api/workers/{id}/stop"), json!({})).await;
    let told = refused.json();
    assert_eq!((refused.status, &told["code"]), (409, &json!("worker_gone")));
    assert_eq!(
        (&told["worker_status"], &told["net_load_state"]),
        (&json!("error"), &json!("unloaded"))
    );
    let ephemeral = worker(&admin, "e", "ephemeral").await;
    let refused = post(&admin, &format!("/api/workers/{ephemeral}/stop"), json!({})).await;
    assert_eq!((refused.status, &refused.json()["code"]), (409, &json!("not_persistent")));
}

#[tokio::test]
async fn what_was_read_too_long_ago_is_stale() {
    let house = House::open().await;
    let admin = house.admin().await;
    let id = worker(&admin, "w", "persistent").await;
    let target = format!("/api/workers/{id}/destroy");
    for (sent, status, code) in [("9", 412, "stale"), ("x", 400, "invalid_if_match")] {
        let headers =
            format!("{}Content-Type: application/json\r\nIf-Match: {sent}\r\n", admin.cookie());
        let refused = request(house.address, "POST", &target, &headers, "{}").await;
        assert_eq!((refused.status, &refused.json()["code"]), (status, &json!(code)));
    }
    let told = {
        let headers =
            format!("{}Content-Type: application/json\r\nIf-Match: 9\r\n", admin.cookie());
        request(house.address, "POST", &target, &headers, "{}").await.json()
    };
    assert_eq!((&told["generation"], &told["worker_status"]), (&json!(1), &json!("pending")));
}

#[tokio::test]
async fn a_net_that_was_read_too_long_ago_is_stale() {
    let house = House::open().await;
    let admin = house.admin().await;
    let id = net(&admin, "n", None).await;
    let headers = format!("{}Content-Type: application/json\r\nIf-Match: 9\r\n", admin.cookie());
    for (method, target) in
        [("PATCH", format!("/api/nets/{id}")), ("DELETE", format!("/api/nets/{id}"))]
    {
        let refused = request(house.address, method, &target, &headers, "{}").await;
        let told = refused.json();
        assert_eq!((refused.status, &told["code"]), (412, &json!("stale")), "{method}");
        let now = (&told["generation"], &told["net_load_state"]);
        assert_eq!(now, (&json!(1), &json!("unloaded")), "{method}");
    }
}

#[tokio::test]
async fn what_takes_longer_than_a_call_waits_goes_on_and_says_so() {
    let house = House::open().await;
    let admin = house.admin().await;
    let (made, ended) =
        (worker(&admin, "made", "persistent").await, worker(&admin, "ended", "persistent").await);
    // Nobody carries it out yet.
    let (provision, destroy) =
        (format!("/api/workers/{made}/provision"), format!("/api/workers/{ended}/destroy"));
    let (provision, destroy) =
        tokio::join!(post(&admin, &provision, json!({})), post(&admin, &destroy, json!({})));
    for (answer, kind, status) in
        [(provision, "provision", "provisioning"), (destroy, "destroy", "pending")]
    {
        let shown = answer.json();
        assert_eq!((answer.status, &shown["status"]), (202, &json!(status)), "{shown}");
        let operation = &shown["operation"];
        assert_eq!(operation["kind"], kind, "{shown}");
        assert!(operation["since"].as_str() < operation["deadline"].as_str(), "{shown}");
        // The same is told to whoever looks later, until it ends.
        let target = format!("/api/workers/{}", shown["id"].as_str().unwrap());
        assert_eq!(&admin.get(&target).await.json()["operation"], operation);
    }
    machines::run(&house);
    let mut shown = Value::Null;
    while shown["status"] != "ready" {
        tokio::time::sleep(Duration::from_millis(10)).await;
        shown = admin.get(&format!("/api/workers/{made}")).await.json();
    }
    assert_eq!(shown["operation"], Value::Null);
    assert_eq!(shown["last_operation"]["kind"], "provision");
}

#[tokio::test]
async fn nobody_sees_or_moves_what_is_anothers() {
    let house = House::open().await;
    let admin = house.admin().await;
    let other = house.user(&admin, "other@example.com", Role::Editor).await;
    let viewer = house.user(&admin, "viewer@example.com", Role::Viewer).await;
    let id = worker(&admin, "w", "persistent").await;
    let net = net(&admin, "n", None).await;
    for (method, target) in [
        ("GET", format!("/api/workers/{id}")),
        ("POST", format!("/api/workers/{id}/provision")),
        ("DELETE", format!("/api/workers/{id}")),
        ("GET", format!("/api/nets/{net}")),
        ("PATCH", format!("/api/nets/{net}")),
        ("POST", format!("/api/nets/{net}/load")),
        ("DELETE", format!("/api/nets/{net}")),
    ] {
        let body = if method == "GET" { "" } else { "{}" };
        assert_eq!(other.send(method, &target, body).await.status, 404, "{method} {target}");
    }
    assert_eq!(other.get("/api/workers").await.json()["items"], json!([]));
    assert_eq!(other.get("/api/nets").await.json()["items"], json!([]));
    let body = json!({"name": "w", "provider": "process", "category": "persistent"});
    assert_eq!(post(&viewer, "/api/workers", body).await.status, 403);
}

#[tokio::test]
async fn lists_are_read_thirty_times_a_minute() {
    let house = House::open().await;
    let admin = house.admin().await;
    for target in ["/api/workers", "/api/nets"] {
        for _ in 0..30 {
            assert_eq!(admin.get(target).await.status, 200);
        }
        let refused = admin.get(target).await;
        assert_eq!((refused.status, &refused.json()["code"]), (429, &json!("rate_limited")));
        assert!(refused.header("retry-after").is_some());
    }
}

#[tokio::test]
async fn what_is_no_worker_and_no_net_is_refused() {
    let house = House::open().await;
    let admin = house.admin().await;
    for (body, code) in [
        (json!({"name": "", "provider": "process", "category": "persistent"}), "invalid_name"),
        (
            json!({"name": "w", "provider": "process", "category": "persistent", "region": "F!"}),
            "invalid_region",
        ),
        (json!({"name": "w", "provider": "aws", "category": "persistent"}), "invalid_body"),
    ] {
        let refused = post(&admin, "/api/workers", body).await;
        assert_eq!((refused.status, &refused.json()["code"]), (400, &json!(code)));
    }
    let fly = json!({"name": "w", "provider": "fly", "category": "persistent"});
    let refused = post(&admin, "/api/workers", fly).await;
    assert_eq!((refused.status, &refused.json()["code"]), (409, &json!("provider_not_configured")));
    let detail = refused.json()["detail"].to_string();
    assert!(detail.contains("FLY_API_TOKEN, FLY_APP and FLY_IMAGE"), "{detail}");
    let told = admin.get("/api/workers/providers").await.json();
    let settings = "FLY_API_TOKEN, FLY_APP and FLY_IMAGE";
    assert_eq!(told["items"][0]["provider"], json!("process"));
    assert_eq!(told["items"][0]["is_set_up"], json!(true));
    let fly = json!({"provider": "fly", "is_set_up": false, "settings": settings, "trouble": null});
    assert_eq!((&told["items"][1], &told["next_cursor"]), (&fly, &Value::Null));
    let refused = post(&admin, "/api/nets", json!({"name": "n", "definition": []})).await;
    assert_eq!((refused.status, &refused.json()["code"]), (400, &json!("invalid_definition")));
    assert_eq!(refused.json()["field"], "definition");
    let id = net(&admin, "n", None).await;
    let refused = post(&admin, &format!("/api/nets/{id}/load"), json!({})).await;
    assert_eq!((refused.status, &refused.json()["code"]), (409, &json!("not_assigned")));
}
