//! What there is on disk of an agent: its token, its log, its card.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use mainstay_base::Secret;

use crate::agents::AgentCard;
use crate::agents::card::{CARD, LOCK};
use crate::agents::log::{self, LOG};
use crate::providers::error::told;
use crate::providers::name::MachineName;

/// The token, for its owner's eyes only.
const TOKEN: &str = "token";
/// It is there when the agent was asked to stop.
const STOPPED: &str = "stopped";
/// How much of the end of the log is told when a start fails.
const TOLD_LOG: u64 = 200;

/// The home of an agent.
#[derive(Debug, Clone)]
pub(super) struct Home(PathBuf);

impl Home {
    pub(super) fn of(folder: &Path, name: &MachineName) -> Self {
        Self(folder.join(name.as_str()))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    pub(super) fn exists(&self) -> bool {
        self.0.is_dir()
    }

    pub(super) fn token_file(&self) -> PathBuf {
        self.0.join(TOKEN)
    }

    /// Makes it, or has it as it should be.
    pub(super) fn make(&self, token: &Secret<String>) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.0)?;
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).truncate(true).mode(0o600);
        file.open(self.token_file())?.write_all(token.expose().as_bytes())
    }

    pub(super) fn remove(&self) -> io::Result<()> {
        match std::fs::remove_dir_all(&self.0) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    pub(super) fn card(&self) -> Option<AgentCard> {
        AgentCard::read(&self.0)
    }

    pub(super) fn tear_card(&self) -> io::Result<()> {
        forget(&self.0.join(CARD))
    }

    /// Whether an agent lives here: it holds the lock, whatever its card says.
    pub(super) fn is_inhabited(&self) -> bool {
        let held = File::open(self.0.join(LOCK)).map(|lock| lock.try_lock());
        matches!(held, Ok(Err(TryLockError::WouldBlock)))
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.0.join(STOPPED).exists()
    }

    pub(super) fn mark_stopped(&self) -> io::Result<()> {
        std::fs::write(self.0.join(STOPPED), [])
    }

    pub(super) fn unmark_stopped(&self) -> io::Result<()> {
        forget(&self.0.join(STOPPED))
    }

    pub(super) fn log(&self) -> io::Result<File> {
        log::trim(&self.0)?;
        OpenOptions::new().append(true).create(true).mode(0o600).open(self.0.join(LOG))
    }

    /// The end of the log, for who wants to know why there is no agent.
    pub(super) fn last_words(&self) -> String {
        let mut text = Vec::new();
        if let Ok(mut log) = File::open(self.0.join(LOG)) {
            let length = log.metadata().map(|found| found.len()).unwrap_or(0);
            let _ = log.seek(SeekFrom::Start(length.saturating_sub(TOLD_LOG)));
            let _ = log.take(TOLD_LOG).read_to_end(&mut text);
        }
        told(&String::from_utf8_lossy(&text))
    }
}

fn forget(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
