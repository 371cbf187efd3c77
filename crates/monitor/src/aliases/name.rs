//! Names that an alias maps.

use mainstay_base::{BoundedText, TextError, replace_nul};

use crate::formats::bounds::MAX_NAME_CHARS;

/// A reported name, exactly as services report it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AliasName(String);

/// The name that it stands for, without white space at its ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CanonicalName(String);

/// A text that is no such name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// `alias`
    #[error("`alias` is {0}")]
    Alias(TextError),
    /// `canonical_name`
    #[error("`canonical_name` is {0}")]
    Canonical(TextError),
}

impl AliasName {
    /// Checks a text.
    ///
    /// # Errors
    /// [`NameError::Alias`] when it is blank or longer than a dependency's name may be.
    pub fn parse(raw: &str) -> Result<Self, NameError> {
        if raw.trim().is_empty() {
            return Err(NameError::Alias(TextError::Empty));
        }
        if raw.chars().nth(MAX_NAME_CHARS).is_some() {
            return Err(NameError::Alias(TextError::TooLong { max: MAX_NAME_CHARS }));
        }
        Ok(Self(replace_nul(raw).into_owned()))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl CanonicalName {
    /// Checks a text.
    ///
    /// # Errors
    /// [`NameError::Canonical`] when it is blank or longer than a dependency's name may be.
    pub fn parse(raw: &str) -> Result<Self, NameError> {
        let text = BoundedText::<MAX_NAME_CHARS>::parse(raw).map_err(NameError::Canonical)?;
        Ok(Self(text.as_str().to_owned()))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alias_is_exact_and_a_canonical_name_is_trimmed() {
        assert_eq!(AliasName::parse(" Orders DB ").unwrap().as_str(), " Orders DB ");
        assert_eq!(CanonicalName::parse(" Orders DB ").unwrap().as_str(), "Orders DB");
        let (longest, longer) = ("ä".repeat(MAX_NAME_CHARS), "ä".repeat(MAX_NAME_CHARS + 1));
        assert!(AliasName::parse(&longest).is_ok() && CanonicalName::parse(&longest).is_ok());
        for text in ["", " \t", &longer] {
            assert!(matches!(AliasName::parse(text), Err(NameError::Alias(_))), "{text}");
            assert!(matches!(CanonicalName::parse(text), Err(NameError::Canonical(_))), "{text}");
        }
    }
}
