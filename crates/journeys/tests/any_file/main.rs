//! Files that nobody would write: the example with parts of it moved, doubled and broken.

mod holds;

use holds::holds;
use proptest::prelude::*;

const GOOD: &str = include_str!("../journeys/authorise.yaml");

/// Words that mean something in a journey, and some that never should.
const WORDS: [&str; 20] = [
    "{{ ",
    " }}",
    "$.a[",
    "&a ",
    "*a",
    "[",
    "]",
    "{",
    "}",
    "\n",
    "  ",
    ": ",
    "- ",
    "'",
    "\"",
    "needs",
    "!!binary",
    "within: 1s",
    "\u{0}",
    "ä",
];

fn broken() -> impl Strategy<Value = String> {
    let change = (0..GOOD.len(), 0..40_usize, proptest::sample::select(&WORDS[..]));
    proptest::collection::vec(change, 1..6).prop_map(|changes| {
        let mut text = GOOD.to_owned();
        for (at, length, word) in changes {
            let from =
                (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            let to = (from + length).min(text.len());
            let to = (to..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(from);
            text.replace_range(from..to, word);
        }
        text
    })
}

proptest! {
    #[test]
    fn a_broken_file_is_refused_with_mistakes_that_stand_in_it(text in broken()) {
        holds(&text);
    }

    #[test]
    fn any_text_is_refused_or_taken(text in "\\PC{0,200}") {
        holds(&text);
    }
}
