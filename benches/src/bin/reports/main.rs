//! `./scripts/bench reports`: the memory of many uploads at once, and the CPU of a report beside what the
//! language model takes for it.
#![expect(clippy::disallowed_methods, reason = "a bench is told by the environment what to run")]

mod making;
mod site;
mod uploads;

use std::path::PathBuf;

use anyhow::Context as _;
use mainstay_benches::figure;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> anyhow::Result<()> {
    let binary = PathBuf::from(std::env::var_os("MAINSTAY_BINARY").context("MAINSTAY_BINARY")?);
    uploads::measure(&binary).await?;
    making::measure(&binary).await?;
    figure::finish("reports")
}
