//! Who is polled when: every service with its guards, and what is in the air.
//!
//! The roster neither waits nor calls: [`Roster::beat`] says which requests to make now,
//! [`Roster::land`] who waits for an answer, [`Roster::settle`] takes how it ended. `now` is an
//! argument, so that a simulation drives the very code that polls.

mod ahead;
mod circuits;
mod edit;
mod entry;
mod gates;
mod hands;
mod line;
mod mold;
mod pace;
mod places;
mod retire;
mod why;

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{Moment, Rng};
use mainstay_breaker::{Saved, State};
use mainstay_kernel::{
    Due, DueSchedule, FlightLimits, Flights, Generation, HostSlots, Slot, sort_least_recent_first,
};

use self::ahead::READ_AHEAD;
pub use self::circuits::Circuits;
pub use self::edit::Edited;
use self::entry::Entry;
pub use self::entry::{Attempt, Memory};
pub use self::gates::NotNow;
use self::hands::Hands;
use self::line::Lines;
use self::mold::Mold;
use self::pace::Pace;
use self::places::{Place, Places};
pub use self::why::Schedule;
use crate::decide::{Ending, due_after_poll, on_grid};
use crate::policy::{GRID, MOST_SERVICES, PollPolicy};
use crate::shards::Lease;
use crate::watch::{Endpoint, ServiceNumber, Watch};

/// The most services that wait for one request.
const MOST_ABOARD: usize = 10_000;

/// Every service that is polled here.
pub struct Roster {
    policy: PollPolicy,
    rng: Arc<dyn Rng>,
    hands: Hands,
    mold: Mold,
    entries: Places,
    /// When each service that is not in the air is looked at next.
    schedule: DueSchedule<Place>,
    pace: Pace,
    slots: HostSlots,
    lines: Lines,
    flights: Flights<Request, Attempt>,
    /// The slot of each request in the air.
    airborne: HashMap<Generation, Slot>,
    attempts: u64,
    circuits: Circuits,
}

/// What is asked, and for how long: whoever gives up sooner or later makes a request of its own.
#[derive(Debug, Clone)]
struct Request(Arc<Endpoint>);

/// A request to make: whoever waits for it is told by [`Roster::land`].
#[derive(Debug)]
pub struct Takeoff {
    /// What to ask.
    pub endpoint: Arc<Endpoint>,
    /// Which flight it is.
    pub generation: Generation,
    /// The lease that it is made under, and everybody aboard with it: they share a host.
    pub lease: Option<Lease>,
}

/// What began on one point of the grid.
#[derive(Debug, Default)]
pub struct Begun {
    /// The requests to make.
    pub takeoffs: Vec<Takeoff>,
    /// How late each poll began, whether it makes a request or shares one.
    pub lateness: Vec<Duration>,
    /// Breakers that changed their state by letting a probe through.
    pub circuits: Vec<Circuit>,
    /// How many were refused by the bound of their host and wait for the next tick.
    pub refused_by_host: usize,
    /// How many were refused by the bound for all and wait for the next point of the grid.
    pub refused_by_all: usize,
}

/// A breaker that changed its state.
#[derive(Debug, Clone)]
pub struct Circuit {
    /// Whose breaker.
    pub watch: Arc<Watch>,
    /// What it was.
    pub from: State,
    /// What it is.
    pub to: State,
}

/// Somebody who waits for an answer that is there.
#[derive(Debug, Clone)]
pub struct Aboard {
    /// The service as it is now.
    pub watch: Arc<Watch>,
    /// Which take-off the answer belongs to.
    pub attempt: Attempt,
}

/// How a poll is to be recorded.
#[derive(Debug, Clone)]
pub struct Settlement {
    /// Its number, higher than that of any poll of the service before.
    pub poll_seq: i64,
    /// The breaker as it is now.
    pub breaker: Saved,
    /// The failures in a row, for the backoff.
    pub backoff: u32,
    /// How long until the next poll.
    pub due_in: Duration,
    /// The change of the breaker's state, if there was one.
    pub circuit: Option<Circuit>,
    /// Whether an operator asked for it.
    pub manual: bool,
}

