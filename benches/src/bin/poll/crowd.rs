//! Five thousand services every five seconds: all of them on time, none told to be down that is not,
//! while somebody looks at the list.

use std::path::Path;
use std::time::{Duration, Instant};

use mainstay_benches::cluster::Cluster;
use mainstay_benches::figure::print;
use mainstay_benches::process::Server;
use mainstay_monitor::policy::GRID;
use mainstay_store::Target;

use crate::readings::Readings;
use crate::upstream::{DEPENDENCIES, Upstream};
use crate::{INTERVAL, MEGABYTE, api, instance, world};

const SERVICES: u32 = 5_000;
/// One of so many turns with every poll: twenty of them in a second, so that nothing that is shown stays
/// as it is.
const TURNING: u32 = 50;
/// How long they are watched, unless `POLL_SECONDS` says otherwise.
const SECONDS: u64 = 40;
/// Rounds at first, in which connections are made and dependencies are new.
const WARM_UP: u32 = 2;
/// How often and how long they are waited for.
const LOOK_EVERY: Duration = Duration::from_millis(500);
const PATIENCE: Duration = Duration::from_secs(60);
/// A look at the metrics may fall just before or after a group of polls, at the beginning and the end.
const EDGES: u32 = 2;
const LATENESS: &str = "mainstay_poll_lateness_seconds";

pub(crate) async fn measure_sqlite(upstream: &Upstream) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let target = world::sqlite(folder.path())?;
    measure("poll", upstream, folder.path(), target, None).await
}

pub(crate) async fn measure_postgres(upstream: &Upstream, cluster: &Cluster) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let url = cluster.database().await?;
    measure("poll.postgres", upstream, folder.path(), world::postgres(&url), Some(&url)).await
}

async fn measure(
    name: &str,
    upstream: &Upstream,
    folder: &Path,
    target: Target,
    url: Option<&str>,
) -> anyhow::Result<()> {
    world::build(target.clone(), SERVICES, upstream.port, Some(TURNING)).await?;
    instance::create_admin(folder, url)?;
    let server = instance::serve(folder, url)?;
    warm_up(&server).await?;
    drop(server);
    let before = world::size(&target).await?;
    let server = instance::serve(folder, url)?;
    warm_up(&server).await?;
    watch(name, &server).await?;
    print(&format!("{name}.rss_mb"), server.most_resident_bytes()? / MEGABYTE, "MB")?;
    drop(server);
    let after = world::size(&target).await?;
    let points = (after.rows - before.rows) * f64::from(DEPENDENCIES);
    let table = (after.table - before.table) / points;
    print(&format!("{name}.bytes_per_point"), table, "bytes")?;
    let whole = (after.whole - before.whole) / points;
    print(&format!("{name}.whole_bytes_per_point"), whole, "bytes")?;
    Ok(())
}

/// Until everybody's results of the first rounds are recorded.
async fn warm_up(server: &Server) -> anyhow::Result<()> {
    let began = Instant::now();
    while Readings::of(&server.address).await?.recorded() < f64::from(SERVICES * WARM_UP) {
        anyhow::ensure!(began.elapsed() < PATIENCE, "the first rounds are not recorded");
        tokio::time::sleep(LOOK_EVERY).await;
    }
    Ok(())
}

async fn watch(name: &str, server: &Server) -> anyhow::Result<()> {
    let (first, cpu, began) = (Readings::of(&server.address).await?, server.cpu()?, Instant::now());
    let until = began + seconds()?;
    api::measure(name, &server.address, until).await?;
    tokio::time::sleep_until(until.into()).await;
    let passed = began.elapsed();
    let (last, cpu) = (Readings::of(&server.address).await?, server.cpu()?.saturating_sub(cpu));
    let grown = |name: &str, label: &str| last.sum(name, label) - first.sum(name, label);
    last.expect(&format!("{LATENESS}_bucket"))?;
    let begun = grown(&format!("{LATENESS}_count"), "");
    let on_time = grown(&format!("{LATENESS}_bucket"), "le=\"1\"");
    // A poll that was left out is as bad as one that was late.
    let rounds = passed.saturating_sub(GRID * EDGES).as_secs_f64() / INTERVAL.as_secs_f64();
    let expected = begun.max(rounds * f64::from(SERVICES));
    print(&format!("{name}.on_time_pct"), on_time * 100.0 / expected, "%")?;
    print(&format!("{name}.polls_per_s"), begun / passed.as_secs_f64(), "polls/s")?;
    print(&format!("{name}.false_timeouts"), last.failures(), "polls")?;
    print(&format!("{name}.cpu_ms_5000"), cpu.as_secs_f64() * 1_000.0 / begun, "ms")?;
    Ok(())
}

fn seconds() -> anyhow::Result<Duration> {
    let given = std::env::var("POLL_SECONDS").ok().map(|text| text.parse()).transpose()?;
    Ok(Duration::from_secs(given.unwrap_or(SECONDS)))
}
