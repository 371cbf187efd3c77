//! How names are compared.

/// A name as it is compared with others: trimmed, in lower case.
#[must_use]
pub fn compared(name: &str) -> String {
    name.trim().to_lowercase()
}
