//! `search` and `match` of RFC 9535, in place of those of the library: it reads the pattern anew for every
//! value that is looked at, however large the pattern is. Here one is written out, read once, and small.

use std::cell::RefCell;

use regex::{Regex, RegexBuilder};
use serde_json::Value;
use serde_json_path::functions::{LogicalType, ValueType};

use super::PathError;
use super::scan::outside_quotes;

/// How much of the memory a pattern may take once it is read: repetitions that are counted multiply it.
const MAX_READ: usize = 64 * 1024;
/// How much one takes that is as quick as any other look at a value.
const QUICK: usize = 4 * 1024;
/// How many patterns are kept: a path has no more, because each brings a comma.
const KEPT: usize = 4;
/// The functions that take a pattern.
const FUNCTIONS: [&str; 2] = ["search", "match"];

thread_local! {
    /// The patterns that were used last, as they are read.
    static READ: RefCell<Vec<(String, Option<Regex>)>> = const { RefCell::new(Vec::new()) };
}

/// Whether the patterns of a path can be used, and how many times longer than others they look at a text.
pub(super) fn check(path: &str) -> Result<u64, PathError> {
    let mut slowness = 1;
    let bare: Vec<(usize, char)> = outside_quotes(path).collect();
    for (index, (at, letter)) in bare.iter().enumerate() {
        let name = path.get(..*at).unwrap_or_default();
        let is_call = *letter == '(' && FUNCTIONS.iter().any(|known| name.ends_with(known));
        if !is_call {
            continue;
        }
        let comma = own_comma(bare.get(index..).unwrap_or_default());
        let pattern = comma.and_then(|comma| literal(path.get(comma.saturating_add(1)..)?));
        let pattern = pattern.ok_or(PathError::UnwrittenPattern)?;
        let pattern = whole(&pattern);
        read(&pattern, MAX_READ).map_err(|error| PathError::Pattern(told(&error)))?;
        slowness = slowness.max(slowness_of(&pattern));
    }
    Ok(slowness)
}

/// At worst each letter is held against every part of a pattern: how much memory it takes tells how many there are.
fn slowness_of(pattern: &str) -> u64 {
    let (mut most, mut slowness) = (QUICK, 1_u64);
    while most < MAX_READ && read(pattern, most).is_err() {
        (most, slowness) = (most.saturating_mul(2), slowness.saturating_mul(2));
    }
    slowness
}

/// Where the comma of a call stands, whose bracket comes first: one within further brackets is not its own.
fn own_comma(call: &[(usize, char)]) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, letter) in call {
        match letter {
            '(' | '[' => depth = depth.saturating_add(1),
            ')' | ']' => depth = depth.saturating_sub(1),
            ',' if depth == 1 => return Some(*at),
            _ => {}
        }
        if depth == 0 {
            return None;
        }
    }
    None
}

fn told(error: &regex::Error) -> String {
    match error {
        regex::Error::CompiledTooBig(_) => {
            "it becomes too large; shorten it, and count fewer repetitions, such as + in place of {1,200}"
                .to_owned()
        }
        // Its last line says what is wrong, those before point at it.
        error => error.to_string().lines().last().unwrap_or_default().trim().to_owned(),
    }
}

/// The text that is written out here, if one is.
fn literal(text: &str) -> Option<String> {
    let text = text.trim_start();
    let quote = text.chars().next().filter(|letter| matches!(letter, '\'' | '"'))?;
    let mut json = String::from('"');
    let mut letters = text.chars().skip(1);
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next()? {
                '\'' => json.push('\''),
                escaped => json.extend(['\\', escaped]),
            },
            letter if letter == quote => {
                json.push('"');
                return serde_json::from_str(&json).ok();
            }
            '"' => json.push_str("\\\""),
            letter => json.push(letter),
        }
    }
    None
}

fn whole(pattern: &str) -> String {
    format!("(?R)^({pattern})$")
}

fn read(pattern: &str, most: usize) -> Result<Regex, regex::Error> {
    RegexBuilder::new(pattern).size_limit(most).build()
}

#[serde_json_path::function(name = "match")]
fn whole_match(value: ValueType<'_>, pattern: ValueType<'_>) -> LogicalType {
    is_found(&value, &pattern, whole)
}

#[serde_json_path::function(name = "search")]
fn any_match(value: ValueType<'_>, pattern: ValueType<'_>) -> LogicalType {
    is_found(&value, &pattern, |pattern| format!("(?R)({pattern})"))
}

fn is_found(
    value: &ValueType<'_>,
    pattern: &ValueType<'_>,
    written: impl FnOnce(&str) -> String,
) -> LogicalType {
    let (Some(Value::String(text)), Some(Value::String(pattern))) =
        (value.as_value(), pattern.as_value())
    else {
        return LogicalType::False;
    };
    READ.with_borrow_mut(|kept| {
        let pattern = written(pattern);
        let at = kept.iter().position(|(known, _)| *known == pattern);
        let at = at.unwrap_or_else(|| {
            kept.truncate(KEPT.saturating_sub(1));
            let regex = read(&pattern, MAX_READ).ok();
            kept.insert(0, (pattern, regex));
            0
        });
        let regex = kept.get(at).and_then(|(_, regex)| regex.as_ref());
        regex.is_some_and(|regex| regex.is_match(text)).into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;
    use crate::path::Path;
    use serde_json::json;

    #[test]
    fn texts_are_found_by_patterns() {
        let answer = json!(["abc", "xabcx", "a'c", 5, "ab\nc"]);
        let found = |path: &str| {
            let document = Document::new(answer.clone());
            Path::parse(path).unwrap().query(&document).unwrap().len()
        };
        assert_eq!(found("$[?match(@, 'a.c')]"), 2);
        assert_eq!(found("$[?search(@, 'a.c')]"), 3);
        assert_eq!(found(r"$[?search(@, 'a\'c')]"), 1);
        assert_eq!(found(r#"$[?match(@, "ab\\nc")]"#), 1);
        assert_eq!(found("$[?search(@, 'b') && match(@, '.bc')]"), 1);
    }

    #[test]
    fn a_pattern_is_written_out_readable_and_small() {
        for path in [
            "$[?search(@.a, @.b)]",
            "$[?match(@.a, value(@..b))]",
            "$[?search(value(@['a','b']), @.x)]",
            "$[?search(value(@[0,1]), value(@['a','b']))]",
        ] {
            assert_eq!(Path::parse(path).unwrap_err(), PathError::UnwrittenPattern, "{path}");
        }
        for (path, told) in [
            ("$[?search(@.a, '[a-z]{1,200}{1,200}b')]", "it becomes too large; shorten it"),
            ("$[?search(@.a, '(')]", "unclosed group"),
        ] {
            let error = Path::parse(path).unwrap_err().to_string();
            assert!(error.contains(told), "{path}: {error}");
        }
        assert!(Path::parse("$['search(@.a, @.b)']").is_ok());
    }
}
