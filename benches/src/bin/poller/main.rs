//! `./scripts/bench poller`: ten thousand pollers that ask every second, beside as many bare tasks with an
//! interval of tokio: how late they are, what a poll costs, how much memory each takes, and how long it takes to
//! stop them all.
#![expect(clippy::disallowed_methods, reason = "a bench measures the real clock")]

mod bare;
mod late;
mod memory;
mod ours;

use std::time::Duration;

use anyhow::Context as _;
use mainstay_benches::cpu;
use mainstay_benches::figure::{self, median, print};
use mainstay_benches::memory::CHILD;

use late::Late;

/// How many poll at once.
const POLLERS: u32 = 10_000;
const INTERVAL: Duration = Duration::from_secs(1);
/// How long each contestant polls in a round.
const WINDOW: Duration = Duration::from_secs(8);
const ROUNDS: usize = 3;

/// What one round of a contestant showed.
struct Round {
    late: Late,
    cpu: Duration,
    stop: Duration,
}

/// The rounds of one contestant.
#[derive(Default)]
struct Rounds {
    late_p50: Vec<f64>,
    late_p99: Vec<f64>,
    cpu_us: Vec<f64>,
    stop_ms: Vec<f64>,
}

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() == Some(CHILD) {
        return memory::child(&arguments.next().context("whose memory?")?);
    }
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        let (mut pollers, mut tasks) = (Rounds::default(), Rounds::default());
        for _ in 0..ROUNDS {
            pollers.add(&ours::round(Spread::Even).await?);
            tasks.add(&bare::round(Spread::Even).await?);
        }
        pollers.print("poller")?;
        tasks.print("poller.bare")?;
        print(
            "poller.together_late_p99_ms",
            ours::round(Spread::Together).await?.late.p99(),
            "ms",
        )?;
        let bare = bare::round(Spread::Together).await?;
        print("poller.bare_together_late_p99_ms", bare.late.p99(), "ms")?;
        anyhow::Ok(())
    })?;
    memory::measure()?;
    figure::finish("poller")
}

/// When they start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spread {
    /// Spread over one interval.
    Even,
    /// All in the same moment.
    Together,
}

impl Spread {
    /// Waits before the start of the one with this number.
    async fn wait(self, number: u32) {
        const STEPS: u32 = 100;
        if self == Self::Even && number.is_multiple_of(POLLERS / STEPS) {
            tokio::time::sleep(INTERVAL / STEPS).await;
        }
    }
}

/// The CPU time that all threads use within the window.
async fn window() -> Duration {
    let before = cpu::process_time();
    tokio::time::sleep(WINDOW).await;
    cpu::process_time().saturating_sub(before)
}

impl Rounds {
    fn add(&mut self, round: &Round) {
        let polls = f64::from(POLLERS) * WINDOW.as_secs_f64() / INTERVAL.as_secs_f64();
        self.late_p50.push(round.late.p50());
        self.late_p99.push(round.late.p99());
        self.cpu_us.push(round.cpu.as_secs_f64() * 1e6 / polls);
        self.stop_ms.push(round.stop.as_secs_f64() * 1e3);
    }

    fn print(self, name: &str) -> std::io::Result<()> {
        let joint = if name.contains('.') { "_" } else { "." };
        print(&format!("{name}{joint}late_p50_ms"), median(self.late_p50), "ms")?;
        print(&format!("{name}{joint}late_p99_ms"), median(self.late_p99), "ms")?;
        print(&format!("{name}{joint}cpu_us"), median(self.cpu_us), "us")?;
        print(&format!("{name}{joint}stop_all_ms"), median(self.stop_ms), "ms")
    }
}
