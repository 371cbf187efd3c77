//! What can't be read as the YAML of a journey. No text repeats a value.

use mainstay_base::nearest;
use mainstay_yaml::{Fault, Unread, shown};

use super::mistakes::Mistake;

/// To YAML two braces without quotes are a mapping within a mapping.
const BARE: &str =
    "a template stands in quotes, such as \"{{ base }}/orders\"; without them {{ begins a mapping";

/// The mistake of a text that can't be read.
pub(super) fn mistake(text: &str, unread: Unread) -> Mistake {
    let (line, column) = unread.place.unwrap_or((1, 1));
    let nearest = meant(&unread.fault);
    let message = match unread.fault {
        Fault::Expected(_) if is_bare_template(text, line, column) => BARE.to_owned(),
        fault => reason(fault, nearest.is_some()),
    };
    Mistake { line, column, path: shown(&unread.path), message, nearest }
}

/// The known name that was most likely meant.
fn meant(fault: &Fault) -> Option<String> {
    match fault {
        Fault::UnknownKey { key: name, known } | Fault::UnknownWord { word: name, known } => {
            nearest(&name.to_lowercase(), known.iter().copied()).map(str::to_owned)
        }
        _ => None,
    }
}

fn reason(fault: Fault, is_nearly_known: bool) -> String {
    match fault {
        Fault::UnknownKey { .. } if is_nearly_known => "there is no such key".to_owned(),
        Fault::UnknownKey { known, .. } => {
            format!("there is no such key; there are {}", known.join(", "))
        }
        Fault::UnknownWord { .. } if is_nearly_known => "there is no such word here".to_owned(),
        Fault::UnknownWord { known, .. } => {
            format!("there is no such word here; there are {}", known.join(", "))
        }
        Fault::MissingKey(key) => missing(&key),
        Fault::SeveralDocuments => {
            "there is more than one document; write each journey into a file of its own".to_owned()
        }
        Fault::Empty => "the file is empty; write `journey: NAME` and its `steps`".to_owned(),
        Fault::Expected(what) => format!("another kind of value is expected: {what}"),
        Fault::Other(reason) => reason,
        Fault::Unreadable => {
            "it can't be read as the YAML of a journey; compare it with docs/guide/journeys.md"
                .to_owned()
        }
    }
}

/// Whether a template without quotes stands at this place; the parser points at one of its two braces.
fn is_bare_template(text: &str, line: u64, column: u64) -> bool {
    let at = |number: u64| usize::try_from(number).unwrap_or(usize::MAX).saturating_sub(1);
    let line: Vec<char> = text.lines().nth(at(line)).unwrap_or_default().chars().collect();
    let is_there = |from: usize| {
        let braces = from..from.saturating_add(2);
        line.get(braces).is_some_and(|two| *two == ['{', '{'])
    };
    is_there(at(column)) || is_there(at(column).saturating_sub(1))
}

/// What a poll must have is told with why.
fn missing(key: &str) -> String {
    match key {
        "within" => "`within` is missing: a poll has an end, such as within: 30s".to_owned(),
        "every" => {
            "`every` is missing: how long to wait between two polls, such as 500ms".to_owned()
        }
        "when" => "`when` is missing: the rules that say what an answer means".to_owned(),
        key => format!("`{key}` is missing; give it"),
    }
}
