//! What an agent on this host leaves for who started it: where it listens, and which process it is.

use std::io;
use std::net::SocketAddr;
use std::path::Path;

use mainstay_base::Id;
use serde::{Deserialize, Serialize};

/// The card, in the agent's home.
pub const CARD: &str = "agent.json";

/// The file that an agent holds locked as long as it lives: one home has one agent.
pub const LOCK: &str = "lock";

/// The longest card.
const MAX_CARD: u64 = 4_096;

/// What an agent on this host leaves for who started it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentCard {
    /// Which process it is.
    pub process: ProcessId,
    /// Where it listens.
    pub address: SocketAddr,
    /// This run of the program.
    pub boot_id: Id,
    /// What it was told that it may call, as whoever started it calls that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
}

/// A process that is no other, however often its number is given out again.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ProcessId {
    /// Its number.
    pub pid: i32,
    /// When it was started, in ticks since the system was.
    pub started: u64,
    /// This run of the system.
    pub system: String,
}

impl AgentCard {
    /// Leaves the card in a home: whole, or not at all.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn write(&self, home: &Path) -> io::Result<()> {
        let draft = home.join(format!("{CARD}.{}", self.process.pid));
        std::fs::write(&draft, serde_json::to_vec(self)?)?;
        std::fs::rename(draft, home.join(CARD))
    }

    /// The card in a home, where there is one that can be read.
    #[must_use]
    pub fn read(home: &Path) -> Option<Self> {
        let path = home.join(CARD);
        let fits = std::fs::metadata(&path).is_ok_and(|found| found.len() <= MAX_CARD);
        fits.then(|| std::fs::read(&path).ok())
            .flatten()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
    }
}

impl ProcessId {
    /// The process with this number now, where there is one that lives.
    #[must_use]
    pub fn of(pid: i32) -> Option<Self> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let started = started(&stat)?;
        let system = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        Some(Self { pid, started, system: system.trim().to_owned() })
    }

    /// This very process.
    #[must_use]
    pub fn own() -> Option<Self> {
        Self::of(i32::try_from(std::process::id()).ok()?)
    }

    /// Whether it lives.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        Self::of(self.pid).as_ref() == Some(self)
    }
}

/// When a process was started, by its line in `/proc`; nothing where only its remains are left. Its name
/// stands in brackets, and may hold anything.
fn started(stat: &str) -> Option<u64> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?;
    let started = fields.nth(18)?.parse().ok()?;
    (!matches!(state, "Z" | "X" | "x")).then_some(started)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: &str = "1 1 1 0 -1 4194560 2 0 0 0 3 4 0 0 20 0 1 0 98765 1 2";

    #[test]
    fn a_process_is_known_by_when_it_was_started() {
        assert_eq!(started(&format!("7 (a) S {FIELDS}")), Some(98_765));
        assert_eq!(started(&format!("7 (a b) Z 9) R {FIELDS}")), Some(98_765));
        assert_eq!(started(&format!("7 (a) Z {FIELDS}")), None);
        assert_eq!(started("7 (a) S 1 2"), None);
        assert_eq!(started(""), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_lives_and_one_that_was_started_at_another_time_does_not() {
        let own = ProcessId::own().unwrap();
        assert!(own.is_alive());
        assert!(!ProcessId { started: own.started.wrapping_add(1), ..own.clone() }.is_alive());
        assert!(!ProcessId { system: "another".to_owned(), ..own }.is_alive());
    }
}
