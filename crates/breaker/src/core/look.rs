//! What can be seen of a breaker, as the next call would find it.

use super::Core;
use crate::calls::Cells;
use crate::error::Rejected;
use crate::machine::Machine;
use crate::moment::Moment;
use crate::saved::Saved;
use crate::snapshot::{Snapshot, Sources};
use crate::state::State;
use crate::sync::{Ordering, lock};

impl Core {
    /// The state that the next call would find.
    pub(crate) fn state(&self) -> State {
        let gate = self.gate();
        match gate.state() {
            State::Closed if !gate.is_tracked() => State::Closed,
            State::Open if self.open_remaining(gate).is_some() => State::Open,
            State::Open if gate.is_forced() => State::Open,
            _ => self.look(Machine::state),
        }
    }

    /// What the next call would be told, without taking anything.
    pub(crate) fn would_reject(&self) -> Option<Rejected> {
        let gate = self.gate();
        if gate.lets_through() {
            return None;
        }
        if let Some(retry_after) = self.open_remaining(gate) {
            return Some(Rejected { state: State::Open, retry_after: Some(retry_after) });
        }
        let refusal = self.look(|machine, now| machine.would_refuse(now, &self.settings.rules));
        refusal.map(Rejected::from)
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        self.sweep();
        let now = self.now();
        let mut machine = lock(&self.machine);
        let totals = machine.totals();
        // Ends before beginnings: nothing is seen to end that was not seen to begin.
        let quiet_successes = self.quiet_successes();
        let entered = self.entered();
        let rare = self.rare.get();
        Snapshot::new(Sources {
            machine: &mut machine,
            rules: &self.settings.rules,
            now,
            is_forced: self.gate().is_forced(),
            entered,
            in_flight: entered.saturating_sub(quiet_successes.saturating_add(totals.ended)),
            quiet_successes,
            rejected: rare.map_or(0, |rare| rare.rejected.load(Ordering::Relaxed)),
            losses: rare.map(|rare| rare.hub.losses()).unwrap_or_default(),
        })
    }

    pub(crate) fn export(&self) -> Saved {
        self.sweep();
        let now = self.now();
        lock(&self.machine).export(now)
    }

    /// Whether it can be forgotten to make room: it is closed, nobody forced it, and no call is in
    /// flight. It only looks: nobody is told anything.
    pub(crate) fn is_quiet(&self) -> bool {
        let gate = self.gate();
        gate.state() == State::Closed
            && !gate.is_forced()
            && self.in_flight(&lock(&self.machine)) == 0
    }

    /// Whether it can be forgotten after a long time: it would let the next call through, nobody
    /// forced it, and no call is in flight.
    pub(crate) fn is_forgettable(&self) -> bool {
        let now = self.now();
        let machine = lock(&self.machine);
        !self.gate().is_forced()
            && machine.would_refuse(now, &self.settings.rules).is_none()
            && self.in_flight(&machine) == 0
    }

    /// Calls that were let through and have not ended.
    fn in_flight(&self, machine: &Machine) -> u64 {
        // Ends before beginnings: nothing is seen to end that was not seen to begin.
        let ended = machine.totals().ended.saturating_add(self.quiet_successes());
        self.entered().saturating_sub(ended)
    }

    fn quiet_successes(&self) -> u64 {
        self.all_cells().map(Cells::succeeded).sum()
    }

    fn entered(&self) -> u64 {
        self.all_cells().map(Cells::entered).sum()
    }

    /// Reads the machine as the next call would find it.
    fn look<T>(&self, read: impl FnOnce(&Machine, Moment) -> T) -> T {
        self.sweep();
        let now = self.now();
        read(&lock(&self.machine), now)
    }
}
