//! Texts and values that are held to a length.

use serde_json::Value;

/// What stands at the end of a text that was cut.
pub(crate) const CUT: &str = "…";

/// The text, or its beginning where it is longer than so many bytes: the end of a cut one included.
pub(crate) fn cut(text: &str, most: usize) -> String {
    let text = mainstay_base::replace_nul(text);
    if text.len() <= most {
        return text.into_owned();
    }
    let end = (0..=most.saturating_sub(CUT.len()))
        .rev()
        .find(|end| text.is_char_boundary(*end))
        .unwrap_or(0);
    format!("{}{CUT}", text.get(..end).unwrap_or_default())
}

/// The value, or its beginning as a text where it is longer than so many bytes.
pub(crate) fn cut_value(value: Value, most: usize) -> Value {
    match value {
        Value::String(text) => Value::String(cut(&text, most)),
        Value::Array(_) | Value::Object(_) => {
            let text = value.to_string();
            if text.len() > most { Value::String(cut(&text, most)) } else { value }
        }
        plain => plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_cut_stays_cut_and_whole_characters_stay() {
        assert_eq!(cut("äöü", 6), "äöü");
        assert_eq!(cut("äöüß", 7), "äö…");
        assert_eq!(cut(&cut("äöüß", 7), 7), "äö…");
        assert_eq!(cut("a\0b", 10), "a\u{FFFD}b");
        assert_eq!(cut_value(json!({"a": 1}), 10), json!({"a": 1}));
        assert_eq!(cut_value(json!([1, 2, 3, 4]), 7), json!("[1,2…"));
    }
}
