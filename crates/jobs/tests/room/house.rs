//! A queue with a clock to move, handlers that remember, and runners with short leases.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::BoxFuture;
use mainstay_base::{Clock, Id, IdSource, SystemClock, SystemRng, Timestamp};
use mainstay_events::{Events, EventsOptions, Outbox};
use mainstay_jobs::decide::{ClaimPlan, Suspects};
use mainstay_jobs::{
    Change, Claimed, Context, Handler, JobError, JobView, Jobs, JobsError, JobsOptions, Kind,
    NewJob, Queue, Runner, RunnerOptions, RunnerTask,
};
use mainstay_store::{Db, Sql, StoreError, Tx, migrate};
use mainstay_testkit::{FakeClock, TestDatabase};
use serde_json::json;
use tokio_util::sync::CancellationToken;

pub(crate) const TTL: Duration = Duration::from_secs(300);
pub(crate) const SECOND: Duration = Duration::from_secs(1);

/// A queue whose time stands still until a test moves it.
pub(crate) struct House {
    pub(crate) clock: Arc<FakeClock>,
    pub(crate) db: Db,
    pub(crate) events: Events,
    pub(crate) jobs: Jobs,
    moved: AtomicI64,
    stop: CancellationToken,
}

impl House {
    pub(crate) async fn new(database: &TestDatabase) -> Self {
        let clock = Arc::new(FakeClock::new());
        let shared = Arc::clone(&clock) as Arc<dyn Clock>;
        let db = database.open_with(Arc::clone(&shared), |_| {}).await;
        migrate::up(&db).await.unwrap();
        let stop = CancellationToken::new();
        let (events, jobs) = open(&db, shared, &stop).await;
        Self { clock, db, events, jobs, moved: AtomicI64::new(0), stop }
    }

    /// Moves every clock.
    pub(crate) fn advance(&self, duration: Duration) {
        self.clock.advance(duration);
        self.shift(i64::try_from(duration.as_millis()).unwrap());
    }

    /// Sets every wall clock back, as an administrator does.
    pub(crate) fn set_back(&self, duration: Duration) {
        let millis = i64::try_from(duration.as_millis()).unwrap();
        self.clock.step_wall(Timestamp::from_millis(self.clock.now().as_millis() - millis));
        self.shift(-millis);
    }

    fn shift(&self, millis: i64) {
        let moved = self.moved.fetch_add(millis, Ordering::SeqCst) + millis;
        self.db.shift_clock(moved);
    }

    /// Another runner's hands.
    pub(crate) fn queue(&self, runner: &str) -> Queue {
        Queue::new(self.jobs.clone(), runner.to_owned(), TTL)
    }

    pub(crate) async fn enqueue(&self, new: NewJob) -> Id {
        enqueue(&self.jobs, &self.events, new).await
    }

    /// Several of kind `work`, oldest first.
    pub(crate) async fn enqueue_some(&self, count: usize) -> Vec<Id> {
        let mut ids = Vec::new();
        for number in 0..count {
            ids.push(self.enqueue(NewJob::new(work(), json!({ "number": number }))).await);
        }
        ids
    }

    pub(crate) async fn view(&self, id: Id) -> JobView {
        self.jobs.find(id).await.unwrap().unwrap()
    }

    pub(crate) async fn count(&self, sql: &'static str) -> i64 {
        let sql = Sql::same("test.count", sql);
        self.db.fetch_one(&sql, &[]).await.unwrap().get("n").unwrap()
    }

    pub(crate) async fn write<T>(
        &self,
        work: impl AsyncFnOnce(&mut Tx, &mut Outbox) -> Result<T, JobsError>,
    ) -> Result<T, JobsError> {
        self.events.write(work).await
    }
}

impl Drop for House {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// A queue in real time, for runners.
pub(crate) struct LiveHouse {
    pub(crate) db: Db,
    pub(crate) events: Events,
    pub(crate) jobs: Jobs,
    stop: CancellationToken,
}

impl LiveHouse {
    pub(crate) async fn new(database: &TestDatabase) -> Self {
        Self::on(database.open_migrated().await).await
    }

    pub(crate) async fn on(db: Db) -> Self {
        Self::by(db, Arc::new(SystemClock::new())).await
    }

    pub(crate) async fn by(db: Db, clock: Arc<dyn Clock>) -> Self {
        let stop = CancellationToken::new();
        let (events, jobs) = open(&db, clock, &stop).await;
        Self { db, events, jobs, stop }
    }

    pub(crate) async fn enqueue(&self, new: NewJob) -> Id {
        enqueue(&self.jobs, &self.events, new).await
    }

    pub(crate) fn run(&self, handlers: Vec<Arc<dyn Handler>>, options: RunnerOptions) -> Running {
        let stop = CancellationToken::new();
        let task = Runner::start(self.jobs.clone(), handlers, vec![], options, stop.clone());
        Running { stop, task }
    }

