//! What can be wrong with a configuration. Every problem says what, where it came from and what to
//! do, and none shows the value of a secret.

use std::fmt;

/// The most problems that are listed; the others are counted.
pub const MAX_PROBLEMS: usize = 20;

/// The most characters of a wrong value that are shown.
const MAX_SHOWN_CHARACTERS: usize = 80;

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A flag of the command line.
    Flag(&'static str),
    /// A variable of the environment.
    Variable(&'static str),
    /// A line of the configuration file.
    File {
        /// The file's path as it was given.
        path: String,
        /// The line, counted from 1.
        line: usize,
    },
    /// Nobody gave it.
    Default,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// A value that does not do.
    #[error("{key} from {origin}: {shown} {reason}")]
    Value {
        /// The setting.
        key: &'static str,
        /// Where the value came from.
        origin: Origin,
        /// The value in quotes, or a stand-in for a secret.
        shown: String,
        /// Why it does not do, and what would.
        reason: Reason,
    },
    /// A key of the file that is no setting.
    #[error("{origin}: {} is not a setting{}", quoted(.key), hint(.nearest.as_ref()))]
    UnknownKey {
        /// The dotted key.
        key: String,
        /// Where it stands.
        origin: Origin,
        /// The setting that was probably meant.
        nearest: Option<String>,
    },
    /// A `MAINSTAY_` variable that is no setting.
    #[error("{} in the environment is not a setting{}", printable(.name), hint(.nearest.as_ref()))]
    UnknownVariable {
        /// The variable.
        name: String,
        /// The variable that was probably meant.
        nearest: Option<String>,
    },
    /// A variable whose bytes are no text.
    #[error("{} in the environment is not valid UTF-8; set it again", printable(.name))]
    NotUnicode {
        /// The variable.
        name: String,
    },
    /// Two names of one setting that contradict each other.
    #[error("{first} and {second} in the environment differ; unset one of them")]
    Contradiction {
        /// One name.
        first: &'static str,
        /// The other.
        second: &'static str,
    },
    /// A file that is not TOML.
    #[error("{origin}: not valid TOML: {}", printable(.message))]
    Syntax {
        /// Where reading stopped.
        origin: Origin,
        /// What the parser expected. It never repeats the line, which could hold a secret.
        message: String,
    },
    /// A file that could not be read.
    #[error("the configuration file {} {reason}", quoted(.path))]
    File {
        /// The file's path.
        path: String,
        /// Why, and what to do.
        reason: Reason,
    },
    /// A secret that is none.
    #[error("the secret {} from {origin} {reason}", printable(.name))]
    Secret {
        /// Its name.
        name: String,
        /// Where it came from.
        origin: String,
        /// Why it does not do, and what would.
        reason: &'static str,
    },
    /// Settings that only work together.
    #[error("{given} is set but {missing} is not; set both or neither")]
    Incomplete {
        /// The setting that is there.
        given: &'static str,
        /// The setting that is not.
        missing: &'static str,
    },
    /// Several settings that only work all together.
    #[error(
        "{given} {} set but {missing} {} not; set all of them or none", are(.given), are(.missing)
    )]
    Parts {
        /// The variables that are there.
        given: String,
        /// The variables that are not.
        missing: String,
    },
}

/// The verb for one name, or for several with commas between.
fn are(names: &str) -> &'static str {
    if names.contains(',') { "are" } else { "is" }
}

/// Why a value does not do, as the rest of a sentence: `is not a …; give …`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason(String);

/// Everything that is wrong with a configuration, at least one [`Problem`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ConfigError {
    listed: Vec<Problem>,
    more: usize,
}

impl ConfigError {
    /// Adds a problem, or counts it when the list is full.
    pub fn push(&mut self, problem: Problem) {
        if self.listed.len() < MAX_PROBLEMS {
            self.listed.push(problem);
        } else {
            self.more += 1;
        }
    }

    /// Whether nothing is wrong after all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }
}

impl std::error::Error for ConfigError {}

/// One problem is one sentence; several are a list, one on each line.
impl fmt::Display for ConfigError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [only] = self.listed.as_slice() {
            return write!(formatter, "{only}");
        }
        write!(formatter, "the configuration has {} problems:", self.listed.len() + self.more)?;
        for problem in &self.listed {
            write!(formatter, "\n  - {problem}")?;
        }
        if self.more > 0 {
            write!(formatter, "\n  - and {} more", self.more)?;
        }
        Ok(())
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(name) | Self::Variable(name) => formatter.write_str(name),
            Self::File { path, line } => write!(formatter, "{}:{line}", printable(path)),
            Self::Default => formatter.write_str("default"),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl From<&str> for Reason {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl From<String> for Reason {
    fn from(text: String) -> Self {
        Self(text)
    }
}

/// A value in quotes, shortened, with what could break a line or a terminal escaped.
#[must_use]
pub fn quoted(text: &str) -> String {
    format!("\"{}\"", printable(text))
}

fn printable(text: &str) -> String {
    let mut characters = text.chars();
    let start: String = characters.by_ref().take(MAX_SHOWN_CHARACTERS).collect();
    let rest = if characters.next().is_some() { "…" } else { "" };
    format!("{}{rest}", start.escape_debug())
}

fn hint(nearest: Option<&String>) -> String {
    match nearest {
        Some(name) => format!("; did you mean {name}?"),
        None => "; remove it, or see docs/guide/configuration.md for what there is".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unknown(name: &str) -> Problem {
        Problem::UnknownVariable { name: name.to_owned(), nearest: None }
    }

    #[test]
    fn the_list_is_bounded_and_the_rest_is_counted() {
        let mut error = ConfigError::default();
        for number in 0..MAX_PROBLEMS + 5 {
            error.push(unknown(&format!("MAINSTAY_{number}")));
        }
        let text = error.to_string();
        assert!(text.starts_with("the configuration has 25 problems:\n  - MAINSTAY_0 "), "{text}");
        assert!(text.ends_with("\n  - and 5 more"), "{text}");
        assert_eq!(text.lines().count(), 1 + MAX_PROBLEMS + 1);
    }

    #[test]
    fn a_single_problem_is_one_sentence() {
        let mut error = ConfigError::default();
        error.push(unknown("MAINSTAY_X"));
        assert_eq!(error.to_string().lines().count(), 1);
    }

    #[test]
    fn what_could_break_a_line_is_escaped_and_long_text_is_cut() {
        assert_eq!(quoted("a\n\u{1b}[31m\"b"), r#""a\n\u{1b}[31m\"b""#);
        assert_eq!(quoted(&"x".repeat(100)), format!("\"{}…\"", "x".repeat(80)));
        assert_eq!(unknown("MAINSTAY_\r\n").to_string().lines().count(), 1);
    }
}
