//! Finds everything that is wrong with the shape of a text: each thing that is found is put right in a copy,
//! which is read again.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::bare::Plain;
use crate::fault::{Fault, repeated};
use crate::place::{Finder, Step};
use crate::read::{Limits, Unread, read};

/// How many faults are told at most: the text is read once for each.
pub const MAX_FAULTS: usize = 20;

/// Reads a text. `stand_in` gives a value for a key that must be there, and so keeps its absence from
/// hiding what else is wrong.
///
/// # Errors
/// Everything of its shape that is wrong, in the order of the text. Where it is no YAML, that is told too, and what is wrong
/// beside it as far as it can be known.
pub fn read_all<T: DeserializeOwned>(
    text: &str,
    limits: Limits,
    stand_in: impl Fn(&str) -> Option<Value>,
) -> Result<T, Vec<Unread>> {
    let first = match read(text, limits) {
        Ok(value) => return Ok(value),
        Err(unread) => unread,
    };
    let plain = Plain::of(text);
    let finder = Finder::new(&plain.text, limits);
    let mut found = of_the_text(&plain, &finder);
    let is_known = found.iter().any(|one| is_one_place(one.place, first.place));
    let copy = serde_saphyr::from_str_with_options::<Value>(&plain.text, limits.lenient());
    match copy {
        Ok(copy) => of_its_shape::<T>(
            copy,
            limits,
            &finder,
            stand_in,
            Some(first).filter(|_| !is_known),
            &mut found,
        ),
        Err(_) => {
            // What is no YAML is not read further; nor is what holds values that JSON can't.
            let unreadable = read::<Value>(&plain.text, limits).err();
            for unread in [Some(first).filter(|_| !is_known), unreadable].into_iter().flatten() {
                if found.iter().all(|one| !is_one_place(one.place, unread.place)) {
                    found.push(unread);
                }
            }
        }
    }
    found.sort_by_key(|unread| unread.place);
    found.truncate(MAX_FAULTS);
    Err(found)
}

/// What is wrong before any shape is looked at: templates without quotes, and keys that stand there twice.
fn of_the_text(plain: &Plain, finder: &Finder) -> Vec<Unread> {
    let bare = plain.places.iter().map(|place| Unread {
        path: finder.way_to(*place),
        place: Some(*place),
        fault: Fault::Expected("a text".to_owned()),
    });
    let repeated = finder.repeated().into_iter().map(|(path, place)| {
        let key = match path.last() {
            Some(Step::Key(key)) => key.as_str(),
            _ => "",
        };
        let fault = Fault::Other(repeated(key));
        Unread { path, place: Some(place), fault }
    });
    bare.chain(repeated).take(MAX_FAULTS).collect()
}

/// The parser may point at the second brace of two.
fn is_one_place(one: Option<(u64, u64)>, other: Option<(u64, u64)>) -> bool {
    let (Some((line, column)), Some((other_line, other_column))) = (one, other) else {
        return one == other;
    };
    line == other_line && column.abs_diff(other_column) <= 1
}

/// Reads a copy again and again, in which each thing that is found is put right.
fn of_its_shape<T: DeserializeOwned>(
    mut copy: Value,
    limits: Limits,
    finder: &Finder,
    stand_in: impl Fn(&str) -> Option<Value>,
    first: Option<Unread>,
    found: &mut Vec<Unread>,
) {
    let mut next = first;
    while found.len() < MAX_FAULTS {
        let unread = match next.take() {
            Some(unread) => unread,
            // JSON is YAML too.
            None => {
                let Err(mut unread) = read::<T>(&copy.to_string(), limits) else { return };
                unread.place = match unread.fault {
                    Fault::UnknownKey { .. } => finder.find_key(&unread.path),
                    _ => finder.find(&unread.path),
                };
                unread
            }
        };
        if found.iter().any(|one| one.path == unread.path && one.fault == unread.fault) {
            return;
        }
        let is_mended = mend(&mut copy, &unread, &stand_in);
        found.push(unread);
        if !is_mended {
            return;
        }
    }
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
    fn what_is_no_yaml_is_told_and_what_is_endless_is_bounded() {
        assert_eq!(places("name: [").len(), 1);
        assert_eq!(places("name: a\nname: b\nitems: []").len(), 1);
        let both = places("flag: 5\nname: [");
        assert_eq!(both.len(), 2, "what can't be read does not hide what was: {both:?}");
        let keys: String = (0..60).map(|index| format!("k{index}: 1\n")).collect();
        assert_eq!(places(&keys).len(), MAX_FAULTS);
        assert!(read_all::<File>("name: a\nitems: []", LIMITS, stand_in).is_ok());
    }

    #[test]
    fn what_is_no_yaml_does_not_hide_what_else_is_wrong() {
        let text = "flag: 5\nname: {{ x }}/a\nitems:\n  - {count: {{ n }}, cuont: 1}\n  - count: 1\n    count: 2\nother: 1\n";
        let places: Vec<_> =
            places(text).into_iter().map(|(path, place)| (path, place.unwrap())).collect();
        let expected = [
            ("flag", (1, 7)),
            ("name", (2, 7)),
            ("items[0].count", (4, 13)),
            ("items[0].cuont", (4, 22)),
            ("items[1].count", (6, 5)),
            ("other", (7, 1)),
        ];
        for (path, place) in expected {
            assert!(places.contains(&(path.to_owned(), place)), "{path} {place:?} in {places:?}");
        }
    }
}