impl Roster {
    /// Nobody is polled yet.
    #[must_use]
    pub fn new(policy: PollPolicy, rng: Arc<dyn Rng>) -> Self {
        let in_flight = HostSlots::new(policy.limits);
        let hands = Hands::default();
        Self {
            mold: Mold::new(&policy, &hands),
            policy,
            rng,
            hands,
            entries: Places::default(),
            schedule: DueSchedule::default(),
            pace: Pace::default(),
            slots: in_flight,
            lines: Lines::default(),
            flights: Flights::new(flight_limits()),
            airborne: HashMap::new(),
            attempts: 0,
            circuits: Circuits::default(),
        }
    }

    /// Starts what is due, as far as the guards allow.
    pub fn beat(&mut self, now: Moment) -> Begun {
        self.hands.set(now);
        let mut begun = Begun::default();
        let quota = self.pace.quota();
        loop {
            // Who is refused takes nobody's place in the beat: a crowded host makes no other late.
            let due = self.schedule.pop_due(now, quota.saturating_sub(begun.lateness.len()));
            if due.is_empty() {
                return begun;
            }
            self.try_all(due, now, &mut begun);
            if begun.refused_by_all > 0 {
                // Nobody else will find a slot either.
                return begun;
            }
        }
    }

    fn try_all(&mut self, mut due: Vec<Due<Place>>, now: Moment, begun: &mut Begun) {
        sort_least_recent_first(&mut due, |one| {
            self.entries.get(one.key).and_then(|entry| entry.last_polled)
        });
        for group in due.chunks(READ_AHEAD) {
            self.read_ahead(group);
            for one in group {
                self.try_start(one.key, now, begun);
            }
        }
    }

    /// When to call [`Roster::beat`] next: the first point of the grid on which something is due.
    #[must_use]
    pub fn next_beat(&self, now: Moment) -> Option<Moment> {
        let soonest = on_grid(now.plus(Duration::from_nanos(1)));
        self.schedule.next_due().map(|due| on_grid(due).max(soonest))
    }

    /// The answer to a request is there, or will never be: its slot is free, and these wait for it.
    ///
    /// Who was removed or edited meanwhile is not among them; `dropped` counts those.
    pub fn land(&mut self, takeoff: &Takeoff, dropped: &mut usize) -> Vec<Aboard> {
        if let Some(slot) = self.airborne.remove(&takeoff.generation) {
            self.give_back(slot);
        }
        let request = Request(Arc::clone(&takeoff.endpoint));
        let members = self.flights.land(&request, takeoff.generation).unwrap_or_default();
        let all = members.len();
        let aboard: Vec<_> =
            members.into_iter().filter_map(|attempt| self.aboard(attempt)).collect();
        *dropped = dropped.saturating_add(all.saturating_sub(aboard.len()));
        aboard
    }

    /// Takes how a poll ended and plans the next one. `None` when the service was removed or edited
    /// meanwhile: the result is stale, and nothing has changed.
    pub fn settle(
        &mut self,
        number: ServiceNumber,
        attempt: Attempt,
        outcome: Outcome,
        now: Moment,
    ) -> Option<Settlement> {
        self.hands.set(now);
        let place = attempt.place;
        let entry = self.entries.get_mut(place).filter(|entry| entry.watch.number == number)?;
        let flying = entry.flying.take_if(|flying| flying.attempt == attempt)?;
        let ending = match outcome {
            Outcome::Success => {
                flying.permit.success();
                entry.backoff.reset();
                Ending::Success
            }
            Outcome::Failure => {
                flying.permit.failure();
                let policy = &self.policy.backoff;
                let wait = entry.backoff.next_delay(policy, Duration::ZERO, &*self.rng);
                Ending::Failure { wait }
            }
            Outcome::GivenUp | Outcome::NotBegun => {
                flying.permit.cancel();
                if outcome == Outcome::NotBegun { Ending::NotBegun } else { Ending::GivenUp }
            }
        };
        let due = due_after_poll(flying.due, entry.watch.interval, ending, now);
        let refused = entry.breaker.would_reject().and_then(|rejected| rejected.retry_after);
        entry.due = refused.map_or(due, |wait| due.max(now.plus(wait)));
        entry.poll_seq = entry.poll_seq.saturating_add(1);
        let due_in = entry.due.since(now);
        let settlement = Settlement {
            poll_seq: entry.poll_seq,
            breaker: entry.breaker.export(),
            backoff: entry.backoff.attempt(),
            due_in,
            circuit: entry.told(&mut self.circuits),
            manual: flying.manual,
        };
        let (due, is_retiring) = (entry.due, entry.is_retiring);
        if is_retiring {
            self.forget(number);
        } else {
            self.look_at(place, due);
        }
        Some(settlement)
    }

