//! How long an event takes from the write that brings it, commit included, to a client: of the instance
//! that wrote it, and of another one. This process is the first, the real binary the second.

use std::time::Duration;

use mainstay_benches::cluster::Cluster;
use mainstay_benches::figure::print;

use crate::followers::{Crowd, part_of};
use crate::here::Here;
use crate::instance::{Instance, following};
use crate::mainstay::publish;

/// Events that are timed, and the pause between two: each finds everything at rest.
const TIMED: usize = 200;
const PAUSE: Duration = Duration::from_millis(50);

pub(crate) async fn measure(cluster: &Cluster) -> anyhow::Result<()> {
    let elsewhere = Instance::start(cluster, 1).await?;
    let here = Here::start(elsewhere.db.clone()).await?;
    let tokens = elsewhere.tokens(2).await?;
    let mut crowds = Vec::new();
    for (address, token) in [&here.address, &elsewhere.server.address].into_iter().zip(&tokens) {
        crowds.push(Crowd::gather(address, vec![following(address, token)], TIMED).await?);
    }
    for _ in 0..TIMED {
        publish(here.events()).await?;
        tokio::time::sleep(PAUSE).await;
    }
    for (name, crowd) in ["commit_to_client", "across_instances"].into_iter().zip(crowds) {
        let mut times = crowd.all_delivered().await?.latencies_ms;
        times.sort_by(f64::total_cmp);
        print(&format!("events.{name}_p50_ms"), part_of(&times, 0.5), "ms")?;
        print(&format!("events.{name}_p99_ms"), part_of(&times, 0.99), "ms")?;
    }
    here.end().await;
    Ok(())
}
