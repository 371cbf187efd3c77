//! The loop step by step, without waiting for time.

mod ahead;
mod logs;
mod runs;
mod silence;
mod suspects;
mod told;

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use mainstay_base::{Clock, IdSource, SystemRng};
use mainstay_events::{Events, EventsOptions};
use mainstay_store::{Dialect, StoreError, migrate};
use mainstay_testkit::{FakeClock, TestDatabase};
use serde_json::json;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::RunnerOptions;
use super::engine::Engine;
use super::errands::{Errand, Report};
use super::held::Stage;
use crate::context::Context;
use crate::error::JobsError;
use crate::handler::{Handler, JobError};
use crate::jobs::{Jobs, JobsOptions};
use crate::model::{Change, Claimed, JobView, Kind, Lease, NewJob, Status};
use crate::queue::Beat;

const MAX_RUN: Duration = Duration::from_mins(1);

type Hook = fn(&Change) -> Result<(), JobsError>;
type Work =
    dyn for<'a> Fn(&'a Claimed, &'a Context) -> BoxFuture<'a, Result<(), JobError>> + Send + Sync;

struct Doing {
    kind: Kind,
    max_run: Duration,
    hook: Option<Hook>,
    work: Box<Work>,
}

impl Handler for Doing {
    fn kind(&self) -> Kind {
        self.kind.clone()
    }

    fn max_run(&self) -> Duration {
        self.max_run
    }

    fn hooks(&self) -> bool {
        self.hook.is_some()
    }

    fn changed<'a>(
        &'a self,
        _: &'a mut mainstay_store::Tx,
        _: &'a mut mainstay_events::Outbox,
        change: &'a Change,
    ) -> BoxFuture<'a, Result<(), JobsError>> {
        std::future::ready(self.hook.map_or(Ok(()), |hook| hook(change))).boxed()
    }

    fn run<'a>(
        &'a self,
        job: &'a Claimed,
        context: &'a Context,
    ) -> BoxFuture<'a, Result<(), JobError>> {
        (self.work)(job, context)
    }
}

fn kind() -> Kind {
    Kind::new("work").unwrap()
}

fn made(
    work: impl for<'a> Fn(&'a Claimed, &'a Context) -> BoxFuture<'a, Result<(), JobError>>
    + Send
    + Sync
    + 'static,
) -> Doing {
    Doing { kind: kind(), max_run: MAX_RUN, hook: None, work: Box::new(work) }
}

fn doing(
    work: impl for<'a> Fn(&'a Claimed, &'a Context) -> BoxFuture<'a, Result<(), JobError>>
    + Send
    + Sync
    + 'static,
) -> Arc<dyn Handler> {
    Arc::new(made(work))
}

/// Never ends by itself.
fn hanging() -> Arc<dyn Handler> {
    doing(|_, _| std::future::pending().boxed())
}

/// An engine whose steps the test takes, on a clock that the test moves.
struct Bench {
    engine: Engine,
    clock: Arc<FakeClock>,
    jobs: Jobs,
    events: Events,
    ears: mainstay_events::Ears,
    _database: TestDatabase,
}

impl Bench {
    async fn new(handler: Arc<dyn Handler>) -> Self {
        let database = TestDatabase::new(Dialect::Sqlite).await;
        let clock = Arc::new(FakeClock::new());
        let shared = Arc::clone(&clock) as Arc<dyn Clock>;
        let db = database.open_with(Arc::clone(&shared), |_| {}).await;
        migrate::up(&db).await.unwrap();
        let stop = CancellationToken::new();
        let (options, rng) = (EventsOptions::default(), Arc::new(SystemRng));
        let started: Result<_, StoreError> =
            Events::start(db, options, Arc::clone(&shared), rng, stop.clone()).await;
        let (events, _tasks) = started.unwrap();
        let ids = IdSource::new(Arc::clone(&shared), Arc::new(SystemRng));
        let options = JobsOptions::default();
        let jobs = Jobs::new(events.clone(), shared, ids, Arc::new(SystemRng), options);
        let handlers = vec![handler];
        jobs.register(&handlers);
        let options = RunnerOptions {
            poll: Duration::from_hours(1),
            concurrency: 4,
            ..RunnerOptions::new("r")
        };
        let ears = events.doorbell().listen(mainstay_events::Topic::Jobs);
        let engine = Engine::new(jobs.clone(), handlers, options, stop);
        Self { engine, clock, jobs, events, ears, _database: database }
    }

    async fn enqueue(&self, count: usize) -> Vec<crate::Enqueued> {
        let new = vec![NewJob::new(kind(), json!(null)); count];
        self.events.write(async |tx, _| self.jobs.enqueue_many(tx, new).await).await.unwrap()
    }

