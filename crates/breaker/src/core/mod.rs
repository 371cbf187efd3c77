//! A breaker's shared heart: the gate in front, the state machine behind its lock, and what is
//! counted without either. [`look`] is what can be seen of it, [`settle`] takes in how calls ended.

mod look;
mod settle;

use std::sync::Arc;
use std::time::Duration;

use crate::calls::Cells;
use crate::config::Settings;
use crate::error::Rejected;
use crate::events::{Event, Hub, Listener};
use crate::gate::Gate;
use crate::hedge::Group;
use crate::machine::{Admission, Change, Machine, Refusal};
use crate::moment::Moment;
use crate::rare::Rare;
use crate::saved::Saved;
use crate::state::{FailureKind, Outcome, Settled, State, Verdict};
use crate::sync::{AtomicU64, IS_CHECKED, Mutex, OnceLock, Ordering, lock};
use crate::ticket::{Began, Ticket};

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

/// A call that has just been let through, and where it was counted: looking that up again costs more
/// than counting.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entered<'a> {
    pub(crate) ticket: Ticket,
    cells: &'a Cells,
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
        self.enter_or(|rejected| rejected).map(|entered| entered.ticket)
    }

    /// Lets a call through, or makes an error of the refusal: each of the two ways to be refused
    /// makes its own, so that nothing is copied where they meet.
    #[inline(always)]
    pub(crate) fn enter_or<R>(&self, refuse: impl Fn(Rejected) -> R) -> Result<Entered<'_>, R> {
        let gate = self.gate();
        if gate.lets_through() {
            let cells = self.cells();
            let ticket = Ticket { gate, began: self.count_entry(cells) };
            return Ok(Entered { ticket, cells });
        }
        if let Some(retry_after) = self.refuse_while_open(gate) {
            let retry_after = Some(retry_after);
            return Err(refuse(Rejected { state: State::Open, retry_after }));
        }
        match self.enter_guarded() {
            Ok(ticket) => Ok(Entered { ticket, cells: &self.home }),
            Err(rejected) => Err(refuse(rejected)),
        }
    }

    /// Lets an operator's call through while open, as the one probe.
    pub(crate) fn enter_probe(&self) -> Result<Ticket, Rejected> {
        let entered = self
            .act(|machine, now, changes| machine.enter_probe(now, &self.settings.rules, changes));
        self.admitted(entered)
    }

    /// Lets one of several attempts through, which count once.
    pub(crate) fn enter_attempt(&self, group: &Group) -> Result<Ticket, Rejected> {
        if !self.gate().is_tracked() {
            return self.enter();
        }
        let rules = &self.settings.rules;
        let entered = self.act(|machine, now, changes| {
            let mut attempts = lock(&group.attempts);
            machine.enter_attempt(&mut attempts, group.is_decided(), now, rules, changes)
        });
        self.admitted(entered)
    }

    /// Counts a success, without the lock where it changes nothing.
    #[inline(always)]
    pub(crate) fn succeed(&self, ticket: Ticket) -> Settled {
        if ticket.began.is_unknown() && ticket.gate.takes_success(self.gate()) {
            self.cells().succeed();
            return Settled::Counted;
        }
        self.succeed_watched(ticket)
    }

    /// Counts what a classifier said of a call that has just been let through.
    #[inline(always)]
    pub(crate) fn conclude(&self, entered: Entered<'_>, verdict: Verdict) {
        let Entered { ticket, cells } = entered;
        let is_quiet = ticket.began.is_unknown() && ticket.gate.takes_success(self.gate());
        match verdict {
            Verdict::Success if is_quiet => cells.succeed(),
            Verdict::Success => _ = self.succeed_watched(ticket),
            verdict => _ = self.settle(ticket, verdict.into()),
        }
    }

    /// Runs one step of a call: if it panics, the call has failed.
    #[inline(always)]
    pub(crate) fn watch<T>(&self, ticket: Ticket, step: impl FnOnce() -> T) -> T {
        let watch = PanicWatch { core: self, ticket };
        let answer = step();
        std::mem::forget(watch);
        answer
    }

    /// Counts and announces a refusal that was promised before.
    #[cfg(feature = "tower")]
    pub(crate) fn reject(&self, rejected: Rejected) {
        self.count_rejection(rejected.state, rejected.retry_after);
    }

    pub(crate) fn force_open(&self) {
        self.act(Machine::force_open);
    }

    pub(crate) fn force_closed(&self) {
        self.act(Machine::force_closed);
    }

    pub(crate) fn reset(&self) {
        self.act(Machine::reset);
    }

    pub(crate) fn restore(&self, saved: &Saved) {
        self.act(|machine, now, changes| {
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

    #[inline]
    fn gate(&self) -> Gate {
        Gate::from_word(self.gate.load(Ordering::Acquire))
    }

    /// Counts a call that is let through. Says when it began, if its latency is to be measured.
    #[inline(always)]
    fn count_entry(&self, cells: &Cells) -> Began {
        let (number, met) = cells.enter();
        if met {
            self.threads_met(number);
        }
        if self.settings.latency.includes(number) { self.begin_measuring() } else { Began::UNKNOWN }
    }

    #[cold]
    fn threads_met(&self, number: u64) {
        self.rare().spread.met(number);
    }

    #[cold]
    fn begin_measuring(&self) -> Began {
        Began::at(self.settings.clock.now())
    }

    #[inline(always)]
    fn cells(&self) -> &Cells {
        self.rare.get().and_then(|rare| rare.spread.mine()).unwrap_or(&self.home)
    }

    fn all_cells(&self) -> impl Iterator<Item = &Cells> {
        let spread = self.rare.get().into_iter().flat_map(|rare| rare.spread.all());
        [&self.home].into_iter().chain(spread)
    }

    /// Counts a refusal, if it is open by time and that time is not over.
    #[inline(never)]
    fn refuse_while_open(&self, gate: Gate) -> Option<Duration> {
        let retry_after = self.open_remaining(gate)?;
        self.count_rejection(State::Open, Some(retry_after));
        Some(retry_after)
    }

    #[inline(never)]
    fn enter_guarded(&self) -> Result<Ticket, Rejected> {
        let entered =
            self.act(|machine, now, changes| machine.enter(now, &self.settings.rules, changes));
        self.admitted(entered)
    }

    fn admitted(&self, entered: Result<Admission, Refusal>) -> Result<Ticket, Rejected> {
        let admission = entered.map_err(|refusal| {
            self.count_rejection(refusal.state, refusal.retry_after);
            Rejected::from(refusal)
        })?;
        let measured = self.count_entry(self.cells());
        Ok(Ticket::new(admission, measured, self.settings.rules.slow_call.is_some()))
    }

    fn count_rejection(&self, state: State, retry_after: Option<Duration>) {
        self.rare().rejected.fetch_add(1, Ordering::Relaxed);
        if let Some(hub) = self.listened() {
            hub.push(Event::Reject { state, retry_after });
            hub.tell(self.name());
        }
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
            self.act(|machine, now, changes| machine.sweep(now, &self.settings.rules, changes));
        }
    }

    /// Changes the machine under its lock, then announces what came of it.
    fn act<T>(&self, change: impl FnOnce(&mut Machine, Moment, &mut Vec<Change>) -> T) -> T {
        let now = self.now();
        self.change(|machine, changes, _| change(machine, now, changes))
    }

    /// The one way to change the machine: under its lock, shown at the gate before the lock is
    /// released, announced after. What `change` tells the hub itself stands before the changes, and
    /// the changes before what the gate does to others from then on.
    fn change<T>(
        &self,
        change: impl FnOnce(&mut Machine, &mut Vec<Change>, Option<&Hub>) -> T,
    ) -> T {
        let mut changes = Vec::new();
        let mut machine = lock(&self.machine);
        // Under the lock: whoever has subscribed before the change hears of it.
        let hub = self.listened();
        let answer = change(&mut machine, &mut changes, hub);
        if let Some(hub) = hub {
            changes.drain(..).for_each(|change| hub.push(change.into()));
        }
        self.publish(&machine);
        drop(machine);
        if let Some(hub) = hub {
            hub.tell(self.name());
        }
        answer
    }

    /// A success that is measured, or that the detector or somebody else wants to know.
    #[inline(never)]
    fn succeed_watched(&self, ticket: Ticket) -> Settled {
        if ticket.gate.takes_success(self.gate()) {
            // Quiet all the same: only the latency is to be written down.
            self.cells().succeed();
            if let Some(began) = ticket.began() {
                let latency = self.settings.clock.now().since(began);
                lock(&self.machine).measure(latency);
            }
            return Settled::Counted;
        }
        if ticket.began.is_unknown() && self.succeed_in_window(ticket.gate.generation()) {
            return Settled::Counted;
        }
        self.settle(ticket, Outcome::Success)
    }

    /// The short way of a success into a window that stays closed.
    fn succeed_in_window(&self, generation: u64) -> bool {
        let mut changes = Vec::new();
        let mut machine = lock(&self.machine);
        if self.listened().is_some() {
            return false;
        }
        let rules = &self.settings.rules;
        // The clock is read under the lock: only the windows know whether they look at the time, and
        // asking the rules before would cost each success more than it saves those who wait.
        let counted = machine.succeed_in_window(generation, || self.now(), rules, &mut changes);
        if !changes.is_empty() {
            self.publish(&machine);
        }
        counted
    }

    /// Shows the machine's state at the gate. Comes under the machine's lock.
    fn publish(&self, machine: &Machine) {
        let door = machine.door();
        if let Some(until) = door.until {
            let rare = self.rare();
            // The rare part may have begun with this very change, and not know its time.
            rare.no_earlier(machine.written_at());
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
        let now = self.read_clock();
        match self.rare.get() {
            Some(rare) => rare.no_earlier(now),
            None => now,
        }
    }

    #[inline]
    fn read_clock(&self) -> Moment {
        let clock = &self.settings.clock;
        if self.settings.is_exact { clock.now() } else { clock.rough() }
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
        self.rare.get_or_init(|| Box::new(Rare::new(&self.settings.listeners)))
    }
}

/// Dropped only by a panic.
struct PanicWatch<'a> {
    core: &'a Core,
    ticket: Ticket,
}

impl Drop for PanicWatch<'_> {
    #[cold]
    fn drop(&mut self) {
        self.core.settle(self.ticket, Outcome::Failure(FailureKind::Panic));
    }
}
