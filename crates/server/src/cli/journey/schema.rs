//! `mainstay journey schema`.

use clap::Args;

use crate::exit::Exit;
use crate::output::write_stdout;

const EXAMPLES: &str = "\
Examples:
  mainstay journey schema
  mainstay journey schema > journey.schema.json

An editor with a YAML language server takes it by a first line in the journey:
# yaml-language-server: $schema=journey.schema.json";

/// `schema` takes no arguments.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Schema {}

/// Prints the schema.
pub(super) fn run() -> anyhow::Result<Exit> {
    write_stdout(&mainstay_journeys::schema())?;
    Ok(Exit::Fine)
}
