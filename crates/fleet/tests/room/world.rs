//! Machines and their agents, which do what a test says.

mod agents;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt as _;
use mainstay_base::{Id, IdSource, Moment, SystemClock, SystemRng};
use mainstay_fleet::agents::{NetResult, NetResults};
use mainstay_fleet::providers::machine::{HostStatus, MachineState};
use mainstay_fleet::providers::{Departure, Outcome, Rest};
use mainstay_fleet::{
    AgentDoor, AgentError, Machine, Order, Provider, ProviderError, ProviderKind, Sighting,
};
use serde_json::Value;

/// What may be asked of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Call {
    Create,
    Look,
    Wait,
    Start,
    Stop,
    Destroy,
    List,
}

/// The world. A clone is the same one.
#[derive(Clone)]
pub(crate) struct World {
    kind: ProviderKind,
    inner: Arc<Mutex<Inner>>,
    asked: Arc<AtomicUsize>,
    in_flight: Arc<AtomicUsize>,
    peak: Arc<AtomicUsize>,
    clock: Arc<SystemClock>,
    asked_at: Arc<Mutex<Vec<Moment>>>,
}

#[derive(Default)]
struct Inner {
    rigs: BTreeMap<String, Rig>,
    made: u64,
    faults: BTreeMap<Call, Vec<ProviderError>>,
    /// A create that fails has made its machine all the same.
    makes_before_failing: bool,
    refuses_nets: bool,
    /// The provider takes questions about machines and says nothing.
    is_silent: bool,
    /// Lists are empty, while each machine can be read.
    hides: bool,
    /// Orders to end a machine are taken, and not carried out.
    only_promises: bool,
    /// The agent of this worker takes a question and does not answer.
    hangs: Option<Id>,
    /// The agent of this worker takes an unload and does not answer.
    keeps: Option<Id>,
    answer_time: Duration,
    /// Whoever is asked next panics.
    panics: bool,
    /// Where new machines stand, whatever was ordered.
    region: Option<&'static str>,
}

struct Rig {
    machine: Machine,
    worker: Id,
    generation: i64,
    state: MachineState,
    is_cut: bool,
    /// What its agent says of itself.
    status: &'static str,
    boot: Id,
    nets: BTreeMap<Id, i64>,
    /// What its nets found and nobody has acknowledged.
    found: BTreeMap<Id, Vec<NetResult>>,
    last: u64,
    /// Findings of one page.
    page: usize,
    /// How often findings were asked for.
    fetched: usize,
    /// What it answers in place of them.
    lie: Option<Lie>,
}

/// What an agent that lies answers, for a net, after a number, in this run.
type Lie = Arc<dyn Fn(Id, u64, Id) -> Result<NetResults, AgentError> + Send + Sync>;

impl World {
    pub(crate) fn new(kind: ProviderKind) -> Self {
        Self {
            kind,
            inner: Arc::default(),
            asked: Arc::default(),
            in_flight: Arc::default(),
            peak: Arc::default(),
            clock: Arc::new(SystemClock::new()),
            asked_at: Arc::default(),
        }
    }

    /// The next calls of this sort fail so.
    pub(crate) fn fail(&self, call: Call, errors: &[ProviderError]) {
        let mut inner = self.inner.lock().unwrap();
        inner.faults.insert(call, errors.iter().rev().cloned().collect());
    }

    pub(crate) fn heal_provider(&self) {
        let mut inner = self.inner.lock().unwrap();
        inner.faults.clear();
        inner.makes_before_failing = false;
        inner.refuses_nets = false;
        inner.is_silent = false;
        inner.hides = false;
        inner.only_promises = false;
    }

    /// New machines stand here, whatever was ordered.
    pub(crate) fn make_in(&self, region: &'static str) {
        self.inner.lock().unwrap().region = Some(region);
    }

    /// Lists show no machine until the provider is healed.
    pub(crate) fn hide_machines(&self) {
        self.inner.lock().unwrap().hides = true;
    }

    pub(crate) fn make_before_failing(&self) {
        self.inner.lock().unwrap().makes_before_failing = true;
    }

