//! Services in a database, before anybody polls them.

use std::path::Path;
use std::sync::Arc;

use mainstay_base::{Clock, IdSource, Rng, Secret, SystemClock, SystemRng};
use mainstay_events::{Events, EventsOptions};
use mainstay_monitor::{Definition, Draft, Seal, Services, ServicesError};
use mainstay_store::{Db, Sql, StoreOptions, Target, migrate};
use tokio_util::sync::CancellationToken;

use crate::INTERVAL;
use crate::upstream::host;

/// Services that are added in one transaction.
const TOGETHER: usize = 500;

/// As if each had been polled and Mainstay had been away: that spreads them over the interval, where new
/// ones begin together.
const SPREAD: Sql = Sql::same(
    "bench.spread",
    "UPDATE service_states SET poll_seq = 1, last_polled_at = 1, next_poll_at = 1",
);
const COUNT_ROWS: Sql = Sql::same("bench.rows", "SELECT count(*) AS n FROM latency_points");

/// The target of an SQLite file in `folder`, where the binary looks for it.
pub(crate) fn sqlite(folder: &Path) -> anyhow::Result<Target> {
    let data = folder.join("mainstay-data");
    std::fs::create_dir_all(&data)?;
    Ok(Target::Sqlite { path: data.join("mainstay.db") })
}

/// The target of a PostgreSQL database.
pub(crate) fn postgres(url: &str) -> Target {
    Target::Postgres { url: Secret::new(url.to_owned()) }
}

/// Adds so many services, each on a host of its own at `port`, that will be polled evenly.
pub(crate) async fn build(target: Target, services: u32, port: u16) -> anyhow::Result<()> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let rng: Arc<dyn Rng> = Arc::new(SystemRng);
    let db = Db::open(StoreOptions::new(target, Arc::clone(&clock))).await?;
    migrate::up(&db).await?;
    let (stop, options) = (CancellationToken::new(), EventsOptions::default());
    let starting =
        Events::start(db.clone(), options, Arc::clone(&clock), Arc::clone(&rng), stop.clone());
    let (events, tasks) = starting.await?;
    let ids = IdSource::new(clock, rng);
    let handle = Services::new(events.clone(), ids, Arc::new(NoSeal), Arc::new(|| ()));
    let definitions: Vec<Definition> =
        (0..services).map(|number| definition(number, port)).collect::<Result<_, _>>()?;
    for some in definitions.chunks(TOGETHER) {
        let writing = events.write(async |tx, out| {
            for one in some {
                handle.create(tx, out, one).await?;
            }
            Ok::<_, ServicesError>(())
        });
        writing.await?;
    }
    db.write(async |tx| tx.execute(&SPREAD, &[]).await).await?;
    stop.cancel();
    tasks.finished().await;
    db.close().await;
    Ok(())
}

/// The rows of latencies in an SQLite file that nobody else has open, and its bytes with its log.
pub(crate) async fn size(target: &Target) -> anyhow::Result<(f64, f64)> {
    let Target::Sqlite { path } = target else { anyhow::bail!("no file") };
    let options = StoreOptions::new(target.clone(), Arc::new(SystemClock::new()));
    let db = Db::open(options).await?;
    let rows: i64 = db.fetch_one(&COUNT_ROWS, &[]).await?.get("n")?;
    // The last to close it moves the log into the file.
    db.close().await;
    let log = path.with_extension("db-wal");
    let bytes = std::fs::metadata(path)?.len() + std::fs::metadata(log).map_or(0, |log| log.len());
    Ok((f64::from(u32::try_from(rows)?), f64::from(u32::try_from(bytes)?)))
}

fn definition(number: u32, port: u16) -> anyhow::Result<Definition> {
    let draft = Draft {
        name: format!("service {number}"),
        health_endpoint: format!("http://{}:{port}/health/{number}", host(number)),
        poll_interval_ms: Some(i64::try_from(INTERVAL.as_millis())?),
        ..Draft::default()
    };
    Ok(Definition::check(draft)?)
}

/// For services without headers, of which nothing is sealed.
struct NoSeal;

impl Seal for NoSeal {
    fn seal(&self, _: &[u8]) -> String {
        String::new()
    }

    fn open(&self, _: &str) -> Option<Vec<u8>> {
        None
    }
}
