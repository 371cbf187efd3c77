//! Who holds a machine, and until when.

use std::time::Duration;

use mainstay_base::Timestamp;
use serde_json::{Value, json};

use super::machine::Machine;
use crate::door::{Question, Reply};

/// The header that says that one holds it.
pub(crate) const NONCE: &str = "fly-machine-lease-nonce";

/// How long a lease lasts that says nothing.
const TTL: u64 = 30;

/// A lease.
#[derive(Debug, Clone)]
pub(crate) struct Lease {
    nonce: String,
    description: String,
    expires_at: Timestamp,
}

/// Why nothing may be done: somebody else holds it.
pub(crate) fn held_by_other(
    machine: &Machine,
    question: &Question,
    now: Timestamp,
) -> Option<Reply> {
    let lease = machine.lease.as_ref().filter(|lease| lease.expires_at > now)?;
    let is_ours = question.header(NONCE) == Some(lease.nonce.as_str());
    (!is_ours).then(|| {
        let (id, until) = (&machine.id, lease.expires_at);
        let message = format!(
            "machine ID {id} lease currently held by standin@tokens.fly.io, expires at {until}"
        );
        Reply::json(409, &json!({ "status": "error", "message": message }))
    })
}

pub(crate) fn take(
    machine: &mut Machine,
    question: &Question,
    nonce: String,
    now: Timestamp,
) -> Reply {
    let body = question.json();
    let ttl = question.parameter("ttl").and_then(|text| text.parse().ok());
    let ttl = ttl.or_else(|| body.get("ttl")?.as_u64()).unwrap_or(TTL);
    let kept = question.header(NONCE).and(machine.lease.take()).filter(|one| one.expires_at > now);
    let nonce = kept.map_or(nonce, |lease| lease.nonce);
    let expires_at = now.plus(Duration::from_secs(ttl));
    let description =
        body.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
    machine.lease = Some(Lease { nonce, description, expires_at });
    shown(machine, 201, now)
}

pub(crate) fn shown(machine: &Machine, status: u16, now: Timestamp) -> Reply {
    let Some(lease) = machine.lease.as_ref().filter(|lease| lease.expires_at > now) else {
        return Reply::json(404, &json!({ "error": "lease not found" }));
    };
    let data = json!({
        "nonce": lease.nonce,
        "description": lease.description,
        "expires_at": lease.expires_at.as_millis() / 1_000,
        "owner": "standin@tokens.fly.io",
        "version": machine.instance_id,
    });
    Reply::json(status, &json!({ "status": "success", "data": data }))
}