    /// The provider takes orders to end a machine, and carries none out until it is healed.
    pub(crate) fn only_promise(&self) {
        self.inner.lock().unwrap().only_promises = true;
    }

    /// What was promised is carried out.
    pub(crate) fn carry_out(&self) {
        self.inner.lock().unwrap().rigs.retain(|_, rig| rig.state != MachineState::Leaving);
    }

    /// A machine that was to be ended runs all the same.
    pub(crate) fn outlive(&self, worker: Id) {
        self.each(worker, |rig| rig.state = MachineState::Running);
    }

    /// The provider says nothing of machines until it is healed.
    pub(crate) fn silence_provider(&self) {
        self.inner.lock().unwrap().is_silent = true;
    }

    pub(crate) fn refuse_nets(&self) {
        self.inner.lock().unwrap().refuses_nets = true;
    }

    /// The agent of a worker says nothing until it is let go.
    pub(crate) fn hang(&self, worker: Id) {
        self.inner.lock().unwrap().hangs = Some(worker);
    }

    /// The agent of a worker says nothing to an unload until it is let go.
    pub(crate) fn keep_nets(&self, worker: Id) {
        self.inner.lock().unwrap().keeps = Some(worker);
    }

    pub(crate) fn let_go(&self) {
        let mut inner = self.inner.lock().unwrap();
        (inner.hangs, inner.keeps) = (None, None);
    }

    pub(crate) fn answer_after(&self, time: Duration) {
        self.inner.lock().unwrap().answer_time = time;
    }

    /// The machine stops by itself, and what was in memory is lost.
    pub(crate) fn crash(&self, worker: Id) {
        self.each(worker, |rig| {
            rig.state = MachineState::Failed;
            rig.nets.clear();
        });
    }

    /// There is no such machine any more.
    pub(crate) fn vanish(&self, worker: Id) {
        self.inner.lock().unwrap().rigs.retain(|_, rig| rig.worker != worker);
    }

    /// The agent begins anew.
    pub(crate) fn reboot(&self, worker: Id) {
        self.each(worker, |rig| {
            rig.boot = new_id();
            rig.nets.clear();
        });
    }

    /// A machine that runs falls asleep, with its memory or without.
    pub(crate) fn sleep(&self, worker: Id, is_cold: bool) {
        self.each(worker, |rig| {
            let may_sleep = matches!(rig.state, MachineState::Running | MachineState::Asleep);
            match is_cold {
                _ if !may_sleep => {}
                false => rig.state = MachineState::Asleep,
                true => {
                    rig.state = MachineState::Cold;
                    rig.nets.clear();
                    rig.found.clear();
                }
            }
        });
    }

    /// Somebody else asks a machine that sleeps.
    pub(crate) fn wake(&self, worker: Id) {
        self.each(worker, Rig::wake);
    }

    /// The agent says that it holds nets that nobody knows.
    pub(crate) fn invent_nets(&self, worker: Id, count: usize) {
        self.each(worker, |rig| rig.nets.extend((0..count).map(|_| (new_id(), 1))));
    }

    /// The agent forgets a net by itself.
    pub(crate) fn forget(&self, worker: Id, net: Id) {
        self.each(worker, |rig| {
            rig.nets.remove(&net);
        });
    }

    pub(crate) fn cut(&self, worker: Id, is_cut: bool) {
        self.each(worker, |rig| rig.is_cut = is_cut);
    }

    /// The agent says of itself how it is.
    pub(crate) fn ail(&self, worker: Id, status: &'static str) {
        self.each(worker, |rig| rig.status = status);
    }

    /// Whoever asks an agent next finds a mistake in this program.
    pub(crate) fn panic_once(&self) {
        self.inner.lock().unwrap().panics = true;
    }

    pub(crate) fn pretend_generation(&self, worker: Id, generation: i64) {
        self.each(worker, |rig| rig.generation = generation);
    }

    /// A net finds something.
    pub(crate) fn find(&self, worker: Id, net: Id, result: &Value) {
        self.each(worker, |rig| {
            rig.last += 1;
            let generation = rig.nets.get(&net).copied().unwrap_or_default();
            let (seq, result) = (rig.last, result.clone());
            rig.found.entry(net).or_default().push(NetResult { seq, generation, result });
        });
    }

