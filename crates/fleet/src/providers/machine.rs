//! What a provider says that there is.

use serde::{Deserialize, Serialize};

use super::name::MachineName;

/// The most characters of a provider's own word that are kept.
pub const MAX_WORD: usize = 64;

/// A machine as its worker remembers it: kept as JSON, and enough to find it again after a restart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// What the provider calls it. A name may come back for another machine, this never does.
    pub id: String,
    /// What we call it.
    pub name: MachineName,
    /// This run of it, where the provider tells runs apart: another after each start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Where its agent is asked, as an URL, once that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Where it stands, where the provider tells: that need not be what was ordered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
}

/// A machine as it is seen now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sighting {
    /// The machine: what was remembered of it may have changed, its run and its address first.
    pub machine: Machine,
    /// What it does.
    pub state: MachineState,
    /// The provider's own word for that, to be shown.
    pub provider_state: String,
    /// What is known of the host that it runs on.
    pub host: HostStatus,
    /// How it ended the last time, where the provider tells.
    pub exit: Option<Exit>,
}

/// What a machine does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MachineState {
    /// It is on its way up.
    Starting,
    /// It runs, so its agent may be asked.
    Running,
    /// It sleeps with its memory: asking its agent would wake it, and cost.
    Asleep,
    /// It sleeps, and what was in its memory is lost.
    Cold,
    /// It is on its way down.
    Stopping,
    /// It does not run, and can be started.
    Stopped,
    /// It does not run, and nobody asked for that.
    Failed,
    /// It is being ended for ever.
    Leaving,
}

/// What is known of the host of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum HostStatus {
    /// It is well.
    #[default]
    Ok,
    /// The provider does not know.
    Unknown,
    /// The provider can't reach it: **the machine may run all the same**, whatever its state says.
    Unreachable,
}

/// How a machine ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exit {
    /// What its program left with.
    pub code: Option<i64>,
    /// Whether it took more memory than it has.
    pub oom_killed: bool,
    /// Whether somebody asked it to stop.
    pub requested: bool,
}

/// What can be waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rest {
    /// That it runs.
    Running,
    /// That it does not run any more.
    Stopped,
}

/// How a machine went for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Departure {
    /// There is none any more.
    Gone,
    /// The provider has the order, and carries it out some time: **the machine may run until then**, so
    /// what it says must be fenced off by its generation.
    Leaving,
    /// There was none to be ended, as far as the account goes that was asked: **in another account it may run.**
    Missing,
}

impl MachineState {
    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Asleep => "asleep",
            Self::Cold => "cold",
            Self::Stopping => "stopping",
            Self::Stopped => "stopped",
            Self::Failed => "failed",
            Self::Leaving => "leaving",
        }
    }

    /// Whether it is what was waited for.
    #[must_use]
    pub const fn is_at(self, rest: Rest) -> bool {
        match rest {
            Rest::Running => matches!(self, Self::Running),
            Rest::Stopped => {
                matches!(self, Self::Stopped | Self::Failed | Self::Asleep | Self::Cold)
            }
        }
    }
}

impl HostStatus {
    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Unknown => "unknown",
            Self::Unreachable => "unreachable",
        }
    }
}
