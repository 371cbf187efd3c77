//! The room with all it stands on, people, and a clock to move.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::future::BoxFuture;
use mainstay_base::{Clock, Id, IdSource, Moment, SystemClock, SystemRng, Timestamp};
use mainstay_events::{Ask, Events, EventsOptions, Outbox, Streams};
use mainstay_fleet::agent::BadNet;
use mainstay_fleet::engine::Swept;
use mainstay_fleet::model::location::compared;
use mainstay_fleet::{
    AgentKey, Agents, Category, CheckKind, Crew, Definition, Engine, Failure, Fleet, FleetError,
    FleetOptions, Neighbours, Net, NetOperation, NewNet, NewWorker, Operator, Pace, PlannedCheck,
    Planner, Provider, ProviderKind, Providers, Registry, Waited, WorkerOperation, WorkerStatus,
};
use mainstay_jobs::{Handler, Jobs, JobsOptions, Runner, RunnerOptions, RunnerTask};
use mainstay_store::{Db, Dialect, Sql, StoreError, Tx, migrate, values};
use mainstay_testkit::TestDatabase;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::world::World;

pub(crate) const SECOND: Duration = Duration::from_secs(1);
/// The leases of the runners here.
pub(crate) const TTL: Duration = Duration::from_secs(30);

const NEW_USER: Sql = Sql::same(
    "test.user",
    "INSERT INTO users (id, email, role, status, password_hash, created_at)
     VALUES ($1, $2, 'viewer', 'active', 'x', 0)",
);

/// The room, as one process has it.
pub(crate) struct House {
    pub(crate) db: Db,
    pub(crate) events: Events,
    pub(crate) jobs: Jobs,
    pub(crate) fleet: Fleet,
    pub(crate) world: World,
    pub(crate) clock: Arc<Ahead>,
    operator: Arc<dyn Handler>,
    stop: CancellationToken,
}

impl House {
    pub(crate) async fn new(database: &TestDatabase) -> Self {
        Self::with(database, World::new(ProviderKind::Fly), Arc::default(), quick()).await
    }

    /// With a runner, whose end is that of the test.
    pub(crate) async fn running(database: &TestDatabase) -> (Self, Running) {
        let house = Self::new(database).await;
        let running = house.run();
        (house, running)
    }

    pub(crate) async fn with(
        database: &TestDatabase,
        world: World,
        clock: Arc<Ahead>,
        pace: Pace,
    ) -> Self {
        let (provider, agents) = (Arc::new(world.clone()), Arc::new(world.clone()));
        Self::asking(database, world, (provider, agents), clock, pace).await
    }

    /// With machines and agents from elsewhere than its world.
    pub(crate) async fn asking(
        database: &TestDatabase,
        world: World,
        (provider, agents): (Arc<dyn Provider>, Arc<dyn Agents>),
        clock: Arc<Ahead>,
        pace: Pace,
    ) -> Self {
        let time = Arc::clone(&clock) as Arc<dyn Clock>;
        let db = database.open_with(Arc::clone(&time), |_| {}).await;
        migrate::up(&db).await.unwrap();
        let stop = CancellationToken::new();
        let rng = Arc::new(SystemRng);
        let options = EventsOptions::default();
        let starting =
            Events::start(db.clone(), options, Arc::clone(&time), rng.clone(), stop.clone());
        let events = starting.await.unwrap().0;
        let ids = IdSource::new(Arc::clone(&time), rng.clone());
        let options = JobsOptions::default();
        let jobs = Jobs::new(events.clone(), Arc::clone(&time), ids.clone(), rng.clone(), options);
        let options = FleetOptions {
            events: events.clone(),
            jobs: jobs.clone(),
            ids,
            clock: time,
            rng,
            providers: Providers::default().with(provider),
            agents,
            key: AgentKey::new([7; 32]),
            pace,
        };
        let neighbours = Neighbours { planner: Arc::new(Named), registry: Arc::new(Named) };
        let fleet = Fleet::beside(options, neighbours);
        let operator: Arc<dyn Handler> = Arc::new(Operator::new(fleet.clone()).unwrap());
        jobs.register(&[Arc::clone(&operator)]);
        let house = Self { db, events, jobs, fleet, world, clock, operator, stop };
        house.shift();
        house
    }

