//! Who may read the metrics.

use super::reader::{Reader, boolean};
use super::setting::{Fallback, Kind, Setting};

/// Whether everybody may.
pub const PUBLIC: Setting = Setting {
    key: "metrics.public",
    variables: &["MAINSTAY_METRICS_PUBLIC"],
    flag: None,
    kind: Kind::Boolean,
    fallback: Fallback::Fixed("false"),
    mask: None,
    help: "Let everybody who reaches Mainstay read /metrics",
};

/// Who may read the metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MetricsConfig {
    /// Everybody, without a token.
    pub public: bool,
}

/// Reads the metrics settings.
pub(super) fn read(reader: &mut Reader<'_>) -> Option<MetricsConfig> {
    Some(MetricsConfig { public: reader.required(&PUBLIC, boolean)? })
}
