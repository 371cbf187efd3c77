//! Services that are edited and polled by hand, and the graphs that follow.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use mainstay_base::{Clock, Id, IdSource, SystemRng};
use mainstay_breaker::{Saved, State};
use mainstay_events::{Event, Events, EventsOptions, Stream};
use mainstay_graph::Key;
use mainstay_monitor::aliases::Aliases;
use mainstay_monitor::graph::Picture;
use mainstay_monitor::roster::Settlement;
use mainstay_monitor::{
    Definition, Draft, Endpoint, FailureKind, Format, Graphs, GraphsOptions, PollFailure,
    PollResult, Recorded, Recorder, Report, Seal, ServiceNumber, Services, Sink, Watch,
};
use mainstay_store::{Db, Row, Sql, StoreError, migrate};
use mainstay_testkit::{FakeClock, TestDatabase, set_database_clock};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How long something may take that another task does.
const LIMIT: Duration = Duration::from_secs(20);

pub(crate) struct House {
    pub(crate) clock: Arc<FakeClock>,
    pub(crate) db: Db,
    pub(crate) events: Events,
    pub(crate) services: Services,
    pub(crate) aliases: Aliases,
    pub(crate) graphs: Graphs,
    pub(crate) tasks: TaskTracker,
    pub(crate) stop: CancellationToken,
    recorder: Recorder,
    polls: AtomicI64,
    options: GraphsOptions,
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
        Self::with(database, options()).await
    }

    /// The same, with a graph that is kept in another way.
    pub(crate) async fn with(database: &TestDatabase, options: GraphsOptions) -> Self {
        let clock = Arc::new(FakeClock::new());
        let shared = Arc::clone(&clock) as Arc<dyn Clock>;
        let db = database.open_with(Arc::clone(&shared), |_| {}).await;
        set_database_clock(&db, &clock);
        migrate::up(&db).await.unwrap();
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        let events = streams(&db, &shared, &stop).await;
        let ids = IdSource::new(Arc::clone(&shared), Arc::new(SystemRng));
        let recorder =
            Recorder::start(events.clone(), Arc::clone(&shared), ids.clone(), &tasks, stop.clone());
        let services = Services::new(events.clone(), ids.clone(), Arc::new(Plain), Arc::new(|| {}));
        let aliases = Aliases::new(events.clone(), ids);
        let graphs = Graphs::start(events.clone(), shared, options, &tasks, stop.clone());
        let polls = AtomicI64::new(0);
        Self { clock, db, events, services, aliases, graphs, tasks, stop, recorder, polls, options }
    }

    /// Moves every clock.
    pub(crate) fn advance(&self, duration: Duration) {
        self.clock.advance(duration);
        set_database_clock(&self.db, &self.clock);
    }

    /// The graph of another instance on the same database.
    pub(crate) async fn another(&self) -> Graphs {
        let clock = Arc::clone(&self.clock) as Arc<dyn Clock>;
        let events = streams(&self.db, &clock, &self.stop).await;
        Graphs::start(events, clock, self.options, &self.tasks, self.stop.clone())
    }

    /// A service of this name.
    pub(crate) async fn service(&self, name: &str) -> Arc<Watch> {
        let draft = Draft {
            name: name.to_owned(),
            health_endpoint: format!("https://{}.example.org/health", name.to_lowercase()),
            ..Draft::default()
        };
        let (definition, services) = (Definition::check(draft).unwrap(), &self.services);
        let made =
            self.events.write(async |tx, out| services.create(tx, out, &definition).await).await;
        let id = made.unwrap().id;
        let row = self.row(&format!("SELECT number FROM services WHERE id = '{id}'")).await;
        Arc::new(watch(row.get("number").unwrap(), id, name))
    }

    /// The service answers with this body.
    pub(crate) async fn answers(&self, watch: &Arc<Watch>, body: &Value) {
        let report = Format::ProactiveDeps.read(body.to_string().as_bytes(), self.clock.now());
        self.polled(watch, Ok(report.unwrap())).await;
    }

    /// The service does not answer.
    pub(crate) async fn fails(&self, watch: &Arc<Watch>) {
        let failure = PollFailure { kind: FailureKind::Timeout, message: "too slow".to_owned() };
        self.polled(watch, Err(failure)).await;
    }

    async fn polled(&self, watch: &Arc<Watch>, outcome: Result<Report, PollFailure>) {
        let (sender, receiver) = oneshot::channel();
        self.recorder.take(PollResult {
            watch: Arc::clone(watch),
            at: self.clock.now(),
            latency: Duration::from_millis(12),
            outcome,
            settlement: settlement(self.polls.fetch_add(1, Ordering::SeqCst) + 1),
            recorded: Some(sender),
        });
        let recorded = receiver.await.unwrap();
        assert!(matches!(recorded, Recorded::Written(_)), "{recorded:?}");
    }

    /// Waits until the graph is as told.
    pub(crate) async fn until(&self, lines: &[&str]) {
        until(&self.graphs, lines).await;
    }

    /// Announces these, each with its fields, and changes nothing.
    pub(crate) async fn announce(&self, told: impl Iterator<Item = (&str, Value)>) {
        let announced: Result<(), StoreError> = self
            .events
            .write(async |_, out| {
                for (kind, fields) in told {
                    let event = Event::new(kind, fields.as_object().unwrap()).unwrap();
                    out.add(Stream::Org, event).unwrap();
                }
                Ok(())
            })
            .await;
        announced.unwrap();
    }

    pub(crate) async fn dependency(&self, name: &str) -> Id {
        let row = self.row(&format!("SELECT id FROM dependencies WHERE name = '{name}'")).await;
        row.get("id").unwrap()
    }

    pub(crate) async fn execute(&self, sql: &str) {
        let sql = Sql::same("test.execute", sql.to_owned().leak());
        self.db.write(async |tx| tx.execute(&sql, &[]).await).await.unwrap();
    }

    pub(crate) async fn rows(&self, sql: &str) -> Vec<Row> {
        let sql = Sql::same("test.rows", sql.to_owned().leak());
        self.db.fetch_all(&sql, &[]).await.unwrap()
    }

    pub(crate) async fn row(&self, sql: &str) -> Row {
        self.rows(sql).await.into_iter().next().unwrap()
    }
}

