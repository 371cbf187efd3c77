//! The table that the build wrote, and the ways to look into it.

use std::fmt;

/// One file of the dashboard.
pub struct Asset {
    /// Where it is served, such as `/assets/index-abc.js`.
    pub path: &'static str,
    /// The value of `Content-Type`.
    pub content_type: &'static str,
    /// A strong entity tag of the identity bytes, in its quotes.
    pub etag: &'static str,
    /// Its name holds a hash of its content, so it may be cached for ever.
    pub immutable: bool,
    /// The bytes as they are.
    pub identity: &'static [u8],
    /// The bytes in Brotli, where that is smaller.
    pub brotli: Option<&'static [u8]>,
    /// The bytes in gzip, where that is smaller.
    pub gzip: Option<&'static [u8]>,
}

impl fmt::Debug for Asset {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The bytes would fill the screen.
        formatter
            .debug_struct("Asset")
            .field("path", &self.path)
            .field("etag", &self.etag)
            .field("bytes", &self.identity.len())
            .finish_non_exhaustive()
    }
}

include!(concat!(env!("OUT_DIR"), "/assets.rs"));

/// The file at exactly this path.
#[must_use]
pub fn find(path: &str) -> Option<&'static Asset> {
    let at = ASSETS.binary_search_by(|asset| asset.path.cmp(path)).ok()?;
    ASSETS.get(at)
}

/// The page that starts the dashboard, or the one that says why this build has none.
#[must_use]
pub fn index() -> &'static Asset {
    INDEX
}

/// Every file, sorted by path.
#[must_use]
pub fn all() -> &'static [Asset] {
    &ASSETS
}

/// Whether the dashboard is in this build.
#[must_use]
pub fn built() -> bool {
    BUILT
}
