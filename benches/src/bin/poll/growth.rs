//! The loop in virtual time: what a poll costs it among a thousand services and among a million.

use std::time::Duration;

use mainstay_benches::cpu::thread_time;
use mainstay_benches::figure::{median, print};
use mainstay_monitor::PollPolicy;
use mainstay_sim::{Script, World, WorldOptions};

const FEW: u64 = 1_000;
const MANY: u64 = 1_000_000;
const INTERVAL: Duration = Duration::from_secs(30);
/// Polls that one round measures.
const POLLS: u64 = 200_000;
const ROUNDS: usize = 5;
const NANOS: f64 = 1_000_000_000.0;

pub(crate) fn measure() -> anyhow::Result<()> {
    let mut few = world(FEW)?;
    let mut many = world(MANY)?;
    // Everybody was polled once before: what is first needed then is there.
    few.run(INTERVAL, |_| ());
    many.run(INTERVAL, |_| ());
    let (mut few_costs, mut many_costs, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let (one, other) = (round(&mut few, FEW), round(&mut many, MANY));
        few_costs.push(one);
        many_costs.push(other);
        ratios.push(other / one);
    }
    print("poll.sim_growth", median(ratios), "x")?;
    print("poll.sim_1000_ns", median(few_costs), "ns")?;
    print("poll.sim_1000000_ns", median(many_costs), "ns")?;
    Ok(())
}

fn world(services: u64) -> anyhow::Result<World> {
    let options = WorldOptions {
        services,
        interval: INTERVAL,
        script: Script::new(7),
        policy: PollPolicy::new(Duration::from_secs(5), 5, 10_000)?,
    };
    Ok(World::new(&options))
}

/// Nanoseconds of CPU for one poll.
#[expect(clippy::cast_precision_loss, reason = "a round has far fewer than 2^52 polls")]
fn round(world: &mut World, services: u64) -> f64 {
    let time = INTERVAL.mul_f64(POLLS as f64 / services as f64);
    let (mut polls, began) = (0_u64, thread_time());
    world.run(time, |_| polls += 1);
    let cpu = thread_time().saturating_sub(began);
    cpu.as_secs_f64() * NANOS / polls as f64
}
