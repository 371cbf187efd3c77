//! What other instances have yet to be told: each thing once, in a bounded space.

use std::collections::{BTreeMap, BTreeSet};

use mainstay_base::Id;
use mainstay_store::listen::MAX_NOTICE;
use serde_json::{Value, json};

use super::{MAX_KEY, Topic};
use crate::outbox::Announced;
use crate::stream::Stream;

/// Keys and streams that wait to be told; more are told as "anything".
const MAX_PENDING: usize = 1_024;

/// Events that are told with their fields in one go; of more only stream and number are.
const MAX_WHOLE: usize = 256;

/// What a payload says, behind who rang it, that means "anything".
pub(super) const ANYTHING: &str = "";

/// The field that says who rang the bell of an event.
const RUNG_BY: &str = "rung_by";

/// What waits.
#[derive(Debug, Default)]
pub(super) struct Pending {
    keys: BTreeSet<(Topic, String)>,
    streams: BTreeMap<Stream, Waiting>,
    /// Events in `streams` that wait whole.
    whole: usize,
    anything: BTreeSet<Topic>,
}

/// The bells of one stream.
#[derive(Debug, Default)]
struct Waiting {
    last_seq: i64,
    events: Vec<Announced>,
}

impl Pending {
    pub(super) fn add(&mut self, topic: Topic, key: &str) {
        if self.anything.contains(&topic) {
            return;
        }
        if key.is_empty() || key.len() > MAX_KEY || self.keys.len() >= MAX_PENDING {
            self.anything.insert(topic);
            // They are told with it, and the other topics need the room.
            self.keys.retain(|(waiting, _)| *waiting != topic);
        } else {
            self.keys.insert((topic, key.to_owned()));
        }
    }

    pub(super) fn announce(&mut self, events: Vec<Announced>) {
        for event in events {
            if self.streams.len() >= MAX_PENDING && !self.streams.contains_key(&event.stream) {
                self.anything.insert(Topic::StateChanges);
                continue;
            }
            let waiting = self.streams.entry(event.stream).or_default();
            waiting.last_seq = waiting.last_seq.max(event.seq);
            if self.whole < MAX_WHOLE {
                self.whole = self.whole.saturating_add(1);
                waiting.events.push(event);
            }
        }
    }

    /// After bells were lost, anything may have changed.
    pub(super) fn add_anything(&mut self) {
        self.anything.extend(Topic::ALL);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.keys.is_empty() && self.streams.is_empty() && self.anything.is_empty()
    }

    /// Each bell as channel and payload, which says that `by` rang it.
    pub(super) fn into_bells(self, by: Id) -> Vec<(&'static str, String)> {
        let mut bells: Vec<_> =
            self.anything.iter().map(|topic| (topic.name(), format!("{by} {ANYTHING}"))).collect();
        bells.extend(
            self.keys.iter().map(|(topic, key)| (topic.name(), key_payload(*topic, key, by))),
        );
        for (stream, waiting) in self.streams {
            let told = waiting.events.iter().map(|event| event.seq).max();
            bells.extend(waiting.events.iter().map(|event| (STATE_CHANGES, payload(event, by))));
            if told != Some(waiting.last_seq) {
                bells.push((STATE_CHANGES, bare(stream, waiting.last_seq, by)));
            }
        }
        bells
    }
}

const STATE_CHANGES: &str = Topic::StateChanges.name();

/// Who rang a bell, if it says so, and the rest of it. The bell of an event says it in its JSON.
pub(super) fn who_and_what(payload: &str) -> (Option<Id>, &str) {
    let marked = payload.split_once(' ');
    let marked = marked.and_then(|(by, said)| Some((by.parse().ok()?, said)));
    marked.map_or((None, payload), |(by, said)| (Some(by), said))
}

/// The bells of events carry JSON; those of other topics carry their key.
fn key_payload(topic: Topic, key: &str, by: Id) -> String {
    match topic {
        Topic::StateChanges => json!({ "stream": key, RUNG_BY: by.to_string() }).to_string(),
        _ => format!("{by} {key}"),
    }
}

