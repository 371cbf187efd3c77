//! What the monitor recorded in the time of an incident, as this room asks for it.

use futures_util::future::BoxFuture;

use crate::model::Window;
use crate::prompt::RecordedTimeline;

/// The most entries of a recorded timeline.
pub const MAX_RECORDED: usize = 400;

/// Tells what was recorded in a span of time.
pub trait Timelines: Send + Sync + 'static {
    /// What was recorded, oldest first, at most [`MAX_RECORDED`].
    fn recorded(&self, window: Window) -> BoxFuture<'_, Result<RecordedTimeline, TimelineError>>;
}

/// Why it can't be told now.
#[derive(Debug, thiserror::Error)]
#[error("what the monitor recorded can't be read: {0}")]
pub struct TimelineError(#[source] pub Box<dyn std::error::Error + Send + Sync>);
