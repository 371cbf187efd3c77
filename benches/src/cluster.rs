//! A PostgreSQL of the bench's own, which waits for its disk.

use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::Context as _;
use mainstay_store::testing;

/// Ends with this value.
#[derive(Debug)]
pub struct Cluster {
    url: String,
    made: AtomicU32,
}

impl Cluster {
    /// Starts it by `scripts/postgres`.
    ///
    /// # Errors
    /// When it can't be started.
    pub fn start() -> anyhow::Result<Self> {
        let output = script("start")?;
        let url = output.split('\'').nth(1).context("scripts/postgres gave no address")?;
        Ok(Self { url: url.to_owned(), made: AtomicU32::new(0) })
    }

    /// The address of a clean database.
    ///
    /// # Errors
    /// When none can be made.
    pub async fn database(&self) -> anyhow::Result<String> {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        Ok(testing::create_database(&self.url, &format!("bench_{number}")).await?)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = script("stop");
    }
}

fn script(word: &str) -> anyhow::Result<String> {
    let output = Command::new("./scripts/postgres")
        .arg(word)
        .env("MAINSTAY_POSTGRES_DURABLE", "1")
        .output()
        .context("run it by ./scripts/bench")?;
    anyhow::ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}
