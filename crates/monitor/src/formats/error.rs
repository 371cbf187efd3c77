//! Policy: a [`FormatError`] is the fault of whoever configures a service and names the key to mend; a
//! [`BadBody`] is the fault of the service and fails its poll. Neither repeats more of a body than
//! a warning would.

use super::bounds::{MAX_CONFIG_BYTES, MAX_ITEMS};
use super::schema::PathError;
use crate::report::Warning;

/// Why a format or its mapping can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// No format has this name.
    #[error("there is no format {name:?}; there are proactive-deps, schema and status")]
    UnknownFormat {
        /// The name, cut if it is long.
        name: String,
    },
    /// The format `schema` without a mapping.
    #[error("the format schema needs schema_config: say where the dependencies stand")]
    ConfigMissing,
    /// A mapping for a format that has none.
    #[error(
        "the format {format} takes no schema_config; leave it out, or choose the format schema"
    )]
    ConfigUnused {
        /// The format.
        format: String,
    },
    /// The mapping's text is too long.
    #[error("schema_config has {bytes} bytes; it may have at most {MAX_CONFIG_BYTES}")]
    ConfigTooLarge {
        /// How long it is.
        bytes: usize,
    },
    /// The mapping's text is no JSON.
    #[error("schema_config is not JSON: {reason}")]
    ConfigNotJson {
        /// What is wrong and where.
        reason: String,
    },
    /// A key that mappings don't have.
    #[error("{key} is not known; {place} takes {known}")]
    UnknownKey {
        /// The key and what it stands in.
        key: String,
        /// What it stands in.
        place: String,
        /// The keys there are.
        known: String,
    },
    /// A key that must be there.
    #[error("{key} is missing; give {expected}")]
    KeyMissing {
        /// The key and what it stands in.
        key: String,
        /// What belongs there.
        expected: &'static str,
    },
    /// A value of the wrong kind.
    #[error("{key} must be {expected}")]
    WrongKind {
        /// The key and what it stands in.
        key: String,
        /// What belongs there.
        expected: &'static str,
    },
    /// A path that leads nowhere.
    #[error("{key}: {problem}")]
    Path {
        /// The key and what it stands in.
        key: String,
        /// What is wrong with it.
        problem: PathError,
    },
}

/// Why nothing can be made of a body.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadBody {
    /// Bytes that are no text.
    #[error("the body is not UTF-8: byte {offset} is wrong")]
    NotUtf8 {
        /// How many bytes before are fine.
        offset: usize,
    },
    /// A text that is no JSON.
    #[error("the body is not JSON: {reason}")]
    NotJson {
        /// What is wrong and where.
        reason: String,
    },
    /// JSON of another kind than an array, where the format wants one.
    #[error(
        "expected an array of dependencies, not {found}; for another shape use the format schema"
    )]
    NotAnArray {
        /// What it is.
        found: &'static str,
    },
    /// The mapping's root leads to nothing that has items.
    #[error("expected an array or an object at the root {path:?} of the mapping, not {found}")]
    Root {
        /// The root as the mapping has it.
        path: String,
        /// What is there.
        found: &'static str,
    },
    /// More items than are read.
    #[error("the body has more than {MAX_ITEMS} items, the most that are read")]
    TooManyItems,
    /// Items, none of which can be read.
    #[error("none of the {items} items can be read; {first}")]
    NothingReadable {
        /// How many there are.
        items: usize,
        /// The first reason.
        first: Warning,
    },
}

impl FormatError {
    /// The setting or the key of it that is wrong: `format`, `schema_config.fields.name`.
    #[must_use]
    pub fn key(&self) -> &str {
        match self {
            Self::UnknownFormat { .. } => "format",
            Self::ConfigMissing
            | Self::ConfigUnused { .. }
            | Self::ConfigTooLarge { .. }
            | Self::ConfigNotJson { .. } => "schema_config",
            Self::UnknownKey { key, .. }
            | Self::KeyMissing { key, .. }
            | Self::WrongKind { key, .. }
            | Self::Path { key, .. } => key,
        }
    }
}
