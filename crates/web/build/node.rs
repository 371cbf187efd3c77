//! Looks for Node and npm the way a shell would.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;

use super::plan::{Missing, Tools};

const NODE_NAMES: [&str; 2] = ["node", "node.exe"];
const NPM_NAMES: [&str; 2] = ["npm", "npm.cmd"];

/// Finds the tools, or the first one that is missing.
pub(crate) fn find(search_path: &OsStr) -> Result<Tools, Missing> {
    let node = lookup(search_path, &NODE_NAMES).ok_or(Missing::Node)?;
    let version = version_of(&node).ok_or_else(|| Missing::Answer(node.clone()))?;
    let npm = lookup(search_path, &NPM_NAMES).ok_or(Missing::Npm)?;
    Ok(Tools { node, npm, version })
}

fn lookup(search_path: &OsStr, names: &[&str]) -> Option<PathBuf> {
    std::env::split_paths(search_path)
        .flat_map(|folder| names.iter().map(move |name| folder.join(name)))
        .find(|path| path.is_file())
}

fn version_of(node: &PathBuf) -> Option<String> {
    let output = Command::new(node).arg("--version").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let version = text.trim().strip_prefix('v')?;
    (output.status.success() && !version.is_empty()).then(|| version.to_owned())
}
