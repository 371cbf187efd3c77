//! apalis-postgres, which is a program of its own: what it depends on must not decide the versions
//! that Mainstay is built with.

use std::process::Command;

use anyhow::Context as _;
use mainstay_benches::cluster::Cluster;
use mainstay_benches::figure::{median, print};

use crate::ours::{Drained, ONE_BY_ONE, PAUSE, PICKED_UP, TOGETHER, middle_and_99th};
use crate::{CONCURRENCY, JOBS, TRIES};

/// Jobs that it fetches, and completes, at once.
const BATCHES: [u32; 2] = [100, 1_000];

/// Prints the figures of the peer.
pub(crate) async fn run(cluster: &Cluster) -> anyhow::Result<()> {
    let mut enqueued_per_s = Vec::new();
    for batch in BATCHES {
        for concurrency in CONCURRENCY {
            let mut tries = Vec::new();
            for _ in 0..TRIES {
                tries.push(drain(cluster, concurrency, batch).await?);
            }
            let of = |pick: fn(&Drained) -> f64| median(tries.iter().map(pick).collect());
            let name = |what| format!("apalis.batch_{batch}_{what}_c{concurrency}");
            print(&name("rate"), of(|one| one.jobs_per_s), "jobs/s")?;
            print(&name("cpu_ms"), of(|one| one.cpu_ms), "ms")?;
            enqueued_per_s.extend(tries.iter().map(|one| one.enqueued_per_s));
        }
    }
    print("apalis.enqueue_batch_rate", median(enqueued_per_s), "jobs/s")?;
    let one_by_one = ask(cluster, "enqueue", &[ONE_BY_ONE.to_string()]).await?;
    print("apalis.enqueue_single_rate", median(one_by_one), "jobs/s")?;
    let pause = PAUSE.as_millis().to_string();
    let (half, most) =
        middle_and_99th(ask(cluster, "pickup", &[PICKED_UP.to_string(), pause]).await?);
    print("apalis.pickup_p50_ms", half, "ms")?;
    print("apalis.pickup_p99_ms", most, "ms")?;
    Ok(())
}

async fn drain(cluster: &Cluster, concurrency: u32, batch: u32) -> anyhow::Result<Drained> {
    let load = [JOBS, TOGETHER].map(|count| count.to_string());
    let size = [concurrency, batch].map(|count| count.to_string());
    let numbers = ask(cluster, "drain", &[load, size].concat()).await?;
    let [jobs_per_s, cpu_ms, enqueued_per_s] = numbers.as_slice() else {
        anyhow::bail!("apalis printed {} numbers instead of 3", numbers.len());
    };
    Ok(Drained { jobs_per_s: *jobs_per_s, cpu_ms: *cpu_ms, enqueued_per_s: *enqueued_per_s })
}

/// What it measures on a database of its own.
async fn ask(cluster: &Cluster, what: &str, arguments: &[String]) -> anyhow::Result<Vec<f64>> {
    let binary = std::env::var_os("MAINSTAY_BENCH_APALIS")
        .context("MAINSTAY_BENCH_APALIS is not set; run ./scripts/bench jobs")?;
    let output = Command::new(binary)
        .args([what, &cluster.database().await?])
        .args(arguments)
        .output()
        .context("apalis can't be started")?;
    anyhow::ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let line = String::from_utf8(output.stdout)?;
    line.split_whitespace().map(|number| Ok(number.parse()?)).collect()
}
