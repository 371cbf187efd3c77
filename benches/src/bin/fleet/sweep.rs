//! One look at all workers, while nothing changes.

use anyhow::ensure;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use mainstay_benches::cpu;
use mainstay_benches::figure::{median, print};
use mainstay_fleet::Engine;
use mainstay_fleet::agents::Agents as _;
use mainstay_fleet::engine::MAX_IN_FLIGHT;

use crate::agents::Agents;
use crate::house::House;

const ROUNDS: usize = 3;

pub(crate) async fn measure(house: &House, agents: &Agents) -> anyhow::Result<()> {
    let mut engine = Engine::new(house.fleet.clone());
    // The first sweep learns which run of each agent it is.
    sweep(house, agents, &mut engine).await?;
    agents.peak();
    let (before, count) = (house.events().await?, agents.all.len());
    let (mut ours, mut bare, mut cpu_each) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let used = cpu::process_time();
        ours.push(sweep(house, agents, &mut engine).await?);
        let used = cpu::process_time().saturating_sub(used);
        cpu_each.push(used.as_secs_f64() * 1_000.0 / count as f64);
        bare.push(ask_all(house, agents).await?);
    }
    let (events, peak) = (house.events().await? - before, agents.peak());
    ensure!(events == 0, "{events} events without a change");
    ensure!(peak <= MAX_IN_FLIGHT, "{peak} questions at once");
    print("fleet.sweep_500_s", median(ours), "s")?;
    print("fleet.sweep_500_bare_s", median(bare), "s")?;
    print("fleet.sweep_500_in_flight", peak as f64, "questions")?;
    print("fleet.sweep_500_events", events as f64, "events")?;
    // With the agents, which are in the same process.
    print("fleet.look_cpu_ms", median(cpu_each), "ms")?;
    Ok(())
}

async fn sweep(house: &House, agents: &Agents, engine: &mut Engine) -> anyhow::Result<f64> {
    house.all_due().await?;
    let began = house.clock.moment();
    let swept = engine.sweep().await?;
    let took = house.clock.moment().since(began);
    ensure!(swept.looked == agents.all.len(), "{swept:?}");
    ensure!(swept.failed == 0, "{swept:?}");
    Ok(took.as_secs_f64())
}

/// The same questions by the client alone, as many at once, with nothing written down.
async fn ask_all(house: &House, agents: &Agents) -> anyhow::Result<f64> {
    let began = house.clock.moment();
    let asking = stream::iter(&agents.all)
        .map(|one| house.client.health(&one.door))
        .buffer_unordered(MAX_IN_FLIGHT);
    asking.try_for_each(async |_| Ok(())).await?;
    Ok(house.clock.moment().since(began).as_secs_f64())
}
