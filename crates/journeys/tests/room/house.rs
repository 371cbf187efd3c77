//! The room with all it stands on, and a payment service that it asks.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{Clock, Id, IdSource, Moment, Secret, SystemClock, SystemRng, Timestamp};
use mainstay_events::{Ask, Events, EventsOptions, Outbox, Streams};
use mainstay_jobs::{
    Cause, Change, Handler, Jobs, JobsOptions, Runner, RunnerOptions, RunnerTask, Status,
};
use mainstay_journeys::kept::{RunDetail, RunStatus, RunView};
use mainstay_journeys::{
    Courier, JourneyEdit, JourneyRunner, Journeys, JourneysError, JourneysOptions, Luggage,
    ReadSource, Secrets,
};
use mainstay_outbound::{Policy, Web, WebOptions};
use mainstay_standins::payments::{PaymentServer, Settling};
use mainstay_store::{Db, Dialect, Sql, Tx, migrate};
use mainstay_testkit::TestDatabase;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

pub(crate) const SECRET: &str = "hunter2-and-more";
/// A run under way tells that there is more to see of it.
pub(crate) const PROGRESSED: &str = "journey:run_progressed";

/// The room.
pub(crate) struct House {
    pub(crate) db: Db,
    pub(crate) events: Events,
    pub(crate) jobs: Jobs,
    pub(crate) journeys: Journeys,
    pub(crate) payments: Arc<PaymentServer>,
    handler: Arc<dyn Handler>,
    stop: CancellationToken,
}

impl House {
    pub(crate) async fn new(database: &TestDatabase) -> Self {
        let payments = PaymentServer::start(Settling::Approves { after: 1 }).await.unwrap();
        Self::build(database, Duration::ZERO, Arc::new(payments)).await
    }

    /// The same room some time later: its clocks are ahead by so much.
    pub(crate) async fn later(&self, database: &TestDatabase, ahead: Duration) -> Self {
        Self::build(database, ahead, Arc::clone(&self.payments)).await
    }

    async fn build(database: &TestDatabase, ahead: Duration, payments: Arc<PaymentServer>) -> Self {
        let clock: Arc<dyn Clock> = Arc::new(Ahead(SystemClock::new(), ahead));
        let db = database.open_with(Arc::clone(&clock), |_| {}).await;
        if db.dialect() == Dialect::Postgres {
            db.shift_clock(i64::try_from(ahead.as_millis()).unwrap());
        }
        migrate::up(&db).await.unwrap();
        let stop = CancellationToken::new();
        let (options, rng) = (EventsOptions::default(), Arc::new(SystemRng));
        let starting = Events::start(db.clone(), options, Arc::clone(&clock), rng, stop.clone());
        let events = starting.await.unwrap().0;
        let ids = IdSource::new(Arc::clone(&clock), Arc::new(SystemRng));
        let (rng, options) = (Arc::new(SystemRng), JobsOptions::default());
        let jobs = Jobs::new(events.clone(), Arc::clone(&clock), ids.clone(), rng, options);
        let journeys = Journeys::new(JourneysOptions {
            events: events.clone(),
            jobs: jobs.clone(),
            ids,
            secret_names: BTreeSet::from(["TOKEN".to_owned()]),
        });
        let luggage = luggage(clock);
        let handler: Arc<dyn Handler> =
            Arc::new(JourneyRunner::new(journeys.clone(), luggage).unwrap());
        jobs.register(&[Arc::clone(&handler)]);
        Self { db, events, jobs, journeys, payments, handler, stop }
    }

    /// A journey that asks for a payment, as `more` says beside its name.
    pub(crate) fn source(&self, name: &str, more: &str) -> String {
        let base = self.payments.base_url();
        format!(
            "journey: {name}\n{more}\nsteps:\n  - id: create\n    post: \"{base}/authorizations\"\n    json: {{ amount: 1 }}\n    expect: {{ status: 201 }}\n"
        )
    }

    /// A journey that asks for a payment and watches what becomes of it.
    pub(crate) fn watching(&self) -> String {
        let base = self.payments.base_url();
        format!(
            "journey: watch\nwithin: 2m\nsteps:\n  - id: create\n    post: \"{base}/authorizations\"\n    json: {{}}\n    \
             capture: {{ id: \"$.id\" }}\n    poll:\n      get: \"{base}/authorizations/{{{{ id }}}}\"\n      every: 50ms\n      \
             within: 2m\n      when:\n        - {{ if: {{ \"$.status\": processing }}, do: continue }}\n        \
             - {{ if: {{ \"$.status\": approved }}, do: done }}\n        - {{ do: error, reason: declined }}\n"
        )
    }

