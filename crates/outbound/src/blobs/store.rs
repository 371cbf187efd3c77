//! The storage, whichever it is.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use mainstay_base::Timestamp;

use super::budget::Budget;
use super::error::{BlobError, BlobsError};
use super::folder::Folder;
use super::guard::Guard;
use super::key::{BlobKey, BlobKeyError};
use super::measure::Operation;
use super::place::{BlobOptions, BlobPlace};
use super::s3::S3;
use super::upload::BlobUpload;

/// The most blobs that one list gives.
pub const MAX_LISTED: usize = 1_000;

/// Stores blobs. Its clones store in the same place, and share what they learn of it.
#[derive(Clone)]
pub struct Blobs(Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) backend: Backend,
    pub(crate) guard: Guard,
}

pub(crate) enum Backend {
    Folder(Folder),
    S3(S3, Budget),
}

/// A blob, as a list shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlobEntry {
    /// Where it stands.
    pub key: BlobKey,
    /// Its bytes.
    pub size: u64,
    /// When it was stored.
    pub modified: Timestamp,
}

impl Blobs {
    /// Prepares to store, at the usual pace. Call it inside of the runtime. Whether an object storage
    /// is there shows with the first call; a folder is made.
    ///
    /// # Errors
    /// [`BlobsError`] names the folder or the setting that can't be used.
    pub fn open(place: &BlobPlace) -> Result<Self, BlobsError> {
        Self::open_with(place, &BlobOptions::default())
    }

    /// As [`Blobs::open`], at another pace.
    ///
    /// # Errors
    /// As [`Blobs::open`].
    pub fn open_with(place: &BlobPlace, options: &BlobOptions) -> Result<Self, BlobsError> {
        let inner = match place {
            BlobPlace::Folder(path) => Inner {
                backend: Backend::Folder(Folder::open(path, options.clock.now())?),
                guard: Guard::of_folder(options),
            },
            BlobPlace::S3(settings) => Inner {
                backend: Backend::S3(S3::open(settings, options)?, Budget::new()),
                guard: Guard::of_host(options)?,
            },
        };
        Ok(Self(Arc::new(inner)))
    }

    /// Stores a whole blob, in place of the one that may be there: whoever reads sees the one or the
    /// other.
    ///
    /// # Errors
    /// [`BlobError`] says whether to try again.
    pub async fn put(&self, key: &BlobKey, body: Bytes) -> Result<(), BlobError> {
        let work = async {
            match self.backend() {
                Backend::Folder(folder) => folder.put(key, body).await,
                Backend::S3(s3, _) => s3.put(key, body).await,
            }
        };
        self.guard().call(Operation::Put, work).await
    }

    /// Begins a blob that comes in parts, and is never whole in memory. It appears with
    /// [`BlobUpload::finish`].
    ///
    /// # Errors
    /// [`BlobError`] says whether to try again.
    pub async fn upload(&self, key: &BlobKey) -> Result<BlobUpload, BlobError> {
        BlobUpload::begin(self, key).await
    }

    /// Reads a whole blob of at most so many bytes.
    ///
    /// # Errors
    /// [`BlobError`] of the kind `Missing` or `TooLarge`, or says whether to try again.
    pub async fn get(&self, key: &BlobKey, most: usize) -> Result<Bytes, BlobError> {
        let work = async {
            match self.backend() {
                Backend::Folder(folder) => folder.get(key, most).await,
                Backend::S3(s3, _) => s3.get(key, most).await,
            }
        };
        self.guard().call(Operation::Get, work).await
    }

    /// Removes a blob. One that is not there is as good as removed.
    ///
    /// # Errors
    /// [`BlobError`] says whether to try again.
    pub async fn delete(&self, key: &BlobKey) -> Result<(), BlobError> {
        let work = async {
            match self.backend() {
                Backend::Folder(folder) => folder.delete(key).await,
                Backend::S3(s3, _) => s3.delete(key).await,
            }
        };
        self.guard().call(Operation::Delete, work).await
    }

    /// The blobs below a prefix of whole segments (`""` for all, else as a key, with or without a slash
    /// at its end), in the order of their keys, after one of them, at most `limit` and
    /// [`MAX_LISTED`].
    ///
    /// # Errors
    /// [`BlobError`] says whether to try again.
    pub async fn list(
        &self,
        prefix: &str,
        after: Option<&BlobKey>,
        limit: usize,
    ) -> Result<Vec<BlobEntry>, BlobError> {
        let prefix = whole(prefix).map_err(|error| {
            BlobError::permanent(format!("what is to be listed is no prefix: {error}"))
        })?;
        let limit = limit.min(MAX_LISTED);
        let work = async {
            match self.backend() {
                Backend::Folder(folder) => folder.list(prefix.as_ref(), after, limit).await,
                Backend::S3(s3, _) => s3.list(prefix.as_ref(), after, limit).await,
            }
        };
        self.guard().call(Operation::List, work).await
    }

    /// Removes what is left of uploads whose process was killed a day ago, and tells how much. An object
    /// storage does that itself, by a rule of its bucket.
    ///
    /// # Errors
    /// [`BlobError`] says whether to try again.
    pub async fn clear_abandoned(&self) -> Result<u64, BlobError> {
        let Backend::Folder(folder) = self.backend() else { return Ok(0) };
        let guard = self.guard();
        guard.call(Operation::Abort, folder.clear(guard.now())).await
    }

    pub(crate) fn backend(&self) -> &Backend {
        &self.0.backend
    }

    pub(crate) fn guard(&self) -> &Guard {
        &self.0.guard
    }
}

impl fmt::Debug for Blobs {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match self.backend() {
            Backend::Folder(_) => "folder",
            Backend::S3(..) => "s3",
        };
        formatter.debug_tuple("Blobs").field(&place).finish()
    }
}

fn whole(prefix: &str) -> Result<Option<BlobKey>, BlobKeyError> {
    match prefix.strip_suffix('/').unwrap_or(prefix) {
        "" if prefix.is_empty() => Ok(None),
        segments => BlobKey::new(segments).map(Some),
    }
}
