//! How soon an agent that dies is known, with everything by default, and how many events that makes.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::ensure;
use mainstay_base::{Id, Timestamp};
use mainstay_benches::figure::print;
use mainstay_fleet::Engine;
use mainstay_store::Sql;

use crate::agents::Agents;
use crate::house::House;

/// Those that die: few enough that the brake is not for them.
const VICTIMS: u32 = 120;
/// Each so many of them hangs instead. 20 are asked at once: of more, each 20 take 10 s more.
const HANGS: usize = 12;
/// From the first death to the last: one round of the health loop, so that every moment of it has its share.
const OVER: Duration = Duration::from_secs(60);
/// Nobody takes longer.
const LIMIT: Duration = Duration::from_secs(80);

const LOST: Sql = Sql::same(
    "bench.lost",
    "SELECT id, status_since FROM workers WHERE status = 'error' ORDER BY id",
);

pub(crate) async fn measure(house: &House, agents: &Agents) -> anyhow::Result<()> {
    let before = house.events().await?;
    let loop_ = Engine::new(house.fleet.clone()).start(house.stop.clone());
    let mut died = BTreeMap::new();
    for (number, one) in agents.all.iter().take(VICTIMS as usize).enumerate() {
        tokio::time::sleep(OVER / VICTIMS).await;
        died.insert(one.worker, house.clock.now());
        // Most leave a port that refuses, and some a machine that hangs.
        if number % HANGS == 0 { one.freeze() } else { one.kill() }
    }
    let deadline = house.clock.moment().plus(LIMIT);
    while lost(house).await?.len() < died.len() {
        ensure!(house.clock.moment() < deadline, "some were never found");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let found = lost(house).await?;
    house.stop.cancel();
    loop_.finished().await;
    ensure!(found.keys().eq(died.keys()), "others than those that died are lost");
    let mut times: Vec<f64> = died
        .iter()
        .filter_map(|(worker, at)| Some(found.get(worker)?.since(*at).as_secs_f64()))
        .collect();
    times.sort_by(f64::total_cmp);
    for (name, part) in [("p50", 50), ("p90", 90), ("p99", 99), ("max", 100)] {
        print(&format!("fleet.detect_{name}_s"), percentile(&times, part), "s")?;
    }
    // Each death is two changes: of the worker, and of its net.
    let events = house.events().await? - before;
    let changes = f64::from(VICTIMS) * 2.0;
    print("fleet.events_per_change", events as f64 / changes, "events")?;
    Ok(())
}

async fn lost(house: &House) -> anyhow::Result<BTreeMap<Id, Timestamp>> {
    let rows = house.db.fetch_all(&LOST, &[]).await?;
    let one = |row: &mainstay_store::Row| Ok((row.get("id")?, row.get("status_since")?));
    rows.iter().map(one).collect()
}

fn percentile(sorted: &[f64], part: usize) -> f64 {
    let place = (sorted.len() * part).div_ceil(100).max(1) - 1;
    sorted.get(place).copied().unwrap_or(f64::NAN)
}
