//! Pollers of mainstay-poller.

use std::future::ready;
use std::time::{Duration, Instant};

use mainstay_poller::{Context, EventQueue, Handle, Outcome};

use crate::late::Late;
use crate::{INTERVAL, POLLERS, Round, Spread, window};

const HOUR: Duration = Duration::from_secs(3_600);

pub(crate) async fn round(spread: Spread) -> anyhow::Result<Round> {
    let (queue, late) = (EventQueue::<()>::new(), Late::new());
    let ctx = Context::new(&queue, 0);
    let mut pollers = Vec::new();
    for number in 0..POLLERS {
        spread.wait(number).await;
        let mut due = late.start();
        let poll = move || {
            due.poll();
            ready(())
        };
        pollers.push(
            ctx.poll(poll)
                .every(INTERVAL)
                .within(HOUR)
                .at_fixed_rate()
                .handle(|()| Outcome::Continue)?,
        );
    }
    let cpu = window().await;
    let start = Instant::now();
    drop(ctx);
    for poller in pollers {
        poller.wait().await;
    }
    Ok(Round { late, cpu, stop: start.elapsed() })
}

/// So many pollers whose poll holds nothing. They have polled once, and sleep.
pub(crate) async fn asleep(count: u32) -> anyhow::Result<(Context<()>, Vec<Handle>)> {
    let ctx = Context::new(&EventQueue::new(), 0);
    let mut pollers = Vec::new();
    for _ in 0..count {
        let watch = ctx.poll(|| ready(())).every(HOUR / 2).within(HOUR);
        pollers.push(watch.handle(|()| Outcome::Continue)?);
    }
    while pollers.iter().any(|poller| poller.status().poll_count == 0) {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    Ok((ctx, pollers))
}
