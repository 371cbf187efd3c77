//! Machines and their agents, which do what a test says.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt as _;
use mainstay_base::{Id, IdSource, SystemClock, SystemRng};
use mainstay_fleet::agents::{Asked, LoadedNet, NetResults, answer};
use mainstay_fleet::providers::machine::{HostStatus, MachineState};
use mainstay_fleet::providers::{Departure, Outcome, Rest};
use mainstay_fleet::{
    AgentDoor, AgentError, AgentHealth, Agents, Machine, NetOrder, Order, Provider, ProviderError,
    ProviderKind, Sighting,
};

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
}

#[derive(Default)]
struct Inner {
    rigs: BTreeMap<String, Rig>,
    made: u64,
    faults: BTreeMap<Call, Vec<ProviderError>>,
    /// A create that fails has made its machine all the same.
    makes_before_failing: bool,
    refuses_nets: bool,
    answer_time: Duration,
}

struct Rig {
    machine: Machine,
    worker: Id,
    generation: i64,
    state: MachineState,
    is_cut: bool,
    boot: Id,
    nets: BTreeMap<Id, i64>,
}

impl World {
    pub(crate) fn new(kind: ProviderKind) -> Self {
        Self {
            kind,
            inner: Arc::default(),
            asked: Arc::default(),
            in_flight: Arc::default(),
            peak: Arc::default(),
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
    }

    pub(crate) fn make_before_failing(&self) {
        self.inner.lock().unwrap().makes_before_failing = true;
    }

    pub(crate) fn refuse_nets(&self) {
        self.inner.lock().unwrap().refuses_nets = true;
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

    /// The agent forgets a net by itself.
    pub(crate) fn forget(&self, worker: Id, net: Id) {
        self.each(worker, |rig| {
            rig.nets.remove(&net);
        });
    }

    pub(crate) fn cut(&self, worker: Id, is_cut: bool) {
        self.each(worker, |rig| rig.is_cut = is_cut);
    }

    pub(crate) fn become_state(&self, worker: Id, state: MachineState) {
        self.each(worker, |rig| rig.state = state);
    }

    pub(crate) fn pretend_generation(&self, worker: Id, generation: i64) {
        self.each(worker, |rig| rig.generation = generation);
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
        let found = inner
            .rigs
            .values_mut()
            .find(|rig| rig.machine.address.as_deref() == Some(address))
            .filter(|rig| rig.state == MachineState::Running && !rig.is_cut);
        match found {
            Some(rig) => work(rig),
            None => Err(AgentError::Unreachable("connection refused".to_owned())),
        }
    }
}

impl Provider for World {
    fn kind(&self) -> ProviderKind {
        self.kind
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
            let machine = Machine { id: id.clone(), name, run: None, address };
            let rig = Rig {
                machine: machine.clone(),
                worker: order.worker,
                generation: order.generation,
                state: MachineState::Running,
                is_cut: false,
                boot: new_id(),
                nets: BTreeMap::new(),
            };
            inner.rigs.insert(id, rig);
            Ok(machine)
        });
        async move { made }.boxed()
    }

    fn look<'a>(&'a self, machine: &'a Machine) -> Outcome<'a, Sighting> {
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
            inner.rigs.remove(&machine.id);
            Ok(Departure::Gone)
        });
        async move { destroyed }.boxed()
    }

    fn list(&self) -> Outcome<'_, Vec<Sighting>> {
        let listed =
            self.called(Call::List, |inner| Ok(inner.rigs.values().map(Rig::sighting).collect()));
        async move { listed }.boxed()
    }
}

impl Rig {
    fn sighting(&self) -> Sighting {
        Sighting {
            machine: self.machine.clone(),
            state: self.state,
            provider_state: self.state.name().to_owned(),
            host: HostStatus::Ok,
            region: None,
            exit: None,
        }
    }
}

impl Agents for World {
    fn health<'a>(&'a self, door: &'a AgentDoor) -> Asked<'a, AgentHealth> {
        async move {
            self.asked.fetch_add(1, Ordering::SeqCst);
            let now = self.in_flight.fetch_add(1, Ordering::SeqCst) + 1;
            self.peak.fetch_max(now, Ordering::SeqCst);
            let time = self.inner.lock().unwrap().answer_time;
            if !time.is_zero() {
                tokio::time::sleep(time).await;
            }
            let answered = self.answering(door, |rig| {
                let loaded =
                    |(id, generation): (&Id, &i64)| LoadedNet { id: *id, generation: *generation };
                Ok(AgentHealth {
                    agent: answer::AGENT.to_owned(),
                    status: "ok".to_owned(),
                    worker_id: rig.worker,
                    boot_id: rig.boot,
                    generation: rig.generation,
                    loaded_nets: rig.nets.iter().map(loaded).collect(),
                    checks_run: 0,
                    uptime_s: 0,
                })
            });
            self.in_flight.fetch_sub(1, Ordering::SeqCst);
            answered
        }
        .boxed()
    }

    fn load<'a>(&'a self, door: &'a AgentDoor, net: &'a NetOrder) -> Asked<'a, ()> {
        let refuses = self.inner.lock().unwrap().refuses_nets;
        let loaded = self.answering(door, |rig| {
            if refuses {
                return Err(AgentError::Refused("no such journey".to_owned()));
            }
            match rig.nets.get(&net.id) {
                Some(known) if *known > net.generation => {
                    Err(AgentError::Stale { current: Some(*known) })
                }
                _ => {
                    rig.nets.insert(net.id, net.generation);
                    Ok(())
                }
            }
        });
        async move { loaded }.boxed()
    }

    fn unload<'a>(&'a self, door: &'a AgentDoor, net: Id, generation: i64) -> Asked<'a, ()> {
        let unloaded = self.answering(door, |rig| match rig.nets.get(&net) {
            Some(known) if *known > generation => Err(AgentError::Stale { current: Some(*known) }),
            _ => {
                rig.nets.remove(&net);
                Ok(())
            }
        });
        async move { unloaded }.boxed()
    }

    fn results<'a>(&'a self, _: &'a AgentDoor, _: Id, _: u64) -> Asked<'a, NetResults> {
        async { Err(AgentError::NoSuchNet) }.boxed()
    }
}

fn new_id() -> Id {
    IdSource::new(Arc::new(SystemClock::new()), Arc::new(SystemRng)).next()
}
