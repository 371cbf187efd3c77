//! How long services wait when one of two instances is killed or stopped: until the other owns all of
//! them, and until it has polled each. Several pairs go side by side, each on a database of its own.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use futures_util::future::try_join_all;
use mainstay_base::{Secret, SystemClock, Timestamp};
use mainstay_benches::cluster::Cluster;
use mainstay_benches::figure::print;
use mainstay_benches::process::Server;
use mainstay_store::{Db, Sql, StoreOptions, Target, values};
use tempfile::TempDir;

use crate::upstream::Upstream;
use crate::world;

/// Pairs that go side by side, and how often each loses one.
const PAIRS: u32 = 4;
const ROUNDS: u32 = 6;
/// What each pair watches, every five seconds.
const SERVICES: u32 = 100;
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

const WAITING: Sql = Sql::same(
    "bench.waiting",
    "SELECT count(*) AS waiting FROM service_states WHERE last_polled_at < $1",
);

/// How many seconds it took, each time.
#[derive(Default)]
struct Waits {
    /// Until the survivor owned everything, and had polled everything, after a kill.
    owned: Vec<f64>,
    polled: Vec<f64>,
    /// Until it owned everything after a stop.
    stopped: Vec<f64>,
}

struct Pair {
    address: String,
    db: Db,
    folders: [TempDir; 2],
}

impl Pair {
    async fn new(cluster: &Cluster, port: u16) -> anyhow::Result<Self> {
        let address = cluster.database().await?;
        world::build(world::postgres(&address), SERVICES, port, None).await?;
        let url = Secret::new(address.clone());
        let options = StoreOptions::new(Target::Postgres { url }, Arc::new(SystemClock::new()));
        let db = Db::open(options).await?;
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
        let owned = async || {
            let row = self.db.fetch_one(&OWNED, &[]).await?;
            Ok((row.get::<i64>("most")?, row.get::<i64>("owners")?) == (most, owners))
        };
        wait(owned).await
    }

    /// Waits until every service was polled after `moment`, and tells how long that took.
    async fn until_polled(&self, moment: Timestamp) -> anyhow::Result<f64> {
        let polled = async || {
            let row = self.db.fetch_one(&WAITING, values![moment]).await?;
            Ok(row.get::<i64>("waiting")? == 0)
        };
        wait(polled).await
    }

    /// Loses one of two again and again, by turns killed and stopped.
    async fn lose(self, pair: u32) -> anyhow::Result<Waits> {
        let _survivor = self.start(0)?;
        self.until(64, 1).await?;
        let mut waits = Waits::default();
        for round in 0..ROUNDS {
            let other = self.start(1)?;
            self.until(32, 2).await?;
            let part = (pair * ROUNDS + round).checked_rem(PAIRS * ROUNDS).unwrap_or_default();
            tokio::time::sleep(RENEWED_EVERY * part / (PAIRS * ROUNDS)).await;
            let lost_at = self.db.now().await?;
            // SIGKILL.
            drop(other);
            let owned = self.until(64, 1).await?;
            waits.owned.push(owned);
            waits.polled.push(owned + self.until_polled(lost_at).await?);
            let other = self.start(1)?;
            self.until(32, 2).await?;
            other.ask_to_stop()?;
            waits.stopped.push(self.until(64, 1).await?);
        }
        Ok(waits)
    }
}

/// Waits until it is so, and tells how many seconds that took.
async fn wait(mut is_so: impl AsyncFnMut() -> anyhow::Result<bool>) -> anyhow::Result<f64> {
    let began = Instant::now();
    while !is_so().await? {
        anyhow::ensure!(began.elapsed() < PATIENCE, "it never came to be so");
        tokio::time::sleep(LOOK).await;
    }
    Ok(began.elapsed().as_secs_f64())
}

/// Loses an instance of each pair again and again.
pub(crate) async fn measure(upstream: &Upstream, cluster: &Cluster) -> anyhow::Result<()> {
    let mut losing = Vec::new();
    for number in 0..PAIRS {
        let pair = Pair::new(cluster, upstream.port).await?;
        losing.push(pair.lose(number));
    }
    let mut waits = Waits::default();
    for one in try_join_all(losing).await? {
        waits.add(one);
    }
    spread("takeover", waits.owned)?;
    spread("takeover_polled", waits.polled)?;
    spread("handover", waits.stopped)
}

/// Prints how the waits are spread.
fn spread(name: &str, mut waits: Vec<f64>) -> anyhow::Result<()> {
    waits.sort_by(f64::total_cmp);
    for percent in [50, 90, 99] {
        // The first that so many are not above.
        let place = (waits.len() * percent).div_ceil(100).saturating_sub(1);
        let wait = waits.get(place).context("nobody was lost")?;
        print(&format!("poll.{name}_p{percent}_s"), *wait, "s")?;
    }
    Ok(())
}

impl Waits {
    fn add(&mut self, other: Self) {
        self.owned.extend(other.owned);
        self.polled.extend(other.polled);
        self.stopped.extend(other.stopped);
    }
}
