//! `mainstay journey check FILE…`.

use std::path::PathBuf;

use clap::Args;

use super::file;
use super::words::counted;
use crate::exit::{Exit, conclude};
use crate::output::write_stdout;

const EXAMPLES: &str = "\
Examples:
  mainstay journey check checkout.yaml
  mainstay journey check journeys/checkout.yaml journeys/login.yaml

Every mistake is told with its line, its column, and the nearest known name: unknown keys and wrong
kinds of values first, and names and templates once those are right. Nothing is sent. Exit codes:
0 no mistake, 1 mistakes, 2 a file can't be read.";

/// The arguments of `check`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Check {
    /// Journeys to check, as YAML; - is standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
}

/// Checks the files.
pub(super) fn run(check: &Check) -> anyhow::Result<Exit> {
    let mut exit = Exit::Fine;
    for path in &check.files {
        match file::journey(path) {
            Ok(Some(journey)) => {
                let steps = counted(journey.steps.len(), "step");
                write_stdout(&format!("{}: fine, {steps}\n", path.display()))?;
            }
            Ok(None) if exit == Exit::Fine => exit = Exit::CheckFailed,
            Ok(None) => {}
            // The others are looked at all the same.
            Err(error) => exit = conclude(Err(error)),
        }
    }
    Ok(exit)
}
