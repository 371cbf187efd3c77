//! Who waits for a slot of a crowded host: whoever was refused twice stands in the host's line, nobody
//! else goes before the line is empty, and each slot that is given back calls the next one. Without it
//! a host with more services than slots would get no more polls than its slots in each tick.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use mainstay_base::Moment;
use mainstay_kernel::HostKey;

use super::Roster;
use super::entry::{Entry, Refused, Turn};
use super::places::Place;
use crate::decide::on_grid;

/// How often somebody in a line is looked at without being called.
const LINE_LOOK: Duration = Duration::from_secs(60);

/// The lines of all hosts. A host without a line is not in it.
#[derive(Debug, Default)]
pub(super) struct Lines {
    lines: HashMap<HostKey, BTreeSet<(u64, Place)>>,
    turns: u64,
}

impl Lines {
    pub(super) fn has(&self, host: &HostKey) -> bool {
        self.lines.contains_key(host)
    }

    fn join(&mut self, host: &HostKey, place: Place) -> Turn {
        self.turns = self.turns.saturating_add(1);
        self.lines.entry(host.clone()).or_default().insert((self.turns, place));
        Turn { number: self.turns, is_called: false }
    }

    fn leave(&mut self, host: &HostKey, turn: Turn, place: Place) {
        let Some(line) = self.lines.get_mut(host) else { return };
        line.remove(&(turn.number, place));
        if line.is_empty() {
            self.lines.remove(host);
        }
    }

    fn of(&self, host: &HostKey) -> impl Iterator<Item = Place> + '_ {
        self.lines.get(host).into_iter().flatten().map(|(_, place)| *place)
    }
}

impl Roster {
    /// A bound refused it once more.
    pub(super) fn refuse(&mut self, place: Place) {
        let Some(entry) = self.entries.get_mut(place) else { return };
        entry.refused = match entry.refused {
            Refused::No => Refused::Once,
            Refused::Once => Refused::Again(self.lines.join(&entry.watch.endpoint.host, place)),
            Refused::Again(turn) => Refused::Again(Turn { is_called: false, ..turn }),
        };
    }

    /// It waits for no slot any more.
    pub(super) fn leave_line(&mut self, place: Place) {
        self.step_out(place);
    }

    /// It waits for no slot any more, and if one was free for it, the next in line is called.
    pub(super) fn give_way(&mut self, place: Place) {
        if let Some(host) = self.step_out(place) {
            self.call_next(&host);
        }
    }

    /// When it is looked at again: with the next tick, or, once it stands in line, when it is called. It
    /// is looked at from time to time all the same, so that nothing depends on one call.
    pub(super) fn look_after_refusal(&self, place: Place, now: Moment) -> Moment {
        let is_in_line = self.entries.get(place).is_some_and(Entry::is_in_line);
        if is_in_line { on_grid(now.plus(LINE_LOOK)) } else { self.next_tick(now) }
    }

    /// The host that had called it.
    fn step_out(&mut self, place: Place) -> Option<HostKey> {
        let entry = self.entries.get_mut(place)?;
        let Refused::Again(turn) = std::mem::take(&mut entry.refused) else { return None };
        let host = &entry.watch.endpoint.host;
        self.lines.leave(host, turn, place);
        turn.is_called.then(|| host.clone())
    }

    /// A slot of the host is free: the first in its line that was not called yet is looked at next.
    pub(super) fn call_next(&mut self, host: &HostKey) {
        // As many as there are slots have been called at most.
        let is_next = |place: &Place| self.entries.get(*place).is_some_and(Entry::waits_uncalled);
        let Some(place) = self.lines.of(host).find(is_next) else { return };
        let Some(entry) = self.entries.get_mut(place) else { return };
        if let Refused::Again(turn) = &mut entry.refused {
            turn.is_called = true;
        }
        let due = entry.due;
        self.look_at(place, due);
    }
}

impl Entry {
    pub(super) const fn is_in_line(&self) -> bool {
        matches!(self.refused, Refused::Again(_))
    }

    const fn waits_uncalled(&self) -> bool {
        matches!(self.refused, Refused::Again(Turn { is_called: false, .. }))
    }
}
