//! What to do with what was found on the machine. Pure: no file, no process.

use std::path::PathBuf;

/// The oldest Node that the dashboard's tools run on.
pub(crate) const OLDEST_NODE: (u32, u32) = (20, 19);

/// Where the tools were found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tools {
    pub(crate) node: PathBuf,
    pub(crate) npm: PathBuf,
    /// As Node tells it, without the `v`.
    pub(crate) version: String,
}

/// Why the dashboard cannot be built on this machine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Missing {
    /// Nothing called node.
    #[error("there is no Node on PATH")]
    Node,
    /// It is there and does not tell its version.
    #[error("{} does not tell its version", .0.display())]
    Answer(PathBuf),
    /// A Node that the tools do not run on.
    #[error("the Node on PATH is {0}, older than {oldest}", oldest = oldest_node())]
    TooOld(String),
    /// Some systems package it apart from Node.
    #[error("Node is on PATH, but npm is not")]
    Npm,
}

impl Missing {
    /// What to do about it, as a sentence.
    pub(crate) fn cure() -> String {
        format!("Install Node {} or newer with npm, and build Mainstay again.", oldest_node())
    }
}

/// Why a build ends without a result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BuildError {
    #[error("{REQUIRED} is set and {0}. {cure}", REQUIRED = super::REQUIRED, cure = Missing::cure())]
    Required(Missing),
    #[error("`npm {arguments}` failed while building the dashboard. Its last lines were:\n{lines}")]
    Npm { arguments: String, lines: String },
    #[error("could not {action} {}: {source}", path.display())]
    File { action: &'static str, path: PathBuf, source: std::io::Error },
    #[error("the dashboard's build left no index.html in {}", .0.display())]
    NoIndex(PathBuf),
}

/// The way to go.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Plan {
    /// Build it.
    Npm(Tools),
    /// Embed the page that says why there is no dashboard.
    Page(Missing),
}

/// Chooses the way. Whether npm then fails is another matter: that is always an error.
pub(crate) fn decide(found: Result<Tools, Missing>, required: bool) -> Result<Plan, BuildError> {
    match found.and_then(new_enough) {
        Ok(tools) => Ok(Plan::Npm(tools)),
        Err(missing) if required => Err(BuildError::Required(missing)),
        Err(missing) => Ok(Plan::Page(missing)),
    }
}

fn new_enough(tools: Tools) -> Result<Tools, Missing> {
    match parse_version(&tools.version) {
        Some(version) if version >= OLDEST_NODE => Ok(tools),
        Some(_) => Err(Missing::TooOld(tools.version)),
        None => Err(Missing::Answer(tools.node)),
    }
}

fn oldest_node() -> String {
    format!("{}.{}", OLDEST_NODE.0, OLDEST_NODE.1)
}

fn parse_version(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.split('.').map(|part| part.parse().ok());
    Some((parts.next()??, parts.next()??))
}
