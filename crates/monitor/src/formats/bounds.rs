//! The bounds of what is read: every one has its name here.

use std::time::Duration;

use mainstay_base::replace_nul;

/// The most items of one answer; a body with more is refused.
pub const MAX_ITEMS: usize = 2_000;

/// The most reasons that a report warns of.
pub const MAX_WARNINGS: usize = 20;

/// The longest name of a dependency, in characters; an item with a longer one is left out, since a
/// cut name could be that of another.
pub const MAX_NAME_CHARS: usize = 255;

/// The longest `type`, in characters; more is cut.
pub const MAX_KIND_CHARS: usize = 64;

/// The longest `description`, `impact` and `errorMessage`, in characters; more is cut.
pub const MAX_TEXT_CHARS: usize = 2_000;

/// The largest `contact`, `checkDetails` and `error`, as JSON; a larger one is left out.
pub const MAX_JSON_BYTES: usize = 16 * 1024;

/// The largest item that a mapping is applied to; a larger one is left out.
pub const MAX_MAPPED_ITEM_BYTES: usize = 256 * 1024;

/// The longest latency that is believed.
pub const MAX_LATENCY: Duration = Duration::from_secs(24 * 60 * 60);

/// The largest mapping, as JSON text.
pub const MAX_CONFIG_BYTES: usize = 16 * 1024;

/// The longest path of a mapping, in characters.
pub const MAX_PATH_CHARS: usize = 256;

/// The most steps of a path.
pub const MAX_PATH_STEPS: usize = 16;

/// The longest text of a comparison, in characters.
pub const MAX_EQUALS_CHARS: usize = 256;

/// The most characters of somebody else's text that an error or a warning repeats.
pub const MAX_EXCERPT_CHARS: usize = 40;

/// `text` without NUL and with at most `max` characters, the last of them … if it was cut.
pub(crate) fn clip(text: &str, max: usize) -> String {
    let clean = replace_nul(text);
    // No text has more characters than bytes, which spares counting them.
    if clean.len() <= max || clean.chars().nth(max).is_none() {
        return clean.into_owned();
    }
    clean.chars().take(max.saturating_sub(1)).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_at_characters_and_shows_that_it_was() {
        for (text, max, expected) in [
            ("", 3, ""),
            ("abc", 3, "abc"),
            ("äöü", 3, "äöü"),
            ("abcd", 3, "ab…"),
            ("äöüß", 3, "äö…"),
            ("a\0b", 3, "a\u{FFFD}b"),
        ] {
            assert_eq!(clip(text, max), expected, "{text:?}");
        }
    }
}