    /// How many findings of a net nobody has acknowledged.
    pub(crate) fn unfetched(&self, worker: Id, net: Id) -> usize {
        let inner = self.inner.lock().unwrap();
        let rig = inner.rigs.values().find(|rig| rig.worker == worker).unwrap();
        rig.found.get(&net).map_or(0, Vec::len)
    }

    /// How often findings were asked for.
    pub(crate) fn fetched(&self, worker: Id) -> usize {
        let inner = self.inner.lock().unwrap();
        inner.rigs.values().find(|rig| rig.worker == worker).unwrap().fetched
    }

    /// So many findings come at once.
    pub(crate) fn page(&self, worker: Id, page: usize) {
        self.each(worker, |rig| rig.page = page);
    }

    /// The agent lies about its findings.
    pub(crate) fn lie(
        &self,
        worker: Id,
        lie: impl Fn(Id, u64, Id) -> Result<NetResults, AgentError> + Send + Sync + 'static,
    ) {
        let lie: Lie = Arc::new(lie);
        self.each(worker, |rig| rig.lie = Some(Arc::clone(&lie)));
    }

    /// It tells the truth again.
    pub(crate) fn confess(&self, worker: Id) {
        self.each(worker, |rig| rig.lie = None);
    }

    /// How many machines there are for a worker.
    pub(crate) fn machines(&self, worker: Id) -> usize {
        let inner = self.inner.lock().unwrap();
        inner.rigs.values().filter(|rig| rig.worker == worker).count()
    }

    /// What a worker's agent holds.
    pub(crate) fn holds(&self, worker: Id) -> Vec<(Id, i64)> {
        let inner = self.inner.lock().unwrap();
        let held = inner.rigs.values().filter(|rig| rig.worker == worker);
        held.flat_map(|rig| rig.nets.iter().map(|(id, generation)| (*id, *generation))).collect()
    }

    /// How often agents were asked how they are, and how many at once.
    pub(crate) fn asked(&self) -> (usize, usize) {
        (self.asked.load(Ordering::SeqCst), self.peak.load(Ordering::SeqCst))
    }

    /// When the last `count` questions were asked.
    pub(crate) fn last_asked(&self, count: usize) -> Vec<Moment> {
        let mut asked = self.asked_at.lock().unwrap().clone();
        asked.sort_unstable();
        asked.split_off(asked.len().saturating_sub(count))
    }

    fn each(&self, worker: Id, change: impl Fn(&mut Rig)) {
        let mut inner = self.inner.lock().unwrap();
        inner.rigs.values_mut().filter(|rig| rig.worker == worker).for_each(change);
    }

    fn called<T>(
        &self,
        call: Call,
        work: impl FnOnce(&mut Inner) -> Result<T, ProviderError>,
    ) -> Result<T, ProviderError> {
        let mut inner = self.inner.lock().unwrap();
        let fault = inner.faults.get_mut(&call).and_then(Vec::pop);
        match fault {
            Some(error) if inner.makes_before_failing => work(&mut inner).and(Err(error)),
            Some(error) => Err(error),
            None => work(&mut inner),
        }
    }

    fn on<T>(
        &self,
        call: Call,
        machine: &Machine,
        work: impl FnOnce(&mut Rig) -> T,
    ) -> Result<T, ProviderError> {
        self.called(call, |inner| match inner.rigs.get_mut(&machine.id) {
            Some(rig) => Ok(work(rig)),
            None => Err(ProviderError::Gone("404".to_owned())),
        })
    }

    fn answering<T>(
        &self,
        door: &AgentDoor,
        work: impl FnOnce(&mut Rig) -> Result<T, AgentError>,
    ) -> Result<T, AgentError> {
        let mut inner = self.inner.lock().unwrap();
        let address = door.address.as_str().trim_end_matches('/');
        let mut found = inner
            .rigs
            .values_mut()
            .find(|rig| rig.machine.address.as_deref() == Some(address))
            .filter(|rig| !rig.is_cut);
        // Whatever is asked of it.
        found.as_deref_mut().into_iter().for_each(Rig::wake);
        match found.filter(|rig| rig.state == MachineState::Running) {
            Some(rig) => work(rig),
            None => Err(AgentError::Unreachable("connection refused".to_owned())),
        }
    }
}

