//! The bare operation: a task with an interval of tokio, which has no deadline, no handler, no status and
//! nobody who catches its panics.

use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};

use crate::late::Late;
use crate::{INTERVAL, POLLERS, Round, Spread, window};

pub(crate) async fn round(spread: Spread) -> anyhow::Result<Round> {
    let (late, mut tasks) = (Late::new(), JoinSet::new());
    for number in 0..POLLERS {
        spread.wait(number).await;
        let mut due = late.start();
        let mut ticks = interval(INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        tasks.spawn(async move {
            loop {
                ticks.tick().await;
                due.poll();
            }
        });
    }
    let cpu = window().await;
    let start = Instant::now();
    tasks.abort_all();
    while tasks.join_next().await.is_some() {}
    Ok(Round { late, cpu, stop: start.elapsed() })
}

/// So many tasks that have ticked once, and sleep.
pub(crate) async fn asleep(count: u32) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    for _ in 0..count {
        tasks.spawn(async {
            let mut ticks = interval(Duration::from_secs(1_800));
            loop {
                ticks.tick().await;
            }
        });
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    tasks
}
