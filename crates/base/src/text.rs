//! Text from outside: cleaned of NUL and held to a length where it is parsed.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Deserializer, Serialize};

/// What stands where a NUL stood. PostgreSQL holds no NUL in a text.
const NUL_REPLACEMENT: &str = "\u{FFFD}";

/// `text` with every NUL replaced, so that both databases hold it alike.
#[must_use]
pub fn replace_nul(text: &str) -> Cow<'_, str> {
    if text.contains('\0') {
        Cow::Owned(text.replace('\0', NUL_REPLACEMENT))
    } else {
        Cow::Borrowed(text)
    }
}

/// Control characters, those that turn the direction of the text after them, and those that nobody
/// sees. The joiners stay: some languages write with them.
#[must_use]
pub fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}' | '\u{61c}' | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{feff}'
        )
        || matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || matches!(character, '\u{2028}' | '\u{2029}')
}

/// Text of 1 to `MAX` characters (not bytes) without white space at its ends and without NUL.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct BoundedText<const MAX: usize>(String);

/// A text that does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// Nothing but white space.
    #[error("empty; give at least one character")]
    Empty,
    /// More than allowed.
    #[error("longer than {max} characters; shorten it")]
    TooLong {
        /// The longest that is allowed, in characters.
        max: usize,
    },
    /// It does not read as it stands.
    #[error("not plain text: it holds control or direction characters; leave them out")]
    Hidden,
}

impl<const MAX: usize> BoundedText<MAX> {
    /// Trims, replaces NUL and checks the length.
    ///
    /// # Errors
    /// [`TextError`] when nothing or too much is left.
    pub fn parse(raw: &str) -> Result<Self, TextError> {
        let trimmed = raw.trim();
        if trimmed.is_empty() {
            return Err(TextError::Empty);
        }
        if trimmed.chars().nth(MAX).is_some() {
            return Err(TextError::TooLong { max: MAX });
        }
        Ok(Self(replace_nul(trimmed).into_owned()))
    }

    /// The text itself.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<const MAX: usize> Deref for BoundedText<MAX> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<const MAX: usize> fmt::Display for BoundedText<MAX> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl<'de, const MAX: usize> Deserialize<'de> for BoundedText<MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

/// A [`BoundedText`] of one line that reads as it stands: without hidden characters. Such are names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct PlainText<const MAX: usize>(BoundedText<MAX>);

impl<const MAX: usize> PlainText<MAX> {
    /// Trims, and checks the length and each character.
    ///
    /// # Errors
    /// [`TextError`] when nothing, too much or what nobody sees is left.
    pub fn parse(raw: &str) -> Result<Self, TextError> {
        let text = BoundedText::parse(raw)?;
        match raw.trim().chars().any(is_hidden) {
            true => Err(TextError::Hidden),
            false => Ok(Self(text)),
        }
    }

    /// The text itself.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl<const MAX: usize> fmt::Display for PlainText<MAX> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_nul_is_replaced_and_nothing_else_is() {
        assert_eq!(replace_nul("a\0b\0"), "a\u{FFFD}b\u{FFFD}");
        assert!(matches!(replace_nul("plain"), Cow::Borrowed("plain")));
        assert_eq!(BoundedText::<3>::parse("a\0b").unwrap().as_str(), "a\u{FFFD}b");
    }

    #[test]
    fn the_length_is_counted_in_characters() {
        assert_eq!(BoundedText::<3>::parse(" äöü ").unwrap().as_str(), "äöü");
        assert_eq!(BoundedText::<3>::parse("äöüß"), Err(TextError::TooLong { max: 3 }));
    }

    #[test]
    fn nothing_is_not_a_text() {
        for raw in ["", "   ", "\n\t"] {
            assert_eq!(BoundedText::<3>::parse(raw), Err(TextError::Empty), "{raw:?}");
        }
    }

    #[test]
    fn a_plain_text_is_one_line_without_what_nobody_sees() {
        for raw in
            ["a\nb", "a\r\nb", "a\tb", "a\0b", "a\u{202e}b", "\u{200b}", "a\u{7f}", "a\u{2028}b"]
        {
            assert_eq!(PlainText::<9>::parse(raw), Err(TextError::Hidden), "{raw:?}");
        }
        assert_eq!(PlainText::<9>::parse(" Zoë 1\n").unwrap().as_str(), "Zoë 1");
        assert_eq!(PlainText::<1>::parse("ab"), Err(TextError::TooLong { max: 1 }));
    }

    proptest! {
        #[test]
        fn what_is_held_is_bounded_and_clean(raw in ".{0,20}") {
            if let Ok(text) = BoundedText::<8>::parse(&raw) {
                prop_assert!((1..=8).contains(&text.chars().count()));
                prop_assert!(!text.contains('\0'));
                prop_assert_eq!(text.trim(), text.as_str());
            }
        }
    }
}
