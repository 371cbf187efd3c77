//! The few file operations of the build, each with an error that names the path.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::plan::BuildError;

/// Made by tools, or only for tests: neither copied nor watched.
const LEFT_OUT: [&str; 4] = ["node_modules", "dist", "browser", "schema.d.ts"];

/// What survives in the copy from one build to the next.
const KEPT: [&str; 1] = ["node_modules"];

/// Gives an error its action and its path.
pub(crate) fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> BuildError {
    let path = path.to_path_buf();
    move |source| BuildError::File { action, path, source }
}

/// Every file that the dashboard is made of, sorted.
pub(crate) fn sources(folder: &Path) -> Result<Vec<PathBuf>, BuildError> {
    let mut found = Vec::new();
    for path in entries(folder)? {
        if is_named(&path, &LEFT_OUT) {
            continue;
        }
        if path.is_dir() {
            found.extend(sources(&path)?);
        } else {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// The build program itself: naming any file at all makes Cargo watch only what is named.
pub(crate) fn builder_sources(ui: &Path) -> Vec<PathBuf> {
    let Some(crate_dir) = ui.parent() else { return Vec::new() };
    ["build", "build.rs"]
        .map(|name| crate_dir.join(name))
        .into_iter()
        .filter(|p| p.exists())
        .collect()
}

/// Makes `target` hold exactly the sources, beside what is kept.
pub(crate) fn mirror(source: &Path, target: &Path) -> Result<(), BuildError> {
    fs::create_dir_all(target).map_err(failed("create", target))?;
    for path in entries(target)? {
        if !is_named(&path, &KEPT) {
            remove(&path)?;
        }
    }
    for path in sources(source)? {
        if let Ok(relative) = path.strip_prefix(source) {
            copy(&path, &target.join(relative))?;
        }
    }
    Ok(())
}

/// Copies one file, and makes its folder.
pub(crate) fn copy(source: &Path, target: &Path) -> Result<(), BuildError> {
    if let Some(folder) = target.parent() {
        fs::create_dir_all(folder).map_err(failed("create", folder))?;
    }
    fs::copy(source, target).map(drop).map_err(failed("copy", source))
}

/// Removes a file or a folder; one that is not there is fine.
pub(crate) fn remove(path: &Path) -> Result<(), BuildError> {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed("remove", path)(error)),
        _ => Ok(()),
    }
}

/// What a folder holds, sorted.
pub(crate) fn entries(folder: &Path) -> Result<Vec<PathBuf>, BuildError> {
    let listed = fs::read_dir(folder).map_err(failed("read", folder))?;
    let mut paths = listed
        .map(|entry| entry.map(|entry| entry.path()).map_err(failed("read", folder)))
        .collect::<Result<Vec<_>, _>>()?;
    paths.sort();
    Ok(paths)
}

fn is_named(path: &Path, names: &[&str]) -> bool {
    path.file_name().and_then(OsStr::to_str).is_some_and(|name| names.contains(&name))
}
