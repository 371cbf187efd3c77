//! Takes in how a call ended: the long way, under the lock.

use std::time::Duration;

use super::Core;
use crate::events::{Event, Hub};
use crate::hedge::Group;
use crate::machine::{Attempt, End, Settlement};
use crate::state::{Outcome, Settled};
use crate::sync::lock;
use crate::ticket::Ticket;

impl Core {
    pub(crate) fn settle(&self, ticket: Ticket, outcome: Outcome) -> Settled {
        self.settle_as(ticket, outcome, None)
    }

    /// Takes in how one of several attempts ended. `decides`: it has the first result.
    pub(crate) fn settle_attempt(
        &self,
        ticket: Ticket,
        outcome: Outcome,
        group: &Group,
        decides: bool,
    ) -> Settled {
        let is_watched = self.settings.rules.slow_call.is_some();
        self.settle_as(ticket, outcome, is_watched.then_some((group, decides)))
    }

    fn settle_as(
        &self,
        ticket: Ticket,
        outcome: Outcome,
        group: Option<(&Group, bool)>,
    ) -> Settled {
        let now = self.now();
        // Where slow calls count, the beginning was read from the same clock.
        let is_tracked = ticket.gate.is_tracked();
        let latency = ticket
            .began()
            .map(|began| if is_tracked { now } else { self.settings.clock.now() }.since(began));
        self.change(|machine, changes, hub| {
            let mut attempts =
                group.map(|(group, decides)| (lock(&group.attempts), group.is_decided(), decides));
            let attempt = attempts.as_mut().map(|(attempts, is_decided, decides)| Attempt {
                attempts,
                decides: *decides,
                is_decided: *is_decided,
            });
            let (end, rules) = (End { outcome, attempt }, &self.settings.rules);
            let settlement = machine.settle(ticket.admission(), end, now, rules, changes);
            let probed = settlement.began.filter(|_| ticket.gate.is_measured());
            let latency = latency.or(probed.map(|began| now.since(began)));
            if let (Some(latency), true) = (latency, settlement.is_measured(outcome)) {
                machine.measure(latency);
            }
            if let Some(hub) = hub {
                push_settlement(hub, settlement, latency);
            }
            settlement.settled
        })
    }
}

fn push_settlement(hub: &Hub, settlement: Settlement, latency: Option<Duration>) {
    if settlement.settled == Settled::Stale {
        return hub.push(Event::Stale);
    }
    if settlement.timed_out {
        hub.push(Event::Timeout);
    }
    match settlement.counted {
        Some(Outcome::Success) => hub.push(Event::Success { latency }),
        Some(Outcome::Failure(kind)) => hub.push(Event::Failure { kind, latency }),
        Some(Outcome::Ignored | Outcome::Cancelled) | None => {}
    }
}
