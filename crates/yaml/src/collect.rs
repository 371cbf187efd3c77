//! Finds everything that is wrong with the shape of a text: each thing that is found is put right in a copy,
//! which is read again.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::fault::Fault;
use crate::place::{Finder, Step};
use crate::read::{Limits, Unread, read};

/// How many faults are told at most: the text is read once for each.
pub const MAX_FAULTS: usize = 20;

/// Reads a text. `stand_in` gives a value for a key that must be there, and so keeps its absence from
/// hiding what else is wrong.
///
/// # Errors
/// Everything of its shape that is wrong, in the order of the text. What is no YAML is told alone.
pub fn read_all<T: DeserializeOwned>(
    text: &str,
    limits: Limits,
    stand_in: impl Fn(&str) -> Option<Value>,
) -> Result<T, Vec<Unread>> {
    let mut unread = match read(text, limits) {
        Ok(value) => return Ok(value),
        Err(unread) => unread,
    };
    let mut found = Vec::new();
    // What is no YAML, or has keys that JSON can't have, is not read further.
    let mut copy: Option<Value> = read(text, limits).ok();
    let finder = copy.is_some().then(|| Finder::new(text, limits));
    loop {
        let is_mended = copy.as_mut().is_some_and(|value| mend(value, &unread, &stand_in));
        found.push(unread);
        // JSON is YAML too.
        let mended = copy.as_ref().filter(|_| is_mended && found.len() < MAX_FAULTS);
        let Some(text) = mended.map(Value::to_string) else { break };
        let Err(mut next) = read::<T>(&text, limits) else { break };
        next.place = finder.as_ref().and_then(|finder| match next.fault {
            Fault::UnknownKey { .. } => finder.find_key(&next.path),
            _ => finder.find(&next.path),
        });
        if found.iter().any(|one| one.path == next.path && one.fault == next.fault) {
            break;
        }
        unread = next;
    }
    found.sort_by_key(|unread| unread.place);
    Err(found)
}

/// Puts right what was found, or takes it out; tells whether that could be done.
fn mend(copy: &mut Value, unread: &Unread, stand_in: impl Fn(&str) -> Option<Value>) -> bool {
    if let Fault::MissingKey(key) = &unread.fault {
        let (Some(Value::Object(fields)), Some(value)) = (at(copy, &unread.path), stand_in(key))
        else {
            return false;
        };
        return fields.insert(key.clone(), value).is_none();
    }
    // An item can't be taken out alone: those behind it would move.
    let last = unread.path.iter().rposition(|step| matches!(step, Step::Key(_)));
    let Some((around, Step::Key(key))) =
        last.and_then(|last| Some((unread.path.get(..last)?, unread.path.get(last)?)))
    else {
        return false;
    };
    let Some(Value::Object(fields)) = at(copy, around) else { return false };
    let is_known = !matches!(unread.fault, Fault::UnknownKey { .. });
    match stand_in(key).filter(|_| is_known) {
        Some(value) => fields.insert(key.clone(), value).is_some(),
        None => fields.remove(key).is_some(),
    }
}

fn at<'a>(value: &'a mut Value, path: &[Step]) -> Option<&'a mut Value> {
    path.iter().try_fold(value, |here, step| match step {
        Step::Key(key) => here.get_mut(key),
        Step::Index(index) => here.get_mut(*index),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::shown;
    use serde::Deserialize;
    use serde_json::json;

    const LIMITS: Limits = Limits { nodes: 200, replayed: 20, depth: 8 };

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its shape is looked at")]
    struct File {
        name: String,
        items: Vec<Item>,
        flag: Option<bool>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its shape is looked at")]
    struct Item {
        count: u32,
        is_new: Option<bool>,
    }

    fn stand_in(key: &str) -> Option<Value> {
        match key {
            "name" => Some(json!("x")),
            "items" => Some(json!([])),
            "count" => Some(json!(1)),
            _ => None,
        }
    }

    fn places(text: &str) -> Vec<(String, Option<(u64, u64)>)> {
        let found = read_all::<File>(text, LIMITS, stand_in).unwrap_err();
        found.iter().map(|unread| (shown(&unread.path), unread.place)).collect()
    }

    #[test]
    fn everything_of_the_shape_that_is_wrong_is_found_in_its_place() {
        let text = "nmae: a\nflag: yes\nitems:\n  - cuont: 1\n    other: 2\n  - count: many\n  - {count: 2, is_new: 3}\n";
        let found = places(text);
        let expected = [
            ("nmae", (1, 1)),
            ("", (1, 1)),
            ("flag", (2, 7)),
            ("items[0].cuont", (4, 5)),
            ("items[0]", (4, 5)),
            ("items[0].other", (5, 5)),
            ("items[1].count", (6, 12)),
            ("items[2].is_new", (7, 24)),
        ];
        let expected: Vec<_> =
            expected.iter().map(|(path, place)| ((*path).to_owned(), Some(*place))).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn what_is_no_yaml_is_told_alone_and_what_is_endless_is_bounded() {
        assert_eq!(places("name: [").len(), 1);
        assert_eq!(places("name: a\nname: b\nitems: []").len(), 1);
        let keys: String = (0..60).map(|index| format!("k{index}: 1\n")).collect();
        assert_eq!(places(&keys).len(), MAX_FAULTS);
        assert!(read_all::<File>("name: a\nitems: []", LIMITS, stand_in).is_ok());
    }
}
