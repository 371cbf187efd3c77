//! What a bound must be.

/// A limit of zero, under which nothing would ever pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{field} is zero, so nothing would ever pass; give at least 1")]
pub struct ZeroLimit {
    /// Which limit it is.
    pub field: &'static str,
}

pub(crate) fn at_least_one(field: &'static str, value: usize) -> Result<usize, ZeroLimit> {
    if value == 0 { Err(ZeroLimit { field }) } else { Ok(value) }
}
