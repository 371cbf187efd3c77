//! Whatever people, machines, providers and dying runners do: no committed state breaks a rule, and the
//! events replay to exactly the state. `MAINSTAY_FLEET_HISTORIES` makes it longer.

use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use mainstay_base::Id;
use mainstay_fleet::{
    Definition, Engine, FleetError, NetName, NetOperation, NetPatch, ProviderError, ProviderKind,
    WorkerOperation, WorkerStatus,
};
use mainstay_store::{Dialect, Sql, values};
use mainstay_testkit::TestDatabase;
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};
use serde_json::{Value, json};
use tokio::runtime::Builder;

use crate::history::{Fault, NETS, Step, WORKERS, steps};
use crate::house::{Ahead, House, SECOND, TTL};
use crate::process::{Process, aside, pace};
use crate::world::{Call, World};

/// How many histories `./scripts/prove fleet` makes, others in every run.
const HISTORIES: &str = "MAINSTAY_FLEET_HISTORIES";

const BROKEN: Sql = Sql::same(
    "test.broken",
    "SELECT n.id FROM nets AS n LEFT JOIN workers AS w ON w.id = n.worker_id WHERE n.user_id = $1 AND
       ((n.load_state = 'loaded' AND (w.status IS NULL OR w.status <> 'ready'))
        OR (n.worker_id IS NULL AND n.load_state <> 'unloaded'))
     UNION ALL
     SELECT id FROM workers WHERE user_id = $1 AND status = 'provisioning' AND operation IS NULL
     UNION ALL
     SELECT w.id FROM nets AS n JOIN workers AS w ON w.id = n.worker_id
     WHERE n.user_id = $1 AND n.load_state = 'error' AND w.status <> 'ready'
     GROUP BY w.id HAVING COUNT(*) > 1",
);
const FORGET: Sql = Sql::same("test.forget_user", "DELETE FROM users WHERE id = $1");
const WORKER_STATES: Sql = Sql::same(
    "test.worker_states",
    "SELECT id, status, operation, generation FROM workers WHERE user_id = $1",
);
const NET_STATES: Sql = Sql::same(
    "test.net_states",
    "SELECT id, load_state, worker_id, operation, generation FROM nets WHERE user_id = $1",
);
const EVENTS: Sql = Sql::same(
    "test.events",
    "SELECT kind, payload FROM events
     WHERE stream = (SELECT number FROM event_streams WHERE name = $1) ORDER BY seq",
);

/// How many runs of histories the proof has side by side, each with a database and a world of its own: most of
/// a history is waiting.
const LANES: u32 = 4;

/// How many histories one database has to bear: what they leave behind stays within bounds.
const ON_ONE_DATABASE: u32 = 100;

/// The same few histories in every run, unless somebody asks for more.
fn config(asked: Option<u32>) -> ProptestConfig {
    let default = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    match asked {
        Some(cases) => ProptestConfig { cases, ..default },
        None => {
            let rng_seed = RngSeed::Fixed(20_261_117);
            ProptestConfig { cases: 12, rng_seed, max_shrink_iters: 60, ..default }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "whoever runs the proof says how long it is")]
fn asked() -> Option<u32> {
    std::env::var(HISTORIES).ok().and_then(|text| text.parse().ok())
}

struct History<'a> {
    database: &'a TestDatabase,
    house: &'a House,
    process: &'a RefCell<Option<Process>>,
    user: Id,
    workers: Vec<Id>,
    nets: Vec<Id>,
    /// All workers that there were.
    made: Vec<Id>,
    engine: Engine,
}

