//! What the organisation's stream is told of an edit.

use mainstay_base::Id;
use mainstay_events::{Event, EventError, Outbox, Stream};
use serde_json::{Map, Value, json};

use crate::status::ServiceStatus;

/// Adds an event about a service.
pub(crate) fn tell<const N: usize>(
    out: &mut Outbox,
    kind: &str,
    service: (Id, &str),
    fields: [(&str, Value); N],
) -> Result<(), EventError> {
    let mut all = Map::new();
    all.insert("service_id".to_owned(), json!(service.0.to_string()));
    all.insert("service_name".to_owned(), json!(service.1));
    all.extend(fields.into_iter().map(|(name, value)| (name.to_owned(), value)));
    out.add(Stream::Org, Event::new(kind, &all)?)
}

/// Adds the event of a service whose status is not known any more.
pub(crate) fn tell_unknown(
    out: &mut Outbox,
    service: (Id, &str),
    before: ServiceStatus,
) -> Result<(), EventError> {
    let unknown = json!(ServiceStatus::Unknown.name());
    let fields =
        [("previous", json!(before.name())), ("current", unknown.clone()), ("status", unknown)];
    tell(out, "service:status", service, fields)
}
