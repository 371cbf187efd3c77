//! Stub until merged.
/// Stub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Format {
    /// Stub.
    ProactiveDeps,
    /// Stub.
    Status,
}
