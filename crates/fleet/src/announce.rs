//! What a user's stream is told of the user's workers and nets.

use mainstay_base::Id;
use mainstay_events::{Event, EventError, Outbox, Stream};
use serde_json::{Map, Value, json};

use crate::decide::gather::Changed;
use crate::model::{Net, Worker};

/// Tells where a worker stands now.
pub(crate) fn worker(out: &mut Outbox, worker: &Worker) -> Result<(), EventError> {
    let fields = json!({
        "worker_id": worker.id,
        "status": worker.status,
        "operation": worker.operation.map(|operation| operation.kind),
        "generation": worker.generation,
    });
    out.add(Stream::User(worker.user_id), event("worker_state_changed", fields)?)
}

/// Tells where a net stands now.
pub(crate) fn net(out: &mut Outbox, net: &Net) -> Result<(), EventError> {
    let fields = json!({
        "net_id": net.id,
        "load_state": net.load_state,
        "worker_id": net.worker_id,
        "operation": net.operation.map(|operation| operation.kind),
        "generation": net.generation,
    });
    out.add(Stream::User(net.user_id), event("net_state_changed", fields)?)
}

/// Tells that something is otherwise than it was, seen from a worker.
pub(crate) fn location(
    out: &mut Outbox,
    net: &Net,
    worker: Id,
    changed: &Changed,
    service: Option<Id>,
) -> Result<(), EventError> {
    let fields = json!({
        "service_id": service,
        "kind": changed.check.kind,
        "check": changed.check.name,
        "worker_id": worker,
        "net_id": net.id,
        "previous": changed.previous,
        "current": changed.current,
    });
    out.add(Stream::User(net.user_id), event("location_status_changed", fields)?)
}

/// Tells that a worker is not there any more.
pub(crate) fn worker_removed(out: &mut Outbox, user: Id, id: Id) -> Result<(), EventError> {
    out.add(Stream::User(user), event("worker_removed", json!({"worker_id": id}))?)
}

/// Tells that a net is not there any more.
pub(crate) fn net_removed(out: &mut Outbox, user: Id, id: Id) -> Result<(), EventError> {
    out.add(Stream::User(user), event("net_removed", json!({"net_id": id}))?)
}

/// Tells everybody that most workers fail, and that nothing is done about it yet.
pub(crate) fn mass_failure(
    out: &mut Outbox,
    asked: usize,
    failed: usize,
) -> Result<(), EventError> {
    let fields = json!({"asked": asked, "failed": failed});
    out.add(Stream::Org, event("fleet_mass_failure", fields)?)
}

/// Tells everybody that it is not so any more.
pub(crate) fn mass_failure_over(out: &mut Outbox) -> Result<(), EventError> {
    out.add(Stream::Org, event("fleet_mass_failure_over", json!({}))?)
}

fn event(kind: &str, fields: Value) -> Result<Event, EventError> {
    match fields {
        Value::Object(fields) => Event::new(kind, &fields),
        _ => Event::new(kind, &Map::new()),
    }
}
