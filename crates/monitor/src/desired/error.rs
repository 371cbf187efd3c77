//! What is refused, and why it could not be done. No text repeats the value of a header.

use mainstay_base::TextError;
use mainstay_events::EventError;
use mainstay_store::StoreError;

use super::check::MAX_ITEMS;
use super::document::VERSION;
use super::item::{Item, Section};
use super::plan::MAX_CHANGES;
use crate::aliases::{AliasesError, MAX_ALIASES, NameError};
use crate::services::{Invalid, MAX_SERVICES, ServicesError};

/// A refusal, or a failure of the database. Whatever it is, nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DesiredError {
    /// Another kind of document.
    #[error("`version` is {given}; this Mainstay reads version {VERSION}")]
    Version {
        /// What was given.
        given: u32,
    },
    /// More than is planned at once.
    #[error("there are more than {MAX_ITEMS} {}, the most that a document deals with", .0.name())]
    TooManyItems(Section),
    /// More changes than fit into one write.
    #[error(
        "there are {count} changes, and at most {MAX_CHANGES} are applied at once; split the file \
         and apply its parts one after the other, without pruning"
    )]
    TooManyChanges {
        /// How many there are.
        count: usize,
    },
    /// The changes say more than fits into one write.
    #[error(
        "the changes tell of more than fits into one write; split the file and apply its parts \
         one after the other, without pruning"
    )]
    TooMuchToTell,
    /// One item does not hold.
    #[error("{item}: {reason}")]
    Refused {
        /// Which one.
        item: Item,
        /// Why.
        reason: Box<Refusal>,
    },
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An event does not fit.
    #[error(transparent)]
    Event(EventError),
}

/// Why one item does not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// A field of a service does not hold.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// What is stored does not hold any more.
    #[error("as it is stored, {0}; change that first")]
    Stored(Invalid),
    /// A name of an alias does not hold.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The name of a dependency does not hold.
    #[error("`dependency` is {0}")]
    Dependency(TextError),
    /// It stands there twice.
    #[error(
        "it is the same as {}[{first}]: names are the same in any case and with blanks around them; \
         leave one of them out", .section.name()
    )]
    Twice {
        /// The part that it stands in.
        section: Section,
        /// The place where it stands first.
        first: usize,
    },
    /// The value of a header is to be kept, and there is none.
    #[error("the header {header:?} is null, which keeps its value, and none is stored; give one")]
    NoHeader {
        /// The header.
        header: String,
    },
    /// The value of a header is to be kept, and can't be read any more.
    #[error(
        "the header {header:?} is null, which keeps its value, and the stored one was sealed under \
         another secret; give the values of all headers"
    )]
    SealedHeader {
        /// The header.
        header: String,
    },
    /// A link names a service that there is not.
    #[error("`{field}` names {name:?}, and there is no such service; name one that there is")]
    NoService {
        /// Which field.
        field: &'static str,
        /// The name.
        name: String,
    },
    /// A link names a service that is about to be removed.
    #[error(
        "`{field}` names {name:?}, which the file does not name and pruning removes; name it under \
         services, or leave the link out"
    )]
    Pruned {
        /// Which field.
        field: &'static str,
        /// The name.
        name: String,
    },
    /// A service was to be what it leans on itself.
    #[error("`links_to` names the service itself; name another one, or leave the link out")]
    SelfLink,
    /// The address is never called.
    #[error("{0}")]
    Blocked(String),
    /// Somebody else made or changed it while this was applied.
    #[error("somebody else changed it meanwhile; apply again")]
    Changed,
    /// There would be more services than there may be.
    #[error("there would be more than {MAX_SERVICES} services, the most there may be")]
    TooManyServices,
    /// There would be more aliases than there may be.
    #[error("there would be more than {MAX_ALIASES} aliases, the most there may be")]
    TooManyAliases,
}

impl Refusal {
    /// The field that does not hold, where it is one.
    #[must_use]
    pub fn field(&self) -> Option<&str> {
        match self {
            Self::Invalid(invalid) => Some(invalid.field()),
            Self::Name(NameError::Alias(_)) => Some("alias"),
            Self::Name(NameError::Canonical(_)) => Some("canonical_name"),
            Self::Dependency(_) => Some("dependency"),
            Self::NoHeader { .. } | Self::SealedHeader { .. } => Some("headers"),
            Self::NoService { field, .. } | Self::Pruned { field, .. } => Some(field),
            Self::SelfLink => Some("links_to"),
            Self::Blocked(_) => Some("health_endpoint"),
            _ => None,
        }
    }

    pub(super) fn of(self, item: Item) -> DesiredError {
        DesiredError::Refused { item, reason: Box::new(self) }
    }
}

impl DesiredError {
    /// An address that is never called.
    #[must_use]
    pub fn blocked(item: Item, reason: impl Into<String>) -> Self {
        Refusal::Blocked(reason.into()).of(item)
    }

    /// Somebody else changed it while it was looked at.
    pub(super) fn changed(item: Item) -> Self {
        Refusal::Changed.of(item)
    }

    /// What an edit of a service refused, of which item it is.
    pub(super) fn of_service(error: ServicesError, item: Item) -> Self {
        match error {
            ServicesError::Invalid(invalid) => Refusal::Invalid(invalid).of(item),
            ServicesError::NameTaken | ServicesError::NotFound => Refusal::Changed.of(item),
            ServicesError::TooMany => Refusal::TooManyServices.of(item),
            ServicesError::Event(error) => error.into(),
            ServicesError::Store(error) => error.into(),
        }
    }

    /// What an edit of an alias or a link refused, of which item it is.
    pub(super) fn of_alias(error: AliasesError, item: Item) -> Self {
        match error {
            AliasesError::Name(error) => Refusal::Name(error).of(item),
            AliasesError::SelfLink => Refusal::SelfLink.of(item),
            AliasesError::TooMany => Refusal::TooManyAliases.of(item),
            AliasesError::Taken
            | AliasesError::NotFound
            | AliasesError::NoDependency
            | AliasesError::NoService
            | AliasesError::NoneNamed => Refusal::Changed.of(item),
            AliasesError::Event(error) => error.into(),
            AliasesError::Store(error) => error.into(),
        }
    }
}

impl From<EventError> for DesiredError {
    fn from(error: EventError) -> Self {
        match error {
            EventError::TooMany { .. } => Self::TooMuchToTell,
            error => Self::Event(error),
        }
    }
}