    /// Moves every clock of this process.
    pub(crate) fn advance(&self, duration: Duration) {
        self.clock.advance(duration);
        self.shift();
    }

    pub(crate) fn shift(&self) {
        if self.db.dialect() == Dialect::Postgres {
            self.db.shift_clock(i64::try_from(self.clock.ahead().as_millis()).unwrap());
        }
    }

    pub(crate) fn run(&self) -> Running {
        let stop = CancellationToken::new();
        let options = RunnerOptions {
            poll: Duration::from_millis(20),
            ttl: TTL,
            concurrency: 8,
            ..RunnerOptions::new("r")
        };
        let handlers = vec![Arc::clone(&self.operator)];
        let task = Runner::start(self.jobs.clone(), handlers, vec![], options, stop.clone());
        Running { stop, task }
    }

    pub(crate) fn engine(&self) -> Engine {
        Engine::new(self.fleet.clone())
    }

    /// Makes every worker due, and sweeps.
    pub(crate) async fn sweep(&self, engine: &mut Engine) -> Swept {
        self.execute("UPDATE workers SET probe_at = 0").await;
        self.execute("UPDATE machine_orders SET look_at = 0").await;
        engine.sweep().await.unwrap()
    }

    pub(crate) async fn user(&self) -> Id {
        let id = new_id();
        let email = format!("{id}@example.com");
        let values = values![id, &email];
        self.db.write(async |tx| tx.execute(&NEW_USER, values).await).await.unwrap();
        id
    }

    pub(crate) async fn worker(&self, user: Id, name: &str) -> Id {
        self.worker_of(user, name, Category::Persistent).await.unwrap().worker.id
    }

    pub(crate) async fn worker_of(
        &self,
        user: Id,
        name: &str,
        category: Category,
    ) -> Result<Crew, FleetError> {
        let provider = self.world_kind();
        let new = NewWorker {
            name: mainstay_fleet::WorkerName::parse(name).unwrap(),
            provider,
            category,
            region: None,
            size: mainstay_fleet::providers::Size::Small,
        };
        self.write(async |tx, out| self.fleet.create_worker(tx, out, user, new).await).await
    }

    fn world_kind(&self) -> ProviderKind {
        Provider::kind(&self.world)
    }

    /// A worker that is ready.
    pub(crate) async fn ready(&self, user: Id, name: &str) -> Id {
        let worker = self.worker(user, name).await;
        self.operate(user, worker, WorkerOperation::Provision).await.unwrap();
        assert_eq!(self.status(user, worker).await, WorkerStatus::Ready);
        worker
    }

    pub(crate) async fn net(&self, user: Id, name: &str, worker: Option<Id>) -> Id {
        self.try_net(user, name, worker).await.unwrap()
    }

    pub(crate) async fn try_net(
        &self,
        user: Id,
        name: &str,
        worker: Option<Id>,
    ) -> Result<Id, FleetError> {
        self.try_net_of(user, name, worker, json!({"services": []})).await
    }

    /// A net that checks what `definition` names.
    pub(crate) async fn net_of(
        &self,
        user: Id,
        name: &str,
        worker: Option<Id>,
        definition: Value,
    ) -> Id {
        self.try_net_of(user, name, worker, definition).await.unwrap()
    }

    async fn try_net_of(
        &self,
        user: Id,
        name: &str,
        worker: Option<Id>,
        definition: Value,
    ) -> Result<Id, FleetError> {
        let new = NewNet {
            name: mainstay_fleet::NetName::parse(name).unwrap(),
            definition: Definition::new(definition).unwrap(),
            worker_id: worker,
        };
        let made = self.write(async |tx, out| self.fleet.create_net(tx, out, user, new).await);
        Ok(made.await?.net.id)
    }

    /// A net that is loaded.
    pub(crate) async fn loaded(&self, user: Id, name: &str, worker: Id) -> Id {
        let net = self.net(user, name, Some(worker)).await;
        self.cast(user, net, NetOperation::Load).await.unwrap();
        net
    }

    /// Begins an operation and waits for its end.
    pub(crate) async fn operate(
        &self,
        user: Id,
        worker: Id,
        kind: WorkerOperation,
    ) -> Result<Option<Crew>, Failure> {
        let operation = self.begin(user, worker, kind).await.unwrap();
        match self.fleet.wait_for_worker(user, worker, operation).await.unwrap() {
            Waited::Done(crew) => Ok(Some(crew)),
            Waited::Removed => Ok(None),
            Waited::Failed(_, failure) => Err(failure),
            Waited::Underway(crew) => panic!("it never ended: {crew:?}"),
        }
    }

