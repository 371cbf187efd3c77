//! What an agent answers: the one form of it, for who asks and for who answers.

use mainstay_base::{Id, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::providers::error::told;
use crate::providers::machine::MAX_WORD;

/// What every agent of ours calls itself: a stranger on its port does not.
pub const AGENT: &str = "mainstay-agent";

/// The most nets on one agent.
pub const MAX_NETS: usize = 1_000;

/// The most results in one answer.
pub const MAX_PAGE: usize = 500;

/// How an agent is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentHealth {
    /// [`AGENT`].
    pub agent: String,
    /// `ok` while it runs its nets.
    pub status: String,
    /// The worker that it was started for.
    pub worker_id: Id,
    /// This run of the program: another means that everything in memory is gone.
    pub boot_id: Id,
    /// The generation of the worker that it was started under.
    pub generation: i64,
    /// What it was told that it may call, as whoever started it calls that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// What is loaded.
    pub loaded_nets: Vec<LoadedNet>,
    /// How many checks it has run.
    pub checks_run: u64,
    /// For how many seconds it runs.
    pub uptime_s: u64,
}

impl AgentHealth {
    /// Why it does not run its nets although it answers, by its own word.
    #[must_use]
    pub fn trouble(&self) -> Option<String> {
        let is_well = self.status == "ok";
        (!is_well).then(|| {
            let status: String = told(&self.status).chars().take(MAX_WORD).collect();
            format!("its agent says that it is {status}")
        })
    }
}

/// A net that is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadedNet {
    /// Which one.
    pub id: Id,
    /// Which generation of it.
    pub generation: i64,
}

/// What a net found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetResults {
    /// This run of the program: the numbers of another begin anew.
    pub boot_id: Id,
    /// What time it is by the agent's clock, which may be wrong.
    #[serde(default)]
    pub now: Option<Timestamp>,
    /// Oldest first, at most [`MAX_PAGE`].
    pub results: Vec<NetResult>,
    /// Whether there are more.
    pub has_more: bool,
    /// How many were dropped because nobody fetched them in time, since what came before these was acknowledged.
    pub dropped: u64,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetResult {
    /// Its place: the next question says `after` which one.
    pub seq: u64,
    /// The generation of the net that it was found under.
    pub generation: i64,
    /// What was found.
    pub result: Value,
}
