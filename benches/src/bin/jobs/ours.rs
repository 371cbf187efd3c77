//! Mainstay's queue.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use mainstay_base::{Clock, IdSource, Secret, SystemClock, SystemRng};
use mainstay_benches::cluster::Cluster;
use mainstay_benches::cpu::process_time;
use mainstay_events::{Events, EventsOptions};
use mainstay_jobs::{
    Claimed, Context, Handler, JobError, Jobs, JobsError, JobsOptions, Kind, NewJob, Runner,
    RunnerOptions,
};
use mainstay_store::{Db, Sql, StoreOptions, Target, migrate};
use serde_json::json;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::JOBS;

/// Jobs that are enqueued together.
pub(crate) const TOGETHER: usize = 1_000;
/// Jobs that are enqueued one by one.
pub(crate) const ONE_BY_ONE: usize = 1_000;
/// Jobs whose pick-up is timed, and the pause between two.
pub(crate) const PICKED_UP: usize = 200;
pub(crate) const PAUSE: Duration = Duration::from_millis(25);

const UNFINISHED: Sql =
    Sql::same("bench.unfinished", "SELECT 1 AS one FROM jobs WHERE claim_at IS NOT NULL LIMIT 1");

/// What draining a full queue gave.
pub(crate) struct Drained {
    pub(crate) jobs_per_s: f64,
    pub(crate) cpu_ms: f64,
    pub(crate) enqueued_per_s: f64,
}

struct House {
    db: Db,
    events: Events,
    jobs: Jobs,
    stop: CancellationToken,
}

/// Counts, and tells when all are done; or tells when it began.
#[derive(Default)]
struct Trivial {
    done: AtomicUsize,
    all: usize,
    finished: Notify,
    began: Mutex<Option<Instant>>,
}

impl Handler for Trivial {
    fn kind(&self) -> Kind {
        kind()
    }

    fn run<'a>(&'a self, _: &'a Claimed, _: &'a Context) -> BoxFuture<'a, Result<(), JobError>> {
        if self.all == 1 {
            *self.began.lock().unwrap_or_else(std::sync::PoisonError::into_inner) =
                Some(Instant::now());
        }
        if self.done.fetch_add(1, Ordering::Relaxed) + 1 >= self.all {
            self.finished.notify_one();
        }
        std::future::ready(Ok(())).boxed()
    }
}

/// Enqueues [`JOBS`] in thousands, then runs them all.
pub(crate) async fn drain(cluster: &Cluster, concurrency: u32) -> anyhow::Result<Drained> {
    let house = House::open(&cluster.database().await?, true).await?;
    let began = Instant::now();
    for _ in 0..JOBS / TOGETHER {
        let new = vec![NewJob::new(kind(), json!({ "n": 1 })); TOGETHER];
        let enqueued: Result<_, JobsError> =
            house.events.write(async |tx, _| house.jobs.enqueue_many(tx, new).await).await;
        enqueued?;
    }
    let enqueued_per_s = JOBS as f64 / began.elapsed().as_secs_f64();
    let handler = Arc::new(Trivial { all: JOBS, ..Trivial::default() });
    let (began, cpu) = (Instant::now(), process_time());
    let options = RunnerOptions { concurrency, ..RunnerOptions::new("bench") };
    let handlers = vec![Arc::clone(&handler) as Arc<dyn Handler>];
    let stop = house.stop.clone();
    let runner = Runner::start(house.jobs.clone(), handlers, vec![], options, stop);
    handler.finished.notified().await;
    while house.db.fetch_optional(&UNFINISHED, &[]).await?.is_some() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let (took, cpu) = (began.elapsed(), process_time().saturating_sub(cpu));
    house.stop.cancel();
    runner.finished().await;
    house.db.close().await;
    Ok(Drained {
        jobs_per_s: JOBS as f64 / took.as_secs_f64(),
        cpu_ms: cpu.as_secs_f64() * 1e3 / JOBS as f64,
        enqueued_per_s,
    })
}

/// Jobs per second, each in a transaction of its own.
pub(crate) async fn enqueue_one_by_one(cluster: &Cluster) -> anyhow::Result<f64> {
    let house = House::open(&cluster.database().await?, true).await?;
    let began = Instant::now();
    for _ in 0..ONE_BY_ONE {
        house.enqueue().await?;
    }
    let per_s = ONE_BY_ONE as f64 / began.elapsed().as_secs_f64();
    house.db.close().await;
    Ok(per_s)
}

/// The middle and the 99th of a hundred times in ms from the call that enqueues (its commit included)
/// to the handler's beginning, with an idle runner here or behind another listener.
pub(crate) async fn pick_up(cluster: &Cluster, elsewhere: bool) -> anyhow::Result<(f64, f64)> {
    let address = cluster.database().await?;
    let house = House::open(&address, true).await?;
    let other = House::open(&address, false).await?;
    let enqueuer = if elsewhere { &other } else { &house };
    let handler = Arc::new(Trivial { all: 1, ..Trivial::default() });
    let handlers = vec![Arc::clone(&handler) as Arc<dyn Handler>];
    let options = RunnerOptions::new("bench");
    let runner = Runner::start(house.jobs.clone(), handlers, vec![], options, house.stop.clone());
    tokio::time::sleep(Duration::from_millis(500)).await;
    let mut times = Vec::new();
    for _ in 0..PICKED_UP {
        let asked = Instant::now();
        enqueuer.enqueue().await?;
        handler.finished.notified().await;
        let began = handler.began.lock().ok().and_then(|mut began| began.take());
        times.push(began.unwrap_or(asked).duration_since(asked).as_secs_f64() * 1e3);
        tokio::time::sleep(PAUSE).await;
    }
    house.stop.cancel();
    other.stop.cancel();
    runner.finished().await;
    Ok(middle_and_99th(times))
}

/// The middle and the 99th of a hundred.
pub(crate) fn middle_and_99th(mut times: Vec<f64>) -> (f64, f64) {
    times.sort_by(f64::total_cmp);
    let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or(f64::NAN);
    (at(50), at(99))
}

impl House {
    async fn open(address: &str, migrates: bool) -> anyhow::Result<Self> {
        let clock = Arc::new(SystemClock::new()) as Arc<dyn Clock>;
        let target = Target::Postgres { url: Secret::new(address.to_owned()) };
        let db = Db::open(StoreOptions::new(target, Arc::clone(&clock))).await?;
        if migrates {
            migrate::up(&db).await?;
        }
        let (rng, stop) = (Arc::new(SystemRng), CancellationToken::new());
        let options = EventsOptions::default();
        let started =
            Events::start(db.clone(), options, Arc::clone(&clock), rng.clone(), stop.clone());
        let (events, _tasks) = started.await?;
        let ids = IdSource::new(Arc::clone(&clock), rng.clone());
        let jobs = Jobs::new(events.clone(), clock, ids, rng, JobsOptions::default());
        Ok(Self { db, events, jobs, stop })
    }

    async fn enqueue(&self) -> Result<(), JobsError> {
        let new = NewJob::new(kind(), json!({ "n": 1 }));
        self.events.write(async |tx, _| self.jobs.enqueue(tx, new).await.map(drop)).await
    }
}

#[expect(clippy::expect_used, reason = "the name is right here")]
fn kind() -> Kind {
    Kind::new("trivial").expect("a kind")
}
