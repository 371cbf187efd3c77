//! What a permit remembers of its admission: two words that stay in registers.

use crate::gate::Gate;
use crate::moment::Moment;

/// What a permit remembers of its admission.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ticket {
    pub(crate) gate: Gate,
    pub(crate) began: Began,
}

/// When a call began, if anybody wants to know: one word, so that a ticket stays in registers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Began(u64);

impl Began {
    pub(crate) const UNKNOWN: Self = Self(u64::MAX);

    #[inline]
    pub(crate) fn from(moment: Option<Moment>) -> Self {
        moment.map_or(Self::UNKNOWN, |moment| Self(moment.as_nanos()))
    }

    #[inline]
    pub(crate) fn is_unknown(self) -> bool {
        self.0 == u64::MAX
    }

    #[inline]
    pub(crate) fn get(self) -> Option<Moment> {
        (!self.is_unknown()).then(|| Moment::from_nanos(self.0))
    }
}
