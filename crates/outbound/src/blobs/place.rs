//! Where blobs are stored, and how long that may take.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{Clock, Secret, SystemClock};
use url::{Host, Url};

/// How long one call to the storage may take.
pub const CALL_TIMEOUT: Duration = Duration::from_secs(30);

/// How many calls in a row may fail before the object storage is left alone.
pub const FAILURES_TO_OPEN: u32 = 5;

/// How long an object storage that fails is left alone.
pub const OPEN_FOR: Duration = Duration::from_secs(15);

/// Where blobs are stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlobPlace {
    /// In a folder of this host, which is made where there is none.
    Folder(PathBuf),
    /// In a bucket of an S3-compatible storage.
    S3(S3Settings),
}

/// A bucket of an S3-compatible storage, asked for by path (`ENDPOINT/BUCKET/KEY`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct S3Settings {
    /// Its address, such as `https://s3.eu-central-1.amazonaws.com` or `http://127.0.0.1:9000`.
    pub endpoint: String,
    /// Its region, which each request is signed for.
    pub region: String,
    /// The bucket, which must be there.
    pub bucket: String,
    /// Who asks.
    pub access_key_id: String,
    /// What that proves it by.
    pub secret_access_key: Secret<String>,
}

impl S3Settings {
    /// Whether blobs go over a network that others may read.
    #[must_use]
    pub fn shows_data(&self) -> bool {
        let Ok(url) = Url::parse(&self.endpoint) else { return false };
        let is_here = match url.host() {
            Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.to_canonical().is_loopback(),
            None => false,
        };
        url.scheme() == "http" && !is_here
    }
}

/// How long things may take.
#[derive(Clone)]
pub struct BlobOptions {
    /// How long one call may take: each part of an upload is one.
    pub timeout: Duration,
    /// How long an object storage that fails is left alone.
    pub open_for: Duration,
    /// Authorities to trust beside the system's, in PEM form.
    pub ca_file: Option<PathBuf>,
    /// What times are measured by.
    pub clock: Arc<dyn Clock>,
}

impl Default for BlobOptions {
    fn default() -> Self {
        let clock = Arc::new(SystemClock::new());
        Self { timeout: CALL_TIMEOUT, open_for: OPEN_FOR, ca_file: None, clock }
    }
}

impl std::fmt::Debug for BlobOptions {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("BlobOptions")
            .field("timeout", &self.timeout)
            .field("open_for", &self.open_for)
            .finish_non_exhaustive()
    }
}
