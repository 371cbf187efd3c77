//! Blobs in a bucket of an S3-compatible storage.

use std::error::Error;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _};
use mainstay_base::Timestamp;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path;
use object_store::{
    Extensions, GetOptions, MultipartUpload, ObjectMeta, ObjectStore as _, ObjectStoreExt as _,
    RetryConfig,
};
use url::Url;

use super::error::{BlobError, BlobErrorKind, BlobsError};
use super::key::BlobKey;
use super::place::{BlobOptions, S3Settings};
use super::store::BlobEntry;
use super::wire::{MostBytes, Refused, Wire};
use crate::web::{FetchError, FetchErrorKind};

/// The longest name of a bucket.
const MAX_BUCKET: usize = 63;

/// A bucket.
#[derive(Clone)]
pub(crate) struct S3(Arc<AmazonS3>);

impl S3 {
    pub(crate) fn open(settings: &S3Settings, options: &BlobOptions) -> Result<Self, BlobsError> {
        check(settings)?;
        let no_retries = RetryConfig { max_retries: 0, ..RetryConfig::default() };
        let built = AmazonS3Builder::new()
            .with_endpoint(settings.endpoint.trim_end_matches('/'))
            .with_allow_http(true)
            .with_region(&settings.region)
            .with_bucket_name(&settings.bucket)
            .with_access_key_id(&settings.access_key_id)
            .with_secret_access_key(settings.secret_access_key.expose())
            .with_virtual_hosted_style_request(false)
            .with_disable_bulk_delete(true)
            .with_retry(no_retries)
            .with_http_connector(Wire::new(options)?)
            .build();
        let s3 = built.map_err(|_| BlobsError::Setting {
            name: "S3_ENDPOINT",
            problem: "and the other S3_ settings give no storage; check each of them",
        })?;
        Ok(Self(Arc::new(s3)))
    }

    pub(crate) async fn put(&self, key: &BlobKey, body: Bytes) -> Result<(), BlobError> {
        self.0.put(&path(key), body.into()).await.map(drop).map_err(|error| told(&error))
    }

    pub(crate) async fn begin(&self, key: &BlobKey) -> Result<Box<dyn MultipartUpload>, BlobError> {
        self.0.put_multipart(&path(key)).await.map_err(|error| told(&error))
    }

    pub(crate) async fn get(&self, key: &BlobKey, most: usize) -> Result<Bytes, BlobError> {
        let mut extensions = Extensions::new();
        extensions.insert(MostBytes(most));
        let options = GetOptions::new().with_extensions(extensions);
        let got = async { self.0.get_opts(&path(key), options).await?.bytes().await };
        got.await.map_err(|error| match told(&error) {
            error if error.kind() == BlobErrorKind::TooLarge => BlobError::too_large(most),
            // Nothing but a read can miss a blob.
            _ if is_missing(&error) => BlobError::missing(),
            error => error,
        })
    }

    pub(crate) async fn delete(&self, key: &BlobKey) -> Result<(), BlobError> {
        match self.0.delete(&path(key)).await {
            Err(error) if !is_missing(&error) => Err(told(&error)),
            _ => Ok(()),
        }
    }

    pub(crate) async fn list(
        &self,
        prefix: Option<&BlobKey>,
        after: Option<&BlobKey>,
        limit: usize,
    ) -> Result<Vec<BlobEntry>, BlobError> {
        let prefix = prefix.map(path);
        let found = match after {
            Some(after) => self.0.list_with_offset(prefix.as_ref(), &path(after)),
            None => self.0.list(prefix.as_ref()),
        };
        // What is no key was not stored by us.
        let ours = found.try_filter_map(|one| std::future::ready(Ok(entry(&one))));
        ours.take(limit).try_collect().await.map_err(|error| told(&error))
    }
}

