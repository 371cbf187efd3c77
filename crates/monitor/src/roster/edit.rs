//! Services come, change and go; each takes effect at once.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::Moment;
use mainstay_breaker::{Breaker, ConfigError, Detector, HalfOpenPolicy, State};
use mainstay_kernel::Backoff;

use super::entry::{Entry, Refused};
use super::{Memory, Roster};
use crate::decide::due_at_start;
use crate::policy::{LONGEST_TIMEOUT, MOST_SERVICES, PollPolicy};
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
        match self.entries.get(&watch.number) {
            Some(entry) if entry.watch.revision >= watch.revision => Edited::Unchanged,
            Some(_) => self.change(watch, now),
            None => self.start(watch, memory, now),
        }
    }

    /// Polls a service no more. A result in the air will be stale.
    pub fn forget(&mut self, number: ServiceNumber) -> Option<Arc<Watch>> {
        self.release_place(number);
        self.schedule.remove(&number);
        let entry = self.entries.remove(&number)?;
        self.pace.remove(entry.watch.interval);
        self.circuits.leave(entry.circuit);
        Some(entry.watch)
    }

    fn start(&mut self, watch: Arc<Watch>, memory: Option<&Memory>, now: Moment) -> Edited {
        let number = watch.number;
        let Some(breaker) = self.breaker().ok().filter(|_| self.entries.len() < MOST_SERVICES)
        else {
            return Edited::Full;
        };
        if let Some(memory) = memory {
            // What no breaker has written is left out: it starts closed.
            let _ = breaker.restore(&memory.breaker);
        }
        let planned = memory.and_then(|memory| memory.planned);
        let place = watch.endpoint.fingerprint();
        let longest = self.longest_wait();
        let due = due_at_start(planned, watch.interval, longest, place, now);
        let entry = Entry {
            circuit: told_before(memory),
            breaker,
            backoff: Backoff::restored(memory.map_or(0, |memory| memory.backoff)),
            due,
            last_polled: memory.and_then(|memory| memory.polled).map(|ago| earlier(now, ago)),
            poll_seq: memory.map_or(0, |memory| memory.poll_seq),
            flying: None,
            refused: Refused::No,
            watch,
        };
        self.pace.add(entry.watch.interval);
        self.circuits.enter(entry.circuit);
        self.entries.insert(number, entry);
        self.look_at(number, due);
        Edited::Started
    }

    fn change(&mut self, watch: Arc<Watch>, now: Moment) -> Edited {
        let number = watch.number;
        // A place at the old host is no place at the new one.
        self.release_place(number);
        let Some(entry) = self.entries.get_mut(&number) else { return Edited::Unchanged };
        let before = std::mem::replace(&mut entry.watch, watch);
        let after = Arc::clone(&entry.watch);
        self.pace.remove(before.interval);
        self.pace.add(after.interval);
        let moved = before.endpoint != after.endpoint;
        let asks_otherwise = moved || before.endpoint.timeout != after.endpoint.timeout;
        let reads_otherwise = before.format != after.format;
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
            entry.due = now;
        }
        if anew && entry.flying.is_none() {
            self.look_at(number, now);
        }
        Edited::Changed
    }

    fn breaker(&self) -> Result<Breaker, ConfigError> {
        let PollPolicy { failures_to_open, cooldown, .. } = self.policy;
        Breaker::builder("poll")
            .detector(Detector::consecutive(failures_to_open))
            .open_for(cooldown)
            .half_open(HalfOpenPolicy::all(1))
            .half_open_for(PROBE_LOST_AFTER)
            .clock(self.hands.clone())
            .build()
    }

    /// The longest time that a service is ever put off, its interval apart.
    fn longest_wait(&self) -> Duration {
        self.policy.cooldown.max(self.policy.backoff.delay(u32::MAX))
    }
}

/// A probe that has not ended by then is lost; no poll takes that long.
const PROBE_LOST_AFTER: Duration = LONGEST_TIMEOUT.saturating_mul(4);

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
