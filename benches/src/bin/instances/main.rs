//! `./scripts/bench instances`: how long services are without an owner when one of two instances is killed,
//! and when it is stopped. Several pairs go side by side, each on a database of its own.
#![expect(
    clippy::disallowed_methods,
    reason = "a bench goes by the wall clock and the environment"
)]

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use mainstay_base::{Secret, SystemClock};
use mainstay_benches::cluster::Cluster;
use mainstay_benches::figure::{self, median, print};
use mainstay_benches::process::Server;
use mainstay_store::{Db, Sql, StoreOptions, Target, migrate};
use tempfile::TempDir;

/// Pairs that go side by side, and how often each loses one.
const PAIRS: u32 = 4;
const ROUNDS: u32 = 6;
/// The kills are spread over the time between two renewals.
const RENEWED_EVERY: Duration = Duration::from_secs(3);
const PEPPER: &str = "a pepper for the bench that is long enough";
const LOOK: Duration = Duration::from_millis(10);
const PATIENCE: Duration = Duration::from_secs(60);

/// How many shards the one has that has most, and how many have any.
const OWNED: Sql = Sql::same(
    "bench.owned",
    "SELECT coalesce(max(shards), 0) AS most, count(*) AS owners FROM (
       SELECT count(*) AS shards FROM poll_shards AS p
       JOIN instances AS i ON i.id = p.owner AND i.gone_at IS NULL GROUP BY p.owner) AS owned",
);

struct Pair {
    address: String,
    db: Db,
    folders: [TempDir; 2],
}

impl Pair {
    async fn new(cluster: &Cluster) -> anyhow::Result<Self> {
        let address = cluster.database().await?;
        let url = Secret::new(address.clone());
        let options = StoreOptions::new(Target::Postgres { url }, Arc::new(SystemClock::new()));
        let db = Db::open(options).await?;
        migrate::up(&db).await?;
        Ok(Self { address, db, folders: [tempfile::tempdir()?, tempfile::tempdir()?] })
    }

    fn start(&self, which: usize) -> anyhow::Result<Server> {
        let binary = PathBuf::from(std::env::var_os("MAINSTAY_BINARY").context("MAINSTAY_BINARY")?);
        let folder = self.folders.get(which).context("one of two")?;
        let mut command = Command::new(binary);
        command
            .current_dir(folder.path())
            .env_clear()
            .env("DATABASE_URL", &self.address)
            .env("TOKEN_HASH_PEPPER", PEPPER)
            .env("MAINSTAY_JOBS_EMBEDDED", "false");
        Server::start(command.args(["serve", "--listen", "127.0.0.1:0"]))
    }

    /// Waits until the shards are owned so, and tells how long that took.
    async fn until(&self, most: i64, owners: i64) -> anyhow::Result<f64> {
        let began = Instant::now();
        loop {
            let row = self.db.fetch_one(&OWNED, &[]).await?;
            if (row.get::<i64>("most")?, row.get::<i64>("owners")?) == (most, owners) {
                return Ok(began.elapsed().as_secs_f64());
            }
            anyhow::ensure!(began.elapsed() < PATIENCE, "the shards are never owned so");
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Loses one of two again and again; how long it took each time.
    async fn lose(self, pair: u32) -> anyhow::Result<Vec<f64>> {
        let _survivor = self.start(0)?;
        self.until(64, 1).await?;
        let mut took = Vec::new();
        for round in 0..ROUNDS {
            let other = self.start(1)?;
            self.until(32, 2).await?;
            let part = (pair * ROUNDS + round).checked_rem(PAIRS * ROUNDS).unwrap_or_default();
            tokio::time::sleep(RENEWED_EVERY * part / (PAIRS * ROUNDS)).await;
            // SIGKILL.
            drop(other);
            took.push(self.until(64, 1).await?);
        }
        Ok(took)
    }
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> anyhow::Result<()> {
    let cluster = Cluster::start()?;
    let mut losing = Vec::new();
    for number in 0..PAIRS {
        losing.push(tokio::spawn(Pair::new(&cluster).await?.lose(number)));
    }
    let mut took = Vec::new();
    for one in losing {
        took.extend(one.await??);
    }
    let most = took.iter().copied().fold(0.0, f64::max);
    print("instances.takeover_max_s", most, "s")?;
    print("instances.takeover_p50_s", median(took), "s")?;
    figure::finish("instances")
}
