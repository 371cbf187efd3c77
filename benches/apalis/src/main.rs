//! apalis-postgres, as it comes but for the size of its batches. It measures one thing on one empty
//! database and prints the numbers in a line:
//!
//! - `drain ADDRESS JOBS TOGETHER CONCURRENCY BATCH`: jobs/s, CPU ms for each, jobs/s enqueued
//! - `enqueue ADDRESS JOBS`: jobs/s, each in a transaction of its own
//! - `pickup ADDRESS JOBS PAUSE_MS`: the milliseconds of each pick-up

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use apalis::prelude::{
    BackendExt as _, BoxDynError, Data, TaskSink as _, WorkerBuilder, WorkerBuilderExt as _,
    WorkerContext,
};
use apalis_postgres::{Config, PgPool, PostgresStorage};
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

/// Handlers that wait for a job whose pick-up is timed.
const WAITING: usize = 2;
/// How often it looks, besides being notified: a notice that comes during a look is lost on it.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Until a worker listens.
const SETTLES: Duration = Duration::from_millis(500);

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let numbers = match words.as_slice() {
        ["drain", address, jobs, together, concurrency, batch] => {
            let load = Load {
                jobs: jobs.parse()?,
                together: together.parse()?,
                concurrency: concurrency.parse()?,
                batch: batch.parse()?,
            };
            drain(address, &load).await?
        }
        ["enqueue", address, jobs] => enqueue(address, jobs.parse()?).await?,
        ["pickup", address, jobs, pause_ms] => {
            pick_up(address, jobs.parse()?, Duration::from_millis(pause_ms.parse()?)).await?
        }
        _ => anyhow::bail!(
            "drain, enqueue or pickup with its arguments, as ./scripts/bench gives them"
        ),
    };
    let numbers: Vec<String> = numbers.iter().map(f64::to_string).collect();
    println!("{}", numbers.join(" "));
    Ok(())
}

struct Load {
    jobs: usize,
    together: usize,
    concurrency: usize,
    batch: usize,
}

/// A worker that was stopped has ended when all that it did is in the database.
async fn drain(address: &str, load: &Load) -> anyhow::Result<Vec<f64>> {
    let config = Config::default().queue("trivial").batch_size(load.batch);
    let mut storage = open(address, config).await?;
    let began = Instant::now();
    for _ in 0..load.jobs / load.together {
        storage.push_bulk(vec![json!({ "n": 1 }); load.together]).await?;
    }
    let enqueued_per_s = load.jobs as f64 / began.elapsed().as_secs_f64();
    let (began, cpu) = (Instant::now(), process_time());
    let worker = WorkerBuilder::new("bench")
        .backend(storage)
        .concurrency(load.concurrency)
        .data(Arc::new(AtomicUsize::new(load.jobs)))
        .build(count);
    tokio::spawn(worker.run()).await??;
    let (took, cpu) = (began.elapsed(), process_time().saturating_sub(cpu));
    let per_s = load.jobs as f64 / took.as_secs_f64();
    Ok(vec![per_s, cpu.as_secs_f64() * 1e3 / load.jobs as f64, enqueued_per_s])
}

async fn enqueue(address: &str, jobs: usize) -> anyhow::Result<Vec<f64>> {
    let mut storage = open(address, Config::default().queue("trivial")).await?;
    let began = Instant::now();
    for _ in 0..jobs {
        storage.push(json!({ "n": 1 })).await?;
    }
    Ok(vec![jobs as f64 / began.elapsed().as_secs_f64()])
}

/// From the call that enqueues, its commit included, to the handler's beginning, with an idle worker
/// that PostgreSQL notifies.
async fn pick_up(address: &str, jobs: usize, pause: Duration) -> anyhow::Result<Vec<f64>> {
    let mut storage = open(address, Config::default().queue("timed")).await?;
    let (tell, mut begun) = unbounded_channel();
    let context = WorkerContext::new("bench");
    let worker = WorkerBuilder::new(context.clone())
        .backend(storage.clone().with_pubsub().poll_with_interval(LOOK_EVERY))
        .concurrency(WAITING)
        .data(tell)
        .build(tell_beginning);
    let running = tokio::spawn(worker.run());
    tokio::time::sleep(SETTLES).await;
    let mut times = Vec::new();
    for _ in 0..jobs {
        let asked = Instant::now();
        storage.push(json!({ "n": 1 })).await?;
        let began: Instant = begun.recv().await.context("the worker ended")?;
        times.push(began.duration_since(asked).as_secs_f64() * 1e3);
        tokio::time::sleep(pause).await;
    }
    context.stop()?;
    running.await??;
    Ok(times)
}

async fn open(address: &str, config: Config) -> anyhow::Result<PostgresStorage<Value>> {
    let pool = PgPool::connect(address).await?;
    PostgresStorage::setup(&pool).await?;
    Ok(PostgresStorage::new(&pool).with_config(config))
}

/// Stops the worker with the last job.
async fn count(
    _: Value,
    left: Data<Arc<AtomicUsize>>,
    worker: WorkerContext,
) -> Result<(), BoxDynError> {
    if left.fetch_sub(1, Ordering::Relaxed) == 1 {
        worker.stop()?;
    }
    Ok(())
}

async fn tell_beginning(_: Value, tell: Data<UnboundedSender<Instant>>) -> Result<(), BoxDynError> {
    tell.send(Instant::now())?;
    Ok(())
}

fn process_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
}
