//! How the program ends.
//!
//! Policy: 0 is fine; 1 says that a check ran and failed ([`CheckFailed`]); 2 says that the use or
//! the environment is wrong, which is every other error. An error is one sentence on standard
//! error that says what to do, without backtrace or debug print.

use std::process::ExitCode;

use crate::config::ConfigError;
use crate::output::write_stderr;

/// The exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// 0: it is done.
    Fine,
    /// 1: what was checked did not hold.
    CheckFailed,
    /// 2: wrong use or wrong environment.
    WrongUse,
}

/// A check that ran and failed: the error that ends with code 1.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct CheckFailed(pub String);

/// Reports the error, if there is one, and says how to exit.
#[must_use]
pub fn conclude(result: anyhow::Result<Exit>) -> Exit {
    result.unwrap_or_else(|error| {
        write_stderr(&format!("mainstay: {}\n", sentence(&error)));
        code(&error)
    })
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Fine => Self::SUCCESS,
            Exit::CheckFailed => Self::from(1),
            Exit::WrongUse => Self::from(2),
        }
    }
}

fn code(error: &anyhow::Error) -> Exit {
    if error.is::<CheckFailed>() { Exit::CheckFailed } else { Exit::WrongUse }
}

/// The error and its causes on one line. Only a list of configuration problems has more.
fn sentence(error: &anyhow::Error) -> String {
    if let Some(problems) = error.downcast_ref::<ConfigError>() {
        return problems.to_string();
    }
    let mut joined = String::new();
    for cause in error.chain() {
        let text = one_line(&cause.to_string());
        // Many libraries already repeat their cause.
        if joined.is_empty() {
            joined = text;
        } else if !text.is_empty() && !joined.contains(&text) {
            joined = format!("{joined}: {text}");
        }
    }
    joined
}

/// Texts of others can hold line breaks and escape codes.
fn one_line(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    words.join(" ").chars().filter(|character| !character.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::{Context as _, anyhow};

    #[test]
    fn a_failed_check_is_1_and_every_other_error_is_2() {
        assert_eq!(code(&anyhow!("the disk is full")), Exit::WrongUse);
        assert_eq!(code(&CheckFailed("2 migrations are missing".into()).into()), Exit::CheckFailed);
        let wrapped = Err::<(), _>(CheckFailed("no".into())).context("checking").unwrap_err();
        assert_eq!(code(&wrapped), Exit::CheckFailed);
        assert_eq!(conclude(Ok(Exit::Fine)), Exit::Fine);
    }

    #[test]
    fn causes_are_joined_once_on_one_line() {
        let error = anyhow!("refused\n\u{1b}[31m by peer")
            .context("can't connect: refused [31m by peer")
            .context("the database at db:5432 is not there");
        assert_eq!(
            sentence(&error),
            "the database at db:5432 is not there: can't connect: refused [31m by peer"
        );
        let error = anyhow!("permission denied").context("the data folder can't be made");
        assert_eq!(sentence(&error), "the data folder can't be made: permission denied");
    }
}
