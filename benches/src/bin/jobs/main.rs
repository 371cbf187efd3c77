//! The job queue on a PostgreSQL that waits for its disk: trivial jobs per second, what each costs the
//! runner, enqueueing, and how long until an enqueued job is picked up; apalis-postgres and graphile-worker
//! beside it.
#![expect(clippy::disallowed_methods, reason = "a bench measures the real clock")]

mod apalis;
mod graphile;
mod ours;

use mainstay_benches::cluster::Cluster;
use mainstay_benches::figure::{self, median, print};

/// Jobs of one try.
const JOBS: usize = 20_000;
/// Tries of each figure; the middle one counts.
const TRIES: usize = 3;
/// How many handlers run at once.
const CONCURRENCY: [u32; 3] = [1, 10, MOST];
const MOST: u32 = 24;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> anyhow::Result<()> {
    let cluster = Cluster::start()?;
    for concurrency in CONCURRENCY {
        let mut tries = Vec::new();
        for _ in 0..TRIES {
            tries.push(ours::drain(&cluster, concurrency).await?);
        }
        let of = |pick: fn(&ours::Drained) -> f64| median(tries.iter().map(pick).collect());
        print(&format!("jobs.rate_c{concurrency}"), of(|one| one.jobs_per_s), "jobs/s")?;
        print(&format!("jobs.cpu_ms_c{concurrency}"), of(|one| one.cpu_ms), "ms")?;
        if concurrency == MOST {
            print("jobs.cpu_ms", of(|one| one.cpu_ms), "ms")?;
            print("jobs.enqueue_batch_rate", of(|one| one.enqueued_per_s), "jobs/s")?;
        }
    }
    print("jobs.enqueue_single_rate", ours::enqueue_one_by_one(&cluster).await?, "jobs/s")?;
    // As `serve` does it, and as `work` beside it.
    for (name, elsewhere) in [("pickup", false), ("pickup_elsewhere", true)] {
        let (half, most) = ours::pick_up(&cluster, elsewhere).await?;
        print(&format!("jobs.{name}_p50_ms"), half, "ms")?;
        print(&format!("jobs.{name}_p99_ms"), most, "ms")?;
    }
    apalis::run(&cluster).await?;
    graphile::run(&cluster, JOBS, &CONCURRENCY).await?;
    figure::finish("jobs")
}
