//! Header values as the database keeps them: sealed, so that a copy of it gives none away.

use mainstay_base::Secret;

use super::headers::Header;

/// Seals what nobody may read in the database.
pub trait Seal: Send + Sync + 'static {
    /// Seals `plain`.
    fn seal(&self, plain: &[u8]) -> String;

    /// What was sealed; `None` for what was not, or by somebody else.
    fn open(&self, sealed: &str) -> Option<Vec<u8>>;
}

/// The headers, sealed; `None` when there are none.
pub(super) fn seal(seal: &dyn Seal, headers: &[Header]) -> Option<String> {
    if headers.is_empty() {
        return None;
    }
    let pairs: Vec<_> = headers.iter().map(|(name, value)| (name, value.expose())).collect();
    // Pairs of texts: there is nothing in them that JSON can't hold.
    Some(seal.seal(&serde_json::to_vec(&pairs).unwrap_or_default()))
}

/// The headers that were sealed; `None` when they can't be opened.
pub(super) fn open(seal: &dyn Seal, sealed: Option<&str>) -> Option<Vec<Header>> {
    let Some(sealed) = sealed else { return Some(Vec::new()) };
    let plain = seal.open(sealed)?;
    let pairs: Vec<(String, String)> = serde_json::from_slice(&plain).ok()?;
    Some(pairs.into_iter().map(|(name, value)| (name, Secret::new(value))).collect())
}
