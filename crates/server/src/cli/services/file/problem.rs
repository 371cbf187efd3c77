//! What is wrong with a file. No text repeats a value: any of them may be a secret.

use mainstay_yaml::{Fault, Unread, shown};

use crate::config::nearest;

/// Why a text could not be read, and the way to it.
pub(super) fn told(unread: &Unread) -> String {
    let reason = reason(&unread.fault);
    match unread.path.as_slice() {
        [] => reason,
        path => format!("{}: {reason}", shown(path)),
    }
}

fn reason(fault: &Fault) -> String {
    match fault {
        Fault::UnknownKey { key, known } => match nearest(key, known.iter().copied()) {
            Some(name) => format!("there is no such key; did you mean {name}?"),
            None => format!("there is no such key; there are {}", known.join(", ")),
        },
        Fault::MissingKey(key) => format!("`{key}` is missing; give it"),
        Fault::SeveralDocuments => {
            "there is more than one document; write each into a file of its own".to_owned()
        }
        Fault::Empty => "the file is empty; write `version: 1` and what you want".to_owned(),
        Fault::Expected(what) => format!("another kind of value is expected: {what}"),
        Fault::Other(reason) => reason.clone(),
        Fault::UnknownWord { .. } | Fault::Unreadable => {
            "it can't be read as YAML of this kind; compare it with docs/guide/config-as-code.md"
                .to_owned()
        }
    }
}
