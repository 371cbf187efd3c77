//! A blob that comes in parts.

use std::fmt;
use std::mem;

use bytes::{Bytes, BytesMut};
use object_store::MultipartUpload;
use tokio::runtime::Handle;

use super::error::BlobError;
use super::folder::Incoming;
use super::key::BlobKey;
use super::measure::Operation;
use super::s3::{self, S3};
use super::store::{Backend, Blobs};

/// The bytes of each part of an upload to an object storage but the last, and the most that an upload
/// holds in memory beside what it is given: S3 takes no smaller ones.
pub const PART: usize = 5 * 1024 * 1024;

/// The most parts of an upload: S3 takes no more.
pub const MAX_PARTS: usize = 10_000;

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
    Small(BytesMut),
    Parts(Parts),
    Ended,
}

struct Parts {
    upload: Box<dyn MultipartUpload>,
    sent: usize,
    rest: BytesMut,
}

impl BlobUpload {
    pub(crate) async fn begin(blobs: &Blobs, key: &BlobKey) -> Result<Self, BlobError> {
        let state = match blobs.backend() {
            Backend::Folder(folder) => {
                State::Folder(blobs.guard().call(Operation::Part, folder.begin()).await?)
            }
            Backend::S3(_) => State::Small(BytesMut::new()),
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
        let state = mem::replace(&mut self.state, State::Ended);
        self.state = match (state, self.blobs.clone().backend()) {
            (State::Folder(incoming), Backend::Folder(folder)) => {
                let written = folder.write(incoming, part);
                State::Folder(self.blobs.guard().call(Operation::Part, written).await?)
            }
            (State::Small(rest), Backend::S3(s3)) => self.grow(s3, rest, part).await?,
            (State::Parts(parts), Backend::S3(_)) => {
                let mut live = Live::new(&self.blobs, parts);
                live.add(part).await?;
                live.keep()
            }
            _ => return Err(BlobError::ended()),
        };
        self.size = self.size.saturating_add(more);
        Ok(())
    }

    /// Ends the upload: the blob appears, whole, and its size is told.
    ///
    /// # Errors
    /// [`BlobError`] says whether to begin again; nothing is left behind.
    pub async fn finish(mut self) -> Result<u64, BlobError> {
        let state = mem::replace(&mut self.state, State::Ended);
        match (state, self.blobs.backend()) {
            (State::Folder(incoming), Backend::Folder(folder)) => {
                let ended = folder.end(incoming, &self.key);
                self.blobs.guard().call(Operation::Finish, ended).await?;
            }
            (State::Small(rest), Backend::S3(s3)) => {
                let put = s3.put(&self.key, rest.freeze());
                self.blobs.guard().call(Operation::Finish, put).await?;
            }
            (State::Parts(parts), Backend::S3(_)) => {
                Live::new(&self.blobs, parts).complete().await?;
            }
            _ => return Err(BlobError::ended()),
        }
        Ok(self.size)
    }

    /// Gives the upload up, and waits until nothing is left of it.
    pub async fn abort(mut self) {
        if let State::Parts(parts) = mem::replace(&mut self.state, State::Ended) {
            abort(&self.blobs, parts.upload).await;
        }
    }

    async fn grow(&self, s3: &S3, mut rest: BytesMut, part: Bytes) -> Result<State, BlobError> {
        if rest.len().saturating_add(part.len()) < PART {
            rest.extend_from_slice(&part);
            return Ok(State::Small(rest));
        }
        let upload = self.blobs.guard().call(Operation::Part, s3.begin(&self.key)).await?;
        let mut live = Live::new(&self.blobs, Parts { upload, sent: 0, rest });
        live.add(part).await?;
        Ok(live.keep())
    }
}

impl Drop for BlobUpload {
    fn drop(&mut self) {
        if let State::Parts(parts) = mem::replace(&mut self.state, State::Ended) {
            abort_later(&self.blobs, parts.upload);
        }
    }
}

impl fmt::Debug for BlobUpload {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("BlobUpload");
        shown.field("key", &self.key).field("size", &self.size).finish_non_exhaustive()
    }
}

/// Parts at work: dropped before they are kept or complete, they are given up.
struct Live<'a> {
    blobs: &'a Blobs,
    parts: Option<Parts>,
}

impl<'a> Live<'a> {
    fn new(blobs: &'a Blobs, parts: Parts) -> Self {
        Self { blobs, parts: Some(parts) }
    }

    /// Adds bytes, and sends all whole parts of them.
    async fn add(&mut self, mut bytes: Bytes) -> Result<(), BlobError> {
        let Some(parts) = &mut self.parts else { return Err(BlobError::ended()) };
        while parts.rest.len().saturating_add(bytes.len()) >= PART {
            let room = PART.saturating_sub(parts.rest.len()).min(bytes.len());
            parts.rest.extend_from_slice(&bytes.split_to(room));
            send(self.blobs, parts).await?;
        }
        parts.rest.extend_from_slice(&bytes);
        Ok(())
    }

    async fn complete(mut self) -> Result<(), BlobError> {
        let Some(parts) = &mut self.parts else { return Err(BlobError::ended()) };
        if !parts.rest.is_empty() {
            send(self.blobs, parts).await?;
        }
        let completed = async { parts.upload.complete().await.map_err(|error| s3::told(&error)) };
        self.blobs.guard().call(Operation::Finish, completed).await?;
        self.parts = None;
        Ok(())
    }

    fn keep(mut self) -> State {
        self.parts.take().map_or(State::Ended, State::Parts)
    }
}

impl Drop for Live<'_> {
    fn drop(&mut self) {
        if let Some(parts) = self.parts.take() {
            abort_later(self.blobs, parts.upload);
        }
    }
}

async fn send(blobs: &Blobs, parts: &mut Parts) -> Result<(), BlobError> {
    if parts.sent >= MAX_PARTS {
        return Err(BlobError::permanent("the upload has more parts than the storage takes"));
    }
    parts.sent = parts.sent.saturating_add(1);
    let part = parts.upload.put_part(parts.rest.split().freeze().into());
    let sent = async { part.await.map_err(|error| s3::told(&error)) };
    blobs.guard().call(Operation::Part, sent).await
}

async fn abort(blobs: &Blobs, mut upload: Box<dyn MultipartUpload>) {
    let aborted = async { upload.abort().await.map_err(|error| s3::told(&error)) };
    if let Err(error) = blobs.guard().call(Operation::Abort, aborted).await {
        // The storage keeps the parts until its own rule for such uploads clears them.
        tracing::warn!(event = "blob_upload_not_aborted", %error, "parts of an upload are left");
    }
}

fn abort_later(blobs: &Blobs, upload: Box<dyn MultipartUpload>) {
    // Without a runtime the process ends.
    if let Ok(runtime) = Handle::try_current() {
        let blobs = blobs.clone();
        runtime.spawn(async move { abort(&blobs, upload).await });
    }
}
