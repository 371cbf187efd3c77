//! graphile-worker from npm, in a temporary folder. Without npm it is left out, and said so.

use std::io::{self, Write as _};
use std::process::Command;

use anyhow::Context as _;
use mainstay_benches::cluster::Cluster;

const PACKAGE: &str = "graphile-worker@0.18";
const SCRIPT: &str = include_str!("graphile.mjs");

/// Prints the figures of the peer.
pub(crate) async fn run(cluster: &Cluster, jobs: usize, concurrency: &[u32]) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("package.json"), r#"{"type":"module","private":true}"#)?;
    std::fs::write(folder.path().join("bench.mjs"), SCRIPT)?;
    let install = Command::new("npm")
        .args(["install", "--no-audit", "--no-fund", "--loglevel=error", PACKAGE])
        .current_dir(folder.path())
        .output();
    if !install.as_ref().is_ok_and(|output| output.status.success()) {
        writeln!(io::stderr(), "graphile-worker can't be installed by npm, so it is left out")?;
        return Ok(());
    }
    let concurrency = concurrency.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    let output = Command::new("node")
        .args(["bench.mjs", &cluster.database().await?, &jobs.to_string(), &concurrency])
        .current_dir(folder.path())
        .output()
        .context("node")?;
    anyhow::ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    io::stdout().write_all(&output.stdout)?;
    Ok(())
}
