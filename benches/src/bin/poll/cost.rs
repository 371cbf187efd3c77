//! The CPU time of a recorded poll: a thousand services every five seconds, beside the bare client in
//! the same windows of time.

use std::path::Path;
use std::time::Duration;

use mainstay_benches::cluster::Cluster;
use mainstay_benches::figure::{median, print};
use mainstay_benches::process::Server;

use crate::bare::{Bare, Used};
use crate::readings::Readings;
use crate::upstream::Upstream;
use crate::{INTERVAL, instance, world};

pub(crate) const SERVICES: u32 = 1_000;
/// One full round, so that each window holds the same work.
pub(crate) const WINDOW: Duration = INTERVAL;
/// Windows at first, in which connections are made and dependencies are new.
const WARM_UP: usize = 2;
const WINDOWS: usize = 5;
const MILLIS: f64 = 1_000.0;
const MICROS: f64 = 1_000_000.0;

/// What one poll, and one question of the bare client, cost in each window.
#[derive(Debug, Default)]
struct Costs {
    ours: Vec<f64>,
    bare: Vec<f64>,
    ratios: Vec<f64>,
}

pub(crate) async fn measure_sqlite(upstream: &Upstream) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    world::build(world::sqlite(folder.path())?, SERVICES, upstream.port, None).await?;
    let (costs, from, to) = run(upstream, folder.path(), None).await?;
    print("poll.cpu_ms", median(costs.ours), "ms")?;
    print("poll.bare_client_ms", median(costs.bare), "ms")?;
    print("poll.bare_client_ratio", median(costs.ratios), "x")?;
    print_batches("poll", &from, &to)
}

pub(crate) async fn measure_postgres(upstream: &Upstream, cluster: &Cluster) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let url = cluster.database().await?;
    world::build(world::postgres(&url), SERVICES, upstream.port, None).await?;
    let (costs, from, to) = run(upstream, folder.path(), Some(&url)).await?;
    print("poll.postgres_cpu_ms", median(costs.ours), "ms")?;
    print("poll.postgres_bare_client_ratio", median(costs.ratios), "x")?;
    print_batches("poll.postgres", &from, &to)
}

async fn run(
    upstream: &Upstream,
    folder: &Path,
    url: Option<&str>,
) -> anyhow::Result<(Costs, Readings, Readings)> {
    let server = instance::serve(folder, url)?;
    let mut bare = Bare::start(upstream.port)?;
    for _ in 1..WARM_UP {
        tokio::task::block_in_place(|| bare.next())?;
    }
    let first = Look::take(&server, &mut bare).await?;
    let (mut costs, mut before) = (Costs::default(), first.clone());
    for _ in 0..WINDOWS {
        let after = Look::take(&server, &mut bare).await?;
        let (ours, peer) = after.since(&before)?;
        costs.ours.push(ours);
        costs.bare.push(peer);
        costs.ratios.push(ours / peer);
        before = after;
    }
    anyhow::ensure!(before.readings.failures() < 1.0, "polls failed");
    Ok((costs, first.readings, before.readings))
}

/// Both processes at the end of one window.
#[derive(Clone)]
struct Look {
    readings: Readings,
    cpu: Duration,
    bare: Used,
}

impl Look {
    async fn take(server: &Server, bare: &mut Bare) -> anyhow::Result<Self> {
        let bare = tokio::task::block_in_place(|| bare.next())?;
        let cpu = server.cpu()?;
        Ok(Self { readings: Readings::of(&server.address).await?, cpu, bare })
    }

    /// Milliseconds of CPU for one recorded poll, and for one question of the bare client.
    #[expect(clippy::cast_precision_loss, reason = "a window has far fewer than 2^52 questions")]
    fn since(&self, before: &Self) -> anyhow::Result<(f64, f64)> {
        let polls = self.readings.recorded() - before.readings.recorded();
        let answers = self.bare.answers.saturating_sub(before.bare.answers) as f64;
        anyhow::ensure!(polls > 0.0 && answers > 0.0, "nobody asked in a window");
        let cpu = self.cpu.saturating_sub(before.cpu).as_secs_f64() * MILLIS;
        let bare = self.bare.cpu.saturating_sub(before.bare.cpu).as_secs_f64() * MILLIS;
        Ok((cpu / polls, bare / answers))
    }
}

/// How many results a transaction had, and how long it took by the wall clock.
fn print_batches(name: &str, from: &Readings, to: &Readings) -> anyhow::Result<()> {
    let grown = |metric: &str| to.sum(metric, "") - from.sum(metric, "");
    to.expect("mainstay_recorder_batch_size_sum")?;
    let batches = grown("mainstay_recorder_batch_size_count");
    let results = grown("mainstay_recorder_batch_size_sum");
    let seconds = grown("mainstay_recorder_batch_seconds_sum");
    print(&format!("{name}.recorder_batch_results"), results / batches, "results")?;
    print(&format!("{name}.recorder_batch_us"), seconds * MICROS / batches, "us")?;
    Ok(())
}
