//! Services that people edit and a recorder writes of, with a clock to move.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use mainstay_base::{Clock, Id, IdSource, SystemRng, Timestamp};
use mainstay_breaker::{Saved, State};
use mainstay_events::{Events, EventsOptions};
use mainstay_monitor::aliases::{AliasName, Aliases, CanonicalName};
use mainstay_monitor::answer::Answer;
use mainstay_monitor::latency::{Retention, Upkeep};
use mainstay_monitor::past::keyframes::Done;
use mainstay_monitor::past::{Keyframes, Past, PastState};
use mainstay_monitor::roster::Settlement;
use mainstay_monitor::services::{Definition, Draft, Patch, Seal, Services};
use mainstay_monitor::{
    FailureKind, Format, Graphs, GraphsOptions, PollFailure, PollResult, Recorded, Recorder, Sink,
};
use mainstay_store::{Db, Row, Sql, migrate};
use mainstay_testkit::{FakeClock, TestDatabase, set_database_clock};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// So long after a poll the next one is planned, unless a test says otherwise: nobody is overdue.
pub(crate) const LONG: Duration = Duration::from_hours(24 * 1_000);

pub(crate) struct House {
    pub(crate) clock: Arc<FakeClock>,
    pub(crate) db: Db,
    pub(crate) events: Events,
    pub(crate) services: Services,
    pub(crate) aliases: Aliases,
    pub(crate) recorder: Recorder,
    pub(crate) past: Past,
    pub(crate) keyframes: Keyframes,
    pub(crate) upkeep: Upkeep,
    pub(crate) ids: IdSource,
    pub(crate) tasks: TaskTracker,
    pub(crate) stop: CancellationToken,
    polls: AtomicI64,
}

/// A graph without the moment that it is of, and where it is drawn.
pub(crate) fn undrawn(answer: &Answer) -> Value {
    let mut graph: Value = serde_json::from_slice(&answer.plain).unwrap();
    for of_then in ["at", "records_since"] {
        graph.as_object_mut().unwrap().remove(of_then).unwrap();
    }
    for node in graph["nodes"].as_array_mut().unwrap() {
        for place in ["x", "y"] {
            node.as_object_mut().unwrap().remove(place).unwrap();
        }
    }
    graph
}

struct Plain;

impl Seal for Plain {
    fn seal(&self, plain: &[u8]) -> String {
        String::from_utf8_lossy(plain).into_owned()
    }

    fn open(&self, sealed: &str) -> Option<Vec<u8>> {
        Some(sealed.as_bytes().to_vec())
    }
}

impl House {
    pub(crate) async fn new(database: &TestDatabase) -> Self {
        let clock = Arc::new(FakeClock::new());
        let shared = Arc::clone(&clock) as Arc<dyn Clock>;
        let db = database.open_with(Arc::clone(&shared), |_| {}).await;
        set_database_clock(&db, &clock);
        migrate::up(&db).await.unwrap();
        let (rng, stop) = (Arc::new(SystemRng), CancellationToken::new());
        let options = EventsOptions::default();
        let starting =
            Events::start(db.clone(), options, Arc::clone(&shared), rng.clone(), stop.clone());
        let events = starting.await.unwrap().0;
        let ids = IdSource::new(Arc::clone(&shared), rng);
        let tasks = TaskTracker::new();
        let recorder = Recorder::start(events.clone(), shared, ids.clone(), &tasks, stop.clone());
        let kept = Retention::default();
        let edited: Arc<dyn Fn() + Send + Sync> = Arc::new(|| {});
        Self {
            services: Services::new(events.clone(), ids.clone(), Arc::new(Plain), edited),
            aliases: Aliases::new(events.clone(), ids.clone()),
            past: Past::new(db.clone(), kept.hours()),
            keyframes: Keyframes::new(db.clone(), kept.hours()).unwrap().with_portion(7),
            upkeep: Upkeep::new(db.clone(), kept).unwrap(),
            polls: AtomicI64::new(0),
            clock,
            db,
            events,
            recorder,
            ids,
            tasks,
            stop,
        }
    }

    /// The graph of this moment, as one who begins now reads it.
    pub(crate) async fn graph(&self) -> Value {
        let stop = CancellationToken::new();
        let graph = undrawn(&self.graphs(&stop).whole().await.unwrap());
        stop.cancel();
        graph
    }

    /// Keeps the graph until `stop`.
    pub(crate) fn graphs(&self, stop: &CancellationToken) -> Graphs {
        let (events, clock) = (self.events.clone(), Arc::clone(&self.clock) as _);
        Graphs::start(events, clock, GraphsOptions::default(), &self.tasks, stop.clone())
    }

    /// Lets time pass on every clock.
    pub(crate) fn pass(&self, duration: Duration) {
        self.clock.advance(duration);
        set_database_clock(&self.db, &self.clock);
    }

    /// Sets every clock back, as an administrator or a time server does.
    pub(crate) fn set_back(&self, duration: Duration) {
        let millis = self.now().as_millis() - i64::try_from(duration.as_millis()).unwrap();
        self.clock.step_wall(Timestamp::from_millis(millis));
        self.pass(Duration::ZERO);
    }

    /// Lets time pass until a whole hour begins.
    pub(crate) fn pass_to_the_hour(&self) {
        let hour = 3_600_000;
        let left = hour - self.clock.now().as_millis().rem_euclid(hour);
        self.pass(Duration::from_millis(u64::try_from(left).unwrap() + 1_000));
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) async fn add(&self, name: &str) -> Id {
        let health_endpoint = "https://a.example.org/health".to_owned();
        let draft = Draft { name: name.to_owned(), health_endpoint, ..Draft::default() };
        let (services, definition) = (&self.services, Definition::check(draft).unwrap());
        let made =
            self.events.write(async |tx, out| services.create(tx, out, &definition).await).await;
        made.unwrap().id
    }

