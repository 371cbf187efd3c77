//! Where transcripts and reports are kept, as this room asks for it.

use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use mainstay_base::Timestamp;

/// The storage of objects.
pub trait Objects: Send + Sync + 'static {
    /// Begins to store an object part by part: it is not there until it is whole.
    fn upload<'a>(
        &'a self,
        key: &'a str,
    ) -> BoxFuture<'a, Result<Box<dyn ObjectUpload>, ObjectError>>;

    /// Stores an object at once. After an error it may be there all the same.
    fn put<'a>(&'a self, key: &'a str, bytes: Bytes) -> BoxFuture<'a, Result<(), ObjectError>>;

    /// Reads an object of at most so many bytes.
    fn get<'a>(&'a self, key: &'a str, most: usize) -> BoxFuture<'a, Result<Bytes, ObjectError>>;

    /// Removes an object; one that is not there is fine.
    fn delete<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<(), ObjectError>>;

    /// Objects below a prefix in the order of their keys, those after a key.
    fn list<'a>(
        &'a self,
        prefix: &'a str,
        after: Option<&'a str>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<ObjectEntry>, ObjectError>>;

    /// Removes what is left of uploads whose process was killed, where the storage does not do that by a
    /// rule of its own; tells how much.
    fn clear_abandoned(&self) -> BoxFuture<'_, Result<u64, ObjectError>>;
}

/// An object that is on its way. Dropped, it is given up.
pub trait ObjectUpload: Send {
    /// Takes the next part.
    fn write(&mut self, bytes: Bytes) -> BoxFuture<'_, Result<(), ObjectError>>;

    /// Makes it whole. After an error it may be there all the same.
    fn finish(self: Box<Self>) -> BoxFuture<'static, Result<u64, ObjectError>>;

    /// Gives it up.
    fn abort(self: Box<Self>) -> BoxFuture<'static, ()>;
}

/// An object of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectEntry {
    /// Where it is.
    pub key: String,
    /// When it was stored, by the storage's clock.
    pub modified: Timestamp,
}

/// Why the storage did not do it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ObjectError {
    /// What sort of failure it is.
    pub kind: ObjectErrorKind,
    /// What happened, without secrets.
    pub message: String,
    /// Set where the storage was not even asked, because it failed so often of late: when to ask again.
    pub retry_after: Option<Duration>,
}

/// The sorts of failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectErrorKind {
    /// There is no such object.
    Missing,
    /// It has more bytes than were asked for.
    TooLarge,
    /// It may work later.
    Transient,
    /// It will not.
    Permanent,
}

impl ObjectError {
    /// Whether the same may work later.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        self.kind == ObjectErrorKind::Transient
    }

    /// Whether the storage never heard of it, so that nothing can have come of it.
    #[must_use]
    pub const fn was_not_asked(&self) -> bool {
        self.retry_after.is_some()
    }
}
