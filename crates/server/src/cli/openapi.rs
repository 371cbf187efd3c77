//! `mainstay openapi`.

use clap::Args;

use crate::exit::Exit;

const EXAMPLES: &str = "\
Examples:
  mainstay openapi
  mainstay openapi > openapi.json";

/// `openapi` takes no arguments.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Openapi {}

/// Prints the API's description.
///
/// # Errors
/// When the output can't be written.
pub fn run() -> anyhow::Result<Exit> {
    anyhow::bail!("openapi is not wired")
}
