//! The proactive-deps format: an array of dependencies, each read by itself.

mod item;

use mainstay_base::Timestamp;
use serde_json::value::RawValue;

use super::canonical;
use super::collector::{Collector, Reason};
use super::error::BadBody;
use super::notes::{self, NOT_AN_OBJECT, Notes};
use super::scalar::Scalar;
use super::split::{Split, split};
use crate::report::{HealthState, Report, Reported};
use item::{Health, Item, Items};

/// What the array says.
pub(crate) fn read(text: &str, now: Timestamp) -> Result<Report, BadBody> {
    // In one go, which is faster; what is odd in any way is read one by one instead.
    match serde_json::from_str::<Items<'_>>(text) {
        Ok(Items(items)) => collect(items.into_iter().map(Ok), now),
        Err(_) => read_one_by_one(text, now),
    }
}

fn read_one_by_one(text: &str, now: Timestamp) -> Result<Report, BadBody> {
    match split(text)? {
        Split::Array(items) => collect(items.into_iter().map(parse_item), now),
        Split::TooMany => Err(BadBody::TooManyItems),
        Split::Object(_) => Err(BadBody::NotAnArray { found: "an object" }),
        Split::Scalar(found) => Err(BadBody::NotAnArray { found }),
    }
}

fn parse_item(raw: &RawValue) -> Result<Item<'_>, Reason> {
    if !is_object(raw) {
        return Err(NOT_AN_OBJECT);
    }
    serde_json::from_str(raw.get()).map_err(|error| notes::unreadable(&error))
}

fn collect<'a>(
    items: impl ExactSizeIterator<Item = Result<Item<'a>, Reason>>,
    now: Timestamp,
) -> Result<Report, BadBody> {
    let mut collector = Collector::with_capacity(items.len());
    for (index, item) in items.enumerate() {
        let mut notes = Notes { collector: &mut collector, index };
        let reported = item.and_then(|item| judge(item, now, &mut notes));
        collector.add(index, reported);
    }
    collector.finish()
}

fn judge(item: Item<'_>, now: Timestamp, notes: &mut Notes<'_>) -> Result<Reported, Reason> {
    let name = name(&item.name)?;
    let health = health(item.health, notes)?;
    let skipped =
        notes.take("health.skipped", &health.skipped, Scalar::boolean, "a boolean") == Some(true);
    let healthy = skipped || healthy(&item.healthy)?;
    let code = health.code.or(item.health_code);
    let code = notes.take("health.code", &code, Scalar::code, CODE);
    let latency = health.latency.or(item.latency_ms);
    let latency = notes.take("health.latency", &latency, Scalar::latency, LATENCY);
    Ok(Reported {
        name,
        kind: notes::kind(item.kind.text()),
        description: notes::text(item.description.text()),
        impact: notes::text(item.impact.text()),
        contact: object("contact", item.contact, notes),
        check_details: object("checkDetails", item.check_details, notes),
        healthy,
        state: state(healthy, skipped, &health.state, notes),
        code: code.unwrap_or(notes::default_code(healthy)),
        latency: latency.unwrap_or_default(),
        skipped,
        error: item.error.filter(is_given).and_then(|raw| json("error", raw, notes)),
        error_message: notes::text(item.error_message.text()),
        checked_at: notes::checked_at(item.last_checked.text(), now),
    })
}

const CODE: &str = "a whole number of 32 bits";
const LATENCY: &str = "a number of milliseconds between 0 and a day";

fn name(value: &Scalar<'_>) -> Result<String, Reason> {
    match value {
        Scalar::Text(text) => notes::name(text),
        Scalar::Missing => Err(r#""name" is missing"#.into()),
        _ => Err(r#""name" is not a string"#.into()),
    }
}

fn healthy(value: &Scalar<'_>) -> Result<bool, Reason> {
    match value {
        Scalar::Bool(healthy) => Ok(*healthy),
        Scalar::Missing => Err(r#""healthy" is missing"#.into()),
        _ => Err(r#""healthy" is not a boolean"#.into()),
    }
}

/// What is skipped is recorded healthy, whatever else is said of it.
fn state(healthy: bool, skipped: bool, given: &Scalar<'_>, notes: &mut Notes<'_>) -> HealthState {
    match notes.take("health.state", given, Scalar::state, "0, 1 or 2") {
        Some(state) if !skipped => state,
        _ => notes::default_state(healthy),
    }
}

fn health<'a>(raw: Option<&'a RawValue>, notes: &mut Notes<'_>) -> Result<Health<'a>, Reason> {
    match raw {
        Some(raw) if is_object(raw) => {
            serde_json::from_str(raw.get()).map_err(|error| notes::unreadable(&error))
        }
        Some(raw) if is_given(&raw) => {
            notes.note(r#""health" is not an object and was left out"#.to_owned());
            Ok(Health::default())
        }
        _ => Ok(Health::default()),
    }
}

fn object(key: &str, raw: Option<&RawValue>, notes: &mut Notes<'_>) -> Option<String> {
    json(key, raw.filter(|raw| is_object(raw))?, notes)
}

fn json(key: &str, raw: &RawValue, notes: &mut Notes<'_>) -> Option<String> {
    notes.json(key, canonical::of_text(raw.get()))
}

fn is_given(raw: &&RawValue) -> bool {
    raw.get() != "null"
}

fn is_object(raw: &RawValue) -> bool {
    raw.get().starts_with('{')
}
