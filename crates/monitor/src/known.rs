//! What is recorded of a service, as far as the next result is compared with it.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use mainstay_base::{Id, Timestamp};

use crate::failure::PollFailure;
use crate::formats::bounds::MAX_ITEMS;
use crate::report::{DependencyStatus, Reported};
use crate::status::ServiceStatus;

/// The most dependencies that are kept of one service, those included that it does not report any
/// more. An answer names far fewer: those that it does not name make room.
pub(crate) const MOST_KEPT: usize = 10_000;
const _: () = assert!(MOST_KEPT >= 2 * MAX_ITEMS);

/// What is recorded of a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) poll_seq: i64,
    /// Counts what others change of it.
    pub(crate) dependency_revision: i64,
    pub(crate) status: ServiceStatus,
    pub(crate) status_since: Timestamp,
    /// Since when it fails without a break, however badly.
    pub(crate) failing_since: Option<Timestamp>,
    /// Why its last poll failed.
    pub(crate) failure: Option<PollFailure>,
    /// Since when its dependencies are not known.
    pub(crate) stale_since: Option<Timestamp>,
    /// When its next poll is planned.
    pub(crate) next_poll_at: Option<Timestamp>,
    /// The warnings of its last answer, as they are stored.
    pub(crate) warnings: Option<String>,
    /// By name. Closed ones are not among them, until they are named again.
    pub(crate) dependencies: HashMap<Box<str>, KnownDependency>,
    /// How many have a row, closed ones included.
    pub(crate) kept: usize,
    /// The slot that the next new dependency gets.
    pub(crate) next_slot: u32,
}

/// What is recorded of a dependency: enough to see whether something is new.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KnownDependency {
    pub(crate) id: Id,
    /// Its number in the database; `None` until its row is written.
    pub(crate) number: Option<i64>,
    pub(crate) slot: u32,
    pub(crate) status: DependencyStatus,
    /// Whether it works as far as its service says.
    pub(crate) sound: bool,
    /// Everything that its row holds.
    pub(crate) facts: u64,
    /// What was last noted as wrong with it; `None` while it is sound.
    pub(crate) trouble: Option<u64>,
    pub(crate) missing: bool,
}

impl Known {
    /// Whether rows are kept that are not in mind.
    pub(crate) fn has_closed(&self) -> bool {
        self.kept > self.dependencies.len()
    }
}

/// What is wrong with a dependency, as the error history keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Trouble {
    pub(crate) error: String,
    pub(crate) message: String,
}

/// What stands for an error that the service did not give.
const MARKER: &str = r#"{"unhealthy":true}"#;
/// What stands for a message that the service did not give.
const MESSAGE: &str = "Unhealthy";

impl Trouble {
    /// What is wrong with a dependency that is so, if anything: one that only degraded counts when its
    /// service says what is wrong with it.
    pub(crate) fn with(
        sound: bool,
        status: DependencyStatus,
        error: Option<&str>,
        message: Option<&str>,
    ) -> Option<Self> {
        let is_told = error.is_some() || message.is_some();
        let slowed = matches!(status, DependencyStatus::Degraded) && is_told;
        (!sound || slowed).then(|| Self::of(error, message))
    }

    fn of(error: Option<&str>, message: Option<&str>) -> Self {
        Self {
            error: error.unwrap_or(MARKER).to_owned(),
            message: message.unwrap_or(MESSAGE).to_owned(),
        }
    }

    pub(crate) fn fingerprint(&self) -> u64 {
        fingerprint(self)
    }
}

/// Whether a dependency works, as far as its service says: what `status:change` tells.
pub(crate) const fn is_sound(healthy: bool, status: DependencyStatus) -> bool {
    healthy && !matches!(status, DependencyStatus::Down)
}

/// A number for everything that the row of a dependency holds; latency and time of check are not
/// part of it.
pub(crate) fn facts_of(reported: &Reported) -> u64 {
    fingerprint(&Facts {
        kind: &reported.kind,
        description: reported.description.as_deref(),
        impact: reported.impact.as_deref(),
        contact: reported.contact.as_deref(),
        check_details: reported.check_details.as_deref(),
        healthy: reported.healthy,
        state: reported.state.number(),
        code: reported.code,
        skipped: reported.skipped,
        error: reported.error.as_deref(),
        error_message: reported.error_message.as_deref(),
    })
}

/// What the row of a dependency holds.
#[derive(Debug, Clone, Copy, Hash)]
pub(crate) struct Facts<'a> {
    pub(crate) kind: &'a str,
    pub(crate) description: Option<&'a str>,
    pub(crate) impact: Option<&'a str>,
    pub(crate) contact: Option<&'a str>,
    pub(crate) check_details: Option<&'a str>,
    pub(crate) healthy: bool,
    pub(crate) state: i64,
    pub(crate) code: i64,
    pub(crate) skipped: bool,
    pub(crate) error: Option<&'a str>,
    pub(crate) error_message: Option<&'a str>,
}

/// The same for the same in every process of one build. Another build may have another one, so it is
/// never stored: an answer's tag that no longer fits costs its asker one more answer.
pub(crate) fn fingerprint(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
