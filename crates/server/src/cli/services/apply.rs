//! `mainstay services apply FILE`.

use std::path::PathBuf;

use clap::Args;
use mainstay_monitor::desired::{Applied, Wanted};

use super::ServerFlags;
use super::client::{Ask, Client, Failure};
use super::file::DocumentFile;
use super::text;
use crate::config::environment::Variables;
use crate::exit::{CheckFailed, Exit};
use crate::output::write_stdout;
use crate::runtime;

const EXAMPLES: &str = "\
Examples:
  mainstay services apply services.yaml --dry-run
  mainstay services apply services.yaml --token-file token.txt
  mainstay services apply services.yaml --prune --json
  mainstay services apply services.yaml --check --server https://mainstay.example.com

All of the file is applied, or nothing. What a service in the file leaves out gets its default; what
the file does not name is left alone, unless --prune is given. Exit codes: 0 done, or nothing to do,
1 refused by the server or not reached, 2 wrong use or a mistake in the file. With --check, 1 says
that there are changes and nothing else; all that went wrong is 2.";

/// The arguments of `apply`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Apply {
    /// File to apply, as YAML; - is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Only show what would change
    #[arg(long)]
    dry_run: bool,
    /// As --dry-run, and end with 1 when anything would change
    #[arg(long)]
    check: bool,
    /// Also remove services, aliases and links that the file does not name, from each part that names
    /// something
    #[arg(long)]
    prune: bool,
    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    server: ServerFlags,
}

pub(super) fn run(apply: &Apply, variables: &Variables) -> anyhow::Result<Exit> {
    let config = apply.server.load(variables.clone())?;
    let file = DocumentFile::read(&apply.file)?;
    let document = file.document(variables)?;
    Wanted::check(document.clone()).map_err(|error| file.refused(&error))?;
    let dry_run = apply.dry_run || apply.check;
    let ask = Ask { document: &document, dry_run, prune: apply.prune };
    let asked = runtime::block_on(async { Client::prepare(&config)?.apply(&ask).await })?;
    let applied = asked.map_err(|failure| {
        let error: anyhow::Error = match failure {
            Failure::Refused(refused) => CheckFailed(file.told_by_server(&refused)).into(),
            Failure::Other(error) => error,
        };
        // Of a check, 1 is an answer: there are changes.
        if apply.check { anyhow::anyhow!("{error:#}") } else { error }
    })?;
    write_stdout(&if apply.json { json(&applied) } else { text::of(&applied, dry_run) })?;
    let is_changed = !applied.plan.changes.is_empty();
    Ok(if apply.check && is_changed { Exit::CheckFailed } else { Exit::Fine })
}

fn json(applied: &Applied) -> String {
    // Plain texts and numbers: there is nothing in them that JSON can't hold.
    format!("{}\n", serde_json::to_string(applied).unwrap_or_default())
}
