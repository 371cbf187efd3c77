//! `mainstay services export [FILE]`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use mainstay_monitor::desired::Document;

use super::ServerFlags;
use super::client::{Client, Failure};
use crate::config::environment::Variables;
use crate::exit::{CheckFailed, Exit};
use crate::output::write_stdout;
use crate::runtime;

const EXAMPLES: &str = "\
Examples:
  mainstay services export
  mainstay services export services.yaml --token-file token.txt
  mainstay services export --server https://mainstay.example.com > services.yaml

Values of headers are secrets and not written: null stands in their place. Exit codes: 0 done,
1 refused by the server or not reached, 2 wrong use.";

/// What stands above an exported document.
const HEAD: &str = "\
# What Mainstay watches, as `mainstay services export` wrote it. Apply it with
# `mainstay services apply FILE`. A header without a value (null) keeps the one that is stored.
";

/// The arguments of `export`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Export {
    /// File to write, in place of what it holds; without it, standard output
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    #[command(flatten)]
    server: ServerFlags,
}

pub(super) fn run(export: &Export, variables: Variables) -> anyhow::Result<Exit> {
    let config = export.server.load(variables)?;
    let asked = runtime::block_on(async { Client::new(&config)?.export().await })?;
    let document = asked.map_err(|failure| match failure {
        Failure::Refused(refused) => CheckFailed(refused.detail).into(),
        Failure::Other(error) => error,
    })?;
    let text = yaml(&document)?;
    match &export.file {
        Some(file) => write(file, &text)?,
        None => write_stdout(&text)?,
    }
    Ok(Exit::Fine)
}

/// The document as a person reads it.
pub(super) fn yaml(document: &Document) -> anyhow::Result<String> {
    // Long lines stay lines: a folded one is hard to search.
    let options = serde_saphyr::ser_options! { prefer_block_scalars: false };
    let text = serde_saphyr::to_string_with_options(document, options)
        .context("the document can't be written as YAML; report this as a bug")?;
    Ok(format!("{HEAD}{text}"))
}

/// Whole or not at all: the file may be the only copy.
fn write(file: &Path, text: &str) -> anyhow::Result<()> {
    let mut partial = file.as_os_str().to_owned();
    partial.push(".partial");
    let written = fs::write(&partial, text).and_then(|()| fs::rename(&partial, file));
    if written.is_err() {
        let _ = fs::remove_file(&partial);
    }
    written.with_context(|| format!("{} can't be written; check the folder", file.display()))
}
