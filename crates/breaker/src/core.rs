//! A breaker's shared heart: the gate in front, the state machine behind its lock, and what is
//! counted without either.

use std::sync::Arc;
use std::time::Duration;

use crate::calls::{Cells, Spread};
use crate::config::Settings;
use crate::error::Rejected;
use crate::events::{Event, Hub, Listener};
use crate::gate::Gate;
use crate::machine::{Admission, Change, Machine, Refusal, Settlement};
use crate::moment::Moment;
use crate::saved::Saved;
use crate::snapshot::Snapshot;
use crate::state::{FailureKind, Outcome, Settled, State};
use crate::sync::{AtomicU64, IS_CHECKED, Mutex, OnceLock, Ordering, lock};

/// A registry holds a million of these: what a breaker needs only once it is in trouble, under
/// contention or listened to is in [`Rare`].
#[derive(Debug)]
pub(crate) struct Core {
    /// A [`Gate`]. Written under the machine's lock, read without.
    gate: AtomicU64,
    home: Cells,
    rare: OnceLock<Box<Rare>>,
    settings: Arc<Settings>,
    /// Where it differs from the one in the settings.
    name: Option<Box<Arc<str>>>,
    machine: Mutex<Machine>,
}

#[derive(Debug)]
struct Rare {
    /// When open ends, in nanoseconds. Written before the gate says open.
    until: AtomicU64,
    /// The latest moment seen, in nanoseconds: time does not go back.
    latest: AtomicU64,
    rejected: AtomicU64,
    spread: Spread,
    hub: Hub,
}

/// What a permit remembers of its admission.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ticket {
    gate: Gate,
    /// When the call began, if anybody wants to know.
    began: Option<Moment>,
}

impl Core {
    pub(crate) fn new(settings: Arc<Settings>, name: Option<Arc<str>>) -> Self {
        let now = if settings.is_exact { settings.clock.now() } else { settings.clock.rough() };
        let machine = Machine::new(&settings.rules, now);
        let gate = Gate::new(&machine.door(), !settings.listeners.is_empty());
        Self {
            gate: AtomicU64::new(gate.word()),
            home: Cells::new(),
            rare: OnceLock::new(),
            settings,
            name: name.map(Box::new),
            machine: Mutex::new(machine),
        }
    }

    pub(crate) fn name(&self) -> &Arc<str> {
        self.name.as_deref().unwrap_or(&self.settings.name)
    }

    #[cfg(feature = "async")]
    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Lets a call through, or not.
    #[inline]
    pub(crate) fn enter(&self) -> Result<Ticket, Rejected> {
        let gate = self.gate();
        if gate.lets_through() {
            return Ok(Ticket { gate, began: self.count_entry() });
        }
        self.enter_guarded(gate)
    }

    /// Lets an operator's call through while open, as the one probe.
    pub(crate) fn enter_probe(&self) -> Result<Ticket, Rejected> {
        let entered = self
            .steer(|machine, now, changes| machine.enter_probe(now, &self.settings.rules, changes));
        self.admitted(entered)
    }

    /// Counts a success, without the lock where it changes nothing.
    #[inline]
    pub(crate) fn succeed(&self, ticket: Ticket) -> Settled {
        if ticket.began.is_none() && ticket.gate.takes_success(self.gate()) {
            self.cells().succeed();
            return Settled::Counted;
        }
        self.settle(ticket, Outcome::Success)
    }