    pub(crate) async fn begin(
        &self,
        user: Id,
        worker: Id,
        kind: WorkerOperation,
    ) -> Result<Id, FleetError> {
        let beginning =
            self.write(async |tx, out| self.fleet.begin(tx, out, (user, worker), kind, None).await);
        Ok(beginning.await?.id)
    }

    /// Begins to load or unload, and waits for the end.
    pub(crate) async fn cast(&self, user: Id, net: Id, kind: NetOperation) -> Result<Net, Failure> {
        let operation = self.begin_net(user, net, kind).await.unwrap();
        match self.fleet.wait_for_net(user, net, operation).await.unwrap() {
            Waited::Done(cast) => Ok(cast.net),
            Waited::Failed(_, failure) => Err(failure),
            other => panic!("it never ended: {other:?}"),
        }
    }

    pub(crate) async fn begin_net(
        &self,
        user: Id,
        net: Id,
        kind: NetOperation,
    ) -> Result<Id, FleetError> {
        let beginning = self
            .write(async |tx, out| self.fleet.begin_net(tx, out, (user, net), kind, None).await);
        Ok(beginning.await?.id)
    }

    pub(crate) async fn status(&self, user: Id, worker: Id) -> WorkerStatus {
        self.fleet.find_worker(user, worker).await.unwrap().worker.status
    }

    /// The worker's status and its nets' load states, in words.
    pub(crate) async fn stands(&self, user: Id, worker: Id) -> String {
        let Crew { worker, nets } = self.fleet.find_worker(user, worker).await.unwrap();
        let mut words = vec![worker.status.name()];
        let mut nets = nets;
        nets.sort_by(|one, other| one.name.cmp(&other.name));
        words.extend(nets.iter().map(|net| net.load_state.name()));
        words.join(" ")
    }

    pub(crate) async fn write<T>(
        &self,
        work: impl AsyncFnOnce(&mut Tx, &mut Outbox) -> Result<T, FleetError>,
    ) -> Result<T, FleetError> {
        self.events.write(work).await
    }

