//! Thousands who follow, each on a connection of its own.

use std::time::Duration;

use anyhow::Context as _;
use rustix::time::{ClockId, clock_gettime};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// The longest that all may take to be there, and to get the last event.
const PATIENCE: Duration = Duration::from_secs(120);
/// Connections that are opened at once.
const TOGETHER: usize = 250;
/// What stands before the time in an event's data.
const SENT: &str = "\"sent\":";

/// Everybody who follows.
pub(crate) struct Crowd {
    tasks: Vec<JoinHandle<anyhow::Result<Vec<f64>>>>,
}

/// What came.
pub(crate) struct Delivered {
    pub(crate) latencies_ms: Vec<f64>,
}

/// The machine's monotonic clock, the same for all processes.
pub(crate) fn now_ns() -> i64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}

/// The value below which `part` of the sorted `values` lie.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an index into far fewer than 2^52 values"
)]
pub(crate) fn part_of(values: &[f64], part: f64) -> f64 {
    let index = (values.len() as f64 * part) as usize;
    values.get(index.min(values.len().saturating_sub(1))).copied().unwrap_or(f64::NAN)
}

impl Crowd {
    /// Opens a stream for each request, on which `events` will come, and waits until each has had its
    /// first bytes of it.
    pub(crate) async fn gather(
        address: &str,
        requests: Vec<String>,
        events: usize,
    ) -> anyhow::Result<Self> {
        let mut tasks = Vec::with_capacity(requests.len());
        let (there, mut arrivals) = mpsc::channel(TOGETHER);
        let mut waiting = requests.into_iter();
        loop {
            let portion: Vec<_> = waiting.by_ref().take(TOGETHER).collect();
            if portion.is_empty() {
                return Ok(Self { tasks });
            }
            let count = portion.len();
            for request in portion {
                tasks.push(tokio::spawn(follow(
                    address.to_owned(),
                    request,
                    events,
                    there.clone(),
                )));
            }
            for _ in 0..count {
                let arrived = tokio::time::timeout(PATIENCE, arrivals.recv());
                arrived.await.context("somebody never got in")?.context("nobody tells")?;
            }
        }
    }

    pub(crate) async fn all_delivered(self) -> anyhow::Result<Delivered> {
        let mut latencies_ms = Vec::new();
        for task in self.tasks {
            let one = tokio::time::timeout(PATIENCE, task).await.context("events are missing")?;
            latencies_ms.extend(one??);
        }
        Ok(Delivered { latencies_ms })
    }
}

async fn follow(
    address: String,
    request: String,
    events: usize,
    there: mpsc::Sender<()>,
) -> anyhow::Result<Vec<f64>> {
    let mut stream = TcpStream::connect(&address).await?;
    stream.write_all(request.as_bytes()).await?;
    let mut lines = BufReader::with_capacity(1024, stream);
    let (mut line, mut told) = (String::new(), Some(there));
    let mut latencies = Vec::with_capacity(events);
    while latencies.len() < events {
        line.clear();
        anyhow::ensure!(lines.read_line(&mut line).await? > 0, "the stream ended");
        // The first line that is a part of the stream: a comment or the first event.
        if (line.starts_with(':') || line.starts_with("event:"))
            && let Some(there) = told.take()
        {
            there.send(()).await?;
        }
        if let Some((_, sent)) = line.split_once(SENT) {
            let digits = sent.split(|next: char| !next.is_ascii_digit()).next().unwrap_or("");
            latencies.push(milliseconds(now_ns().saturating_sub(digits.parse()?)));
        }
    }
    Ok(latencies)
}

#[expect(clippy::cast_precision_loss, reason = "a latency is far below 2^52 ns")]
fn milliseconds(nanos: i64) -> f64 {
    nanos as f64 / 1_000_000.0
}
