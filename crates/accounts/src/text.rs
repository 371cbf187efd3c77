//! Short texts that people give: held to a length, without control characters.

use mainstay_base::{BoundedText, is_hidden};

use crate::error::AccountsError;

/// A text of one line: whatever could break a header, a log line or a table is refused.
pub(crate) fn plain<const MAX: usize>(
    field: &'static str,
    raw: &str,
) -> Result<BoundedText<MAX>, AccountsError> {
    readable(field, raw, &[])
}

/// A text of several lines.
pub(crate) fn lines<const MAX: usize>(
    field: &'static str,
    raw: &str,
) -> Result<BoundedText<MAX>, AccountsError> {
    readable(field, &raw.replace("\r\n", "\n"), &['\n', '\t'])
}

/// A text without hidden characters but those `allowed`.
fn readable<const MAX: usize>(
    field: &'static str,
    raw: &str,
    allowed: &[char],
) -> Result<BoundedText<MAX>, AccountsError> {
    let text = BoundedText::parse(raw)
        .map_err(|error| AccountsError::InvalidText { field, reason: error.to_string() })?;
    if text.chars().any(|character| is_hidden(character) && !allowed.contains(&character)) {
        let reason = "not plain text: it holds control or direction characters; leave them out";
        return Err(AccountsError::InvalidText { field, reason: reason.to_owned() });
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_text_is_one_line_that_reads_as_it_stands() {
        assert_eq!(plain::<20>("name", "  Zoë O'Hara ").unwrap().as_str(), "Zoë O'Hara");
        for raw in ["a\r\nBcc: x", "a\nb", "a\u{202e}b", "a\u{7}b", "a\u{2028}b", "\u{200b}", ""] {
            let refused = plain::<20>("name", raw);
            assert!(
                matches!(refused, Err(AccountsError::InvalidText { field: "name", .. })),
                "{raw:?}"
            );
        }
        assert!(plain::<3>("name", "abcd").is_err());
    }

    #[test]
    fn a_text_of_lines_may_have_lines() {
        assert_eq!(lines::<20>("note", "a\r\nb\n\tc").unwrap().as_str(), "a\nb\n\tc");
        assert!(lines::<20>("note", "a\u{1b}[31m").is_err());
        assert!(lines::<20>("note", "a\rb").is_err());
    }
}