    pub(crate) async fn change(&self, id: Id, edit: JourneyEdit) {
        let changed =
            self.events.write(async |tx, out| self.journeys.change(tx, out, id, edit).await);
        changed.await.unwrap();
    }

    /// Switches a journey on or off.
    pub(crate) async fn switch(&self, id: Id, is_enabled: bool) {
        let edit = JourneyEdit { is_enabled: Some(is_enabled), ..JourneyEdit::default() };
        self.change(id, edit).await;
    }

    pub(crate) async fn remove(&self, id: Id) {
        let removed = self.events.write(async |tx, out| self.journeys.remove(tx, out, id).await);
        removed.await.unwrap();
    }

    pub(crate) async fn keep(&self, source: &str) -> Result<Id, JourneysError> {
        let read = ReadSource::read(source)?;
        let kept =
            async |tx: &mut Tx, out: &mut Outbox| self.journeys.create(tx, out, &read, true).await;
        Ok(self.events.write(kept).await?.id)
    }

    pub(crate) async fn run_now(&self, id: Id) -> Result<Id, JourneysError> {
        let begun = self.events.write(async |tx, _| self.journeys.run_now(tx, id).await);
        Ok(begun.await?.id)
    }

    pub(crate) async fn cancel(&self, run: Id) -> Result<RunView, JourneysError> {
        self.events.write(async |tx, out| self.journeys.cancel(tx, out, run).await).await
    }

