//! What a machine is made of. Pure.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mainstay_base::Secret;
use serde_json::{Value, json};

use super::settings::FlySettings;
use crate::providers::order::{Order, Size};

/// The metadata that says whose machine it is.
pub(super) const WORKER: &str = "mainstay_worker";
/// The metadata that says of which generation it is.
pub(super) const GENERATION: &str = "mainstay_generation";

/// Where the token stands on a machine.
const TOKEN_FILE: &str = "/run/mainstay/agent-token";
/// How often a machine starts its program again by itself.
const RESTARTS: u32 = 3;

/// The body of the question that makes the machine of an order.
pub(super) fn body(order: &Order, settings: &FlySettings, token: &Secret<String>) -> Value {
    let (worker, generation) = (order.worker.to_string(), order.generation.to_string());
    let listen = format!("[::]:{}", settings.agent_port);
    let command = json!([
        "agent",
        "--listen",
        listen,
        "--token-file",
        TOKEN_FILE,
        "--worker",
        worker,
        "--generation",
        generation,
    ]);
    let restart = match order.is_ephemeral {
        true => json!({ "policy": "no" }),
        false => json!({ "policy": "on-failure", "max_retries": RESTARTS }),
    };
    let config = json!({
        "image": settings.image,
        "guest": guest(order.size),
        "metadata": { WORKER: worker, GENERATION: generation },
        "files": [{ "guest_path": TOKEN_FILE, "raw_value": STANDARD.encode(token.expose()) }],
        "init": { "cmd": command },
        "restart": restart,
        "auto_destroy": order.is_ephemeral,
        "stop_config": { "signal": "SIGTERM", "timeout": "10s" },
    });
    let mut body = json!({ "name": order.name().as_str(), "config": config });
    if let (Some(region), Some(fields)) = (&order.region, body.as_object_mut()) {
        fields.insert("region".to_owned(), json!(region.as_str()));
    }
    body
}

fn guest(size: Size) -> Value {
    let (kind, cpus, memory) = match size {
        Size::Small => ("shared", 1, 256),
        Size::Medium => ("shared", 2, 1_024),
        Size::Large => ("performance", 2, 4_096),
    };
    json!({ "cpu_kind": kind, "cpus": cpus, "memory_mb": memory })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::order::Region;

    fn order() -> Order {
        Order {
            worker: "01a1e102-8087-7707-8707-070707070707".parse().unwrap(),
            generation: 4,
            is_ephemeral: false,
            region: Some(Region::parse("fra").unwrap()),
            size: Size::Small,
        }
    }

    fn body_of(order: &Order) -> Value {
        let url = "https://api.machines.dev".parse().unwrap();
        let settings = FlySettings::new(url, Secret::new("t".to_owned()), "app", "image:1");
        body(order, &settings, &Secret::new("agent-token".to_owned()))
    }

    #[test]
    fn a_machine_says_whose_it_is_and_brings_its_token_in_a_file() {
        let body = body_of(&order());
        assert_eq!(body["name"], order().name().as_str());
        assert_eq!(body["region"], "fra");
        assert_eq!(body["config"]["metadata"][WORKER], order().worker.to_string());
        assert_eq!(body["config"]["metadata"][GENERATION], "4");
        assert_eq!(body["config"]["files"][0]["raw_value"], STANDARD.encode("agent-token"));
        assert!(!body["config"]["init"].to_string().contains("agent-token\",\"agent-token"));
        assert!(body["config"].get("services").is_none(), "it must not be public: {body}");
    }

    #[test]
    fn what_is_ephemeral_is_not_started_again_and_leaves_nothing() {
        let body = body_of(&Order { is_ephemeral: true, region: None, ..order() });
        assert_eq!(body["config"]["restart"]["policy"], "no");
        assert_eq!(body["config"]["auto_destroy"], true);
        assert!(body.get("region").is_none());
    }
}
