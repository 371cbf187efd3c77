//! Where a worker and a net stand, and where each may go from there.

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The database names something that there is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a word in the database means no {0} that this Mainstay knows")]
pub struct UnknownWord(pub(crate) &'static str);

/// Where a worker stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum WorkerStatus {
    /// There is a record and no machine.
    Pending,
    /// Its machine is being made.
    Provisioning,
    /// Its machine runs and its agent has answered.
    Ready,
    /// It was stopped because somebody asked for that.
    Stopped,
    /// Its machine is gone or can't be reached.
    Error,
}

/// Whether a net is loaded on its worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum LoadState {
    /// It is not.
    Unloaded,
    /// Its worker has confirmed that it runs.
    Loaded,
    /// Loading or unloading it failed.
    Error,
}

impl WorkerStatus {
    /// Each of them.
    pub const ALL: [Self; 5] =
        [Self::Pending, Self::Provisioning, Self::Ready, Self::Stopped, Self::Error];

    /// The word for it, in the API and in the database.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Provisioning => "provisioning",
            Self::Ready => "ready",
            Self::Stopped => "stopped",
            Self::Error => "error",
        }
    }

    /// Whether a worker may go there in one step. Every one may be destroyed, which leads to pending; one whose
    /// stop was asked for and done is stopped, also where somebody who found it silent meanwhile was quicker.
    #[must_use]
    pub const fn may_become(self, next: Self) -> bool {
        match next {
            Self::Pending => !matches!(self, Self::Pending),
            Self::Provisioning => matches!(self, Self::Pending | Self::Error),
            Self::Ready => matches!(self, Self::Provisioning | Self::Stopped | Self::Error),
            Self::Stopped => matches!(self, Self::Ready | Self::Error),
            Self::Error => matches!(self, Self::Provisioning | Self::Ready | Self::Stopped),
        }
    }
}

impl LoadState {
    /// Each of them.
    pub const ALL: [Self; 3] = [Self::Unloaded, Self::Loaded, Self::Error];

    /// The word for it, in the API and in the database.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unloaded => "unloaded",
            Self::Loaded => "loaded",
            Self::Error => "error",
        }
    }

    /// Whether a net may go there in one step: from each to each other one.
    #[must_use]
    pub const fn may_become(self, next: Self) -> bool {
        !matches!(
            (self, next),
            (Self::Unloaded, Self::Unloaded)
                | (Self::Loaded, Self::Loaded)
                | (Self::Error, Self::Error)
        )
    }
}

impl FromStr for WorkerStatus {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        Self::ALL.into_iter().find(|one| one.name() == word).ok_or(UnknownWord("worker status"))
    }
}

impl FromStr for LoadState {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        Self::ALL.into_iter().find(|one| one.name() == word).ok_or(UnknownWord("load state"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_goes_only_where_the_table_says() {
        use WorkerStatus::{Error, Pending, Provisioning, Ready, Stopped};
        let allowed = [
            (Pending, &[Provisioning][..]),
            (Provisioning, &[Ready, Error, Pending]),
            (Ready, &[Stopped, Error, Pending]),
            (Stopped, &[Ready, Error, Pending]),
            (Error, &[Provisioning, Ready, Stopped, Pending]),
        ];
        for (from, wanted) in allowed {
            for next in WorkerStatus::ALL {
                assert_eq!(from.may_become(next), wanted.contains(&next), "{from:?} {next:?}");
            }
        }
    }

    #[test]
    fn a_net_goes_to_every_other_state() {
        for from in LoadState::ALL {
            for next in LoadState::ALL {
                assert_eq!(from.may_become(next), from != next, "{from:?} {next:?}");
            }
        }
    }

    #[test]
    fn a_word_is_read_back() {
        for status in WorkerStatus::ALL {
            assert_eq!(status.name().parse(), Ok(status));
        }
        for state in LoadState::ALL {
            assert_eq!(state.name().parse(), Ok(state));
        }
        assert!("Ready".parse::<WorkerStatus>().is_err() && "".parse::<LoadState>().is_err());
    }
}
