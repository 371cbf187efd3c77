//! The room with all it stands on, and a payment service that it asks.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{Clock, Id, IdSource, Moment, Secret, SystemClock, SystemRng, Timestamp};
use mainstay_events::{Ask, Events, EventsOptions, Outbox, Streams};
use mainstay_jobs::{Handler, Jobs, JobsOptions, Runner, RunnerOptions, RunnerTask};
use mainstay_journeys::kept::{RunDetail, RunStatus};
use mainstay_journeys::{
    Courier, JourneyRunner, Journeys, JourneysError, JourneysOptions, Luggage, Secrets,
};
use mainstay_outbound::{Policy, Web, WebOptions};
use mainstay_standins::payments::{PaymentServer, Settling};
use mainstay_store::{Db, Dialect, Sql, Tx, migrate};
use mainstay_testkit::TestDatabase;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

pub(crate) const SECRET: &str = "hunter2-and-more";

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

    pub(crate) async fn keep(&self, source: &str) -> Result<Id, JourneysError> {
        let kept =
            async |tx: &mut Tx, out: &mut Outbox| self.journeys.create(tx, out, source, true).await;
        Ok(self.events.write(kept).await?.id)
    }

    pub(crate) async fn run_now(&self, id: Id) -> Result<Id, JourneysError> {
        let begun = self.events.write(async |tx, _| self.journeys.run_now(tx, id).await);
        Ok(begun.await?.id)
    }

    /// Waits (bounded) until the run has ended.
    pub(crate) async fn ended(&self, run: Id) -> RunDetail {
        for _ in 0..2_000 {
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

    /// Waits (bounded) until the run stands so.
    pub(crate) async fn until(&self, run: Id, status: RunStatus) {
        for _ in 0..2_000 {
            if self.journeys.run(run).await.unwrap().run.status == status {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("the run never came there: {:?}", self.journeys.run(run).await);
    }

    pub(crate) fn runner(&self) -> Running {
        self.runner_with_grace(Duration::from_secs(30))
    }

    pub(crate) fn runner_with_grace(&self, grace: Duration) -> Running {
        let poll = Duration::from_millis(50);
        let options = RunnerOptions { poll, concurrency: 8, grace, ..RunnerOptions::new("r") };
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

    pub(crate) async fn execute(&self, sql: &'static str) {
        let sql = Sql::same("test.execute", sql);
        self.db.write(async |tx| tx.execute(&sql, &[]).await).await.unwrap();
    }

    /// What the organisation was told, without what only counts edits.
    pub(crate) async fn told(&self) -> Vec<Value> {
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
