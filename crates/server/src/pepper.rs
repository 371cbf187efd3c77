//! The pepper: the operator's own, or one that is made once and kept in the data folder.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use anyhow::Context as _;
use mainstay_accounts::Pepper;
use mainstay_base::Rng;

use crate::config::Config;

/// The file in the data folder.
pub(crate) const FILE_NAME: &str = "token-hash-pepper";
/// More than any pepper has.
const MAX_FILE_BYTES: u64 = 4096;

/// The pepper in effect. The data folder must be there.
pub(crate) fn find_or_make(config: &Config, rng: &dyn Rng) -> anyhow::Result<Pepper> {
    if let Some(pepper) = &config.accounts.pepper {
        return Ok(pepper.clone());
    }
    let path = config.data_dir.join(FILE_NAME);
    let text = match read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => make(&path, rng),
        other => other,
    };
    let text = text.with_context(|| {
        format!(
            "{} can't be read or written; give this user the right to, or set TOKEN_HASH_PEPPER",
            path.display()
        )
    })?;
    Pepper::new(text.trim()).with_context(|| {
        format!(
            "{} is damaged; bring it back from a backup, or remove it and run `mainstay admin rotate-pepper`",
            path.display()
        )
    })
}

fn read(path: &Path) -> io::Result<String> {
    let file = File::open(path)?;
    warn_if_open(path, &file);
    let mut text = String::new();
    file.take(MAX_FILE_BYTES).read_to_string(&mut text)?;
    Ok(text)
}

/// Writes a new one whole, and only where none is: of two starts at once, both use the same.
fn make(path: &Path, rng: &dyn Rng) -> io::Result<String> {
    let passing = path.with_extension(format!("{}.new", std::process::id()));
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(&passing).and_then(|mut file| {
        file.write_all(Pepper::make(rng).expose().as_bytes())?;
        file.write_all(b"\n")?;
        file.sync_all()
    });
    let placed = written.and_then(|()| fs::hard_link(&passing, path));
    let _ = fs::remove_file(&passing);
    match placed {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => {
            sync_folder(path)?;
            read(path)
        }
    }
}

/// A pepper that a power cut takes away would sign everybody out.
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

#[cfg(unix)]
fn warn_if_open(path: &Path, file: &File) {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = file.metadata().map(|metadata| metadata.permissions().mode()).unwrap_or(0o600);
    if mode & 0o077 != 0 {
        tracing::warn!(
            "{} can be read by others on this machine; run `chmod 600` on it",
            path.display()
        );
    }
}

#[cfg(not(unix))]
fn warn_if_open(_: &Path, _: &File) {}

#[cfg(test)]
mod tests {
    use super::*;
    use mainstay_base::SystemRng;

    #[test]
    fn it_is_made_once_and_only_its_owner_may_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE_NAME);
        let made = make(&path, &SystemRng).unwrap();
        assert_eq!(made.trim().len(), 43);
        assert_eq!(make(&path, &SystemRng).unwrap(), made, "a second start keeps the first's");
        assert_eq!(read(&path).unwrap(), made);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left");
    }
}
