//! A blob that comes in parts.

use std::fmt;
use std::mem;

use bytes::Bytes;

use super::error::BlobError;
use super::folder::Incoming;
use super::key::BlobKey;
use super::measure::Operation;
use super::parts::{Gathered, PART, Parts};
use super::store::{Backend, Blobs};

/// A blob that comes in parts. Dropped before its end, it leaves nothing behind, as far as that can be
/// done in the background.
#[must_use]
pub struct BlobUpload {
    blobs: Blobs,
    key: BlobKey,
    size: u64,
    state: State,
}

enum State {
    Folder(Incoming),
    /// Not enough for a part yet, so nothing was sent.
    Small(Gathered),
    Parts(Parts),
    Ended,
}

impl BlobUpload {
    pub(crate) async fn begin(blobs: &Blobs, key: &BlobKey) -> Result<Self, BlobError> {
        let state = match blobs.backend() {
            Backend::Folder(folder) => {
                State::Folder(blobs.guard().call(Operation::Part, folder.begin()).await?)
            }
            Backend::S3(_, budget) => State::Small(Gathered::new(budget)),
        };
        Ok(Self { blobs: blobs.clone(), key: key.clone(), size: 0, state })
    }

    /// Adds a part. After an error the upload is over.
    ///
    /// # Errors
    /// [`BlobError`] says whether to begin again.
    pub async fn write(&mut self, part: Bytes) -> Result<(), BlobError> {
        let more = u64::try_from(part.len()).unwrap_or(u64::MAX);
        // While this waits, and after an error, the upload has ended: a dropped call leaves no half.
        self.state = match mem::replace(&mut self.state, State::Ended) {
            State::Folder(incoming) => append(&self.blobs, incoming, part).await?,
            State::Small(mut rest) if rest.len().saturating_add(part.len()) < PART => {
                rest.extend(&part).await;
                State::Small(rest)
            }
            State::Small(rest) => {
                let mut parts = Parts::begin(&self.blobs, &self.key, rest).await?;
                parts.add(part).await?;
                State::Parts(parts)
            }
            State::Parts(mut parts) => {
                parts.add(part).await?;
                State::Parts(parts)
            }
            State::Ended => return Err(BlobError::ended()),
        };
        self.size = self.size.saturating_add(more);
        Ok(())
    }

    /// Ends the upload: the blob appears, whole, and its size is told.
    ///
    /// # Errors
    /// [`BlobError`] says whether to begin again. The blob may have appeared all the same, where the storage did
    /// it and its answer was lost or late: whoever does not begin again under the same key deletes it.
    pub async fn finish(mut self) -> Result<u64, BlobError> {
        let guard = self.blobs.guard();
        match (mem::replace(&mut self.state, State::Ended), self.blobs.backend()) {
            (State::Folder(incoming), Backend::Folder(folder)) => {
                guard.call(Operation::Finish, folder.end(incoming, &self.key)).await?;
            }
            (State::Small(mut rest), Backend::S3(s3, _)) => {
                guard.call(Operation::Finish, s3.put(&self.key, rest.take())).await?;
            }
            (State::Parts(parts), _) => parts.complete().await?,
            _ => return Err(BlobError::ended()),
        }
        Ok(self.size)
    }

    /// Gives the upload up, and waits until nothing is left of it.
    pub async fn abort(mut self) {
        if let State::Parts(parts) = mem::replace(&mut self.state, State::Ended) {
            parts.abort().await;
        }
    }
}

/// By itself, and not of the whole upload: that one may be sent to another task, but not shared with one.
async fn append(blobs: &Blobs, incoming: Incoming, part: Bytes) -> Result<State, BlobError> {
    let Backend::Folder(folder) = blobs.backend() else { return Err(BlobError::ended()) };
    let written = folder.write(incoming, part);
    blobs.guard().call(Operation::Part, written).await.map(State::Folder)
}

impl fmt::Debug for BlobUpload {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("BlobUpload");
        shown.field("key", &self.key).field("size", &self.size).finish_non_exhaustive()
    }
}
