//! The time of a log line, from the injected clock.

use std::fmt;
use std::sync::Arc;

use mainstay_base::Clock;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::FormatTime;

/// RFC 3339 in UTC with milliseconds.
pub(super) struct ClockTime(pub(super) Arc<dyn Clock>);

impl FormatTime for ClockTime {
    fn format_time(&self, writer: &mut Writer<'_>) -> fmt::Result {
        write!(writer, "{}", self.0.now())
    }
}
