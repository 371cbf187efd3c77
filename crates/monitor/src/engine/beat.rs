//! Starts what is due, on the points of the grid.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::Moment;

use super::{Shared, flight};
use crate::roster::Begun;

pub(super) async fn run(shared: Arc<Shared>) {
    while !shared.stop.is_cancelled() {
        let wait = shared.beat();
        tokio::select! {
            () = shared.stop.cancelled() => break,
            () = shared.wake.notified() => {}
            () = tokio::time::sleep(wait) => {}
        }
    }
}

impl Shared {
    /// Makes one beat and tells how long to wait for the next.
    fn beat(self: &Arc<Self>) -> Duration {
        // From here on until it sleeps again, whatever is planned meanwhile rings.
        self.state().asleep_until = None;
        let now = self.moment();
        let round = now.plus(self.parts.policy.cycle());
        let next = if !self.parts.tenure.is_live(now) {
            // Others may poll already what was due here.
            self.meters.lapsed();
            None
        } else if self.parts.sink.has_room() {
            let mut roster = self.roster();
            self.hold_to_owned(&mut roster);
            let begun = roster.beat(now);
            let next = roster.next_beat(now);
            drop(roster);
            self.begin(begun);
            next
        } else {
            self.meters.held_back();
            None
        };
        self.report(now);
        let next = next.map_or(round, |next| next.min(round));
        let mut state = self.state();
        state.beat_at = Some(now);
        state.asleep_until = Some(next);
        drop(state);
        next.since(self.moment())
    }

    /// Says how polling goes, also while nothing may begin.
    fn report(&self, now: Moment) {
        let roster = self.roster();
        self.parts.tenure.report(roster.len(), roster.lag(now));
        self.meters.roster(&roster, now);
    }

    /// Sends the requests on their way.
    pub(super) fn begin(self: &Arc<Self>, begun: Begun) {
        self.meters.begun(&begun);
        let at = self.parts.clock.now();
        for circuit in &begun.circuits {
            self.parts.sink.take_circuit(circuit, at);
        }
        for takeoff in begun.takeoffs {
            let flight = flight::fly(Arc::clone(self), takeoff);
            self.tasks.spawn(self.flights.track_future(flight));
        }
    }

    /// The next beat after something changed in the roster.
    pub(super) fn next_beat(&self, now: Moment) -> Option<Moment> {
        self.roster().next_beat(now)
    }
}
