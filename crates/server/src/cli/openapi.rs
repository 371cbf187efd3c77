//! `mainstay openapi`.

use clap::Args;

use crate::exit::Exit;
use crate::output::write_stdout;

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
    write_stdout(&mainstay_http::openapi())?;
    Ok(Exit::Fine)
}
