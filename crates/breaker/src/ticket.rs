//! What a permit remembers of its admission: two words that stay in registers.

use crate::gate::Gate;
use crate::machine::{Admission, Track};
use crate::moment::Moment;

/// What a permit remembers of its admission.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ticket {
    pub(crate) gate: Gate,
    pub(crate) began: Began,
}

/// When a call began, if anybody wants to know: one word, so that a ticket stays in registers. Of a
/// probe it is the number by which the machine finds it, and knows when it began.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Began(u64);

impl Ticket {
    /// Of a call that the machine let through: it began at `measured`, if its latency is wanted, and
    /// where slow calls count every call's is.
    pub(crate) fn new(admission: Admission, measured: Began, slow_calls_count: bool) -> Self {
        // A gate of the admission's own generation, whatever it has become since.
        let gate = Gate::admitting(admission.generation);
        match admission.track {
            Track::Nothing => Self { gate, began: measured },
            Track::Since(moment) => Self { gate: gate.tracked(), began: Began::at(moment) },
            Track::Probe(number) => {
                let is_measured = slow_calls_count || !measured.is_unknown();
                Self { gate: gate.probe(is_measured), began: Began(number) }
            }
        }
    }

    /// What the machine finds the call by.
    pub(crate) fn admission(self) -> Admission {
        let track = match self.began() {
            _ if self.gate.is_probe() => Track::Probe(self.began.0),
            Some(moment) if self.gate.is_tracked() => Track::Since(moment),
            _ => Track::Nothing,
        };
        Admission { generation: self.gate.generation(), track }
    }

    /// When it began, if it is measured and not a probe.
    pub(crate) fn began(self) -> Option<Moment> {
        (!self.began.is_unknown() && !self.gate.is_probe())
            .then(|| Moment::from_nanos(self.began.0))
    }
}

impl Began {
    pub(crate) const UNKNOWN: Self = Self(u64::MAX);

    #[inline]
    pub(crate) fn at(moment: Moment) -> Self {
        Self(moment.as_nanos())
    }

    #[inline]
    pub(crate) fn is_unknown(self) -> bool {
        self.0 == u64::MAX
    }
}
