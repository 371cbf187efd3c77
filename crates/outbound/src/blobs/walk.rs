//! The blobs of a folder in the order of their keys, as an object storage would list them.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::folder::{is_absent, modified};
use super::key::BlobKey;
use super::store::BlobEntry;

/// What is below `prefix` and after `after`, at most `limit`.
pub(crate) fn list(
    objects: &Path,
    prefix: Option<&BlobKey>,
    after: Option<&BlobKey>,
    limit: usize,
) -> io::Result<Vec<BlobEntry>> {
    let mut walk = Walk { after: after.map(BlobKey::as_str), limit, found: Vec::new() };
    match prefix {
        None => walk.folder(objects, "")?,
        Some(prefix) => {
            let mut folder = objects.to_path_buf();
            folder.extend(prefix.segments());
            walk.folder(&folder, &format!("{prefix}/"))?;
        }
    }
    Ok(walk.found)
}

struct Walk<'a> {
    after: Option<&'a str>,
    limit: usize,
    found: Vec<BlobEntry>,
}

impl Walk<'_> {
    /// As deep as keys are: their length bounds it.
    fn folder(&mut self, path: &Path, above: &str) -> io::Result<()> {
        for (name, path) in sorted(path)? {
            if self.found.len() >= self.limit {
                return Ok(());
            }
            let key = format!("{above}{name}");
            if name.ends_with('/') {
                if self.may_hold_more(&key) {
                    self.folder(&path, &key)?;
                }
            } else {
                self.file(&path, &key)?;
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path, key: &str) -> io::Result<()> {
        if self.after.is_some_and(|after| key <= after) {
            return Ok(());
        }
        // What is no key was not stored by us.
        let Ok(key) = BlobKey::new(key) else { return Ok(()) };
        match fs::symlink_metadata(path) {
            Ok(metadata) if metadata.is_file() => {
                let modified = modified(&metadata)?;
                self.found.push(BlobEntry { key, size: metadata.len(), modified });
                Ok(())
            }
            Err(error) if !is_absent(&error) => Err(error),
            _ => Ok(()),
        }
    }

    /// Whether something below this folder may come after `after`.
    fn may_hold_more(&self, folder: &str) -> bool {
        self.after.is_none_or(|after| folder > after || after.starts_with(folder))
    }
}

/// The names of a folder, those of folders with a slash: so their order is the order of the keys.
fn sorted(folder: &Path) -> io::Result<BTreeMap<String, PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        // Never there, or cleared away meanwhile.
        Err(error) if is_absent(&error) => return Ok(BTreeMap::new()),
        Err(error) => return Err(error),
    };
    let mut names = BTreeMap::new();
    for entry in entries {
        let entry = entry?;
        let Ok(mut name) = entry.file_name().into_string() else { continue };
        if entry.file_type()?.is_dir() {
            name.push('/');
        }
        names.insert(name, entry.path());
    }
    Ok(names)
}
