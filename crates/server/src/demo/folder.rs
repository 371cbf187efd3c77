//! The folder of a demo: in the folder for temporary files, gone when the demo ends.
//!
//! Whoever plays holds a lock on a file in it, which goes with the process however that ends. So the
//! next demo tells the folder of one that was killed from that of one that still plays.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use mainstay_base::Rng;

/// What the name of each begins with.
const PREFIX: &str = "mainstay-demo-";
/// The file that its owner holds a lock on.
const OWNER: &str = "owner";
/// Folders that one start removes, at most.
const MOST_SWEPT: usize = 100;
/// An agent that was just starting when its demo was killed still writes its card: how often a folder is
/// emptied again, and how long it is waited in between.
const MOST_TRIES: usize = 40;
const PAUSE: Duration = Duration::from_millis(25);

/// The folder of this demo. Dropped, it is removed.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    _lock: File,
}

impl Folder {
    /// Makes one below `parent`, after those whose owners are dead were removed.
    pub(crate) fn make(parent: &Path, rng: &dyn Rng) -> anyhow::Result<Self> {
        sweep(parent);
        let mut chance = [0_u8; 8];
        rng.fill(&mut chance);
        let path = parent.join(format!("{PREFIX}{:016x}", u64::from_ne_bytes(chance)));
        make(&path).map(|lock| Self { path: path.clone(), _lock: lock }).with_context(|| {
            let shown = path.display();
            format!("the folder {shown} can't be made; check TMPDIR, and that the disk has room")
        })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

fn make(path: &Path) -> io::Result<File> {
    DirBuilder::new().mode(0o700).create(path)?;
    let unlocked = path.join("owner.new");
    let mut file = OpenOptions::new().write(true).create_new(true).open(&unlocked)?;
    file.try_lock()?;
    writeln!(
        file,
        "This folder belongs to a `mainstay demo` (process {}). It goes when that ends; if that was \
         killed, the next demo removes it.",
        std::process::id()
    )?;
    // Under its name it is locked from the first moment on.
    fs::rename(&unlocked, path.join(OWNER))?;
    Ok(file)
}

/// Removes the folders of demos that were killed.
fn sweep(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    let ours = entries.flatten().filter(|entry| is_ours(&entry.file_name()));
    // Judged before they are counted: many that can't be removed do not keep the others.
    let abandoned = ours.map(|entry| entry.path()).filter(|path| is_abandoned(path));
    for path in abandoned.take(MOST_SWEPT) {
        remove(&path);
    }
}

/// What can't be removed is left for the next demo.
fn remove(path: &Path) {
    for _ in 0..MOST_TRIES {
        match fs::remove_dir_all(path) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {
                std::thread::sleep(PAUSE);
            }
            _ => return,
        }
    }
}

fn is_ours(name: &OsStr) -> bool {
    name.to_str()
        .and_then(|name| name.strip_prefix(PREFIX))
        .is_some_and(|rest| rest.len() == 16 && rest.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Whether it is a folder of this user whose owner holds it no more.
fn is_abandoned(path: &Path) -> bool {
    let is_own_folder = fs::symlink_metadata(path)
        .is_ok_and(|found| found.is_dir() && found.uid() == rustix::process::getuid().as_raw());
    is_own_folder && File::open(path.join(OWNER)).is_ok_and(|file| file.try_lock().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use mainstay_base::SystemRng;

    fn names(parent: &Path) -> Vec<String> {
        let entries = fs::read_dir(parent).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn it_goes_with_its_owner() {
        let parent = tempfile::tempdir().unwrap();
        let folder = Folder::make(parent.path(), &SystemRng).unwrap();
        assert_eq!(fs::metadata(folder.path()).unwrap().mode() & 0o777, 0o700);
        fs::write(folder.path().join("mainstay.db"), "x").unwrap();
        drop(folder);
        assert_eq!(names(parent.path()), Vec::<String>::new());
    }

    #[test]
    fn what_a_dead_one_left_is_removed_and_nothing_else() {
        let parent = tempfile::tempdir().unwrap();
        let dead = parent.path().join("mainstay-demo-0123456789abcdef");
        let half_made = parent.path().join("mainstay-demo-0123456789abcdee");
        let other = parent.path().join("mainstay-demo-notes");
        for path in [&dead, &half_made, &other] {
            fs::create_dir(path).unwrap();
        }
        fs::write(dead.join(OWNER), "killed").unwrap();
        fs::write(other.join(OWNER), "somebody else's").unwrap();
        let playing = Folder::make(parent.path(), &SystemRng).unwrap();
        let second = Folder::make(parent.path(), &SystemRng).unwrap();
        assert!(!dead.exists());
        for path in [&half_made, &other, &playing.path, &second.path] {
            assert!(path.exists(), "{}", path.display());
        }
    }

    #[test]
    fn those_that_stay_do_not_keep_others_from_going() {
        let parent = tempfile::tempdir().unwrap();
        let name = |number: usize| parent.path().join(format!("{PREFIX}{number:016x}"));
        // Whichever the file system names first, more stay on both sides of it than are removed at once.
        for number in 0..2 * MOST_SWEPT {
            fs::create_dir(name(number)).unwrap();
        }
        let dead: Vec<_> = (0..MOST_SWEPT).map(|number| name(1_000 + number)).collect();
        for path in &dead {
            fs::create_dir(path).unwrap();
            fs::write(path.join(OWNER), "killed").unwrap();
        }
        sweep(parent.path());
        assert!(!dead.iter().any(|path| path.exists()));
        assert_eq!(names(parent.path()).len(), 2 * MOST_SWEPT);
    }

    #[test]
    fn a_link_in_its_place_is_left_alone() {
        let parent = tempfile::tempdir().unwrap();
        let precious = tempfile::tempdir().unwrap();
        fs::write(precious.path().join(OWNER), "x").unwrap();
        let link = parent.path().join("mainstay-demo-0123456789abcdef");
        std::os::unix::fs::symlink(precious.path(), &link).unwrap();
        sweep(parent.path());
        assert!(link.exists() && precious.path().join(OWNER).exists());
    }
}
