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

/// Why a failing journey is not looked after any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Aside {
    SwitchedOff,
    Removed,
}

/// A journey that is failing.
#[derive(Debug)]
pub(crate) struct Failing<'a> {
    pub(crate) journey: Id,
    pub(crate) name: &'a str,
    pub(crate) run: Option<Id>,
    pub(crate) message: Option<&'a str>,
    pub(crate) touches: &'a [String],
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

/// Tells that more is known of a run that is under way or was cut short: where it stands, its page says.
pub(crate) fn run_progressed(out: &mut Outbox, journey: Id, run: Id) -> Result<(), EventError> {
    add(out, "journey:run_progressed", json!({"journey_id": journey, "run_id": run}))
}

/// Tells that a journey is failing from now on.
pub(crate) fn failed(out: &mut Outbox, failing: &Failing<'_>) -> Result<(), EventError> {
    let fields = json!({
        "journey_id": failing.journey,
        "journey_name": failing.name,
        "run_id": failing.run,
        "message": failing.message,
        "touches": failing.touches,
    });
    add(out, "journey:failed", fields)
}

/// Tells that a failing journey is looked after no more: whether it works is not known from now on.
pub(crate) fn set_aside(
    out: &mut Outbox,
    failing: &Failing<'_>,
    reason: Aside,
    failing_since: Option<Timestamp>,
) -> Result<(), EventError> {
    let reason = match reason {
        Aside::SwitchedOff => "switched_off",
        Aside::Removed => "removed",
    };
    let fields = json!({
        "journey_id": failing.journey,
        "journey_name": failing.name,
        "reason": reason,
        "failing_since": failing_since,
        "touches": failing.touches,
    });
    add(out, "journey:set_aside", fields)
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

impl<'a> Ended<'a> {
    /// Its journey, where the run has failed.
    pub(crate) fn failing(&self) -> Failing<'a> {
        let Self { journey, name, run, message, touches, .. } = *self;
        Failing { journey, name, run: Some(run), message, touches }
    }
}

fn add(out: &mut Outbox, kind: &str, fields: Value) -> Result<(), EventError> {
    let event = match fields {
        Value::Object(fields) => Event::new(kind, &fields)?,
        _ => Event::new(kind, &Map::new())?,
    };
    out.add(Stream::Org, event)
}
