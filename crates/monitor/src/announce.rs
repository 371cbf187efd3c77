//! What the organisation's stream is told of a result: what changed, not each poll.

use mainstay_breaker::State;
use mainstay_events::{Event, EventError};
use serde_json::{Map, Value, json};

use crate::judge::{Ruling, Touched};
use crate::roster::Circuit;
use crate::sink::PollResult;
use crate::status::ServiceStatus;
use crate::watch::Watch;

/// The events of a result, in the order in which people should learn of them.
pub(crate) fn events_of(result: &PollResult, ruling: &Ruling) -> Result<Vec<Event>, EventError> {
    let watch = &*result.watch;
    let mut events = Vec::new();
    if let (Some(failure), false) = (&ruling.failure, ruling.was_failing) {
        let error = json!({ "kind": failure.kind.name(), "message": failure.message });
        events.push(event("poll:error", watch, [("error", error)])?);
    }
    if ruling.was_failing && ruling.failure.is_none() {
        events.push(event("poll:recovered", watch, [])?);
    }
    if let Some(circuit) = &result.settlement.circuit {
        events.push(circuit_event(circuit)?);
    }
    for touched in &ruling.touched {
        events.extend(of_dependency(watch, ruling, touched)?);
    }
    if let Some(lapse) = ruling.lapse {
        events.push(status_event(watch, lapse.before, ServiceStatus::Unknown)?);
    }
    if ruling.status.has_turned() {
        events.push(status_event(watch, ruling.status.before, ruling.status.after)?);
    }
    if ruling.has_other_dependencies() {
        events.push(event("service:updated", watch, [])?);
    }
    Ok(events)
}

fn status_event(
    watch: &Watch,
    previous: ServiceStatus,
    current: ServiceStatus,
) -> Result<Event, EventError> {
    let status = [
        ("previous", json!(previous.name())),
        ("current", json!(current.name())),
        ("status", json!(current.name())),
    ];
    event("service:status", watch, status)
}

/// The event of a breaker that changed its state.
pub(crate) fn circuit_event(circuit: &Circuit) -> Result<Event, EventError> {
    let kind = match circuit.to {
        State::Open => "circuit:open",
        State::HalfOpen => "circuit:half_open",
        State::Closed => "circuit:close",
    };
    event(kind, &circuit.watch, [])
}

fn of_dependency(
    watch: &Watch,
    ruling: &Ruling,
    touched: &Touched,
) -> Result<Vec<Event>, EventError> {
    let mut events = Vec::new();
    let previous = touched.previous;
    let flipped = match previous {
        Some(previous) => previous.sound != touched.known.sound,
        // First seen unhealthy is news too.
        None => !touched.known.sound,
    };
    if flipped {
        let fields = [
            ("dependency_name", json!(touched.name)),
            ("dependency_id", json!(touched.known.id.to_string())),
            ("previous_healthy", json!(previous.map(|previous| previous.sound))),
            ("current_healthy", json!(touched.known.sound)),
            ("timestamp", json!(ruling.at)),
        ];
        events.push(event("status:change", watch, fields)?);
    }
    if touched.has_turned() {
        let fields = [
            ("dependency_name", json!(touched.name)),
            ("dependency_id", json!(touched.known.id.to_string())),
            ("previous", json!(previous.map(|previous| previous.status.name()))),
            ("current", json!(touched.known.status.name())),
            ("status", json!(touched.known.status.name())),
        ];
        events.push(event("dependency:status", watch, fields)?);
    }
    Ok(events)
}

/// An event about a service.
pub(crate) fn event<const N: usize>(
    kind: &str,
    watch: &Watch,
    fields: [(&str, Value); N],
) -> Result<Event, EventError> {
    let mut all = Map::new();
    all.insert("service_id".to_owned(), json!(watch.id.to_string()));
    all.insert("service_name".to_owned(), json!(&*watch.name));
    all.extend(fields.into_iter().map(|(name, value)| (name.to_owned(), value)));
    Event::new(kind, &all)
}

impl Ruling {
    /// Whether dependencies came, went or came back.
    fn has_other_dependencies(&self) -> bool {
        !self.vanished.is_empty()
            || self.touched.iter().any(|one| one.previous.is_none_or(|previous| previous.missing))
    }
}
