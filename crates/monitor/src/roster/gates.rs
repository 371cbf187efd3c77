//! The gates in front of a poll, in their order: breaker → due → host slot → in-flight lock → flight.
//! The breaker is only asked at first; its permit is taken last, so that a refused slot never uses up
//! the only probe.

use std::sync::Arc;

use mainstay_base::Moment;
use mainstay_breaker::Permit;
use mainstay_kernel::{HostSlots, Role, Slot, SlotRefusal};

use super::entry::{Attempt, Entry, Flying};
use super::places::Place;
use super::{Begun, Circuit, Request, Roster, Takeoff};
use crate::policy::GRID;
use crate::watch::ServiceNumber;

/// Why a poll that an operator asked for does not begin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotNow {
    /// It is not polled by this instance.
    #[error("this service is not polled here; see whether it is active")]
    NotWatched,
    /// A poll is under way.
    #[error("a poll of this service is under way; wait for its result")]
    InProgress,
    /// A bound on polls at once is reached.
    #[error("{0}")]
    Busy(String),
}

/// Which poll takes off, and what its interval runs from.
struct Start {
    place: Place,
    due: Moment,
    manual: bool,
}

impl Roster {
    /// Starts the poll that an operator asks for: at once, as the breaker's probe if it is open, but
    /// never beside another poll of the service.
    ///
    /// # Errors
    /// [`NotNow`] says what stands in its way; nothing has changed then.
    pub fn poll_now(
        &mut self,
        number: ServiceNumber,
        now: Moment,
    ) -> Result<(Attempt, Begun), NotNow> {
        self.hands.set(now);
        let place = self.entries.find(number).ok_or(NotNow::NotWatched)?;
        let entry = self.entries.get(place).ok_or(NotNow::NotWatched)?;
        if entry.flying.is_some() {
            return Err(NotNow::InProgress);
        }
        let slot = self.slots.acquire(&entry.watch.endpoint.host);
        let slot = slot.map_err(|refusal| NotNow::Busy(busy(&refusal)))?;
        let Ok(permit) = entry.breaker.enter_probe_owned() else {
            self.give_back(slot);
            return Err(NotNow::InProgress);
        };
        let mut begun = Begun::default();
        let start = Start { place, due: now, manual: true };
        let attempt = self.take_off(&start, slot, permit, now, &mut begun);
        attempt.map(|attempt| (attempt, begun)).ok_or_else(|| NotNow::Busy(busy_elsewhere()))
    }

    /// Lets one due service through its gates, or says when to look at it again.
    pub(super) fn try_start(&mut self, place: Place, now: Moment, begun: &mut Begun) {
        let Some(entry) = self.entries.get_mut(place) else { return };
        // The ticket that it came due by; or another one, if a slot has called it in this very beat.
        if let Some(ticket) = entry.planned.take() {
            self.schedule.remove(ticket);
        }
        if entry.flying.is_some() {
            // Its landing plans it anew.
            return;
        }
        if let Some(rejected) = entry.breaker.would_reject() {
            // Not renewed by looking: it stays the end of the same cooldown.
            let wait = rejected.retry_after.unwrap_or(self.policy.cooldown).max(GRID);
            // Nobody waits behind somebody who may not go.
            self.give_way(place);
            return self.look_at(place, now.plus(wait));
        }
        let has_line = self.lines.has(&entry.watch.endpoint.host);
        match slot_for(&mut self.slots, entry, has_line) {
            Err(Wait::Tick) => {
                begun.refused_by_host = begun.refused_by_host.saturating_add(1);
                self.refuse(place);
                self.look_at(place, self.look_after_refusal(place, now));
            }
            Err(Wait::Grid) => {
                begun.refused_by_all = begun.refused_by_all.saturating_add(1);
                self.look_at(place, now.plus(GRID));
            }
            Ok(slot) => match entry.breaker.enter_owned() {
                Err(_) => {
                    self.give_back(slot);
                    self.look_at(place, now.plus(GRID));
                }
                Ok(permit) => {
                    let start = Start { place, due: entry.due, manual: false };
                    if self.take_off(&start, slot, permit, now, begun).is_none() {
                        self.look_at(place, now.plus(GRID));
                    }
                }
            },
        }
    }

    /// `None` when there is no room for another flight or another member; nothing is held then.
    fn take_off(
        &mut self,
        start: &Start,
        slot: Slot,
        permit: Permit<'static>,
        now: Moment,
        begun: &mut Begun,
    ) -> Option<Attempt> {
        let watch = &self.entries.get(start.place)?.watch;
        let (endpoint, lease) = (Arc::clone(&watch.endpoint), watch.lease);
        self.attempts = self.attempts.saturating_add(1);
        let attempt = Attempt { count: self.attempts, place: start.place };
        match self.flights.join(Request(Arc::clone(&endpoint)), attempt) {
            Err(_) => {
                self.give_back(slot);
                permit.cancel();
                return None;
            }
            Ok(Role::Leader(generation)) => {
                self.airborne.insert(generation, slot);
                begun.takeoffs.push(Takeoff { endpoint, generation, lease });
            }
            // Who shares a request calls nobody: the slot is for others, and not for itself again.
            Ok(Role::Follower(_)) => {
                self.leave_line(start.place);
                self.give_back(slot);
            }
        }
        begun.lateness.push(now.since(start.due));
        let flying = Flying {
            attempt,
            permit,
            due: self.runs_from(start, now),
            since: now,
            manual: start.manual,
        };
        begun.circuits.extend(self.aloft(start.place, flying, now));
        Some(attempt)
    }

    /// What the interval runs from: many that came together start one after the other, and go on so.
    fn runs_from(&self, start: &Start, now: Moment) -> Moment {
        let is_new = self.entries.get(start.place).is_some_and(|entry| entry.poll_seq == 0);
        if is_new { now } else { start.due }
    }

    /// Notes that a poll is under way.
    fn aloft(&mut self, place: Place, flying: Flying, now: Moment) -> Option<Circuit> {
        if flying.manual {
            // It has a slot of its own; the one that called it is for the next.
            self.give_way(place);
        } else {
            self.leave_line(place);
        }
        let entry = self.entries.get_mut(place)?;
        if let Some(ticket) = entry.planned.take() {
            self.schedule.remove(ticket);
        }
        entry.last_polled = Some(now);
        entry.flying = Some(flying);
        entry.told(&mut self.circuits)
    }
}

/// A slot, unless the host's bound or the one for all is reached, or others stand in the host's line.
fn slot_for(slots: &mut HostSlots, entry: &Entry, has_line: bool) -> Result<Slot, Wait> {
    if has_line && !entry.is_in_line() {
        return Err(Wait::Tick);
    }
    slots.acquire(&entry.watch.endpoint.host).map_err(|refusal| match refusal {
        SlotRefusal::HostFull { .. } => Wait::Tick,
        SlotRefusal::AllFull { .. } => Wait::Grid,
    })
}

/// Until when a service without a slot waits.
enum Wait {
    Tick,
    Grid,
}

fn busy(refusal: &SlotRefusal) -> String {
    match refusal {
        SlotRefusal::HostFull { host, limit } => {
            format!("{host} has its {limit} polls at once; ask again in a moment")
        }
        SlotRefusal::AllFull { limit } => {
            format!("all services together have their {limit} polls at once; ask again in a moment")
        }
    }
}

fn busy_elsewhere() -> String {
    "too many services wait for the same answer; ask again in a moment".to_owned()
}