impl Drop for House {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// Waits until a graph is as told: one line for each node, `name status`, and for each edge,
/// `name → name status`, with `missing` if it is; sorted.
pub(crate) async fn until(graphs: &Graphs, lines: &[&str]) -> Arc<Picture> {
    let mut last = Vec::new();
    let waiting = async {
        loop {
            let picture = graphs.picture().await.unwrap();
            last = told(&picture);
            if last == lines {
                return picture;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    match tokio::time::timeout(LIMIT, waiting).await {
        Ok(picture) => picture,
        Err(_) => panic!("expected {lines:#?}, found {last:#?}"),
    }
}

/// Waits until something is so.
pub(crate) async fn eventually(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let waiting = async {
        while !is_so().await {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    assert!(tokio::time::timeout(LIMIT, waiting).await.is_ok(), "{what}");
}

pub(crate) fn told(picture: &Picture) -> Vec<String> {
    let snapshot = &picture.snapshot;
    let name = |place: usize| {
        let node = snapshot.node(place).unwrap();
        match &node.key {
            Key::Service(_) => node.name.to_string(),
            Key::External(_) => format!("({})", node.name),
        }
    };
    let nodes = snapshot.nodes().iter().enumerate();
    let nodes = nodes.map(|(place, node)| format!("{} {}", name(place), node.status.name()));
    let edges = snapshot.edges().iter().map(|edge| {
        let missing = if edge.missing { " missing" } else { "" };
        format!("{} → {} {}{missing}", name(edge.from), name(edge.to), edge.status.name())
    });
    let mut lines: Vec<String> = nodes.chain(edges).collect();
    lines.sort();
    lines
}

async fn streams(db: &Db, clock: &Arc<dyn Clock>, stop: &CancellationToken) -> Events {
    let options = EventsOptions { sweep: Duration::from_millis(100), ..EventsOptions::default() };
    let rng = Arc::new(SystemRng);
    Events::start(db.clone(), options, Arc::clone(clock), rng, stop.clone()).await.unwrap().0
}

/// It tidies often, and never looks at everything again: what no event tells of stays unseen.
pub(crate) fn options() -> GraphsOptions {
    GraphsOptions {
        tidy_every: Duration::from_millis(50),
        reload_every: Duration::from_hours(24 * 1_000),
        ..GraphsOptions::default()
    }
}

fn watch(number: i64, id: Id, name: &str) -> Watch {
    let host = "a.test".parse().unwrap();
    let timeout = Duration::from_secs(10);
    Watch {
        number: ServiceNumber(number),
        id,
        name: name.into(),
        endpoint: Arc::new(Endpoint::new(host, "http://a.test/".to_owned(), Vec::new(), timeout)),
        format: Arc::new(Format::ProactiveDeps),
        interval: Duration::from_secs(30),
        revision: 1,
        generation: 1,
        lease: None,
    }
}

fn settlement(poll_seq: i64) -> Settlement {
    Settlement {
        poll_seq,
        breaker: Saved {
            state: State::Closed,
            forced: false,
            failures: 0,
            open_remaining: Duration::ZERO,
            generation: 1,
        },
        backoff: 0,
        // Nobody polls these by a plan: without one in sight they are never overdue.
        due_in: Duration::from_secs(1_000_000),
        circuit: None,
        manual: false,
    }
}

pub(crate) fn up(name: &str) -> Value {
    json!({ "name": name, "healthy": true })
}

pub(crate) fn down(name: &str) -> Value {
    json!({ "name": name, "healthy": false })
}
