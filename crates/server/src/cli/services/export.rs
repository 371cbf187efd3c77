//! `mainstay services export [FILE]`.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use mainstay_base::{Rng as _, SystemRng};
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
    /// File to write, in place of what it holds; - or none is standard output
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    #[command(flatten)]
    server: ServerFlags,
}

pub(super) fn run(export: &Export, variables: Variables) -> anyhow::Result<Exit> {
    let config = export.server.load(variables)?;
    let asked = runtime::block_on(async { Client::prepare(&config)?.export().await })?;
    let document = asked.map_err(|failure| match failure {
        Failure::Refused(refused) => CheckFailed(refused.detail).into(),
        Failure::Other(error) => error,
    })?;
    let text = yaml(&document)?;
    match export.file.as_deref().filter(|file| *file != Path::new("-")) {
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
    // Two who export at once don't write into one file, and nothing that is there is written over.
    let mut random = [0; 8];
    SystemRng.fill(&mut random);
    partial.push(format!(".{:016x}.partial", u64::from_be_bytes(random)));
    let written = written(Path::new(&partial), text).and_then(|()| fs::rename(&partial, file));
    if written.is_err() {
        let _ = fs::remove_file(&partial);
    }
    written.with_context(|| format!("{} can't be written; check the folder", file.display()))
}

fn written(path: &Path, text: &str) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}