    /// Waits until the job of an operation waits for a later time.
    pub(crate) async fn until_put_off(&self, operation: Id) {
        loop {
            let job = self.jobs.find(operation).await.unwrap().unwrap();
            if job.next_run_at > self.clock.now().plus(SECOND) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// How many jobs needed more than one attempt.
    pub(crate) async fn jobs_tried_again(&self) -> i64 {
        let sql = Sql::same("test.tried", "SELECT count(*) AS n FROM jobs WHERE attempts > 1");
        self.db.fetch_one(&sql, &[]).await.unwrap().get("n").unwrap()
    }

    /// How many jobs have failed.
    pub(crate) async fn jobs_failed(&self) -> i64 {
        let sql =
            Sql::same("test.failed", "SELECT count(*) AS n FROM jobs WHERE status = 'failed'");
        self.db.fetch_one(&sql, &[]).await.unwrap().get("n").unwrap()
    }

    pub(crate) async fn execute(&self, sql: &'static str) {
        let sql = Sql::same("test.execute", sql);
        self.db.write(async |tx| tx.execute(&sql, &[]).await).await.unwrap();
    }

    /// What the user's stream was told, in full.
    pub(crate) async fn told(&self, user: Id) -> Vec<Value> {
        self.told_by(user, Streams { org: false, user: true }).await
    }

    /// What everybody was told, in full.
    pub(crate) async fn told_everybody(&self, user: Id) -> Vec<Value> {
        self.told_by(user, Streams { org: true, user: false }).await
    }

    async fn told_by(&self, user: Id, streams: Streams) -> Vec<Value> {
        let mut ask = Ask { user: Some(user), streams, ..Ask::default() };
        let mut told = Vec::new();
        loop {
            let history = self.events.history(&ask, 200).await.unwrap();
            let frames = history.events.iter().map(|event| {
                let text = String::from_utf8_lossy(&event.frame).into_owned();
                let line = text.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
                serde_json::from_str::<Value>(line).unwrap()
            });
            let before = told.len();
            told.extend(frames);
            if told.len() == before {
                return told;
            }
            ask.after = Some(history.position.to_string());
        }
    }

    /// The kinds and states that were told after so many, in words.
    pub(crate) async fn words_after(&self, user: Id, count: usize) -> Vec<String> {
        let told = self.told(user).await;
        told.iter()
            .skip(count)
            .map(|data| {
                let kind = data["type"].as_str().unwrap().replace("_state_changed", "");
                let state = data["status"].as_str().or(data["load_state"].as_str());
                let operation = data["operation"].as_str();
                [Some(kind.as_str()), state, operation]
                    .into_iter()
                    .flatten()
                    .collect::<Vec<_>>()
                    .join(" ")
            })
            .collect()
    }
}

impl Drop for House {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// A runner.
pub(crate) struct Running {
    stop: CancellationToken,
    task: RunnerTask,
}

impl Running {
    pub(crate) async fn stop(self) {
        self.stop.cancel();
        let bound = tokio::time::timeout(60 * SECOND, self.task.finished()).await;
        bound.expect("a runner that is told to stop stops");
    }
}

/// Nothing waits for long.
pub(crate) fn quick() -> Pace {
    Pace {
        probe: Duration::from_secs(5),
        confirm_least: Duration::from_millis(1),
        confirm_most: Duration::from_millis(2),
        spread: Duration::from_millis(1),
        retry: Duration::from_millis(1),
        // Longer than any operation: trouble of a provider ends it at once.
        outage: Duration::from_mins(10),
        agent: Duration::from_millis(2),
        glance: Duration::from_millis(20),
        orders_arrive: Duration::from_millis(50),
        ..Pace::default()
    }
}

pub(crate) fn new_id() -> Id {
    IdSource::new(Arc::new(SystemClock::new()), Arc::new(SystemRng)).next()
}

/// The services of a net by their names; what is called `wrong` is refused, and one service is known.
struct Named;

/// The service that is registered, by its name and by its address.
pub(crate) const KNOWN: (&str, &str) = ("orders", "https://orders.example/");

/// Its id.
pub(crate) fn known_service() -> Id {
    "01a1e102-8087-7707-8707-000000000777".parse().unwrap()
}

impl Planner for Named {
    fn plan(&self, definition: &Value) -> Result<Vec<PlannedCheck>, BadNet> {
        let names = |key: &str| definition[key].as_array().cloned().unwrap_or_default();
        let check = |kind: CheckKind, name: &Value| {
            let name = name.as_str().unwrap_or("wrong").to_owned();
            let is_service = kind == CheckKind::Service;
            let url = is_service.then(|| format!("https://{}.example/", name.to_lowercase()));
            let about = vec![if is_service { compared(&name) } else { "orders".to_owned() }];
            match name.as_str() {
                "wrong" => Err(BadNet("services[0].name: give another".to_owned())),
                _ => Ok(PlannedCheck { kind, name, url, about, every: 30 * SECOND }),
            }
        };
        let (services, journeys) = (names("services"), names("journeys"));
        let services = services.iter().map(|name| check(CheckKind::Service, name));
        services.chain(journeys.iter().map(|name| check(CheckKind::Journey, name))).collect()
    }
}

impl Registry for Named {
    fn find<'a>(
        &'a self,
        _: &'a mut Tx,
        name: &'a str,
        url: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Option<Id>, StoreError>> {
        let is_known = name == KNOWN.0 || url == Some(KNOWN.1);
        Box::pin(async move { Ok(is_known.then(known_service)) })
    }
}

/// The machine's clock, ahead by as much as a test says.
#[derive(Default)]
pub(crate) struct Ahead {
    real: SystemClock,
    millis: AtomicU64,
}

impl Ahead {
    pub(crate) fn advance(&self, duration: Duration) {
        self.millis.fetch_add(u64::try_from(duration.as_millis()).unwrap(), Ordering::SeqCst);
    }

    pub(crate) fn ahead(&self) -> Duration {
        Duration::from_millis(self.millis.load(Ordering::SeqCst))
    }
}

impl Clock for Ahead {
    fn now(&self) -> Timestamp {
        self.real.now().plus(self.ahead())
    }

    fn moment(&self) -> Moment {
        self.real.moment().plus(self.ahead())
    }
}
