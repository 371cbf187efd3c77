//! Keeps a second program away from an SQLite file that one serves.
//!
//! The lock is the operating system's (`flock`), on a file beside the database: it goes with the
//! process that holds it, however that ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use crate::sqlite::{resolved, with_suffix};

/// How much of the lock file is read to name its holder.
const MAX_HOLDER_BYTES: u64 = 32;

/// Held as long as this value lives.
#[derive(Debug)]
pub struct DatabaseLock {
    _file: File,
}

/// The lock can't be had.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another Mainstay holds it.
    #[error("{} is in use by another Mainstay{holder}; stop that one, or choose another --data-dir", path.display())]
    Held {
        /// The database file.
        path: PathBuf,
        /// ` (process 123)`, or nothing when it is not known.
        holder: String,
    },
    /// The lock file can't be made.
    #[error("{} can't be locked: {cause}; check that this user may write in its folder and that the disk has room", path.display())]
    File {
        /// The database file.
        path: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
}

impl DatabaseLock {
    /// Takes the lock of the database at `path`, or says at once who holds it.
    ///
    /// # Errors
    /// [`LockError`].
    pub fn take(path: &Path) -> Result<Self, LockError> {
        let failed = |cause| LockError::File { path: path.to_owned(), cause };
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(with_suffix(&resolved(path), ".lock"))
            .map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {
                sign(&mut file).map_err(failed)?;
                Ok(Self { _file: file })
            }
            Err(TryLockError::WouldBlock) => {
                Err(LockError::Held { path: path.to_owned(), holder: holder(file) })
            }
            Err(TryLockError::Error(cause)) => Err(failed(cause)),
        }
    }
}

/// Leaves the process id in the file, for whoever finds it locked.
fn sign(file: &mut File) -> std::io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    write!(file, "{}", std::process::id())
}

fn holder(file: File) -> String {
    let mut text = String::new();
    let read = file.take(MAX_HOLDER_BYTES).read_to_string(&mut text);
    match (read, text.trim().parse::<u32>()) {
        (Ok(_), Ok(process)) => format!(" (process {process})"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_is_told_who_holds_it_and_gets_it_when_the_first_lets_go() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mainstay.db");
        let first = DatabaseLock::take(&path).unwrap();
        let refused = DatabaseLock::take(&path).unwrap_err().to_string();
        assert!(refused.contains(&format!("(process {})", std::process::id())), "{refused}");
        drop(first);
        assert!(DatabaseLock::take(&path).is_ok());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_the_file_meets_the_same_lock() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("mainstay.db"), folder.path().join("link.db"));
        std::fs::write(&path, "").unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let _held = DatabaseLock::take(&path).unwrap();
        assert!(matches!(DatabaseLock::take(&link), Err(LockError::Held { .. })));
    }

    #[test]
    fn a_missing_folder_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("nowhere/mainstay.db");
        assert!(matches!(DatabaseLock::take(&path), Err(LockError::File { .. })));
    }
}
