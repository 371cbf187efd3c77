//! Services come, change and go; each takes effect at once.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::Moment;
use mainstay_breaker::State;
use mainstay_kernel::Backoff;

use super::entry::{Entry, Refused};
use super::places::Place;
use super::{Memory, Roster};
use crate::decide::{Planned, due_at_start};
use crate::policy::MOST_SERVICES;
use crate::watch::{ServiceNumber, Watch};

/// What an edit did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edited {
    /// The service is polled from now on.
    Started,
    /// It is polled by another definition from now on.
    Changed,
    /// There was nothing new.
    Unchanged,
    /// There is no room for another service.
    Full,
}

impl Roster {
    /// Polls a service, or polls it by another definition. What was recorded of it counts only when
    /// it is new here.
    pub fn watch(&mut self, watch: Arc<Watch>, memory: Option<&Memory>, now: Moment) -> Edited {
        self.hands.set(now);
        let Some(place) = self.entries.find(watch.number) else {
            return self.start(watch, memory, now);
        };
        self.change(place, watch, now)
    }

    /// Polls a service no more. A result in the air will be stale.
    pub fn forget(&mut self, number: ServiceNumber) -> Option<Arc<Watch>> {
        let place = self.entries.find(number)?;
        self.give_way(place);
        let entry = self.entries.remove(place)?;
        if let Some(ticket) = entry.planned {
            self.schedule.remove(ticket);
        }
        self.pace.remove(entry.watch.interval);
        self.circuits.leave(entry.circuit);
        Some(entry.watch)
    }

    fn start(&mut self, watch: Arc<Watch>, memory: Option<&Memory>, now: Moment) -> Edited {
        if self.entries.len() >= MOST_SERVICES {
            return Edited::Full;
        }
        let Some(breaker) = self.mold.cast() else { return Edited::Full };
        if let Some(memory) = memory {
            // What no breaker has written is left out: it starts closed.
            let _ = breaker.restore(&memory.breaker);
        }
        let planned = memory.and_then(|memory| memory.planned);
        let planned = match watch.lease {
            Some(_) => planned.map(Planned::taken_over),
            None => planned,
        };
        let place = watch.endpoint.fingerprint();
        let longest = self.longest_wait();
        let due = due_at_start(planned, watch.interval, longest, place, now);
        let entry = Entry {
            circuit: told_before(memory),
            breaker,
            backoff: Backoff::restored(memory.map_or(0, |memory| memory.backoff)),
            due,
            planned: None,
            last_polled: memory.and_then(|memory| memory.polled).map(|ago| earlier(now, ago)),
            poll_seq: memory.map_or(0, |memory| memory.poll_seq),
            flying: None,
            refused: Refused::No,
            is_retiring: false,
            watch,
        };
        let (interval, circuit) = (entry.watch.interval, entry.circuit);
        let Some(place) = self.entries.insert(entry) else { return Edited::Full };
        self.pace.add(interval);
        self.circuits.enter(circuit);
        self.look_at(place, due);
        Edited::Started
    }

    fn change(&mut self, place: Place, watch: Arc<Watch>, now: Moment) -> Edited {
        let known = self.entries.get(place).map(|entry| entry.watch.revision);
        if known >= Some(watch.revision) {
            return Edited::Unchanged;
        }
        // A place in the line of the old host is none at the new one.
        self.give_way(place);
        let Some(entry) = self.entries.get_mut(place) else { return Edited::Unchanged };
        let before = std::mem::replace(&mut entry.watch, watch);
        let after = Arc::clone(&entry.watch);
        self.pace.remove(before.interval);
        self.pace.add(after.interval);
        let reads_otherwise = before.format != after.format;
        // Another generation of the same definition: it was stopped, or elsewhere, in between.
        let was_away = before.generation != after.generation && !reads_otherwise;
        let moved = before.endpoint != after.endpoint || was_away;
        let asks_otherwise = moved || before.endpoint.timeout != after.endpoint.timeout;
        if moved {
            entry.breaker.reset();
            // The edit has told it.
            entry.told(&mut self.circuits);
            entry.backoff.reset();
        }
        if moved || reads_otherwise {
            // Its result would be one of the old definition.
            entry.flying = None;
        }
        let anew = asks_otherwise || reads_otherwise || before.interval != after.interval;
        if anew {
            // No edit but that of the endpoint shortens the breaker's time.
            let refused = entry.breaker.would_reject().and_then(|refused| refused.retry_after);
            entry.due = now.plus(refused.unwrap_or_default());
        }
        let due = entry.due;
        if anew && entry.flying.is_none() {
            self.look_at(place, due);
        }
        Edited::Changed
    }

    /// The longest time that a service is ever put off, its interval apart.
    fn longest_wait(&self) -> Duration {
        self.policy.cooldown.max(self.policy.backoff.delay(u32::MAX))
    }
}

fn told_before(memory: Option<&Memory>) -> State {
    match memory.map(|memory| memory.breaker.state) {
        // Half-open comes back as open: the probe went down with the process.
        Some(State::Open | State::HalfOpen) => State::Open,
        Some(State::Closed) | None => State::Closed,
    }
}

/// The moment `ago` before `now`, as far as the steady clock reaches back.
fn earlier(now: Moment, ago: Duration) -> Moment {
    let origin = Moment::from_origin(Duration::ZERO);
    Moment::from_origin(now.since(origin).saturating_sub(ago))
}