    /// One turn of the loop, with whatever it then waits for.
    async fn turn(&mut self) {
        let now = self.clock.moment();
        self.engine.tick(now);
        self.engine.advance(now);
        self.engine.wait_for_something(&mut self.ears, now).await;
    }

    /// Turns until it is so.
    async fn turn_until(&mut self, is_so: impl Fn(&Engine) -> bool) {
        let turning = async {
            while !is_so(&self.engine) {
                self.turn().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), turning).await.expect("the loop goes on");
    }

    /// Waits for what is under way, and begins nothing new.
    async fn settle(&mut self) {
        while let Some(back) = self.engine.errands.next().await {
            self.engine.take_back(back);
        }
    }

    fn leases(&self) -> Vec<Lease> {
        let mut leases = self.engine.held.leases();
        leases.sort_unstable();
        leases
    }

    /// Waits until the handler's task has ended; the loop has not been told.
    async fn until_ended(&self, lease: Lease) {
        let holding = self.engine.held.get(lease).unwrap();
        let Stage::Running(task) = &holding.stage else { panic!("it does not run") };
        while !task.is_finished() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    async fn view(&self, id: mainstay_base::Id) -> JobView {
        self.jobs.find(id).await.unwrap().unwrap()
    }
}

#[tokio::test]
async fn jobs_that_are_being_started_count_as_load() {
    let mut bench = Bench::new(hanging()).await;
    bench.enqueue(4).await;
    bench.turn_until(|engine| engine.ready.len() == 4).await;
    let now = bench.clock.moment();
    bench.engine.begin_start();
    assert_eq!((bench.engine.ready.len(), bench.engine.errands.starting()), (0, 4));
    assert_eq!(bench.engine.load().held, 4);
    bench.engine.begin_fetch(now);
    assert!(!bench.engine.errands.is_fetching(), "its places are taken");
}

async fn is_given_back(bench: &Bench, made: &crate::Enqueued) {
    let view = bench.view(made.id).await;
    assert_eq!((view.status, view.attempts, view.locked_by), (Status::Queued, 0, None));
}

#[tokio::test]
async fn a_job_that_is_lost_while_it_is_being_started_is_given_back() {
    let mut bench = Bench::new(hanging()).await;
    let made = bench.enqueue(2).await;
    bench.turn_until(|engine| engine.ready.len() == 2).await;
    bench.engine.begin_start();
    let lost = bench.leases()[0];
    bench.engine.lose(lost);
    bench.settle().await;
    assert_eq!(bench.engine.marked.len(), 1, "its neighbour goes on");
    is_given_back(&bench, &made[0]).await;
}

#[tokio::test]
async fn a_start_that_failed_is_tried_again_for_what_is_still_held() {
    let mut bench = Bench::new(hanging()).await;
    let made = bench.enqueue(2).await;
    bench.turn_until(|engine| engine.ready.len() == 2).await;
    let jobs: Vec<Claimed> = bench.engine.ready.drain(..).collect();
    let lost = jobs[0].lease;
    bench.engine.queue.start(&[lost]).await.unwrap();
    bench.engine.lose(lost);
    let failed = Report::Started(Err(JobsError::LeaseLost));
    bench.engine.take_back((Errand::Start(jobs), Ok(failed)));
    bench.settle().await;
    assert_eq!(bench.engine.ready.len(), 1);
    is_given_back(&bench, &made[0]).await;
}

#[tokio::test]
async fn what_is_marked_and_not_begun_when_its_lease_can_not_be_trusted_is_given_back() {
    let mut bench = Bench::new(hanging()).await;
    let made = bench.enqueue(1).await;
    bench.turn_until(|engine| engine.ready.len() == 1).await;
    bench.engine.begin_start();
    bench.settle().await;
    assert_eq!(bench.engine.marked.len(), 1);
    bench.clock.advance(Duration::from_secs(251));
    bench.engine.tick(bench.clock.moment());
    bench.settle().await;
    assert!(bench.engine.marked.is_empty());
    is_given_back(&bench, &made[0]).await;
}

/// Panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("the bomb goes off");
    }
}

