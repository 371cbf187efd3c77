//! Reads the repository's files.

use std::io;
use std::path::{Path, PathBuf};

/// Folders that hold nothing of ours.
const SKIPPED: [&str; 4] = ["target", "node_modules", ".git", "dist"];

/// Files that a program writes and git ignores.
const GENERATED: [&str; 1] = ["schema.d.ts"];

/// One text file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its path from the root of the repository, with `/`.
    pub path: String,
    /// What it holds.
    pub text: String,
}

/// The root of the repository.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every file below the root whose name ends with `suffix`.
///
/// # Errors
/// When the tree can't be read.
pub fn files(suffix: &str) -> io::Result<Vec<File>> {
    let root = root().canonicalize()?;
    let mut found = Vec::new();
    walk(&root, &root, suffix, &mut found)?;
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

fn walk(root: &Path, folder: &Path, suffix: &str, found: &mut Vec<File>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() {
            if !SKIPPED.contains(&name) {
                walk(root, &path, suffix, found)?;
            }
        } else if name.ends_with(suffix) && !GENERATED.contains(&name) {
            let shown = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
            found.push(File { path: shown, text: std::fs::read_to_string(&path)? });
        }
    }
    Ok(())
}
