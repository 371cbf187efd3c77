//! Machines and their agents, as a test wants them, and who carries out what is done to them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt as _;
use mainstay_base::{Clock, Id, IdSource, SystemClock, SystemRng};
use mainstay_events::Events;
use mainstay_fleet::agents::{Asked, LoadedNet, NetResults, answer};
use mainstay_fleet::providers::machine::{HostStatus, MachineState};
use mainstay_fleet::providers::{Departure, Outcome, Rest};
use mainstay_fleet::{
    AgentDoor, AgentError, AgentHealth, AgentKey, Agents, Fleet, FleetOptions, Machine, NetOrder,
    Operator, Order, Pace, Provider, ProviderError, ProviderKind, Providers, Sighting,
};
use mainstay_jobs::{Jobs, Runner, RunnerOptions};
use tokio_util::sync::CancellationToken;

use super::house::House;

/// All machines there are.
#[derive(Default)]
pub(super) struct Machines {
    made: Mutex<BTreeMap<String, Made>>,
    /// Nobody answers.
    pub(super) are_cut: AtomicBool,
}

struct Made {
    machine: Machine,
    order: Order,
    boot: Id,
    state: MachineState,
    nets: BTreeMap<Id, i64>,
}

struct Door(Arc<Machines>);

impl Machines {
    /// There are none any more.
    pub(super) fn vanish(&self) {
        self.made.lock().unwrap().clear();
    }

    fn on<T>(
        &self,
        machine: &Machine,
        work: impl FnOnce(&mut Made) -> T,
    ) -> Result<T, ProviderError> {
        let mut made = self.made.lock().unwrap();
        let found = made.get_mut(&machine.id);
        found.map(work).ok_or_else(|| ProviderError::Gone("404".to_owned()))
    }

    fn agent<T>(
        &self,
        door: &AgentDoor,
        work: impl FnOnce(&mut Made) -> T,
    ) -> Result<T, AgentError> {
        let mut made = self.made.lock().unwrap();
        let is_cut = self.are_cut.load(Ordering::SeqCst);
        let found = made.values_mut().find(|made| made.order.worker == door.worker && !is_cut);
        let found = found.filter(|made| made.state == MachineState::Running);
        found.map(work).ok_or_else(|| AgentError::Unreachable("connection refused".to_owned()))
    }
}

impl Made {
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

impl Provider for Door {
    fn kind(&self) -> ProviderKind {
        ProviderKind::Process
    }

    fn create<'a>(&'a self, order: &'a Order) -> Outcome<'a, Machine> {
        let id = order.name().as_str().to_owned();
        let address = Some("http://127.0.0.1:9".to_owned());
        let machine =
            Machine { id: id.clone(), name: order.name(), run: None, address, region: None };
        let boot = IdSource::new(Arc::new(SystemClock::new()), Arc::new(SystemRng)).next();
        let made = Made {
            machine: machine.clone(),
            order: order.clone(),
            boot,
            state: MachineState::Running,
            nets: BTreeMap::new(),
        };
        self.0.made.lock().unwrap().insert(id, made);
        async { Ok(machine) }.boxed()
    }

    fn look<'a>(&'a self, machine: &'a Machine) -> Outcome<'a, Sighting> {
        let seen = self.0.on(machine, |made| made.sighting());
        async { seen }.boxed()
    }

    fn wait<'a>(&'a self, machine: &'a Machine, _: Rest, _: Duration) -> Outcome<'a, Sighting> {
        self.look(machine)
    }

    fn start<'a>(&'a self, machine: &'a Machine) -> Outcome<'a, Machine> {
        let started = self.0.on(machine, |made| {
            made.state = MachineState::Running;
            made.machine.clone()
        });
        async { started }.boxed()
    }

    fn stop<'a>(&'a self, machine: &'a Machine) -> Outcome<'a, ()> {
        let stopped = self.0.on(machine, |made| made.state = MachineState::Stopped);
        async { stopped }.boxed()
    }

    fn destroy<'a>(&'a self, machine: &'a Machine) -> Outcome<'a, Departure> {
        self.0.made.lock().unwrap().remove(&machine.id);
        async { Ok(Departure::Gone) }.boxed()
    }

    fn list(&self) -> Outcome<'_, Vec<Sighting>> {
        let all = self.0.made.lock().unwrap().values().map(Made::sighting).collect();
        async { Ok(all) }.boxed()
    }
}

impl Agents for Door {
    fn health<'a>(&'a self, door: &'a AgentDoor) -> Asked<'a, AgentHealth> {
        let answered = self.0.agent(door, |made| AgentHealth {
            agent: answer::AGENT.to_owned(),
            status: "ok".to_owned(),
            worker_id: made.order.worker,
            boot_id: made.boot,
            generation: made.order.generation,
            policy: None,
            loaded_nets: made
                .nets
                .iter()
                .map(|(id, generation)| LoadedNet { id: *id, generation: *generation })
                .collect(),
            checks_run: 0,
            uptime_s: 0,
        });
        async { answered }.boxed()
    }

    fn load<'a>(&'a self, door: &'a AgentDoor, net: &'a NetOrder) -> Asked<'a, ()> {
        let loaded = self.0.agent(door, |made| {
            made.nets.insert(net.id, net.generation);
        });
        async { loaded }.boxed()
    }

    fn unload<'a>(&'a self, door: &'a AgentDoor, net: Id, _: i64) -> Asked<'a, ()> {
        let unloaded = self.0.agent(door, |made| {
            made.nets.remove(&net);
        });
        async { unloaded }.boxed()
    }

    fn results<'a>(&'a self, _: &'a AgentDoor, _: Id, _: u64) -> Asked<'a, NetResults> {
        async { Err(AgentError::NoSuchNet) }.boxed()
    }
}

/// The room.
pub(super) fn fleet(
    machines: &Arc<Machines>,
    events: &Events,
    jobs: &Jobs,
    clock: &Arc<dyn Clock>,
) -> Fleet {
    let moment = Duration::from_millis(1);
    Fleet::new(FleetOptions {
        events: events.clone(),
        jobs: jobs.clone(),
        ids: IdSource::new(Arc::clone(clock), Arc::new(SystemRng)),
        clock: Arc::clone(clock),
        rng: Arc::new(SystemRng),
        providers: Providers::default().with(Arc::new(Door(Arc::clone(machines)))),
        agents: Arc::new(Door(Arc::clone(machines))),
        key: AgentKey::new([7; 32]),
        pace: Pace {
            confirm_least: moment,
            confirm_most: moment,
            retry: moment,
            agent: moment,
            patience: Duration::from_secs(10),
            ..Pace::default()
        },
    })
}

/// Carries out what is done to machines, until the test ends.
pub(super) fn run(house: &House) {
    let operator = Arc::new(Operator::new(house.fleet.clone()).unwrap());
    let options =
        RunnerOptions { poll: Duration::from_millis(20), ..RunnerOptions::new("machines") };
    let stop = CancellationToken::new();
    drop(Runner::start(house.jobs.clone(), vec![operator], vec![], options, stop));
}
