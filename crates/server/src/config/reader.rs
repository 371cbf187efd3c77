//! Turns the texts of the layers into typed values and keeps what is wrong with them.

use std::ops::RangeInclusive;

use super::layers::{Layers, Value, bad_value};
use super::problem::{ConfigError, Problem, Reason};
use super::setting::Setting;

/// Reads typed values and collects every problem on the way.
#[derive(Debug)]
pub struct Reader<'a> {
    layers: &'a Layers,
    problems: ConfigError,
    warnings: Vec<String>,
}

impl<'a> Reader<'a> {
    /// Reads from `layers` and adds to the `problems` that are already known.
    #[must_use]
    pub fn new(layers: &'a Layers, problems: ConfigError) -> Self {
        Self { layers, problems, warnings: Vec::new() }
    }

    /// A setting that has a default. `None` means that a problem was noted.
    pub fn required<T>(
        &mut self,
        setting: &Setting,
        parse: impl FnOnce(&str) -> Result<T, Reason>,
    ) -> Option<T> {
        self.optional(setting, parse)?
    }

    /// A setting that may be absent: `Some(None)`. `None` means that a problem was noted.
    pub fn optional<T>(
        &mut self,
        setting: &Setting,
        parse: impl FnOnce(&str) -> Result<T, Reason>,
    ) -> Option<Option<T>> {
        let Some(value) = self.layers.get(setting) else { return Some(None) };
        match parse(&value.text) {
            Ok(parsed) => Some(Some(parsed)),
            Err(reason) => {
                self.problems.push(bad_value(setting, value, reason));
                None
            }
        }
    }

    /// The text of a setting with its origin.
    #[must_use]
    pub fn raw(&self, setting: &Setting) -> Option<&'a Value> {
        self.layers.get(setting)
    }

    /// Whether settings that only work together are there: all of them or none. `None` means that a
    /// problem was noted.
    pub fn all_or_none(&mut self, settings: &[&Setting]) -> Option<bool> {
        let (given, missing): (Vec<&Setting>, Vec<&Setting>) =
            settings.iter().partition(|setting| self.raw(setting).is_some());
        if given.is_empty() || missing.is_empty() {
            return Some(missing.is_empty());
        }
        self.problem(Problem::Parts { given: names(&given), missing: names(&missing) });
        None
    }

    /// Notes a problem.
    pub fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// Notes what should be logged once logging works.
    pub fn warn(&mut self, warning: String) {
        self.warnings.push(warning);
    }

    /// The warnings, if nothing is wrong.
    ///
    /// # Errors
    /// Every problem that was noted.
    pub fn finish(self) -> Result<Vec<String>, ConfigError> {
        if self.problems.is_empty() { Ok(self.warnings) } else { Err(self.problems) }
    }
}

fn names(settings: &[&Setting]) -> String {
    let names = settings.iter().filter_map(|setting| setting.variables.first());
    names.copied().collect::<Vec<_>>().join(", ")
}

/// A whole number within `range`.
///
/// # Errors
/// Why the text is none.
pub fn number(text: &str, range: RangeInclusive<u32>) -> Result<u32, Reason> {
    text.trim().parse().ok().filter(|number| range.contains(number)).ok_or_else(|| {
        let (least, most) = (range.start(), range.end());
        format!("is not a whole number from {least} to {most}; give one").into()
    })
}

/// `true` or `false`, also `1` or `0`.
///
/// # Errors
/// Why the text is neither.
pub fn boolean(text: &str) -> Result<bool, Reason> {
    match text.trim() {
        "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err("is neither true nor false; give one of them".into()),
    }
}

/// A path that names something.
///
/// # Errors
/// Why the text is none.
pub fn path(text: &str) -> Result<std::path::PathBuf, Reason> {
    if text.trim().is_empty() || text.contains('\0') {
        return Err("is not a path; name a file or folder".into());
    }
    Ok(text.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_whole_and_within_their_range() {
        for (text, expected) in [
            ("2", Some(2)),
            (" 100 ", Some(100)),
            ("007", Some(7)),
            ("1", None),
            ("101", None),
            ("-5", None),
            ("5.0", None),
            ("", None),
            ("99999999999999999999", None),
        ] {
            assert_eq!(number(text, 2..=100).ok(), expected, "{text:?}");
        }
    }

    #[test]
    fn only_clear_words_are_true_or_false() {
        for (text, expected) in
            [("true", Some(true)), ("1", Some(true)), ("false", Some(false)), ("0", Some(false))]
        {
            assert_eq!(boolean(text).ok(), expected);
        }
        for text in ["yes", "TRUE", "", "2", "on"] {
            assert!(boolean(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn nothing_is_not_a_path() {
        assert!(path("a").is_ok());
        for text in ["", "  ", "a\0b"] {
            assert!(path(text).is_err(), "{text:?}");
        }
    }
}
