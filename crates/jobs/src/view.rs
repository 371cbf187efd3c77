//! What people ask of the queue, and what they are shown.

use std::time::Duration;

use mainstay_base::Id;
use serde::Serialize;
use utoipa::ToSchema;

use crate::model::{JobView, Kind, Status};

/// The most rows of one page.
pub const MAX_PAGE: u32 = 200;
/// Counts go no further than this: a look at the queue costs the same however long it is.
pub const COUNT_CAP: i64 = 10_000;

/// Which jobs are listed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JobFilter {
    /// Only those that stand so.
    pub status: Option<Status>,
    /// Only those of this kind.
    pub kind: Option<Kind>,
    /// Only those whose runner has not been heard of for longer than their lease.
    pub stuck: bool,
}

/// Which part of a list is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// The last id of the part before.
    pub after: Option<Id>,
    /// How many rows, up to [`MAX_PAGE`].
    pub limit: u32,
}

impl Page {
    /// One more than asked for: its presence tells that there is more.
    pub(crate) fn one_more(self) -> u32 {
        self.limit.clamp(1, MAX_PAGE).saturating_add(1)
    }
}

/// A part of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The jobs, newest first.
    pub items: Vec<JobView>,
    /// Where the next part begins, if there is one.
    pub next: Option<Id>,
}

impl Part {
    /// Made from one row more than was asked for.
    pub(crate) fn cut(mut items: Vec<JobView>, page: Page) -> Self {
        let limit = usize::try_from(page.one_more().saturating_sub(1)).unwrap_or(usize::MAX);
        let more = items.len() > limit;
        items.truncate(limit);
        let next = items.last().map(|view| view.id).filter(|_| more);
        Self { items, next }
    }
}

/// The queue at a glance. Counts stop at [`COUNT_CAP`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Summary {
    /// Each kind that has jobs or ever had a runner, is paused or has a limit, by name.
    pub kinds: Vec<KindSummary>,
    /// Jobs whose runner has not been heard of for longer than their lease.
    pub stuck: i64,
    /// Where counts stop: one that large may be larger.
    pub count_cap: i64,
}

/// One kind at a glance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct KindSummary {
    /// The kind.
    #[schema(value_type = String, example = "report")]
    pub kind: Kind,
    /// Jobs that wait, due or not.
    pub queued: i64,
    /// Of these, those that are due.
    pub due: i64,
    /// Of these, those that are not due yet.
    pub scheduled: i64,
    /// Jobs that runners have.
    pub processing: i64,
    /// Jobs that failed and have not left the queue.
    pub failed: i64,
    /// Jobs that succeeded and have not left the queue.
    pub succeeded: i64,
    /// For how many milliseconds the first has been due.
    #[schema(required)]
    pub oldest_due_ms: Option<i64>,
    /// Whether nobody claims jobs of this kind.
    pub paused: bool,
    /// How many may run at once over all runners.
    #[schema(required)]
    pub concurrency: Option<i64>,
}

impl KindSummary {
    /// For how long the first has been due.
    #[must_use]
    pub fn oldest_due(&self) -> Option<Duration> {
        let millis = self.oldest_due_ms?;
        Some(Duration::from_millis(u64::try_from(millis).unwrap_or(0)))
    }
}