    /// How many services are polled here.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nobody is polled here.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.len() == 0
    }

    /// How many requests are in the air.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.airborne.len()
    }

    /// How many services are due at `now` and have not begun.
    #[must_use]
    pub fn backlog(&self, now: Moment) -> usize {
        self.schedule.count_due(now)
    }

    /// How many breakers have each state, as it was told last.
    #[must_use]
    pub fn circuits(&self) -> Circuits {
        self.circuits
    }

    /// The definition of a service, as it is polled by.
    #[must_use]
    pub fn watch_of(&self, number: ServiceNumber) -> Option<&Arc<Watch>> {
        self.entries.find_entry(number).map(|entry| &entry.watch)
    }

    /// Every service that is polled here.
    pub fn numbers(&self) -> impl Iterator<Item = ServiceNumber> + '_ {
        self.entries.numbers()
    }

    /// Whether this poll is still under way: an edit or a removal ends it.
    #[must_use]
    pub fn is_under_way(&self, attempt: Attempt) -> bool {
        self.aboard(attempt).is_some()
    }

    fn aboard(&self, attempt: Attempt) -> Option<Aboard> {
        let entry = self.entries.get(attempt.place)?;
        let current = entry.flying.as_ref().is_some_and(|flying| flying.attempt == attempt);
        current.then(|| Aboard { watch: Arc::clone(&entry.watch), attempt })
    }

    /// Plans when a service is looked at. There is room for it: it was counted when it came.
    fn look_at(&mut self, place: Place, at: Moment) {
        let Some(entry) = self.entries.get_mut(place) else { return };
        if let Some(before) = entry.planned.take() {
            self.schedule.remove(before);
        }
        entry.planned = self.schedule.schedule(place, at).ok();
        debug_assert!(entry.planned.is_some(), "a service beyond the schedule's capacity");
    }

    /// The slot is free, and whoever stands first in the line of its host is called.
    fn give_back(&mut self, slot: Slot) {
        let host = self.lines.has(slot.host()).then(|| slot.host().clone());
        let released = self.slots.release(slot);
        debug_assert!(released.is_ok(), "a slot of another table");
        if let Some(host) = host {
            self.call_next(&host);
        }
    }

    /// The begin of the next tick.
    fn next_tick(&self, now: Moment) -> Moment {
        let cycle = self.policy.cycle;
        let origin = Moment::from_origin(Duration::ZERO);
        let over =
            Duration::from_nanos_u128(now.since(origin).as_nanos() % cycle.as_nanos().max(1));
        on_grid(now.plus(cycle.saturating_sub(over).max(GRID)))
    }
}

/// How a poll ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It succeeded.
    Success,
    /// It failed.
    Failure,
    /// It was given up: nothing is known of the endpoint.
    GivenUp,
    /// Nobody was asked: it is still due.
    NotBegun,
}

impl std::fmt::Debug for Roster {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (services, in_flight) = (self.len(), self.in_flight());
        write!(formatter, "Roster {{ services: {services}, in_flight: {in_flight} }}")
    }
}

impl PartialEq for Request {
    fn eq(&self, other: &Self) -> bool {
        self.0.timeout == other.0.timeout && self.0 == other.0
    }
}

impl Eq for Request {}

impl Hash for Request {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

fn flight_limits() -> FlightLimits {
    // As many as there are services: the slots are what bounds requests.
    FlightLimits::new(MOST_SERVICES, MOST_ABOARD).unwrap_or_default()
}

impl Entry {
    /// What has become of its breaker since this was last asked.
    fn told(&mut self, circuits: &mut Circuits) -> Option<Circuit> {
        let to = self.breaker.state();
        let from = std::mem::replace(&mut self.circuit, to);
        circuits.leave(from);
        circuits.enter(to);
        (from != to).then(|| Circuit { watch: Arc::clone(&self.watch), from, to })
    }
}
