//! The parts of an upload to an object storage. Dropped before they are complete, they are given up.

use std::mem;

use bytes::{Bytes, BytesMut};
use object_store::MultipartUpload;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::budget::{Budget, FREE, Turn};
use super::error::BlobError;
use super::key::BlobKey;
use super::measure::Operation;
use super::s3;
use super::store::{Backend, Blobs};

/// The bytes of each part of an upload to an object storage but the last, and the most that an upload
/// holds in memory beside what it is given: S3 takes no smaller ones.
pub const PART: usize = 5 * 1024 * 1024;

/// The most parts of an upload: S3 takes no more.
pub const MAX_PARTS: usize = 10_000;

/// What was sent, and what is not enough for a part yet.
pub(crate) struct Parts {
    remote: Remote,
    sent: usize,
    rest: Gathered,
}

/// What is not enough for a part yet.
pub(crate) struct Gathered {
    bytes: BytesMut,
    budget: Budget,
    /// Held from more than a little until it is sent.
    turn: Option<Turn>,
}

/// An upload that the storage knows of.
struct Remote {
    blobs: Blobs,
    /// Nothing after its end.
    upload: Option<Box<dyn MultipartUpload>>,
}

impl Parts {
    /// Begins with what there is so far. That runs on a task of its own: the storage may have begun an
    /// upload when whoever asked for it is gone, and then nobody else knows its name.
    pub(crate) async fn begin(
        blobs: &Blobs,
        key: &BlobKey,
        rest: Gathered,
    ) -> Result<Self, BlobError> {
        let (tell, told) = oneshot::channel();
        let (blobs, key) = (blobs.clone(), key.clone());
        // One who is not there any more drops the upload, and that gives it up.
        tokio::spawn(async move { tell.send(Remote::begin(blobs, &key).await) });
        let remote = told.await.unwrap_or_else(|_| Err(BlobError::ended()))?;
        Ok(Self { remote, sent: 0, rest })
    }

    /// Adds bytes, and sends all whole parts of them.
    pub(crate) async fn add(&mut self, mut bytes: Bytes) -> Result<(), BlobError> {
        while self.rest.len().saturating_add(bytes.len()) >= PART {
            let room = PART.saturating_sub(self.rest.len()).min(bytes.len());
            self.rest.extend(&bytes.split_to(room)).await;
            self.send().await?;
        }
        self.rest.extend(&bytes).await;
        Ok(())
    }

    pub(crate) async fn complete(mut self) -> Result<(), BlobError> {
        if self.rest.len() > 0 {
            self.send().await?;
        }
        self.remote.complete().await
    }

    pub(crate) async fn abort(mut self) {
        if let Some(upload) = self.remote.upload.take() {
            abort(&self.remote.blobs, upload).await;
        }
    }

    async fn send(&mut self) -> Result<(), BlobError> {
        if self.sent >= MAX_PARTS {
            return Err(BlobError::permanent("the upload has more parts than the storage takes"));
        }
        self.sent = self.sent.saturating_add(1);
        let Some(upload) = &mut self.remote.upload else { return Err(BlobError::ended()) };
        let part = upload.put_part(self.rest.take().into());
        let sent = async { part.await.map_err(|error| s3::told(&error)) };
        let sent = self.remote.blobs.guard().call(Operation::Part, sent).await;
        // Only now nothing of it is in memory any more.
        self.rest.turn = None;
        sent
    }
}

impl Gathered {
    pub(crate) fn new(budget: &Budget) -> Self {
        Self { bytes: BytesMut::new(), budget: budget.clone(), turn: None }
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Adds what leaves it no more than a part, as soon as there is room for that in memory.
    pub(crate) async fn extend(&mut self, more: &[u8]) {
        let is_much = self.len().saturating_add(more.len()) > FREE;
        if is_much && self.turn.is_none() {
            self.turn = Some(self.budget.turn().await);
            // At once and no more: by itself it would grow to twice what is needed.
            self.bytes.reserve(PART.saturating_sub(self.len()));
        }
        self.bytes.extend_from_slice(more);
    }

    /// All of it, and the memory that it lies in: nothing here keeps that when it was sent. The turn lasts on until
    /// then.
    pub(crate) fn take(&mut self) -> Bytes {
        mem::take(&mut self.bytes).freeze()
    }
}

impl Remote {
    async fn begin(blobs: Blobs, key: &BlobKey) -> Result<Self, BlobError> {
        let Backend::S3(s3, _) = blobs.backend() else { return Err(BlobError::ended()) };
        let upload = blobs.guard().call(Operation::Part, s3.begin(key)).await?;
        Ok(Self { blobs, upload: Some(upload) })
    }

    async fn complete(&mut self) -> Result<(), BlobError> {
        let Some(upload) = &mut self.upload else { return Err(BlobError::ended()) };
        let completed = async { upload.complete().await.map_err(|error| s3::told(&error)) };
        self.blobs.guard().call(Operation::Finish, completed).await?;
        self.upload = None;
        Ok(())
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        let Some(upload) = self.upload.take() else { return };
        // Without a runtime the process ends.
        if let Ok(runtime) = Handle::try_current() {
            let blobs = self.blobs.clone();
            runtime.spawn(async move { abort(&blobs, upload).await });
        }
    }
}

async fn abort(blobs: &Blobs, mut upload: Box<dyn MultipartUpload>) {
    let aborted = async { upload.abort().await.map_err(|error| s3::told(&error)) };
    if let Err(error) = blobs.guard().call(Operation::Abort, aborted).await {
        // The storage keeps the parts until its own rule for such uploads clears them.
        tracing::warn!(event = "blob_upload_not_aborted", %error, "parts of an upload are left");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_memory_of_a_part_goes_with_it() {
        let mut gathered = Gathered::new(&Budget::new());
        for _ in 0..2 {
            gathered.extend(&vec![b'x'; PART]).await;
            let part = gathered.take();
            assert_eq!((part.len(), gathered.len()), (PART, 0));
            assert!(part.is_unique(), "once it is sent, nobody holds it any more");
        }
    }
}