impl History<'_> {
    async fn run(&mut self, steps: &[Step]) {
        for step in steps {
            self.fill().await;
            self.take(*step).await;
            self.check(step).await;
        }
        self.calm_down().await;
        // The next history has the loop to itself.
        let user = self.user;
        let forgetting = self.house.db.write(async |tx| tx.execute(&FORGET, values![user]).await);
        forgetting.await.unwrap();
    }

    /// What was deleted is made anew.
    async fn fill(&mut self) {
        let crews = self.house.fleet.list_workers(self.user, None, 200).await.unwrap().items;
        let known: Vec<Id> = crews.iter().map(|crew| crew.worker.id).collect();
        self.workers.retain(|worker| known.contains(worker));
        while self.workers.len() < WORKERS {
            let name = format!("w{}", fresh());
            let worker = self.house.worker(self.user, &name).await;
            self.workers.push(worker);
            self.made.push(worker);
        }
        while self.nets.len() < NETS {
            let worker = self.workers[self.nets.len() % WORKERS];
            let name = format!("n{}", fresh());
            match self.house.try_net(self.user, &name, Some(worker)).await {
                Ok(net) => self.nets.push(net),
                // A delete that nobody waited for has ended just now.
                Err(FleetError::NoSuchWorker) => {
                    self.nets.push(self.house.net(self.user, &name, None).await);
                }
                Err(error) => panic!("{error}"),
            }
        }
    }

    async fn take(&mut self, step: Step) {
        let world = &self.house.world;
        match step {
            Step::Operate(who, kind, waits) => self.operate(self.workers[who], kind, waits).await,
            Step::Cast(which, kind, waits) => self.cast(self.nets[which], kind, waits).await,
            Step::OperateInASweep(who, kind) => {
                let worker = self.workers[who];
                let (house, user) = (self.house, self.user);
                let _ = tokio::join!(self.engine.sweep(), house.begin(user, worker, kind));
            }
            Step::CastInASweep(which, kind) => {
                let net = self.nets[which];
                let (house, user) = (self.house, self.user);
                house.execute("UPDATE workers SET probe_at = 0").await;
                let _ = tokio::join!(self.engine.sweep(), house.begin_net(user, net, kind));
            }
            Step::Move(which, to) => {
                let worker_id = Some(to.map(|who| self.workers[who]));
                self.change(which, NetPatch { worker_id, ..NetPatch::default() }).await;
            }
            Step::Redefine(which) => {
                let definition = Definition::new(json!({"n": fresh()})).ok();
                self.change(which, NetPatch { definition, ..NetPatch::default() }).await;
            }
            Step::Rename(which) => {
                let name = NetName::parse(&format!("n{}", fresh())).ok();
                self.change(which, NetPatch { name, ..NetPatch::default() }).await;
            }
            Step::RemoveNet(which) => self.remove_net(which).await,
            Step::Sweep => self.sweep().await,
            Step::Crash(who) => world.crash(self.workers[who]),
            Step::Vanish(who) => world.vanish(self.workers[who]),
            Step::Reboot(who) => world.reboot(self.workers[who]),
            Step::Sleep(who) => self.sleep(self.workers[who], false).await,
            Step::GoCold(who) => self.sleep(self.workers[who], true).await,
            Step::Wake(who) => world.wake(self.workers[who]),
            Step::Forget(who, which) => world.forget(self.workers[who], self.nets[which]),
            Step::Cut(who, is_cut) => world.cut(self.workers[who], is_cut),
            Step::Fault(call, fault) => world.fail(call, &[error(call, fault)]),
            Step::RefuseNets => world.refuse_nets(),
            Step::HideMachines => world.hide_machines(),
            Step::OnlyPromise => world.only_promise(),
            Step::HealProvider => {
                world.heal_provider();
                world.carry_out();
            }
            Step::Kill => self.kill(),
            Step::Later => {
                self.advance(WorkerOperation::Provision.limit() + 31 * SECOND);
                self.sweep().await;
            }
        }
    }

    /// Whoever does something to a machine keeps it awake.
    async fn sleep(&self, worker: Id, is_cold: bool) {
        let found = self.house.fleet.find_worker(self.user, worker).await;
        if found.is_ok_and(|crew| crew.worker.operation.is_none()) {
            self.house.world.sleep(worker, is_cold);
        }
    }

    async fn operate(&self, worker: Id, kind: WorkerOperation, waits: bool) {
        if let Ok(operation) = self.house.begin(self.user, worker, kind).await
            && waits
        {
            let waiting = self.house.fleet.wait_for_worker(self.user, worker, operation);
            waiting.await.unwrap();
        }
    }

    async fn cast(&self, net: Id, kind: NetOperation, waits: bool) {
        if let Ok(operation) = self.house.begin_net(self.user, net, kind).await
            && waits
        {
            self.house.fleet.wait_for_net(self.user, net, operation).await.unwrap();
        }
    }

    async fn change(&self, which: usize, patch: NetPatch) {
        let (fleet, at) = (&self.house.fleet, (self.user, self.nets[which]));
        let changing =
            self.house.write(async |tx, out| fleet.change_net(tx, out, at, patch, None).await);
        let _ = changing.await;
    }

    async fn remove_net(&mut self, which: usize) {
        let (fleet, at) = (&self.house.fleet, (self.user, self.nets[which]));
        let removing = self.house.write(async |tx, out| fleet.remove_net(tx, out, at, None).await);
        if removing.await.is_ok() {
            self.nets.remove(which);
        }
    }

    async fn sweep(&mut self) {
        self.house.sweep(&mut self.engine).await;
    }

    /// Every clock of every process.
    fn advance(&self, duration: Duration) {
        self.house.advance(duration);
        if let Some(process) = &*self.process.borrow() {
            process.house.shift();
        }
    }

    fn kill(&self) {
        if let Some(process) = self.process.take() {
            process.die();
        }
        self.advance(TTL + SECOND);
        let (world, clock) = (&self.house.world, &self.house.clock);
        // A runtime is not made inside another one.
        let born = aside(|| Process::start(self.database, world, clock));
        self.process.replace(Some(born));
    }

    /// The committed state breaks no rule, and the events replay to it.
    async fn check(&self, step: &Step) {
        let user = self.user;
        let stream = format!("user:{user}");
        let reading = self.house.db.snapshot(async |snapshot| {
            let broken = snapshot.fetch_all(&BROKEN, values![user]).await?;
            let workers = snapshot.fetch_all(&WORKER_STATES, values![user]).await?;
            let nets = snapshot.fetch_all(&NET_STATES, values![user]).await?;
            let events = snapshot.fetch_all(&EVENTS, values![stream.as_str()]).await?;
            Ok::<_, mainstay_store::StoreError>((broken, workers, nets, events))
        });
        let (broken, workers, nets, events) = reading.await.unwrap();
        assert!(broken.is_empty(), "after {step:?}");
        let mut state = BTreeMap::new();
        for row in &workers {
            let id: String = row.get("id").unwrap();
            let status: String = row.get("status").unwrap();
            let operation: Option<String> = row.get("operation").unwrap();
            let generation: i64 = row.get("generation").unwrap();
            state.insert(id, (status, None, operation, generation));
        }
        for row in &nets {
            let id: String = row.get("id").unwrap();
            let load_state: String = row.get("load_state").unwrap();
            let worker: Option<String> = row.get("worker_id").unwrap();
            let operation: Option<String> = row.get("operation").unwrap();
            let generation: i64 = row.get("generation").unwrap();
            state.insert(id, (load_state, worker, operation, generation));
        }
        let replayed = replay(events.iter().map(|row| {
            let payload: String = row.get("payload").unwrap();
            (row.get::<String>("kind").unwrap(), serde_json::from_str(&payload).unwrap())
        }));
        assert_eq!(replayed, state, "after {step:?}");
    }

    /// When nothing more happens outside, everything ends, and what is believed is true.
    async fn calm_down(&mut self) {
        let world = &self.house.world;
        world.heal_provider();
        world.carry_out();
        for worker in &self.workers {
            world.cut(*worker, false);
            // What one that sleeps holds is not asked for.
            world.wake(*worker);
        }
        for _ in 0..1_000 {
            let crews = self.house.fleet.list_workers(self.user, None, 200).await.unwrap().items;
            let is_busy = crews.iter().any(|crew| {
                crew.worker.operation.is_some()
                    || crew.nets.iter().any(|net| net.operation.is_some())
            });
            if !is_busy {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        // One whose operation was given up may still be about to tell an agent, which a later sweep mends.
        let process = self.process.take().unwrap();
        let resting = process.rest().await;
        // More than once: the brake may have been pulled.
        for _ in 0..3 {
            self.sweep().await;
        }
        self.process.replace(Some(resting.go_on()));
        self.check(&Step::Sweep).await;
        let crews = self.house.fleet.list_workers(self.user, None, 200).await.unwrap().items;
        for made in &self.made {
            let status = crews.iter().find(|crew| crew.worker.id == *made);
            let status = status.map(|crew| crew.worker.status);
            if matches!(status, None | Some(WorkerStatus::Pending)) {
                assert_eq!(
                    world.machines(*made),
                    0,
                    "nobody has it, and somebody pays: {status:?}"
                );
            }
        }
        for crew in crews {
            let worker = &crew.worker;
            assert_eq!(worker.operation, None, "{worker:?}");
            if worker.status != WorkerStatus::Ready {
                continue;
            }
            let believed = crew.nets.iter().filter(|net| net.load_state.name() == "loaded");
            let mut believed: Vec<_> =
                believed.map(|net| (net.id, net.cast_generation.unwrap())).collect();
            believed.sort();
            assert_eq!(world.holds(worker.id), believed, "{worker:?}");
            assert_eq!(world.machines(worker.id), 1, "{worker:?}");
        }
    }
}

type State = BTreeMap<String, (String, Option<String>, Option<String>, i64)>;

/// The state that the events tell of. Each is of the next generation of what it is about.
fn replay(events: impl Iterator<Item = (String, Value)>) -> State {
    let mut state = State::new();
    for (kind, fields) in events {
        let text = |name: &str| fields[name].as_str().map(str::to_owned);
        let is_worker = kind.starts_with("worker");
        let id = text(if is_worker { "worker_id" } else { "net_id" }).unwrap();
        if kind.ends_with("_removed") {
            assert!(state.remove(&id).is_some(), "{kind} {fields}");
            continue;
        }
        let generation = fields["generation"].as_i64().unwrap();
        let word = text(if is_worker { "status" } else { "load_state" }).unwrap();
        let worker = if is_worker { None } else { text("worker_id") };
        let entry = (word.clone(), worker.clone(), text("operation"), generation);
        let before = state.insert(id, entry);
        if let Some((_, from, ..)) = &before {
            assert!(*from == worker || word == "unloaded", "it moved and stayed {word}: {fields}");
        }
        let expected = before.map_or(1, |(.., generation)| generation + 1);
        assert_eq!(generation, expected, "{kind} {fields}");
    }
    state
}

fn error(call: Call, fault: Fault) -> ProviderError {
    let text = || format!("{call:?}");
    match fault {
        // Who destroys never says that.
        Fault::Gone if call == Call::Destroy => ProviderError::Unreachable(text()),
        Fault::Gone => ProviderError::Gone(text()),
        Fault::Unreachable => ProviderError::Unreachable(text()),
        Fault::Throttled => ProviderError::Throttled { retry_after: Duration::from_millis(30) },
        Fault::Denied => ProviderError::Denied(text()),
        Fault::Ambiguous => ProviderError::Ambiguous(text()),
        Fault::Invalid => ProviderError::Invalid(text()),
    }
}

fn told(broken: &(dyn Any + Send)) -> &str {
    let text = broken.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| broken.downcast_ref::<&str>().copied()).unwrap_or("it panicked")
}