/// The event itself with whose it is, where that fits.
fn payload(event: &Announced, by: Id) -> String {
    let Announced { stream, seq, event } = event;
    // Nothing as long as this could fit, so it is not even read.
    if event.fields().len() >= MAX_NOTICE {
        return bare(*stream, *seq, by);
    }
    let mut whole: Value = serde_json::from_str(event.fields()).unwrap_or_default();
    if let Some(fields) = whole.as_object_mut() {
        fields.insert("type".to_owned(), event.kind().into());
        fields.insert("stream".to_owned(), stream.to_string().into());
        fields.insert("seq".to_owned(), (*seq).into());
        fields.insert(RUNG_BY.to_owned(), by.to_string().into());
        if let Stream::User(id) = stream {
            fields.insert("user_id".to_owned(), id.to_string().into());
        }
    }
    let whole = whole.to_string();
    if whole.len() <= MAX_NOTICE { whole } else { bare(*stream, *seq, by) }
}

fn bare(stream: Stream, seq: i64, by: Id) -> String {
    json!({ "stream": stream.to_string(), "seq": seq, RUNG_BY: by.to_string() }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Event;

    const USER: &str = "01a1e102-8087-7707-8707-070707070707";
    const BY: &str = "01a1e102-8087-7707-8707-080808080808";

    fn announced(stream: Stream, seq: i64, fields: &Value) -> Announced {
        let event = Event::new("worker_state_changed", fields.as_object().unwrap()).unwrap();
        Announced { stream, seq, event }
    }

    fn bells_of(events: Vec<Announced>) -> Vec<Value> {
        let mut pending = Pending::default();
        pending.announce(events);
        let bells = pending.into_bells(BY.parse().unwrap());
        assert!(
            bells
                .iter()
                .all(|(channel, bell)| { *channel == "state_changes" && bell.len() <= MAX_NOTICE })
        );
        bells.iter().map(|(_, bell)| serde_json::from_str(bell).unwrap()).collect()
    }

    #[test]
    fn an_event_is_told_as_the_source_shows_it() {
        let stream = Stream::User(USER.parse().unwrap());
        let event = announced(stream, 7, &json!({"worker_id": "w1", "status": "error"}));
        assert_eq!(
            bells_of(vec![event]),
            [json!({
                "user_id": USER, "type": "worker_state_changed", "worker_id": "w1",
                "status": "error", "stream": format!("user:{USER}"), "seq": 7,
                "rung_by": BY,
            })]
        );
    }

    #[test]
    fn what_does_not_fit_is_told_by_stream_and_number_alone() {
        let around = bells_of(vec![announced(Stream::Org, 1, &json!({"text": ""}))]);
        let room = MAX_NOTICE - around[0].to_string().len();
        let fits = announced(Stream::Org, 1, &json!({"text": "x".repeat(room)}));
        assert!(bells_of(vec![fits])[0].get("text").is_some());
        let bare = [json!({"stream": "org", "seq": 1, "rung_by": BY})];
        for length in [room + 1, MAX_NOTICE, 50_000] {
            let large = announced(Stream::Org, 1, &json!({"text": "x".repeat(length)}));
            assert_eq!(bells_of(vec![large]), bare);
        }
    }

    #[test]
    fn a_flood_of_events_becomes_few_bells_and_the_last_number_is_told() {
        let flood = (1..=10_000).map(|seq| announced(Stream::Org, seq, &json!({}))).collect();
        let bells = bells_of(flood);
        assert_eq!(bells.len(), MAX_WHOLE + 1);
        assert_eq!(bells.last().unwrap()["seq"], 10_000);
    }

    #[test]
    fn too_many_keys_become_anything() {
        let mut pending = Pending::default();
        for key in 0..=MAX_PENDING {
            pending.add(Topic::Jobs, &key.to_string());
        }
        pending.add(Topic::Access, "user:1");
        let bells = pending.into_bells(BY.parse().unwrap());
        assert_eq!(
            bells,
            [("mainstay_jobs", format!("{BY} ")), ("mainstay_access", format!("{BY} user:1"))]
        );
    }

    #[test]
    fn a_bell_tells_who_rang_it_and_one_that_does_not_is_taken_as_it_is() {
        let by = BY.parse().ok();
        for (payload, expected) in [
            (format!("{BY} two words"), (by, "two words")),
            (format!("{BY} "), (by, ANYTHING)),
            (String::new(), (None, ANYTHING)),
            ("two words".to_owned(), (None, "two words")),
            (BY.to_owned(), (None, BY)),
            (r#"{"stream": "org"}"#.to_owned(), (None, r#"{"stream": "org"}"#)),
        ] {
            assert_eq!(who_and_what(&payload), expected, "{payload}");
        }
    }
}