impl Provider for World {
    fn kind(&self) -> ProviderKind {
        self.kind
    }

    fn makes_at_once(&self) -> bool {
        !self.inner.lock().unwrap().makes_before_failing
    }

    fn create<'a>(&'a self, order: &'a Order) -> Outcome<'a, Machine> {
        let made = self.called(Call::Create, |inner| {
            let name = order.name();
            if let Some(rig) = inner.rigs.values().find(|rig| rig.machine.name == name) {
                return Ok(rig.machine.clone());
            }
            inner.made += 1;
            let id = format!("m{}", inner.made);
            let address = Some(format!("http://{id}.test"));
            let region = inner.region.map(ToOwned::to_owned);
            let machine = Machine { id: id.clone(), name, run: None, address, region };
            let rig = Rig {
                machine: machine.clone(),
                worker: order.worker,
                generation: order.generation,
                state: MachineState::Running,
                is_cut: false,
                status: "ok",
                boot: new_id(),
                nets: BTreeMap::new(),
                found: BTreeMap::new(),
                last: 0,
                page: 100,
                fetched: 0,
                lie: None,
            };
            inner.rigs.insert(id, rig);
            Ok(machine)
        });
        async move { made }.boxed()
    }

    fn look<'a>(&'a self, machine: &'a Machine) -> Outcome<'a, Sighting> {
        if self.inner.lock().unwrap().is_silent {
            return std::future::pending().boxed();
        }
        let seen = self.on(Call::Look, machine, |rig| rig.sighting());
        async move { seen }.boxed()
    }

    fn wait<'a>(&'a self, machine: &'a Machine, _: Rest, _: Duration) -> Outcome<'a, Sighting> {
        let seen = self.on(Call::Wait, machine, |rig| rig.sighting());
        async move { seen }.boxed()
    }

    fn start<'a>(&'a self, machine: &'a Machine) -> Outcome<'a, Machine> {
        let started = self.on(Call::Start, machine, |rig| {
            rig.state = MachineState::Running;
            rig.boot = new_id();
            rig.machine.run = Some(rig.boot.to_string());
            rig.machine.clone()
        });
        async move { started }.boxed()
    }

    fn stop<'a>(&'a self, machine: &'a Machine) -> Outcome<'a, ()> {
        let stopped = self.on(Call::Stop, machine, |rig| {
            rig.state = MachineState::Stopped;
            rig.nets.clear();
        });
        async move { stopped }.boxed()
    }

    fn destroy<'a>(&'a self, machine: &'a Machine) -> Outcome<'a, Departure> {
        let destroyed = self.called(Call::Destroy, |inner| {
            let only_promises = inner.only_promises;
            if let Some(rig) = inner.rigs.get_mut(&machine.id).filter(|_| only_promises) {
                rig.state = MachineState::Leaving;
                return Ok(Departure::Leaving);
            }
            inner.rigs.remove(&machine.id);
            Ok(Departure::Gone)
        });
        async move { destroyed }.boxed()
    }

    fn list(&self) -> Outcome<'_, Vec<Sighting>> {
        let listed = self.called(Call::List, |inner| match inner.hides {
            true => Ok(Vec::new()),
            false => Ok(inner.rigs.values().map(Rig::sighting).collect()),
        });
        async move { listed }.boxed()
    }
}

impl Rig {
    /// One that was cold begins anew.
    fn wake(&mut self) {
        match self.state {
            MachineState::Asleep => self.state = MachineState::Running,
            MachineState::Cold => {
                self.state = MachineState::Running;
                self.boot = new_id();
            }
            _ => {}
        }
    }

    fn sighting(&self) -> Sighting {
        Sighting {
            machine: self.machine.clone(),
            state: self.state,
            provider_state: self.state.name().to_owned(),
            host: HostStatus::Ok,
            exit: None,
        }
    }
}

fn new_id() -> Id {
    IdSource::new(Arc::new(SystemClock::new()), Arc::new(SystemRng)).next()
}
