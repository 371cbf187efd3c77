//! Reads a text within limits.

use serde::de::DeserializeOwned;
use serde_saphyr::options::{DuplicateKeyPolicy, NonFiniteFloatPolicy};
use serde_saphyr::{Error, Options};

use crate::fault::{Fault, innermost};
use crate::place::{Finder, Step};

/// What a text may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The most nodes, with everything that anchors stand for.
    pub nodes: usize,
    /// The most nodes that anchors stand for, all in all.
    pub replayed: usize,
    /// How deep it may be.
    pub depth: usize,
}

/// A text that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// The way to what is wrong.
    pub path: Vec<Step>,
    /// Line and column, where they are known.
    pub place: Option<(u64, u64)>,
    /// What is wrong.
    pub fault: Fault,
}

/// Reads a text.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn read<T: DeserializeOwned>(text: &str, limits: Limits) -> Result<T, Unread> {
    let mut path = Vec::new();
    let options = limits.options();
    let read = serde_saphyr::with_deserializer_from_str_with_options(text, options, |reader| {
        serde_path_to_error::deserialize(reader).map_err(|error| {
            path = steps(error.path());
            error.into_inner()
        })
    });
    read.map_err(|error| Unread::new(text, limits, path, &error))
}

impl Limits {
    /// How YAML is read. No error carries a part of the text.
    pub(crate) fn options(self) -> Options {
        self.with(DuplicateKeyPolicy::Error, NonFiniteFloatPolicy::Reject)
    }

    /// The same for a text that is known to be wrong: keys that stand there twice, and numbers
    /// without an end, do not hide what else is.
    pub(crate) fn lenient(self) -> Options {
        self.with(DuplicateKeyPolicy::LastWins, NonFiniteFloatPolicy::AsString)
    }

    fn with(
        self,
        duplicate_keys: DuplicateKeyPolicy,
        non_finite_float_policy: NonFiniteFloatPolicy,
    ) -> Options {
        serde_saphyr::options! {
            duplicate_keys: duplicate_keys,
            non_finite_float_policy: non_finite_float_policy,
            budget: serde_saphyr::budget! {
                max_nodes: self.nodes,
                max_events: self.nodes,
                max_depth: self.depth,
                // Many may share one anchor: what they stand for is counted.
                enforce_alias_anchor_ratio: false,
            },
            alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: self.replayed },
            // `yes` and `on` are names that people give; true and false are what JSON says too.
            strict_booleans: true,
            with_snippet: false,
        }
    }
}

impl Unread {
    fn new(text: &str, limits: Limits, mut path: Vec<Step>, error: &Error) -> Self {
        let error = innermost(error);
        let fault = Fault::of(error);
        if let Fault::UnknownKey { key, .. } = &fault
            && path.last() != Some(&Step::Key(key.clone()))
        {
            path.push(Step::Key(key.clone()));
        }
        let told = error.location().map(|location| (location.line(), location.column()));
        let told = told.filter(|(line, _)| *line > 0);
        let place = told.or_else(|| Finder::new(text, limits).find(&path));
        Self { path, place, fault }
    }
}

/// The way that serde went.
fn steps(path: &serde_path_to_error::Path) -> Vec<Step> {
    use serde_path_to_error::Segment;
    let steps = path.iter().filter_map(|segment| match segment {
        Segment::Seq { index } => Some(Step::Index(*index)),
        Segment::Map { key } => Some(Step::Key(key.clone())),
        Segment::Enum { .. } | Segment::Unknown => None,
    });
    steps.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use serde::de::IgnoredAny;

    const LIMITS: Limits = Limits { nodes: 50, replayed: 20, depth: 8 };

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct File {
        name: String,
        #[serde(default)]
        items: Vec<Item>,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Item {
        count: u32,
        is_new: Option<bool>,
    }

    #[test]
    fn what_is_well_written_is_read() {
        let read: File = read("name: on\nitems: [{count: 3}]", LIMITS).unwrap();
        assert_eq!(read, File { name: "on".into(), items: vec![Item { count: 3, is_new: None }] });
    }

    #[test]
    fn what_is_wrong_is_told_with_its_way_and_place() {
        let key = |key: &str| Step::Key(key.to_owned());
        let unknown = Fault::UnknownKey { key: "cuont".into(), known: vec!["count", "is_new"] };
        let in_item = |last: &str| vec![key("items"), Step::Index(0), key(last)];
        for (text, path, line, fault) in [
            ("name: a\nitems:\n  - cuont: 1", in_item("cuont"), 3, unknown),
            ("name: a\nitems:\n  - {count: secret}", in_item("count"), 3, wants("a whole number")),
            (
                "name: a\nitems: [{count: 1, is_new: yes}]",
                in_item("is_new"),
                2,
                wants("true or false"),
            ),
            ("items: []", vec![], 1, Fault::MissingKey("name".into())),
            ("", vec![], 1, Fault::Empty),
            ("name: a\n---\nname: b", vec![], 3, Fault::SeveralDocuments),
        ] {
            let unread = read::<File>(text, LIMITS).unwrap_err();
            assert_eq!((&unread.path, &unread.fault), (&path, &fault), "{text}");
            assert_eq!(unread.place.map(|(line, _)| line), Some(line), "{text}");
        }
    }

    #[test]
    fn what_is_too_large_is_not_read() {
        let long = format!("name: a\nitems: [{}]", "{count: 1},".repeat(40));
        let bomb = format!("name: a\nitems: [&x {{count: 1}}, {}]", "*x,".repeat(15));
        let deep = format!("name: a\nitems: {}{}", "[".repeat(10), "]".repeat(10));
        for text in [long, bomb, deep] {
            let unread = read::<IgnoredAny>(&text, LIMITS).unwrap_err();
            assert!(
                matches!(&unread.fault, Fault::Other(why) if why.contains("too large")),
                "{unread:?}"
            );
        }
    }

    fn wants(what: &str) -> Fault {
        Fault::Expected(what.to_owned())
    }
}
