//! A machine dies: whoever finds it, the state is true afterwards, and everybody is told once.

use serde_json::{Value, json};

use super::follower::{Follower, expected, is_worker, told};
use super::house::{House, NEVER, OFTEN};

/// What has come since, up to a net that is made now: whatever else would have come is seen too.
fn since(house: &House, follower: &Follower) -> Vec<Value> {
    let body = json!({"name": "mark", "definition": {}});
    let mark = house.post("/api/nets", &body).json()["id"].clone();
    let mut seen = follower.until(|event| event["net_id"] == mark);
    seen.pop();
    seen
}

/// Those that say that something has come to its end.
fn ended(events: &[Value]) -> Vec<Value> {
    events.iter().filter(|event| event["operation"].is_null()).cloned().collect()
}

#[test]
fn an_agent_that_is_killed_is_one_event_of_the_worker_and_one_of_each_net() {
    let house = House::new(OFTEN);
    let worker = house.ready("process");
    let (one, two) = (house.loaded("one", &worker), house.loaded("two", &worker));
    let follower = house.follow();
    house.kill(&house.agent());
    let mut seen: Vec<Value> = (0..3).map(|_| follower.next()).collect();
    seen.extend(since(&house, &follower));
    let wanted = [(&*worker, "error"), (&*one, "unloaded"), (&*two, "unloaded")];
    assert_eq!(told(&seen), expected(&wanted), "{seen:#?}");
    let shown = house.get(&format!("/api/workers/{worker}"));
    assert_eq!(shown["status"], "error");
    assert!(shown["reason"].as_str().unwrap().contains("no longer exists"), "{shown}");
    for net in [&one, &two] {
        assert_eq!(house.load_state(net), "unloaded");
    }
    house.operate(&worker, "destroy", "pending");
    house.operate(&worker, "destroy", "pending");
}

#[test]
fn option_a_the_frontend_polls_and_a_load_finds_the_crash() {
    let house = House::new(NEVER);
    let worker = house.ready("process");
    let other = house.loaded("other", &worker);
    let net = house.net("net", &worker);
    house.kill(&house.agent());
    // Stale, and nobody knows yet.
    let listed = house.get("/api/workers");
    assert_eq!(listed["items"][0]["status"], "ready");
    assert_eq!(house.get("/api/nets")["items"][0]["load_state"], "unloaded");
    let follower = house.follow();
    let refused = house.post(&format!("/api/nets/{net}/load"), &json!({}));
    let body = refused.json();
    assert_eq!((refused.status, &body["error"]), (502, &json!("Worker is no longer available")));
    assert_eq!(body["code"], "worker_unavailable");
    assert_eq!(
        (&body["worker_status"], &body["net_load_state"]),
        (&json!("error"), &json!("error"))
    );
    assert!(body["detail"].as_str().unwrap().contains("'error'"), "{body}");
    let seen = ended(&since(&house, &follower));
    let wanted = [(&*worker, "error"), (&*net, "error"), (&*other, "unloaded")];
    assert_eq!(told(&seen), expected(&wanted), "{seen:#?}");
    assert_eq!(house.load_state(&net), "error");
    // And from there on by retry.
    house.operate(&worker, "retry", "ready");
    assert_eq!(house.post(&format!("/api/nets/{net}/load"), &json!({})).status, 200);
}

#[test]
fn option_b_a_health_check_detects_the_crash() {
    let house = House::new(NEVER);
    let worker = house.ready("process");
    let (one, two) = (house.loaded("one", &worker), house.loaded("two", &worker));
    house.kill(&house.agent());
    let follower = house.follow();
    let shown = house.operate(&worker, "health-check", "error");
    assert_eq!(
        (&shown["nets"][0]["load_state"], &shown["operation"]),
        (&json!("unloaded"), &json!(null))
    );
    let seen = ended(&since(&house, &follower));
    let wanted = [(&*worker, "error"), (&*one, "unloaded"), (&*two, "unloaded")];
    assert_eq!(told(&seen), expected(&wanted), "{seen:#?}");
}

#[test]
fn option_c_the_backend_sees_it_by_itself_and_pushes() {
    let house = House::new(OFTEN);
    let worker = house.ready("process");
    let net = house.loaded("net", &worker);
    let follower = house.follow();
    house.kill(&house.agent());
    let seen = follower.until(|event| is_worker(event, &worker, "error"));
    assert_eq!(seen.len(), 1, "{seen:#?}");
    let next = follower.next();
    assert_eq!((&next["net_id"], &next["load_state"]), (&json!(net), &json!("unloaded")));
}

#[test]
fn stop_on_a_machine_that_is_gone_says_so_and_destroy_is_fine() {
    let house = House::new(NEVER);
    let worker = house.ready("process");
    let net = house.loaded("net", &worker);
    house.kill(&house.agent());
    let refused = house.post(&format!("/api/workers/{worker}/stop"), &json!({}));
    let body = refused.json();
    assert_eq!((refused.status, &body["code"]), (409, &json!("worker_gone")), "{body}");
    assert_eq!(
        (&body["worker_status"], &body["net_load_state"]),
        (&json!("error"), &json!("unloaded"))
    );
    assert_eq!(
        (house.status(&worker), house.load_state(&net)),
        ("error".into(), "unloaded".into())
    );
    let shown = house.get(&format!("/api/workers/{worker}"));
    let last = &shown["last_operation"];
    assert_eq!((&last["kind"], &last["code"]), (&json!("stop"), &json!("worker_gone")), "{shown}");
    assert_eq!(shown["provider_state"], json!(null), "what was said before is of before");
    assert_eq!(house.homes_left(), 1, "its log can be read");
    house.operate(&worker, "destroy", "pending");
    assert_eq!(house.homes_left(), 0, "nothing is left, its token least of all");
    assert_eq!(house.delete(&format!("/api/workers/{worker}")).status, 204);
    assert_eq!(house.get(&format!("/api/nets/{net}"))["worker_id"], json!(null));
}
