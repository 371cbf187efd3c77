//! Services that are polled by hand, and a recorder behind them.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use mainstay_base::{Clock, Id, IdSource, SystemRng, Timestamp};
use mainstay_breaker::{Saved, State};
use mainstay_events::{Ask, Events, EventsOptions};
use mainstay_monitor::roster::Settlement;
use mainstay_monitor::sink::PollSummary;
use mainstay_monitor::{
    Endpoint, FailureKind, Format, PollFailure, PollResult, Recorded, Recorder, Report,
    ServiceNumber, Sink, Watch,
};
use mainstay_store::{Db, Row, Sql, StoreError, Value, migrate, values};
use mainstay_testkit::{FakeClock, TestDatabase, set_database_clock};
use serde_json::json;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub(crate) struct House {
    pub(crate) clock: Arc<FakeClock>,
    pub(crate) db: Db,
    pub(crate) events: Events,
    pub(crate) recorder: Recorder,
    pub(crate) tasks: TaskTracker,
    pub(crate) stop: CancellationToken,
    pub(crate) ids: IdSource,
    polls: AtomicI64,
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
        let started =
            Events::start(db.clone(), options, Arc::clone(&shared), rng.clone(), stop.clone());
        let (events, _) = started.await.unwrap();
        let ids = IdSource::new(Arc::clone(&shared), rng);
        let tasks = TaskTracker::new();
        let recorder = Recorder::start(events.clone(), shared, ids.clone(), &tasks, stop.clone());
        Self { clock, db, events, recorder, tasks, stop, ids, polls: AtomicI64::new(0) }
    }

    /// Another recorder on the same database, which knows nothing yet.
    pub(crate) fn another_recorder(&self) -> Recorder {
        let (events, clock) = (self.events.clone(), Arc::clone(&self.clock));
        Recorder::start(events, clock, self.ids.clone(), &self.tasks, self.stop.clone())
    }

    /// Makes an active service that was never polled.
    pub(crate) async fn service(&self, name: &str) -> Arc<Watch> {
        let id = self.ids.next();
        let now = self.clock.now();
        let insert = Sql::same(
            "test.service",
            "INSERT INTO services (id, name, name_key, health_endpoint, format, poll_interval_ms,
               timeout_ms, header_names, is_active, revision, generation, created_at, updated_at)
             VALUES ($1, $2, $2, 'http://a.test/', 'proactive-deps', 30000, 10000, '[]', 1, 1, 1, $3, $3)
             RETURNING number",
        );
        let state = Sql::same(
            "test.state",
            "INSERT INTO service_states (service_no, poll_seq, dependency_revision, status,
               status_since, breaker_state, breaker_failures, breaker_generation, backoff_attempt,
               healthy_count, degraded_count, down_count, skipped_count)
             VALUES ($1, 0, 0, 'unknown', $2, 'closed', 0, 0, 0, 0, 0, 0, 0)",
        );
        let number: Result<i64, StoreError> = self
            .db
            .write(async |tx| {
                let row = tx.fetch_one(&insert, values![id, name, now]).await?;
                let number: i64 = row.get("number")?;
                tx.execute(&state, values![number, now]).await?;
                Ok(number)
            })
            .await;
        Arc::new(watch(number.unwrap(), id, name))
    }

    /// A result as the engine would hand it over; it is not handed over yet.
    pub(crate) fn result(
        &self,
        watch: &Arc<Watch>,
        outcome: Result<Report, PollFailure>,
    ) -> PollResult {
        PollResult {
            watch: Arc::clone(watch),
            at: self.clock.now(),
            latency: Duration::from_millis(12),
            outcome,
            settlement: settlement(self.polls.fetch_add(1, Ordering::SeqCst) + 1),
            recorded: None,
        }
    }

    /// Hands a result over and waits for what becomes of it.
    pub(crate) async fn hand_over(&self, mut result: PollResult) -> Recorded {
        let (sender, receiver) = oneshot::channel();
        result.recorded = Some(sender);
        self.recorder.take(result);
        receiver.await.unwrap()
    }

    /// The service answers with this body.
    pub(crate) async fn answers(
        &self,
        watch: &Arc<Watch>,
        body: &serde_json::Value,
    ) -> PollSummary {
        let report = self.read(body);
        self.written(self.result(watch, Ok(report))).await
    }

    /// The service does not answer.
    pub(crate) async fn fails(&self, watch: &Arc<Watch>, message: &str) -> PollSummary {
        let failure = PollFailure { kind: FailureKind::Timeout, message: message.to_owned() };
        self.written(self.result(watch, Err(failure))).await
    }

    pub(crate) fn read(&self, body: &serde_json::Value) -> Report {
        Format::ProactiveDeps.read(body.to_string().as_bytes(), self.clock.now()).unwrap()
    }

    async fn written(&self, result: PollResult) -> PollSummary {
        match self.hand_over(result).await {
            Recorded::Written(summary) => summary,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn pass(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
        set_database_clock(&self.db, &self.clock);
    }

    /// The types of all events so far, with the dependency they are about.
    pub(crate) async fn told(&self) -> Vec<String> {
        let all = self.all_events().await;
        let about = |event: &serde_json::Value| {
            let kind = event["type"].as_str().unwrap();
            match event["dependency_name"].as_str() {
                Some(name) => format!("{kind} {name}"),
                None => kind.to_owned(),
            }
        };
        all.iter().map(about).collect()
    }

    pub(crate) async fn all_events(&self) -> Vec<serde_json::Value> {
        let history = self.events.history(&Ask::default(), 1_000).await.unwrap();
        let read = |event: &mainstay_events::Delivery| {
            let frame = std::str::from_utf8(&event.frame).unwrap();
            serde_json::from_str(frame.trim().strip_prefix("data: ").unwrap()).unwrap()
        };
        history.events.iter().map(read).collect()
    }

    pub(crate) async fn rows(&self, sql: &'static str, values: &[Value<'_>]) -> Vec<Row> {
        self.db.fetch_all(&Sql::same("test.rows", sql), values).await.unwrap()
    }

    pub(crate) async fn execute(&self, sql: &'static str, values: &[Value<'_>]) {
        let sql = Sql::same("test.execute", sql);
        let done: Result<u64, StoreError> =
            self.db.write(async |tx| tx.execute(&sql, values).await).await;
        done.unwrap();
    }

    pub(crate) async fn text(&self, sql: &'static str) -> Option<String> {
        self.rows(sql, &[]).await.first().and_then(|row| row.get("v").unwrap())
    }

    pub(crate) async fn number(&self, sql: &'static str) -> i64 {
        self.rows(sql, &[]).await[0].get("v").unwrap()
    }

    /// The moment in the first row, if there is one.
    pub(crate) async fn since(&self, sql: &'static str) -> Option<i64> {
        self.rows(sql, &[]).await[0].get("v").unwrap()
    }

    /// One line for each row of changes.
    pub(crate) async fn changes(&self) -> Vec<String> {
        let sql = "SELECT c.kind, d.name, c.before, c.after FROM changes AS c
                   LEFT JOIN dependencies AS d ON d.number = c.dependency_no ORDER BY c.number";
        let line = |row: &Row| {
            let text =
                |column| row.get::<Option<String>>(column).unwrap().unwrap_or("-".to_owned());
            format!("{} {} {} {}", text("kind"), text("name"), text("before"), text("after"))
        };
        self.rows(sql, &[]).await.iter().map(line).collect()
    }
}

pub(crate) fn watch(number: i64, id: Id, name: &str) -> Watch {
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

pub(crate) fn settlement(poll_seq: i64) -> Settlement {
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
        due_in: Duration::from_secs(30),
        circuit: None,
        manual: false,
    }
}

pub(crate) fn up(name: &str) -> serde_json::Value {
    json!({ "name": name, "healthy": true, "health": { "state": 0, "code": 200, "latency": 7 } })
}

pub(crate) fn down(name: &str) -> serde_json::Value {
    json!({ "name": name, "healthy": false })
}

pub(crate) fn at(timestamp: Timestamp) -> i64 {
    timestamp.as_millis()
}
