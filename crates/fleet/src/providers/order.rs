//! What is wanted of a provider.

use std::fmt;

use mainstay_base::Id;
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use super::name::MachineName;

/// The longest name of a region.
pub const MAX_REGION: usize = 32;

/// A machine that is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// Whose machine it is.
    pub worker: Id,
    /// The generation of the worker that the order was given under. The same order keeps it, however
    /// often it is given.
    pub generation: i64,
    /// Whether the machine ends for ever when it stops.
    pub is_ephemeral: bool,
    /// Where it should stand, where the provider has more than one place.
    pub region: Option<Region>,
    /// How big it should be, where the provider has sizes.
    pub size: Size,
}

/// A place of a provider, such as `fra`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, ToSchema)]
#[serde(transparent)]
#[schema(value_type = String)]
pub struct Region(String);

/// A text that is no region.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a region; use up to {MAX_REGION} lower-case letters, digits and dashes, such as fra")]
pub struct RegionError;

/// How big a machine is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Size {
    /// Enough for some hundred checks.
    #[default]
    Small,
    /// Four times as much memory.
    Medium,
    /// For thousands of checks.
    Large,
}

impl Order {
    /// What its machine is called.
    #[must_use]
    pub fn name(&self) -> MachineName {
        MachineName::of(self.worker, self.generation)
    }
}

impl Region {
    /// Reads a region.
    ///
    /// # Errors
    /// [`RegionError`] when it is none.
    pub fn parse(text: &str) -> Result<Self, RegionError> {
        let is_fit = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let fits = (1..=MAX_REGION).contains(&text.len()) && text.bytes().all(is_fit);
        if fits { Ok(Self(text.to_owned())) } else { Err(RegionError) }
    }

    /// The word itself.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Region {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Region {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

impl Size {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Small, Self::Medium, Self::Large];

    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Small => "small",
            Self::Medium => "medium",
            Self::Large => "large",
        }
    }

    /// The size that a word means.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|size| size.name() == name)
    }
}