    pub(crate) fn settle(&self, ticket: Ticket, outcome: Outcome) -> Settled {
        let now = self.now();
        let is_tracked = ticket.gate.is_tracked();
        let latency = ticket.began.map(|began| {
            // Where slow calls count, the beginning was read from the same clock.
            let end = if is_tracked { now } else { self.settings.clock.now() };
            end.since(began)
        });
        let admission = Admission {
            generation: ticket.gate.generation(),
            began: ticket.began.filter(|_| is_tracked),
        };
        let mut changes = Vec::new();
        let mut machine = lock(&self.machine);
        let settlement =
            machine.settle(admission, outcome, now, &self.settings.rules, &mut changes);
        if let (Some(latency), Some(Outcome::Success | Outcome::Failure(_))) =
            (latency, settlement.counted)
        {
            machine.measure(latency);
        }
        self.publish(&machine);
        let hub = self.listened();
        if let Some(hub) = hub {
            push_settlement(hub, settlement, latency);
            changes.drain(..).for_each(|change| hub.push(change.into()));
        }
        drop(machine);
        if let Some(hub) = hub {
            hub.tell(self.name());
        }
        settlement.settled
    }

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
        let quiet_successes: u64 = self.all_cells().map(Cells::succeeded).sum();
        let entered: u64 = self.all_cells().map(Cells::entered).sum();
        let rare = self.rare.get();
        Snapshot::new(crate::snapshot::Sources {
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

    pub(crate) fn force_open(&self) {
        self.steer(Machine::force_open);
    }

    pub(crate) fn force_closed(&self) {
        self.steer(Machine::force_closed);
    }

    pub(crate) fn reset(&self) {
        self.steer(Machine::reset);
    }

    pub(crate) fn export(&self) -> Saved {
        self.sweep();
        let now = self.now();
        lock(&self.machine).export(now)
    }

    pub(crate) fn restore(&self, saved: &Saved) {
        self.steer(|machine, now, changes| {
            machine.restore(saved, now, &self.settings.rules, changes);
        });
    }

    /// Adds a listener, if there is room.
    pub(crate) fn subscribe(&self, listener: Listener) -> Option<u64> {
        let id = self.rare().hub.add(listener);
        self.publish(&lock(&self.machine));
        id
    }

    pub(crate) fn unsubscribe(&self, id: u64) {
        self.rare().hub.remove(id);
        self.publish(&lock(&self.machine));
    }

    /// Whether it can be forgotten: it is closed, and nothing speaks against the downstream.
    pub(crate) fn is_idle(&self) -> bool {
        let snapshot = self.snapshot();
        snapshot.state == State::Closed && !snapshot.forced && snapshot.in_flight == 0
    }

    #[inline]
    fn gate(&self) -> Gate {
        Gate::from_word(self.gate.load(Ordering::Acquire))
    }

    /// Counts a call that is let through. Says when it began, if its latency is to be measured.
    #[inline]
    fn count_entry(&self) -> Option<Moment> {
        let (number, met) = self.cells().enter();
        if met {
            self.rare().spread.met();
        }
        self.settings.latency.includes(number).then(|| self.settings.clock.now())
    }

    #[inline]
    fn cells(&self) -> &Cells {
        self.rare.get().and_then(|rare| rare.spread.mine()).unwrap_or(&self.home)
    }

    fn all_cells(&self) -> impl Iterator<Item = &Cells> {
        let spread = self.rare.get().into_iter().flat_map(|rare| rare.spread.all());
        [&self.home].into_iter().chain(spread)
    }

    fn enter_guarded(&self, gate: Gate) -> Result<Ticket, Rejected> {
        if let Some(retry_after) = self.open_remaining(gate) {
            let refusal = Refusal { state: State::Open, retry_after: Some(retry_after) };
            return Err(self.reject(refusal));
        }
        let entered =
            self.steer(|machine, now, changes| machine.enter(now, &self.settings.rules, changes));
        self.admitted(entered)
    }

    fn admitted(&self, entered: Result<Admission, Refusal>) -> Result<Ticket, Rejected> {
        let admission = entered.map_err(|refusal| self.reject(refusal))?;
        let measured = self.count_entry();
        // A gate of the admission's own generation, whatever it has become since.
        let gate = Gate::admitting(admission.generation, admission.began.is_some());
        Ok(Ticket { gate, began: admission.began.or(measured) })
    }

    fn reject(&self, refusal: Refusal) -> Rejected {
        let rejected = Rejected::from(refusal);
        self.rare().rejected.fetch_add(1, Ordering::Relaxed);
        if let Some(hub) = self.listened() {
            let (state, retry_after) = (rejected.state, rejected.retry_after);
            hub.push(Event::Reject { state, retry_after });
            hub.tell(self.name());
        }
        rejected
    }

    /// How much longer it is open, if it is open by time and that time is not over.
    #[inline]
    fn open_remaining(&self, gate: Gate) -> Option<Duration> {
        if gate.state() != State::Open || gate.is_forced() {
            return None;
        }
        let until = Moment::from_nanos(self.rare.get()?.until.load(Ordering::Relaxed));
        let now = self.now();
        (now < until).then(|| until.since(now))
    }

    /// Counts calls that are in flight for too long.
    fn sweep(&self) {
        if self.gate().is_tracked() {
            self.steer(|machine, now, changes| machine.sweep(now, &self.settings.rules, changes));
        }
    }

    /// Reads the machine as the next call would find it.
    fn look<T>(&self, read: impl FnOnce(&Machine, Moment) -> T) -> T {
        self.sweep();
        let now = self.now();
        read(&lock(&self.machine), now)
    }

    /// Changes the machine under its lock, then announces what came of it.
    fn steer<T>(&self, change: impl FnOnce(&mut Machine, Moment, &mut Vec<Change>) -> T) -> T {
        let now = self.now();
        let mut changes = Vec::new();
        let mut machine = lock(&self.machine);
        let answer = change(&mut machine, now, &mut changes);
        self.publish(&machine);
        let hub = self.listened();
        if let Some(hub) = hub {
            changes.drain(..).for_each(|change| hub.push(change.into()));
        }
        drop(machine);
        if let Some(hub) = hub {
            hub.tell(self.name());
        }
        answer
    }

    /// Shows the machine's state at the gate. Comes under the machine's lock.
    fn publish(&self, machine: &Machine) {
        let door = machine.door();
        if let Some(until) = door.until {
            let rare = self.rare();
            // The rare part may have begun with this very change, and not know its time.
            rare.no_earlier(machine.changed_at());
            rare.until.store(until.as_nanos(), Ordering::Relaxed);
        }
        let gate = Gate::new(&door, self.listened().is_some());
        // Loom asks who touched a word last: a read here would hide the readers before it.
        if IS_CHECKED || gate != self.gate() {
            self.gate.store(gate.word(), Ordering::Release);
        }
    }

    /// Now, and never before what was now already.
    #[inline]
    fn now(&self) -> Moment {
        let clock = &self.settings.clock;
        let now = if self.settings.is_exact { clock.now() } else { clock.rough() };
        match self.rare.get() {
            Some(rare) => rare.no_earlier(now),
            None => now,
        }
    }

    /// The hub, if anybody listens.
    fn listened(&self) -> Option<&Hub> {
        let hub = match self.rare.get() {
            Some(rare) => &rare.hub,
            None if self.settings.listeners.is_empty() => return None,
            None => &self.rare().hub,
        };
        (!hub.is_empty()).then_some(hub)
    }

    fn rare(&self) -> &Rare {
        self.rare.get_or_init(|| {
            Box::new(Rare {
                until: AtomicU64::new(0),
                latest: AtomicU64::new(0),
                rejected: AtomicU64::new(0),
                spread: Spread::new(),
                hub: Hub::new(&self.settings.listeners),
            })
        })
    }
}

impl Rare {
    #[inline]
    fn no_earlier(&self, now: Moment) -> Moment {
        let latest = self.latest.load(Ordering::Relaxed);
        if now.as_nanos() > latest {
            self.latest.fetch_max(now.as_nanos(), Ordering::Relaxed);
        }
        Moment::from_nanos(latest.max(now.as_nanos()))
    }
}

fn push_settlement(hub: &Hub, settlement: Settlement, latency: Option<Duration>) {
    if settlement.settled == Settled::Stale {
        return hub.push(Event::Stale);
    }
    match settlement.counted {
        Some(Outcome::Success) => hub.push(Event::Success { latency }),
        Some(Outcome::Failure(kind)) => {
            if kind == FailureKind::Timeout {
                hub.push(Event::Timeout);
            }
            hub.push(Event::Failure { kind, latency });
        }
        Some(Outcome::Ignored | Outcome::Cancelled) | None => {}
    }
}