    /// Waits (bounded) until the job looks as wanted.
    pub(crate) async fn until(&self, id: Id, is_so: impl Fn(&JobView) -> bool) -> JobView {
        for _ in 0..6_000 {
            let view = self.jobs.find(id).await.unwrap().unwrap();
            if is_so(&view) {
                return view;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("the job never came there: {:?}", self.jobs.find(id).await.unwrap());
    }
}

impl Drop for LiveHouse {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

pub(crate) struct Running {
    pub(crate) stop: CancellationToken,
    task: RunnerTask,
}

impl Running {
    pub(crate) async fn stop(self) {
        self.stop.cancel();
        let bound = tokio::time::timeout(60 * SECOND, self.task.finished()).await;
        bound.expect("a runner that is told to stop stops");
    }
}

/// A short lease for tests in real time.
pub(crate) fn short(id: &str) -> RunnerOptions {
    RunnerOptions {
        ttl: 6 * SECOND,
        poll: Duration::from_millis(100),
        concurrency: 4,
        ..RunnerOptions::new(id)
    }
}

/// A handler made of a closure that runs on a borrowed context.
pub(crate) struct Doing<F> {
    pub(crate) kind: Kind,
    pub(crate) limit: Option<u32>,
    pub(crate) hooks: bool,
    pub(crate) keeps_record: bool,
    pub(crate) waits_long: bool,
    pub(crate) changes: Arc<Mutex<Vec<Change>>>,
    pub(crate) work: F,
}

impl<F> Doing<F>
where
    F: for<'a> Fn(&'a Claimed, &'a Context) -> BoxFuture<'a, Result<(), JobError>>
        + Send
        + Sync
        + 'static,
{
    pub(crate) fn new(kind: Kind, work: F) -> Self {
        let (limit, changes) = (None, Arc::default());
        Self { kind, limit, hooks: false, keeps_record: false, waits_long: false, changes, work }
    }

    pub(crate) fn hooked(mut self) -> Self {
        self.hooks = true;
        self
    }

    pub(crate) fn with_record(mut self) -> Self {
        self.keeps_record = true;
        self
    }

    pub(crate) fn waiting_long(mut self) -> Self {
        self.waits_long = true;
        self
    }

    pub(crate) fn limited(mut self, limit: u32) -> Self {
        self.limit = Some(limit);
        self
    }

    pub(crate) fn changes(&self) -> Arc<Mutex<Vec<Change>>> {
        Arc::clone(&self.changes)
    }

    pub(crate) fn boxed(self) -> Arc<dyn Handler> {
        Arc::new(self)
    }
}

impl<F> Handler for Doing<F>
where
    F: for<'a> Fn(&'a Claimed, &'a Context) -> BoxFuture<'a, Result<(), JobError>>
        + Send
        + Sync
        + 'static,
{
    fn kind(&self) -> Kind {
        self.kind.clone()
    }

    fn concurrency(&self) -> Option<u32> {
        self.limit
    }

    fn run<'a>(
        &'a self,
        job: &'a Claimed,
        context: &'a Context,
    ) -> BoxFuture<'a, Result<(), JobError>> {
        (self.work)(job, context)
    }

    fn keeps_record(&self) -> bool {
        self.keeps_record
    }

    fn waits_long(&self) -> bool {
        self.waits_long
    }

    fn hooks(&self) -> bool {
        self.hooks
    }

    fn changed<'a>(
        &'a self,
        _tx: &'a mut Tx,
        _out: &'a mut Outbox,
        change: &'a Change,
    ) -> BoxFuture<'a, Result<(), JobsError>> {
        self.changes.lock().unwrap().push(change.clone());
        Box::pin(std::future::ready(Ok(())))
    }
}

pub(crate) fn work() -> Kind {
    Kind::new("work").unwrap()
}

/// Claims of kind `work` at the usual priority.
pub(crate) fn claim(limit: u32) -> ClaimPlan {
    ClaimPlan { kind: work(), priority: 0, limit, suspects: Suspects::Left }
}

/// Takes the first, whatever became of its runner.
pub(crate) fn claim_alone() -> ClaimPlan {
    ClaimPlan { suspects: Suspects::Any, ..claim(1) }
}

pub(crate) async fn enqueue(jobs: &Jobs, events: &Events, new: NewJob) -> Id {
    let made = events.write(async |tx, _| jobs.enqueue(tx, new).await.map(|made| made.id)).await;
    made.unwrap()
}

async fn open(db: &Db, clock: Arc<dyn Clock>, stop: &CancellationToken) -> (Events, Jobs) {
    let started: Result<_, StoreError> = Events::start(
        db.clone(),
        EventsOptions::default(),
        Arc::clone(&clock),
        Arc::new(SystemRng),
        stop.clone(),
    )
    .await;
    let (events, _tasks) = started.unwrap();
    let ids = IdSource::new(Arc::clone(&clock), Arc::new(SystemRng));
    let options = JobsOptions::default();
    let jobs = Jobs::new(events.clone(), clock, ids, Arc::new(SystemRng), options);
    (events, jobs)
}