    /// Waits (bounded) until a run shows what is asked for.
    pub(crate) async fn until(&self, run: Id, shows: impl Fn(&RunDetail) -> bool) -> RunDetail {
        for _ in 0..6_000 {
            let found = self.journeys.run(run).await.unwrap();
            if shows(&found) {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("the run never showed it: {:?}", self.journeys.run(run).await);
    }

    /// The job of a run.
    pub(crate) async fn job(&self, run: Id) -> Id {
        let sql = Sql::same("test.job", "SELECT job_id FROM journey_runs WHERE id = $1");
        self.db.fetch_one(&sql, mainstay_store::values![run]).await.unwrap().get("job_id").unwrap()
    }

    /// Tells the hook of a run's job that this has happened to it.
    pub(crate) async fn tell(&self, run: Id, cause: Cause) {
        let change = Change {
            id: self.job(run).await,
            kind: self.handler.kind(),
            subject: None,
            payload: serde_json::json!({"run_id": run}),
            attempts: 1,
            cause,
            status: Status::Queued,
            next_run_at: Timestamp::from_millis(0),
            failure: None,
        };
        let told = self.events.write(async |tx, out| self.handler.changed(tx, out, &change).await);
        told.await.unwrap();
    }

    /// In how many rows of the whole database this text stands.
    pub(crate) async fn rows_with(&self, text: &str) -> i64 {
        let columns = Sql::pair(
            "test.columns",
            "SELECT m.name AS place, c.name AS field FROM sqlite_master AS m
             JOIN pragma_table_info(m.name) AS c WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'",
            "SELECT table_name::text AS place, column_name::text AS field
             FROM information_schema.columns WHERE table_schema = current_schema()",
        );
        let mut rows = 0;
        for column in self.db.fetch_all(&columns, &[]).await.unwrap() {
            let (place, field): (String, String) =
                (column.get("place").unwrap(), column.get("field").unwrap());
            let sql = format!(
                "SELECT count(*) AS n FROM \"{place}\" WHERE CAST(\"{field}\" AS text) LIKE '%{text}%'"
            );
            rows += self.count(Box::leak(sql.into_boxed_str())).await;
        }
        rows
    }

    /// Waits (bounded) until so many payments were asked for.
    pub(crate) async fn until_created(&self, wanted: usize) {
        for _ in 0..6_000 {
            if self.payments.created() >= wanted {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{} payments were asked for, and not {wanted}", self.payments.created());
    }

    /// Waits (bounded) until the run has ended.
    pub(crate) async fn ended(&self, run: Id) -> RunDetail {
        for _ in 0..6_000 {
            let found = self.journeys.run(run).await.unwrap();
            if found.run.finished_at.is_some() {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("the run never ended: {:?}", self.journeys.run(run).await);
    }

    /// Runs a journey to its end.
    pub(crate) async fn run(&self, id: Id) -> RunDetail {
        let run = self.run_now(id).await.unwrap();
        self.ended(run).await
    }

    pub(crate) fn runner(&self) -> Running {
        self.runner_with_grace(Duration::from_secs(30))
    }

    pub(crate) fn runner_with_grace(&self, grace: Duration) -> Running {
        self.runner_of(8, grace)
    }

    /// One that looks after its leases every few minutes.
    pub(crate) fn runner_that_seldom_beats(&self) -> Running {
        let ttl = Duration::from_mins(10);
        self.start(RunnerOptions { ttl, ..options(8, Duration::from_secs(30)) })
    }

    /// One with as many hands as the server gives journeys.
    pub(crate) fn strong_runner(&self) -> Running {
        self.runner_of(32, Duration::from_secs(30))
    }

    /// One that runs one journey at a time.
    pub(crate) fn weak_runner(&self) -> Running {
        self.runner_of(1, Duration::from_secs(30))
    }

    fn runner_of(&self, concurrency: u32, grace: Duration) -> Running {
        self.start(options(concurrency, grace))
    }

    fn start(&self, options: RunnerOptions) -> Running {
        let (stop, handlers) = (CancellationToken::new(), vec![Arc::clone(&self.handler)]);
        let task = Runner::start(self.jobs.clone(), handlers, vec![], options, stop.clone());
        Running { stop, task }
    }

    pub(crate) async fn statuses(&self, id: Id) -> Vec<RunStatus> {
        let runs = self.journeys.runs(id, None, 200).await.unwrap();
        runs.items.iter().map(|run| run.status).collect()
    }

    pub(crate) async fn count(&self, sql: &'static str) -> i64 {
        let sql = Sql::same("test.count", sql);
        self.db.fetch_one(&sql, &[]).await.unwrap().get("n").unwrap()
    }

    /// Waits (bounded) until it counts so many.
    pub(crate) async fn until_count(&self, sql: &'static str, wanted: i64) {
        for _ in 0..2_400 {
            if self.count(sql).await == wanted {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("{sql} counts {}, and not {wanted}", self.count(sql).await);
    }

    pub(crate) async fn execute(&self, sql: &'static str) {
        let sql = Sql::same("test.execute", sql);
        self.db.write(async |tx| tx.execute(&sql, &[]).await).await.unwrap();
    }

    /// What the organisation was told of runs and of what came of them, without what only counts edits or tells that
    /// a run is not over yet: a busy machine has more of that.
    pub(crate) async fn told(&self) -> Vec<Value> {
        let told = self.all_told().await;
        told.into_iter().filter(|event| event["type"] != PROGRESSED).collect()
    }

    /// The same with what tells that a run is not over yet.
    pub(crate) async fn all_told(&self) -> Vec<Value> {
        let streams = Streams { org: true, user: false };
        let ask = Ask { streams, ..Ask::default() };
        let history = self.events.history(&ask, 200).await.unwrap();
        let frames = history.events.iter().map(|event| {
            let text = String::from_utf8_lossy(&event.frame).into_owned();
            let data = text.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
            serde_json::from_str::<Value>(data).unwrap()
        });
        frames.filter(|event| event["type"] != "journey:changed").collect()
    }

    pub(crate) async fn kinds(&self) -> Vec<String> {
        let told = self.told().await;
        let kinds = told.iter().map(|event| match event["outcome"].as_str() {
            Some(outcome) => format!("{} {outcome}", event["type"].as_str().unwrap()),
            None => event["type"].as_str().unwrap().to_owned(),
        });
        kinds.collect()
    }
}

impl Drop for House {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

fn luggage(clock: Arc<dyn Clock>) -> Luggage {
    let policy = Policy { private: true, ..Policy::default() };
    let options = WebOptions::new(policy, Arc::clone(&clock)).unwrap();
    let courier = Courier::new(Web::new(&options).unwrap(), Arc::clone(&clock)).unwrap();
    let secrets = Secrets::from([("TOKEN".to_owned(), Secret::new(SECRET.to_owned()))]);
    Luggage { courier, secrets, clock }
}

fn options(concurrency: u32, grace: Duration) -> RunnerOptions {
    let poll = Duration::from_millis(50);
    RunnerOptions { poll, concurrency, grace, ..RunnerOptions::new("r") }
}

/// A runner.
pub(crate) struct Running {
    stop: CancellationToken,
    task: RunnerTask,
}

impl Running {
    pub(crate) async fn stop(self) {
        self.stop.cancel();
        let bound = tokio::time::timeout(Duration::from_secs(60), self.task.finished()).await;
        bound.expect("a runner that is told to stop stops");
    }
}

/// A clock that is ahead.
struct Ahead(SystemClock, Duration);

impl Clock for Ahead {
    fn now(&self) -> Timestamp {
        self.0.now().plus(self.1)
    }

    fn moment(&self) -> Moment {
        self.0.moment().plus(self.1)
    }
}
