//! What the organisation's stream is told of journeys.

use mainstay_base::{Id, Timestamp};
use mainstay_events::{Event, EventError, Outbox, Stream};
use serde_json::{Map, Value, json};

use crate::kept::{RunStatus, Trigger};

/// What was done to a journey.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Edit {
    Created,
    Updated,
    Removed,
}

/// A run that has ended.
#[derive(Debug)]
pub(crate) struct Ended<'a> {
    pub(crate) journey: Id,
    pub(crate) name: &'a str,
    pub(crate) run: Id,
    pub(crate) status: RunStatus,
    pub(crate) trigger: Trigger,
    pub(crate) duration_ms: Option<f64>,
    pub(crate) message: Option<&'a str>,
    pub(crate) touches: &'a [String],
}

/// Tells that a run has ended, or was skipped.
pub(crate) fn run_finished(out: &mut Outbox, ended: &Ended<'_>) -> Result<(), EventError> {
    let fields = json!({
        "journey_id": ended.journey,
        "journey_name": ended.name,
        "run_id": ended.run,
        "outcome": ended.status.name(),
        "trigger": ended.trigger.name(),
        "duration_ms": ended.duration_ms,
        "message": ended.message,
    });
    add(out, "journey:run_finished", fields)
}

/// Tells that a journey is failing from now on.
pub(crate) fn failed(out: &mut Outbox, ended: &Ended<'_>) -> Result<(), EventError> {
    let fields = json!({
        "journey_id": ended.journey,
        "journey_name": ended.name,
        "run_id": ended.run,
        "message": ended.message,
        "touches": ended.touches,
    });
    add(out, "journey:failed", fields)
}

/// Tells that a journey is as it should be again.
pub(crate) fn recovered(
    out: &mut Outbox,
    ended: &Ended<'_>,
    failing_since: Option<Timestamp>,
) -> Result<(), EventError> {
    let fields = json!({
        "journey_id": ended.journey,
        "journey_name": ended.name,
        "run_id": ended.run,
        "failing_since": failing_since,
        "touches": ended.touches,
    });
    add(out, "journey:recovered", fields)
}

/// Tells that a journey was edited.
pub(crate) fn edited(
    out: &mut Outbox,
    journey: Id,
    name: &str,
    edit: Edit,
) -> Result<(), EventError> {
    let change = match edit {
        Edit::Created => "created",
        Edit::Updated => "updated",
        Edit::Removed => "removed",
    };
    let fields = json!({"journey_id": journey, "journey_name": name, "change": change});
    add(out, "journey:changed", fields)
}

fn add(out: &mut Outbox, kind: &str, fields: Value) -> Result<(), EventError> {
    let event = match fields {
        Value::Object(fields) => Event::new(kind, &fields)?,
        _ => Event::new(kind, &Map::new())?,
    };
    out.add(Stream::Org, event)
}
