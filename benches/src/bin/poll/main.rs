//! `./scripts/bench poll`: what a recorded poll costs the real binary beside a [`bare`] client of hyper
//! with the same pacing ([`cost`]), whether 5 000 services are polled on time ([`crowd`]), whether
//! the loop costs the same for a million ([`growth`]), what a change of the [`graph`] costs, how long it
//! takes to make the graph of the [`past`], and how long a [`takeover`] takes.
//!
//! `POLL_SECONDS=600` watches the 5 000 for ten minutes.
#![expect(
    clippy::disallowed_methods,
    reason = "a bench goes by the wall clock and the environment"
)]

mod api;
mod bare;
mod cost;
mod crowd;
mod graph;
mod growth;
mod instance;
mod past;
mod readings;
mod takeover;
mod upstream;
mod world;

use std::time::Duration;

use mainstay_benches::cluster::Cluster;
use mainstay_benches::{descriptors, figure};

use upstream::Upstream;

/// How often each service is polled.
const INTERVAL: Duration = Duration::from_secs(5);
const MEGABYTE: f64 = 1_000_000.0;

fn main() -> anyhow::Result<()> {
    descriptors::raise_limit()?;
    let runtime = tokio::runtime::Runtime::new()?;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        [upstream::ROLE] => runtime.block_on(upstream::serve()),
        [bare::ROLE, port] => runtime.block_on(bare::ask(port.parse()?)),
        _ => runtime.block_on(measure()),
    }
}

async fn measure() -> anyhow::Result<()> {
    growth::measure()?;
    graph::measure()?;
    let upstream = Upstream::start()?;
    cost::measure_sqlite(&upstream).await?;
    crowd::measure_sqlite(&upstream).await?;
    past::measure_sqlite(tempfile::tempdir()?.path()).await?;
    let cluster = Cluster::start()?;
    cost::measure_postgres(&upstream, &cluster).await?;
    crowd::measure_postgres(&upstream, &cluster).await?;
    past::measure_postgres(&cluster).await?;
    takeover::measure(&upstream, &cluster).await?;
    figure::finish("poll")
}