fn fresh() -> String {
    crate::house::new_id().to_string()
}

fn histories(dialect: Dialect, kind: ProviderKind) {
    match asked() {
        None => lane(dialect, kind, config(None)),
        Some(all) => std::thread::scope(|scope| {
            for _ in 0..LANES {
                scope.spawn(move || {
                    let mut left = all.div_ceil(LANES);
                    while left > 0 {
                        let now = left.min(ON_ONE_DATABASE);
                        lane(dialect, kind, config(Some(now)));
                        left -= now;
                    }
                });
            }
        }),
    }
}

fn lane(dialect: Dialect, kind: ProviderKind, config: ProptestConfig) {
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let database = runtime.block_on(TestDatabase::new(dialect));
    let (world, clock) = (World::new(kind), Arc::<Ahead>::default());
    let opening = House::with(&database, world.clone(), Arc::clone(&clock), pace());
    let house = runtime.block_on(opening);
    let process = RefCell::new(Some(Process::start(&database, &world, &clock)));
    let ran = TestRunner::new(config).run(&steps(kind), |steps| {
        // A history that broke while its process rested has left none.
        process.borrow_mut().get_or_insert_with(|| Process::start(&database, &world, &clock));
        let (user, engine) = (runtime.block_on(house.user()), house.engine());
        let mut history = History {
            database: &database,
            house: &house,
            process: &process,
            user,
            workers: Vec::new(),
            nets: Vec::new(),
            made: Vec::new(),
            engine,
        };
        let ran = catch_unwind(AssertUnwindSafe(|| runtime.block_on(history.run(&steps))));
        // What races does so only once: the history as it was made is told beside the shrunk one.
        ran.map_err(|broken| TestCaseError::fail(format!("{}: {steps:?}", told(&*broken))))
    });
    if let Some(process) = process.take() {
        process.die();
    }
    runtime.block_on(house.db.close());
    ran.unwrap();
}

#[test]
fn no_history_breaks_a_rule_on_sqlite() {
    histories(Dialect::Sqlite, ProviderKind::Fly);
}

#[test]
fn no_history_breaks_a_rule_on_postgres() {
    histories(Dialect::Postgres, ProviderKind::Fly);
}

#[test]
fn no_history_breaks_a_rule_with_sprites_on_sqlite() {
    histories(Dialect::Sqlite, ProviderKind::Sprite);
}

#[test]
fn no_history_breaks_a_rule_with_sprites_on_postgres() {
    histories(Dialect::Postgres, ProviderKind::Sprite);
}
