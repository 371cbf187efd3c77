//! `./scripts/bench fleet`: a sweep of 500 workers whose agents take 50 ms (beside the same questions by the bare client,
//! as many at once), how soon agents that are killed are known with everything by default, and how many events a change makes.

mod agents;
mod detect;
mod house;
mod sweep;

use mainstay_benches::descriptors;
use mainstay_benches::figure;

/// The workers.
const WORKERS: u32 = 500;

fn main() -> anyhow::Result<()> {
    descriptors::raise_limit()?;
    let agents = agents::start(WORKERS)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let house = house::House::new(&agents).await?;
        sweep::measure(&house, &agents).await?;
        detect::measure(&house, &agents).await
    })?;
    figure::finish("fleet")
}