#[tokio::test]
async fn a_panic_at_a_handlers_end_is_no_neighbours() {
    let gate = Arc::new(Semaphore::new(0));
    let waiting = Arc::clone(&gate);
    let handler = doing(move |job, _| {
        let (waiting, is_bomb) = (Arc::clone(&waiting), job.lease.key == 1);
        async move {
            let _bomb = is_bomb.then(|| Bomb);
            waiting.acquire().await.unwrap().forget();
            Ok(())
        }
        .boxed()
    });
    let mut bench = Bench::new(handler).await;
    // A cancelled handler is dropped after a twelfth of this.
    bench.engine.options.ttl = Duration::from_millis(600);
    let made = bench.enqueue(2).await;
    bench.turn_until(|engine| engine.running == 2).await;
    let leases = bench.leases();
    bench.engine.held.get(leases[0]).unwrap().cancel.cancel();
    bench.until_ended(leases[0]).await;
    gate.add_permits(2);
    bench.until_ended(leases[1]).await;
    bench.turn_until(|engine| engine.held.is_empty()).await;
    let bomb = bench.view(made[0].id).await;
    assert_eq!((bomb.status, bomb.last_error.unwrap().code.as_str()), (Status::Queued, "panicked"));
    let neighbour = bench.view(made[1].id).await;
    assert_eq!((neighbour.status, neighbour.last_error), (Status::Succeeded, None));
}

#[tokio::test]
async fn what_a_task_that_panics_was_about_is_no_longer_kept_alive() {
    let mut bench = Bench::new(hanging()).await;
    let made = bench.enqueue(4).await;
    bench.turn_until(|engine| engine.ready.len() == 4).await;
    let (leases, first) = (bench.leases(), bench.engine.ready.pop_front().unwrap());
    let errands = [
        Errand::Start(vec![first]),
        Errand::Flush(vec![leases[1]]),
        Errand::Ending(leases[2]),
        Errand::Beat { sent: bench.clock.moment(), moves: true },
        Errand::Fetch,
        Errand::Release,
    ];
    let now = bench.clock.moment();
    for errand in errands {
        bench.engine.errands.send(errand, now, async { panic!("it was not to") });
    }
    bench.engine.errands.send(Errand::Flush(vec![leases[3]]), now, std::future::pending());
    for _ in 0..6 {
        let back = bench.engine.errands.next().await.unwrap();
        bench.engine.take_back(back);
    }
    assert_eq!(bench.leases(), [leases[3]]);
    let errands = &bench.engine.errands;
    assert_eq!((errands.flushes(), errands.starting()), (1, 0), "the other flush is not forgotten");
    assert!(!errands.is_beating() && !errands.is_fetching());
    let back = bench.engine.errands.next().await.unwrap();
    bench.engine.take_back(back);
    is_given_back(&bench, &made[0]).await;
}

#[tokio::test]
async fn a_job_that_its_handler_finishes_is_not_taken_for_lost() {
    let finished = Arc::new(Semaphore::new(0));
    let telling = Arc::clone(&finished);
    let handler = doing(move |_, context| {
        let telling = Arc::clone(&telling);
        async move {
            context.finish(async |_, _| Ok::<(), JobsError>(())).await?;
            telling.add_permits(1);
            std::future::pending().await
        }
        .boxed()
    });
    let mut bench = Bench::new(handler).await;
    bench.enqueue(1).await;
    bench.turn_until(|engine| engine.ready.len() == 1).await;
    let lease = bench.leases()[0];
    bench.turn_until(|engine| engine.running == 1).await;
    finished.acquire().await.unwrap().forget();
    let found = Report::Beat(Ok(Beat { lost: vec![lease], ..Beat::default() }));
    let beat = Errand::Beat { sent: bench.clock.moment(), moves: false };
    bench.engine.take_back((beat, Ok(found)));
    let later = bench.clock.moment().plus(Duration::from_hours(1));
    assert!(bench.engine.held.expired(later, Duration::ZERO).is_empty());
    let holding = bench.engine.held.get(lease).unwrap();
    assert!(!holding.is_lost && !holding.cancel.is_cancelled());
    assert!(bench.leases().is_empty(), "and nothing is left to keep alive");
}

#[tokio::test]
async fn a_loss_that_is_told_before_the_commit_is_known_is_left_to_the_handler() {
    let mut bench = Bench::new(hanging()).await;
    bench.enqueue(2).await;
    bench.turn_until(|engine| engine.running == 2).await;
    let leases = bench.leases();
    bench.engine.held.get(leases[0]).unwrap().progress.begin();
    let found = Report::Beat(Ok(Beat { lost: leases.clone(), ..Beat::default() }));
    let beat = Errand::Beat { sent: bench.clock.moment(), moves: false };
    bench.engine.take_back((beat, Ok(found)));
    let is_lost = |lease| bench.engine.held.get(lease).unwrap().is_lost;
    assert_eq!((is_lost(leases[0]), is_lost(leases[1])), (false, true));
}
