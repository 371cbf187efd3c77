//! Text from outside, made fit to be kept: error codes, error messages, traces.

use std::fmt;
use std::sync::Arc;

use crate::model::{Failure, MAX_WORD_BYTES};

/// The longest error message, in characters.
pub const MAX_MESSAGE_CHARACTERS: usize = 280;
/// The code of an error whose own code is none.
const UNNAMED_CODE: &str = "unnamed_error";

/// The trace of a caller in the W3C form, version 00: `00-<32 hex>-<16 hex>-<2 hex>`. A clone shares
/// the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Traceparent(Arc<str>);

impl Traceparent {
    /// The trace, if `text` is in the W3C form and not all zero.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let (version, trace) = (parts.next()?, parts.next()?);
        let (span, flags) = (parts.next()?, parts.next()?);
        let is_fit = parts.next().is_none()
            && version == "00"
            && is_hex(trace, 32)
            && is_hex(span, 16)
            && is_hex(flags, 2)
            && [trace, span].iter().all(|id| id.bytes().any(|byte| byte != b'0'));
        is_fit.then(|| Self(text.into()))
    }

    /// The text as it travels in a header.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Traceparent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// An error made fit to be kept: a code that is a word, a message of one bounded line.
pub(crate) fn failure(code: &str, message: &str) -> Failure {
    let code = if is_word(code) { code } else { UNNAMED_CODE };
    Failure { code: code.to_owned(), message: one_line(message) }
}

/// Whether `text` is `[a-z0-9_]{1,64}`.
pub(crate) fn is_word(text: &str) -> bool {
    let is_fit = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    (1..=MAX_WORD_BYTES).contains(&text.len()) && text.bytes().all(is_fit)
}

/// What would break a line or hide in one becomes a space; runs of spaces become one.
fn one_line(text: &str) -> String {
    let is_unfit = |character: char| {
        character.is_control()
            || character.is_whitespace()
            || matches!(character, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{FEFF}')
    };
    let words = text.split(is_unfit).filter(|word| !word.is_empty());
    let mut line = String::new();
    // Enough words for the bound, however long the text is.
    for word in words.take(MAX_MESSAGE_CHARACTERS) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.extend(word.chars().take(MAX_MESSAGE_CHARACTERS.saturating_add(1)));
    }
    if line.chars().nth(MAX_MESSAGE_CHARACTERS).is_none() {
        return line;
    }
    let kept = MAX_MESSAGE_CHARACTERS.saturating_sub(1);
    line.chars().take(kept).chain(['…']).collect()
}

fn is_hex(text: &str, length: usize) -> bool {
    text.len() == length
        && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_the_w3c_form_is_a_trace() {
        let good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        assert_eq!(Traceparent::parse(good).unwrap().as_str(), good);
        for bad in [
            "",
            "00",
            "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x",
            "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
        ] {
            assert_eq!(Traceparent::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_code_that_is_no_word_is_replaced() {
        let long = "a".repeat(65);
        for (given, kept) in [
            ("llm_timeout", "llm_timeout"),
            ("s3_5xx", "s3_5xx"),
            ("", "unnamed_error"),
            ("Has Space", "unnamed_error"),
            ("ünnamed", "unnamed_error"),
            (long.as_str(), "unnamed_error"),
        ] {
            assert_eq!(failure(given, "x").code, kept, "{given}");
        }
    }

    #[test]
    fn a_message_is_one_clean_bounded_line() {
        assert_eq!(failure("a", " two\r\nlines\0and\u{1b}[31m ").message, "two lines and [31m");
        assert_eq!(failure("a", "\u{202E}evil").message, "evil");
        let long = failure("a", &"ä".repeat(1_000)).message;
        assert_eq!(long.chars().count(), MAX_MESSAGE_CHARACTERS);
        assert!(long.ends_with('…'));
        let just = "b".repeat(MAX_MESSAGE_CHARACTERS);
        assert_eq!(failure("a", &just).message, just);
    }

    proptest! {
        #[test]
        fn whatever_is_given_is_made_fit(code in ".{0,80}", message in "(?s).{0,600}") {
            let failure = failure(&code, &message);
            prop_assert!(is_word(&failure.code));
            prop_assert!(failure.message.chars().count() <= MAX_MESSAGE_CHARACTERS);
            prop_assert!(!failure.message.chars().any(char::is_control));
        }
    }
}
