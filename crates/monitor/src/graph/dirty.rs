//! Whom events name since the graph was last brought up to date.

use std::collections::BTreeSet;

use mainstay_base::Id;
use mainstay_events::Delivery;
use serde::Deserialize;

/// The most that are named one by one: with more, all is read again.
const MOST_NAMED: usize = 20_000;

/// The kinds of events after which the graph may be another one.
const KINDS: [&str; 9] = [
    "alias:updated",
    "dependency:status",
    "link:updated",
    "poll:error",
    "poll:recovered",
    "service:started",
    "service:status",
    "service:stopped",
    "service:updated",
];

/// What has to be read again.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Dirty {
    /// Services that were named.
    pub(super) services: BTreeSet<Id>,
    /// Reported names that go by another one now.
    pub(super) aliases: BTreeSet<String>,
    /// Canonical keys whose dependencies were linked.
    pub(super) keys: BTreeSet<String>,
    /// Everything.
    pub(super) all: bool,
}

/// What of an event matters here.
#[derive(Debug, Deserialize)]
struct Named {
    #[serde(rename = "type")]
    kind: String,
    service_id: Option<Id>,
    alias: Option<String>,
    canonical_key: Option<String>,
}

impl Dirty {
    /// Notes an event, if the graph may be another one after it.
    pub(super) fn hear(&mut self, event: &Delivery) {
        if KINDS.contains(&&*event.kind) {
            self.note(&event.frame);
        }
    }

    /// Notes an event by its frame. One that can't be read could have named anybody.
    fn note(&mut self, frame: &[u8]) {
        let json = frame.strip_prefix(b"data: ").unwrap_or(frame);
        let Ok(named) = serde_json::from_slice::<Named>(json) else {
            self.all = true;
            return;
        };
        match named {
            Named { kind, alias: Some(alias), .. } if kind == "alias:updated" => {
                self.aliases.insert(alias);
            }
            Named { kind, canonical_key: Some(key), .. } if kind == "link:updated" => {
                self.keys.insert(key);
            }
            Named { service_id: Some(id), .. } => {
                self.services.insert(id);
            }
            _ => self.all = true,
        }
        let named = [self.services.len(), self.aliases.len(), self.keys.len()];
        if named.into_iter().any(|count| count > MOST_NAMED) {
            self.all = true;
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "019a8b3c-0000-7000-8000-000000000001";

    #[test]
    fn an_event_names_what_to_read_again() {
        let mut dirty = Dirty::default();
        assert!(dirty.is_empty());
        for frame in [
            format!("data: {{\"type\":\"service:status\",\"service_id\":\"{ID}\",\"seq\":1}}\n\n"),
            "data: {\"type\":\"alias:updated\",\"alias\":\"db\",\"canonical_name\":null}\n\n"
                .to_owned(),
            format!(
                "data: {{\"type\":\"link:updated\",\"canonical_key\":\"redis\",\"service_id\":\"{ID}\"}}\n\n"
            ),
        ] {
            dirty.note(frame.as_bytes());
        }
        let expected = Dirty {
            services: BTreeSet::from([ID.parse().unwrap()]),
            aliases: BTreeSet::from(["db".to_owned()]),
            keys: BTreeSet::from(["redis".to_owned()]),
            all: false,
        };
        assert_eq!(dirty, expected);
    }

    #[test]
    fn what_names_nobody_names_everybody() {
        for frame in ["data: {\"type\":\"service:status\"}\n\n", "data: {", ""] {
            let mut dirty = Dirty::default();
            dirty.note(frame.as_bytes());
            assert!(dirty.all, "{frame}");
        }
    }

    #[test]
    fn more_than_can_be_named_is_everybody() {
        let mut dirty = Dirty::default();
        for number in 0..=MOST_NAMED {
            let frame = format!(r#"data: {{"type":"alias:updated","alias":"{number}"}}"#);
            dirty.note(frame.as_bytes());
        }
        assert!(dirty.all);
    }
}
