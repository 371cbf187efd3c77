//! The storage of this house, as the room asks for it.

use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use mainstay_outbound::{BlobError, BlobErrorKind, BlobKey, BlobKeyError, BlobUpload, Blobs};

use crate::objects::{ObjectEntry, ObjectError, ObjectErrorKind, ObjectUpload, Objects};

impl Objects for Blobs {
    fn upload<'a>(
        &'a self,
        key: &'a str,
    ) -> BoxFuture<'a, Result<Box<dyn ObjectUpload>, ObjectError>> {
        async move {
            let upload = Self::upload(self, &BlobKey::new(key)?).await?;
            Ok(Box::new(upload) as Box<dyn ObjectUpload>)
        }
        .boxed()
    }

    fn put<'a>(&'a self, key: &'a str, bytes: Bytes) -> BoxFuture<'a, Result<(), ObjectError>> {
        async move { Ok(Self::put(self, &BlobKey::new(key)?, bytes).await?) }.boxed()
    }

    fn get<'a>(&'a self, key: &'a str, most: usize) -> BoxFuture<'a, Result<Bytes, ObjectError>> {
        async move { Ok(Self::get(self, &BlobKey::new(key)?, most).await?) }.boxed()
    }

    fn delete<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<(), ObjectError>> {
        async move { Ok(Self::delete(self, &BlobKey::new(key)?).await?) }.boxed()
    }

    fn list<'a>(
        &'a self,
        prefix: &'a str,
        after: Option<&'a str>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<ObjectEntry>, ObjectError>> {
        async move {
            let after = after.map(BlobKey::new).transpose()?;
            let listed = Self::list(self, prefix, after.as_ref(), limit).await?;
            let entry = |entry: mainstay_outbound::BlobEntry| ObjectEntry {
                key: entry.key.to_string(),
                modified: entry.modified,
            };
            Ok(listed.into_iter().map(entry).collect())
        }
        .boxed()
    }

    fn clear_abandoned(&self) -> BoxFuture<'_, Result<u64, ObjectError>> {
        async move { Ok(Self::clear_abandoned(self).await?) }.boxed()
    }
}

impl ObjectUpload for BlobUpload {
    fn write(&mut self, bytes: Bytes) -> BoxFuture<'_, Result<(), ObjectError>> {
        async move { Ok(Self::write(self, bytes).await?) }.boxed()
    }

    fn finish(self: Box<Self>) -> BoxFuture<'static, Result<u64, ObjectError>> {
        async move { Ok(Self::finish(*self).await?) }.boxed()
    }

    fn abort(self: Box<Self>) -> BoxFuture<'static, ()> {
        Self::abort(*self).boxed()
    }
}

impl From<BlobError> for ObjectError {
    fn from(error: BlobError) -> Self {
        let kind = match error.kind() {
            BlobErrorKind::Missing => ObjectErrorKind::Missing,
            BlobErrorKind::TooLarge => ObjectErrorKind::TooLarge,
            BlobErrorKind::Transient => ObjectErrorKind::Transient,
            BlobErrorKind::Permanent => ObjectErrorKind::Permanent,
        };
        Self { kind, message: error.to_string(), retry_after: error.retry_after() }
    }
}

impl From<BlobKeyError> for ObjectError {
    fn from(error: BlobKeyError) -> Self {
        let message = format!("the key of the object is none: {error}");
        Self { kind: ObjectErrorKind::Permanent, message, retry_after: None }
    }
}
