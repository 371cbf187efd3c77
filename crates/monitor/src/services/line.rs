//! Names that people give: one line.

use mainstay_base::{BoundedText, TextError};

/// The longest name of a service or a team, in characters.
pub const MAX_LINE_CHARS: usize = 100;

/// A name that is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// Nothing, or too much.
    #[error(transparent)]
    Text(#[from] TextError),
    /// A character that has no place in a line.
    #[error("not one line of text; leave line breaks and control characters out")]
    Control,
}

/// The name without white space at its ends.
pub(super) fn parse(raw: &str) -> Result<String, LineError> {
    let text = BoundedText::<MAX_LINE_CHARS>::parse(raw)?;
    if raw.trim().chars().any(char::is_control) {
        return Err(LineError::Control);
    }
    Ok(text.as_str().to_owned())
}
