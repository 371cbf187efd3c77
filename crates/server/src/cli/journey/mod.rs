//! `mainstay journey run|check|schema`: journeys without a server.
//!
//! `file` reads the journey → `run` runs it → `lines` or `tree` show it while it runs.

mod check;
mod file;
mod lines;
mod run;
mod schema;
mod tree;
mod words;

use clap::{Args, Subcommand};

use crate::config::environment;
use crate::exit::Exit;

const EXAMPLES: &str = "\
Examples:
  mainstay journey check checkout.yaml
  mainstay journey run checkout.yaml
  mainstay journey schema > journey.schema.json

How to write a journey: docs/guide/journeys.md.";

/// The arguments of `journey`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, subcommand_required = true, arg_required_else_help = true)]
pub struct Journey {
    #[command(subcommand)]
    action: Action,
}

/// What is done.
#[derive(Debug, Subcommand)]
enum Action {
    /// Run a journey once and show how it goes
    Run(run::Run),
    /// Look for mistakes in journeys, and send nothing
    Check(check::Check),
    /// Print the JSON Schema of a journey file, for editors
    Schema(schema::Schema),
}

/// Does what the command line asks for.
///
/// # Errors
/// What kept it from doing so, and what to do.
pub fn run(journey: &Journey) -> anyhow::Result<Exit> {
    match &journey.action {
        Action::Run(run) => run::run(run, &environment::variables()),
        Action::Check(check) => check::run(check),
        Action::Schema(_) => schema::run(),
    }
}
