//! What can go wrong with events. [`EventError`] is a mistake of whoever makes one; the rest comes
//! from the database or from a follower's place in a stream.

use std::sync::Arc;

use mainstay_store::StoreError;

/// An event that can't be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EventError {
    /// The kind is none.
    #[error(
        "a kind of {length} bytes is no kind of event; use 1 to 64 lower-case letters, digits, underscores and colons"
    )]
    Kind {
        /// How long the given one is.
        length: usize,
    },
    /// A field has a name that every event has anyhow.
    #[error("the event `{kind}` has a field `{field}`, which is reserved; give it another name")]
    Reserved {
        /// The kind of event.
        kind: String,
        /// The field.
        field: &'static str,
    },
    /// The fields are no JSON.
    #[error("the fields of the event `{kind}` can't be written as JSON")]
    Fields {
        /// The kind of event.
        kind: String,
        /// What serde said.
        #[source]
        cause: serde_json::Error,
    },
    /// The fields are too large.
    #[error(
        "the event `{kind}` has {bytes} bytes of fields, and {limit} are allowed; keep large things in a table and name them in the event"
    )]
    TooLarge {
        /// The kind of event.
        kind: String,
        /// The size of the fields.
        bytes: usize,
        /// The most that is allowed.
        limit: usize,
    },
    /// One write holds too many events.
    #[error(
        "one write would hold more than {events} events or {bytes} bytes of them; split it into several writes"
    )]
    TooMany {
        /// The most events.
        events: usize,
        /// The most bytes.
        bytes: usize,
    },
}

/// Any error of the streams.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EventsError {
    /// An event that can't be written.
    #[error(transparent)]
    Event(#[from] EventError),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The database, for several callers whose work was done together.
    #[error(transparent)]
    Together(Arc<StoreError>),
    /// Events that the follower had not read yet are no longer kept.
    #[error(
        "the follower fell behind what is kept; open the stream anew and fetch the state again"
    )]
    BelowFloor,
    /// The database is another one than before, such as a restored copy.
    #[error("the streams began anew; open the stream anew and fetch the state again")]
    EpochChanged,
    /// The instance is stopping.
    #[error("the streams are closed because Mainstay is stopping; connect again")]
    Closed,
}
