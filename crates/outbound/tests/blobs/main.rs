//! Blobs in a real folder and on a real S3 server, and what becomes of them when either fails.
#![cfg(test)]

mod broken_disk;
mod broken_host;
mod conformance;

use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use mainstay_base::Secret;
use mainstay_outbound::{BlobKey, BlobPlace, Blobs, S3Settings};
use mainstay_testkit::s3::{ACCESS_KEY_ID, BUCKET, REGION, S3Server, SECRET_ACCESS_KEY};

/// What a test may wait for anything.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// More than any blob of these tests.
pub(crate) const MOST: usize = 32 * 1024 * 1024;

pub(crate) fn key(text: &str) -> BlobKey {
    BlobKey::new(text).unwrap_or_else(|error| panic!("{text} {error}"))
}

/// Bytes that differ from place to place.
pub(crate) fn bytes(length: usize) -> Bytes {
    (0..length).map(|at| u8::try_from((at * 7 + at / 251) % 256).unwrap()).collect()
}

pub(crate) fn folder(path: &Path) -> Blobs {
    Blobs::open(&BlobPlace::Folder(path.to_owned())).unwrap()
}

pub(crate) fn settings(endpoint: String) -> S3Settings {
    S3Settings {
        endpoint,
        region: REGION.to_owned(),
        bucket: BUCKET.to_owned(),
        access_key_id: ACCESS_KEY_ID.to_owned(),
        secret_access_key: Secret::new(SECRET_ACCESS_KEY.to_owned()),
    }
}

pub(crate) fn bucket(server: &S3Server) -> Blobs {
    Blobs::open(&BlobPlace::S3(settings(server.endpoint()))).unwrap()
}
