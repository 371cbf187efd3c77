//! What an edit changes. Pure.

use super::definition::Definition;

/// What follows from one definition taking the place of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Effects {
    /// Anything at all.
    pub(super) any: bool,
    /// It has another name.
    pub(super) renamed: bool,
    /// Another endpoint is asked: what the guards know is of the old one.
    pub(super) moved: bool,
    /// The answer is read in another way.
    pub(super) reads_otherwise: bool,
    /// It is asked at other times.
    pub(super) timed_otherwise: bool,
    /// It was not polled and is now.
    pub(super) activated: bool,
    /// It was polled and is not any more.
    pub(super) deactivated: bool,
}

impl Effects {
    /// `headers_changed` is told apart: those that can't be opened can't be compared.
    pub(super) fn of(before: &Definition, after: &Definition, headers_changed: bool) -> Self {
        Self {
            any: before != after || headers_changed,
            renamed: before.name != after.name,
            moved: before.url != after.url || headers_changed,
            reads_otherwise: before.format != after.format,
            timed_otherwise: before.interval != after.interval || before.timeout != after.timeout,
            activated: !before.is_active && after.is_active,
            deactivated: before.is_active && !after.is_active,
        }
    }

    /// Whether a poll that is under way says nothing of the service any more.
    pub(super) const fn outdates_polls(self) -> bool {
        self.moved || self.reads_otherwise || self.activated || self.deactivated
    }

    /// Whether it is polled at once, whatever was planned.
    pub(super) const fn polls_anew(self) -> bool {
        self.moved || self.reads_otherwise || self.timed_otherwise
    }
}
