//! Status by location, with the real binary: a worker on this host polls and travels, and what it finds is
//! shown beside what the server finds.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Instant;

use futures_util::future::BoxFuture;
use mainstay_standins::door::{Answering, Door, Question, Reply};
use serde_json::{Value, json};

use crate::client::{Answer, request};
use crate::people::{post, set_up, signed};
use crate::process::{PATIENCE, Server, mainstay, send_signal};

/// A service that answers with the status it is told.
struct Told(AtomicU16);

impl Answering for Told {
    fn answer(self: Arc<Self>, _: Question) -> BoxFuture<'static, Reply> {
        let status = self.0.load(Ordering::SeqCst);
        Box::pin(async move { Reply::json(status, &json!({ "status": "ok" })) })
    }
}

struct Site {
    server: Server,
    headers: String,
}

impl Site {
    fn get(&self, path: &str) -> Value {
        let answer = request(&self.server.address, "GET", path, &self.headers);
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        answer.json()
    }

    fn post(&self, path: &str, body: &Value) -> Answer {
        post(&self.server.address, path, &self.headers, body)
    }

    fn made(&self, path: &str, body: &Value) -> String {
        let answer = self.post(path, body);
        assert!(answer.status < 300, "{path}: {}", answer.text());
        answer.json()["id"].as_str().unwrap().to_owned()
    }

    /// Waits until the locations of a service are so.
    fn until(&self, service: &str, is_so: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        let began = Instant::now();
        loop {
            let answer = self.get(&format!("/api/services/{service}/locations"));
            let items = answer["items"].as_array().unwrap().clone();
            if is_so(&items) {
                return items;
            }
            let log = self.server.log();
            assert!(began.elapsed() < PATIENCE, "{items:#?}\n{log:#?}");
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    }
}

fn statuses(items: &[Value]) -> Vec<&str> {
    items.iter().map(|item| item["status"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_worker_finds_stands_beside_what_the_server_finds() {
    let folder = tempfile::tempdir().unwrap();
    let told = Arc::new(Told(AtomicU16::new(200)));
    let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let door = Door::open(loopback, 0, Arc::clone(&told) as _).await.unwrap();
    let url = format!("http://{}/health", door.address());
    tokio::task::block_in_place(|| watch(folder.path(), &told, &url));
}

fn watch(folder: &std::path::Path, told: &Told, url: &str) {
    let mut command = mainstay(folder);
    command.args(["serve", "--listen", "127.0.0.1:0"]).env("MAINSTAY_FLEET_SWEEP_MS", "1000");
    let server = Server::spawn(command);
    let headers = signed(&server.address, &set_up(&server));
    let site = Site { server, headers };
    let wanted = json!({
        "name": "Orders", "health_endpoint": url, "format": "status", "poll_interval_ms": 5_000,
    });
    let service = site.made("/api/services", &wanted);
    let wanted = json!({ "name": "fra-1", "provider": "process", "category": "persistent" });
    let worker = site.made("/api/workers", &wanted);
    let provisioned = site.post(&format!("/api/workers/{worker}/provision"), &json!({}));
    assert_eq!(provisioned.json()["status"], "ready", "{}", provisioned.text());

    let wrong =
        json!({ "name": "n", "definition": { "services": [{ "name": "Orders", "ulr": url }] } });
    let refused = site.post("/api/nets", &wrong);
    let (code, detail) = (refused.json()["code"].clone(), refused.json()["detail"].clone());
    assert_eq!((refused.status, code), (400, json!("invalid_definition")));
    assert!(detail.as_str().unwrap().contains("services[0].ulr"), "{detail}");
    assert_eq!(refused.json()["field"], "definition.services[0].ulr");

    let journey = format!(
        "journey: buy\nevery: 10s\ntouches: [orders]\nsteps:\n  - id: ask\n    get: \"{url}\"\n    \
         expect: {{ status: 200 }}\n"
    );
    let definition = json!({
        "services": [{ "name": "orders", "url": url, "format": "status", "interval_s": 5 }],
        "journeys": [journey],
    });
    let wanted = json!({ "name": "checkout", "definition": definition, "worker_id": worker });
    let net = site.made("/api/nets", &wanted);
    let loaded = site.post(&format!("/api/nets/{net}/load"), &json!({}));
    assert_eq!(loaded.json()["load_state"], "loaded", "{}", loaded.text());

    let items = site.until(&service, |items| statuses(items) == ["healthy"; 3]);
    assert_eq!(
        (&items[0]["worker_id"], &items[0]["worker"]),
        (&Value::Null, &json!("this server"))
    );
    assert_eq!((&items[1]["worker_id"], &items[1]["worker"]), (&json!(worker), &json!("fra-1")));
    assert_eq!((&items[1]["net_id"], &items[1]["net"]), (&json!(net), &json!("checkout")));
    assert_eq!((&items[2]["kind"], &items[2]["check"]), (&json!("journey"), &json!("buy")));
    assert!(items.iter().all(|item| item["latency_ms"].as_f64().unwrap() > 0.0), "{items:#?}");

    told.0.store(500, Ordering::SeqCst);
    let items = site.until(&service, |items| statuses(items) == ["down", "down", "degraded"]);
    assert!(items[1]["error"].as_str().unwrap().contains("500"), "{items:#?}");
    assert!(items[2]["error"].as_str().unwrap().starts_with("ask: "), "{items:#?}");
    let history = site.get("/api/events/history?types=location_status_changed&limit=100");
    let events = history["events"].as_array().or(history["items"].as_array()).unwrap();
    let is_it = |event: &&Value| event["check"] == "orders" && event["current"] == "down";
    let event = events.iter().find(is_it).unwrap_or_else(|| panic!("{history:#}"));
    assert_eq!((&event["service_id"], &event["previous"]), (&json!(service), &json!("healthy")));

    let homes = folder.join("mainstay-data/agents");
    let home = std::fs::read_dir(homes).unwrap().next().unwrap().unwrap().path();
    let log = std::fs::read_to_string(home.join("agent.log")).unwrap();
    let token = std::fs::read_to_string(home.join("token")).unwrap();
    assert!(log.contains("agent_started") && log.contains("net_loaded"), "{log}");
    assert!(!log.contains(token.trim()), "{log}");

    let card: Value =
        serde_json::from_slice(&std::fs::read(home.join("agent.json")).unwrap()).unwrap();
    send_signal(u32::try_from(card["process"]["pid"].as_u64().unwrap()).unwrap(), "KILL");
    let items = site.until(&service, |items| statuses(items) == ["down", "unknown", "unknown"]);
    assert!(items[1]["error"].as_str().unwrap().contains("the worker is error"), "{items:#?}");
    site.server.stop();
}
