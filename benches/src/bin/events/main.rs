//! `./scripts/bench events`: 5 000 followers of one stream, 4 events a second of 200 bytes, on the real
//! binary and PostgreSQL, beside nginx with nchan where that is installed; how long an event takes to a
//! client, what it costs the transaction that brings it, and how many writes a second one counter bears.
#![expect(
    clippy::disallowed_methods,
    reason = "a bench goes by the wall clock and the environment"
)]

mod ceiling;
mod cost;
mod delay;
mod followers;
mod here;
mod instance;
mod mainstay;
mod nchan;
mod writer;

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{Secret, SystemClock};
use mainstay_benches::cluster::Cluster;
use mainstay_benches::descriptors;
use mainstay_benches::figure::{self, median, print};
use mainstay_benches::process::Server;
use mainstay_store::options::DEFAULT_CONNECTIONS;
use mainstay_store::{Db, StoreError, StoreOptions, Target};

use followers::Delivered;

const FOLLOWERS: usize = 5_000;
const EVENTS: usize = 80;
/// Four in a second.
const BETWEEN: Duration = Duration::from_millis(250);
/// Of the data of one event.
const BYTES: usize = 200;
const MEGABYTE: f64 = 1_000_000.0;

fn main() -> anyhow::Result<()> {
    descriptors::raise_limit()?;
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        let cluster = Cluster::start()?;
        mainstay::measure(&cluster).await?;
        nchan::measure().await?;
        delay::measure(&cluster).await?;
        cost::measure(&cluster).await?;
        ceiling::measure(&cluster).await?;
        figure::finish("events")
    })
}

async fn open(address: &str) -> Result<Db, StoreError> {
    open_with(address, DEFAULT_CONNECTIONS).await
}

async fn open_with(address: &str, connections: u32) -> Result<Db, StoreError> {
    let target = Target::Postgres { url: Secret::new(address.to_owned()) };
    let options = StoreOptions::new(target, Arc::new(SystemClock::new()));
    Db::open(StoreOptions { connections, ..options }).await
}

/// What one round cost.
struct Cost {
    delivered: Delivered,
    /// Until each publishing had ended.
    published_ms: Vec<f64>,
    cpu_us: f64,
    resident_mb: f64,
}

/// Publishes to followers who are all there.
#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52 deliveries")]
async fn round(
    server: &Server,
    crowd: followers::Crowd,
    mut publish: impl AsyncFnMut(usize) -> anyhow::Result<()>,
) -> anyhow::Result<Cost> {
    let cpu = server.cpu()?;
    let mut published_ms = Vec::with_capacity(EVENTS);
    let mut ticks = tokio::time::interval(BETWEEN);
    for number in 0..EVENTS {
        ticks.tick().await;
        let began = std::time::Instant::now();
        publish(number).await?;
        published_ms.push(began.elapsed().as_secs_f64() * 1_000.0);
    }
    let delivered = crowd.all_delivered().await?;
    let cpu = server.cpu()?.saturating_sub(cpu).as_secs_f64();
    Ok(Cost {
        cpu_us: cpu * 1_000_000.0 / delivered.latencies_ms.len() as f64,
        delivered,
        published_ms,
        resident_mb: server.most_resident_bytes()? / MEGABYTE,
    })
}

fn print_cost(name: &str, cost: Cost) -> anyhow::Result<()> {
    let mut latencies = cost.delivered.latencies_ms;
    latencies.sort_by(f64::total_cmp);
    let at = |part: f64| followers::part_of(&latencies, part);
    print(&format!("{name}.fanout_5000_p50_ms"), at(0.5), "ms")?;
    print(&format!("{name}.fanout_5000_p99_ms"), at(0.99), "ms")?;
    print(&format!("{name}.cpu_us_per_delivery"), cost.cpu_us, "us")?;
    print(&format!("{name}.fanout_5000_rss_mb"), cost.resident_mb, "MB")?;
    print(&format!("{name}.publish_ms"), median(cost.published_ms), "ms")?;
    Ok(())
}
