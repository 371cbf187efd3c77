//! Whole numbers that are longer than can be kept: JSON may hold them, and they would be rounded without a word.

use serde_json::Value;

/// The fewest digits of a number that 64 bits may not hold.
const LONG: usize = 19;

/// Whether a number of a value was read of a whole one that is longer than 64 bits in the text that it stands in.
pub(crate) fn has_rounded(value: &Value, text: &[u8]) -> bool {
    let mut suspects = Vec::new();
    collect(value, &mut suspects);
    suspects.sort_unstable_by(f64::total_cmp);
    let is_suspect =
        |long: f64| suspects.binary_search_by(|suspect| suspect.total_cmp(&long)).is_ok();
    !suspects.is_empty() && long_wholes(text).any(is_suspect)
}

/// Those that may have been: they have no fraction, and are too large for 64 bits.
fn collect(value: &Value, suspects: &mut Vec<f64>) {
    match value {
        Value::Number(number) if number.is_f64() => {
            suspects.extend(number.as_f64().filter(|number| number.abs() >= LEAST));
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, suspects)),
        Value::Object(fields) => fields.values().for_each(|field| collect(field, suspects)),
        _ => {}
    }
}

/// The least of them.
const LEAST: f64 = 9_223_372_036_854_775_808.0;

/// Every whole number of so many digits, as it is read. One within a text is found too, which does no harm.
fn long_wholes(text: &[u8]) -> impl Iterator<Item = f64> {
    let is_part = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
    let words = text.split(move |byte| !is_part(byte));
    words.filter_map(|word| {
        let digits = word.strip_prefix(b"-").unwrap_or(word);
        let is_whole = digits.len() >= LONG && digits.iter().all(u8::is_ascii_digit);
        std::str::from_utf8(word).ok().filter(|_| is_whole)?.parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_rounded_is_found() {
        for (text, is_rounded) in [
            (r#"{"a": 123456789012345678901234567890}"#, true),
            (r#"{"a": [-99999999999999999999]}"#, true),
            (r#"{"a": 18446744073709551615}"#, false),
            (r#"{"a": -9223372036854775808}"#, false),
            (r#"{"a": 1.5, "b": 3}"#, false),
            (r#"{"a": 1e30}"#, false),
            (r#"{"a": "123456789012345678901234567890"}"#, false),
        ] {
            let value: Value = serde_json::from_str(text).unwrap();
            assert_eq!(has_rounded(&value, text.as_bytes()), is_rounded, "{text}");
        }
    }
}