/// What an error of the storage says.
pub(crate) fn told(error: &object_store::Error) -> BlobError {
    if let Some(refused) = cause::<Refused>(error) {
        return refused.told();
    }
    if let Some(failed) = cause::<FetchError>(error) {
        return uncalled(failed);
    }
    if is_missing(error) {
        return BlobError::transient(
            "the object storage knows nothing of it any more; begin again",
        );
    }
    BlobError::transient("the object storage gave an answer that can't be read; check S3_ENDPOINT")
}

/// What a call says that had no answer. Where it went is for the log alone: whoever owns the file is shown this.
fn uncalled(failed: &FetchError) -> BlobError {
    let told = failed.unnamed();
    if told != failed.message() {
        tracing::warn!(event = "storage_unreachable", error = %failed, "the object storage can't be asked");
    }
    match failed.kind() {
        FetchErrorKind::TooLarge => BlobError::new(BlobErrorKind::TooLarge, told.to_owned()),
        FetchErrorKind::RedirectBlocked => BlobError::permanent(
            "the object storage sends to another address; check S3_ENDPOINT and S3_REGION",
        ),
        FetchErrorKind::BlockedAddress => BlobError::permanent(format!(
            "the object storage is not called: {told}; check S3_ENDPOINT"
        )),
        _ => BlobError::transient(format!("the object storage can't be asked: {told}")),
    }
}

fn is_missing(error: &object_store::Error) -> bool {
    matches!(error, object_store::Error::NotFound { .. })
}

/// The error of this type behind another.
fn cause<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    let mut next = Some(error);
    while let Some(here) = next {
        if let Some(found) = here.downcast_ref() {
            return Some(found);
        }
        next = here.source();
    }
    None
}

fn entry(meta: &ObjectMeta) -> Option<BlobEntry> {
    let key = BlobKey::new(meta.location.as_ref()).ok()?;
    let modified = Timestamp::from_millis(meta.last_modified.timestamp_millis());
    Some(BlobEntry { key, size: meta.size, modified })
}

/// A key needs no encoding, so its path is the same text.
fn path(key: &BlobKey) -> Path {
    Path::from_iter(key.segments())
}

fn check(settings: &S3Settings) -> Result<(), BlobsError> {
    let refuse = |name, problem| Err(BlobsError::Setting { name, problem });
    let is_fit = |url: &Url| {
        matches!(url.scheme(), "http" | "https")
            && url.host_str().is_some()
            && url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none()
    };
    if !Url::parse(&settings.endpoint).is_ok_and(|url| is_fit(&url)) {
        return refuse(
            "S3_ENDPOINT",
            "is no address of a storage; give https://HOST or http://HOST:PORT without login and query",
        );
    }
    if !is_name(&settings.bucket, MAX_BUCKET) {
        return refuse(
            "S3_BUCKET",
            "is no name of a bucket; give letters, digits, dots and dashes",
        );
    }
    if !is_name(&settings.region, MAX_BUCKET) {
        return refuse("S3_REGION", "is no region; give one such as eu-central-1, or auto");
    }
    if settings.access_key_id.is_empty() || !settings.access_key_id.bytes().all(is_graphic) {
        return refuse("S3_ACCESS_KEY_ID", "is no key; give the storage's, without white space");
    }
    if settings.secret_access_key.expose().is_empty() {
        return refuse("S3_SECRET_ACCESS_KEY", "is empty; give the secret that belongs to the key");
    }
    Ok(())
}

fn is_name(text: &str, most: usize) -> bool {
    let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
    (1..=most).contains(&text.len()) && text.bytes().all(is_fit)
}

fn is_graphic(byte: u8) -> bool {
    byte.is_ascii_graphic()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_storage_is_not_named_to_whoever_owns_a_file() {
        let message = "the name minio.internal does not exist or has no addresses";
        let failed = FetchError::new(FetchErrorKind::Dns, message);
        let error = object_store::Error::Generic { store: "S3", source: Box::new(failed) };
        let told = told(&error);
        assert!(told.is_transient());
        assert!(
            told.to_string().starts_with("the object storage can't be asked: its name"),
            "{told}"
        );
        assert!(!told.to_string().contains("minio"), "{told}");
    }
}
