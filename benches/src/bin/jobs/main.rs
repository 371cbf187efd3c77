//! The job queue on a PostgreSQL that waits for its disk: trivial jobs per second, what each costs the
//! runner, enqueueing, and how long until an enqueued job is picked up; graphile-worker beside it.
#![expect(clippy::disallowed_methods, reason = "a bench measures the real clock")]

mod graphile;
mod ours;

use mainstay_benches::cluster::Cluster;
use mainstay_benches::figure::{median, print};

/// Jobs of one try.
const JOBS: usize = 20_000;
/// Tries of each figure; the middle one counts.
const TRIES: usize = 3;
/// How many handlers run at once.
const CONCURRENCY: [u32; 3] = [1, 10, 24];

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> anyhow::Result<()> {
    let cluster = Cluster::start()?;
    for concurrency in CONCURRENCY {
        let mut tries = Vec::new();
        for _ in 0..TRIES {
            tries.push(ours::drain(&cluster, concurrency).await?);
        }
        let of = |pick: fn(&ours::Drained) -> f64| median(tries.iter().map(pick).collect());
        print(&format!("jobs.per_s_c{concurrency}"), of(|one| one.jobs_per_s), "jobs/s")?;
        print(&format!("jobs.cpu_us_c{concurrency}"), of(|one| one.cpu_us), "us/job")?;
        if concurrency == 24 {
            print("jobs.enqueue_thousands", of(|one| one.enqueued_per_s), "jobs/s")?;
        }
    }
    print("jobs.enqueue_one_by_one", ours::enqueue_one_by_one(&cluster).await?, "jobs/s")?;
    for (name, elsewhere) in [("here", false), ("elsewhere", true)] {
        let (half, most) = ours::pick_up(&cluster, elsewhere).await?;
        print(&format!("jobs.pick_up_{name}_p50"), half, "ms")?;
        print(&format!("jobs.pick_up_{name}_p99"), most, "ms")?;
    }
    graphile::run(&cluster, JOBS, &CONCURRENCY).await
}
