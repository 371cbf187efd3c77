//! What a report costs a runner: the more reports, the more CPU, and nothing of what it takes to start. The
//! language model is a stand-in in this process, so only asking it is counted.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::Context as _;
use mainstay_benches::exchange::exchange;
use mainstay_benches::figure::{median, print};
use mainstay_benches::process::Server;
use mainstay_reports::llm::fake;
use mainstay_standins::llm::{Behaviour, LlmServer};
use tokio::sync::Barrier;

use crate::site::{Site, UPLOADS_EACH, upload};

const FEW: u32 = 20;
const MANY: u32 = 120;
const TRIES: usize = 3;
/// Lines of a call of an hour.
const LINES: usize = 600;
const LOOK: Duration = Duration::from_millis(100);
/// How often is looked whether all reports are made.
const LOOKS: u32 = 3_000;

pub(crate) async fn measure(binary: &Path) -> anyhow::Result<()> {
    let call = call();
    let mut costs = Vec::new();
    for _ in 0..TRIES {
        let few = cpu(binary, &call, FEW).await?;
        let many = cpu(binary, &call, MANY).await?;
        costs.push((many - few) * 1_000.0 / f64::from(MANY - FEW));
    }
    print("reports.overhead_ms", median(costs), "ms")?;
    print("reports.transcript_bytes", f64::from(u32::try_from(call.len())?), "bytes")?;
    Ok(())
}

/// An hour of a call: who spoke when, and what.
fn call() -> String {
    let line = |number: usize| {
        let (minute, second) = (number / 10, number % 10 * 6);
        format!(
            "00:{minute:02}:{second:02} Ada: step {number}, checkout was slow because of the deploy of orders\n"
        )
    };
    (0..LINES).map(line).collect()
}

/// The seconds of CPU of a runner that makes so many reports.
async fn cpu(binary: &Path, call: &str, count: u32) -> anyhow::Result<f64> {
    let folder = tempfile::tempdir()?;
    let files = usize::try_from(count)?;
    let site = Site::start(binary, folder.path(), files.div_ceil(UPLOADS_EACH), None).await?;
    for number in 0..files {
        let session = site.sessions.get(number / UPLOADS_EACH).context("a session")?;
        upload(&site.server.address, session, call.as_bytes(), &Barrier::new(1)).await?;
    }
    // The database is one file, and belongs to one process.
    drop(site);
    let llm = LlmServer::start([Behaviour::Good], fake::report).await?;
    let mut command = Command::new(binary);
    command.args(["work", "--listen", "127.0.0.1:0"]).current_dir(folder.path()).env_clear();
    command.env("LLM_PROVIDER", "openai").env("LLM_BASE_URL", llm.base_url());
    let runner = Server::start(&mut command)?;
    for _ in 0..LOOKS {
        tokio::time::sleep(LOOK).await;
        // Asking the runner itself would cost it.
        if llm.asked().len() >= files && made(&runner).await? >= f64::from(count) {
            return Ok(runner.cpu()?.as_secs_f64());
        }
    }
    anyhow::bail!("not all reports are made: {} of {count}", made(&runner).await?)
}

/// How many reports the runner has made.
async fn made(runner: &Server) -> anyhow::Result<f64> {
    let address = &runner.address;
    let request = format!("GET /metrics HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    let answer = exchange(address, &request).await?;
    let line = answer
        .lines()
        .find(|line| line.starts_with("mainstay_reports_total{") && line.contains("succeeded"));
    Ok(line.and_then(|line| line.split(' ').next_back()?.parse().ok()).unwrap_or(0.0))
}