    pub(crate) async fn change(&self, id: Id, patch: Patch) {
        let services = &self.services;
        let changed = self.events.write(async |tx, out| services.update(tx, out, id, patch).await);
        changed.await.unwrap();
    }

    pub(crate) async fn delete(&self, id: Id) {
        let services = &self.services;
        let deleted = self.events.write(async |tx, out| services.delete(tx, out, id).await);
        deleted.await.unwrap();
    }

    pub(crate) async fn alias(&self, name: &str, canonical: &str) -> Id {
        let aliases = &self.aliases;
        let names = (AliasName::parse(name).unwrap(), CanonicalName::parse(canonical).unwrap());
        let made =
            self.events.write(async |tx, out| aliases.create(tx, out, names.0, names.1).await);
        made.await.unwrap().id
    }

    pub(crate) async fn link(&self, dependency: Id, to: Option<Id>) {
        let aliases = &self.aliases;
        let linked = self.events.write(async |tx, out| aliases.link(tx, out, dependency, to).await);
        linked.await.unwrap();
    }

    /// The service is polled and answers with this body, or not at all.
    pub(crate) async fn poll(&self, id: Id, body: Option<Value>) -> Recorded {
        self.poll_again_in(id, body, LONG).await
    }

    pub(crate) async fn poll_again_in(
        &self,
        id: Id,
        body: Option<Value>,
        due_in: Duration,
    ) -> Recorded {
        self.poll_at(id, body, self.now(), due_in).await
    }

    /// The same at another moment than now: the result had to wait.
    pub(crate) async fn poll_at(
        &self,
        id: Id,
        body: Option<Value>,
        at: Timestamp,
        due_in: Duration,
    ) -> Recorded {
        let watches = self.services.watches(0).await.unwrap();
        let mut watched = watches.watched.into_iter().map(|(watch, _)| watch);
        let Some(watch) = watched.find(|watch| watch.id == id) else { return Recorded::Stale };
        let outcome = match body {
            Some(body) => Ok(Format::ProactiveDeps.read(body.to_string().as_bytes(), at).unwrap()),
            None => Err(PollFailure { kind: FailureKind::Timeout, message: "too slow".to_owned() }),
        };
        let (sender, receiver) = oneshot::channel();
        let settlement = settlement(self.polls.fetch_add(1, Ordering::SeqCst) + 1, due_in);
        let latency = Duration::from_millis(12);
        let recorded = Some(sender);
        let watch = Arc::new(watch);
        self.recorder.take(PollResult { watch, at, latency, outcome, settlement, recorded });
        receiver.await.unwrap()
    }

    /// Begins a keyframe and makes it, and some time has passed.
    pub(crate) async fn keyframe(&self) {
        assert_eq!(self.look().await, Done::Marked);
        self.pass(Duration::from_mins(6));
        assert!(matches!(self.look().await, Done::Made(_)));
    }

    pub(crate) async fn look(&self) -> Done {
        self.keyframes.run_once(&CancellationToken::new()).await.unwrap()
    }

    pub(crate) async fn rows(&self, sql: &str) -> Vec<Row> {
        let sql = Sql::same("test.rows", sql.to_owned().leak());
        self.db.fetch_all(&sql, &[]).await.unwrap()
    }

    pub(crate) async fn number(&self, sql: &str) -> i64 {
        self.rows(sql).await[0].get("v").unwrap()
    }

    pub(crate) async fn execute(&self, sql: &str) {
        let sql = Sql::same("test.execute", sql.to_owned().leak());
        self.db.write(async |tx| tx.execute(&sql, &[]).await).await.unwrap();
    }

    /// The dependency of this name.
    pub(crate) async fn dependency(&self, name: &str) -> Id {
        let sql = format!("SELECT id AS v FROM dependencies WHERE name = '{name}'");
        self.rows(&sql).await[0].get("v").unwrap()
    }

    /// What is told of a moment.
    pub(crate) async fn at(&self, moment: Timestamp) -> Vec<String> {
        lines(&self.past.at(moment).await.unwrap().state)
    }
}

impl Drop for House {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// One line for each service and each dependency.
pub(crate) fn lines(state: &PastState) -> Vec<String> {
    let services = state.services().map(|(number, one)| {
        let stale = one.stale_since.map(Timestamp::as_millis);
        let (status, since) = (one.status, one.status_since.as_millis());
        format!("service {number} {} {} {status} {since} {stale:?}", one.id, one.name)
    });
    let dependencies = state.dependencies().map(|(number, one)| {
        let missing = one.missing_since.map(Timestamp::as_millis);
        let link = one.linked_service_id.map(|id| id.to_string());
        format!(
            "dependency {number} {} {} {} {} {} {} {missing:?} {link:?}",
            one.id,
            one.service_no,
            one.name,
            one.canonical_name,
            one.said,
            one.said_since.as_millis()
        )
    });
    let mut all: Vec<_> = services.chain(dependencies).collect();
    all.sort();
    all
}

/// An answer that names these, each with a state.
pub(crate) fn body(named: &[(&str, i64)]) -> Value {
    let items = named.iter().map(|(name, state)| {
        json!({"name": name, "healthy": *state < 2, "health": {"state": state, "code": 200, "latency": 3}})
    });
    Value::Array(items.collect())
}

fn settlement(poll_seq: i64, due_in: Duration) -> Settlement {
    let breaker = Saved {
        state: State::Closed,
        forced: false,
        failures: 0,
        open_remaining: Duration::ZERO,
        generation: 1,
    };
    Settlement { poll_seq, breaker, backoff: 0, due_in, circuit: None, manual: false }
}
