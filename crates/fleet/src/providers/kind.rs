//! Which providers there are.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A provider of machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProviderKind {
    /// A child process on this host.
    Process,
    /// Fly Machines.
    Fly,
    /// Sprites.
    Sprite,
}

impl ProviderKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Process, Self::Fly, Self::Sprite];

    /// The word for it in the API, in the database, in logs and in metrics.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::Fly => "fly",
            Self::Sprite => "sprite",
        }
    }

    /// What has to be set so that it can be used.
    #[must_use]
    pub const fn settings(self) -> &'static str {
        match self {
            Self::Process => "nothing",
            Self::Fly => "FLY_API_TOKEN, FLY_APP and FLY_IMAGE",
            Self::Sprite => "SPRITES_TOKEN",
        }
    }

    /// The provider that a word means.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for ProviderKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_means_its_kind_and_no_other_does() {
        for kind in ProviderKind::ALL {
            assert_eq!(ProviderKind::from_name(kind.name()), Some(kind));
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
        assert_eq!(ProviderKind::from_name("Fly"), None);
    }
}
