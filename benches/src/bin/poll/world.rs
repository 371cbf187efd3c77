//! Services in a database, before anybody polls them.

use std::path::Path;
use std::sync::Arc;

use mainstay_base::{Clock, IdSource, Rng, Secret, SystemClock, SystemRng};
use mainstay_events::{Events, EventsOptions};
use mainstay_monitor::{Definition, Draft, Seal, Services, ServicesError};
use mainstay_store::{Db, Sql, StoreOptions, Target, migrate};
use tokio_util::sync::CancellationToken;

use crate::INTERVAL;
use crate::upstream::{TURNING, host};

/// Services that are added in one transaction.
const TOGETHER: usize = 500;

/// As if each had been polled and Mainstay had been away: that spreads them over the interval, where new
/// ones begin together.
const SPREAD: Sql = Sql::same(
    "bench.spread",
    "UPDATE service_states SET poll_seq = 1, last_polled_at = 1, next_poll_at = 1",
);
const SIZE: Sql = Sql::pair(
    "bench.size",
    "SELECT (SELECT count(*) FROM latency_points) AS rows,
       (SELECT sum(pgsize) FROM dbstat WHERE name = 'latency_points') AS table_bytes,
       (SELECT (page_count - freelist_count) * page_size
        FROM pragma_page_count(), pragma_freelist_count(), pragma_page_size()) AS whole_bytes",
    "SELECT (SELECT count(*) FROM latency_points) AS rows,
       (SELECT coalesce(sum(pg_total_relation_size(inhrelid)), 0)::bigint
        FROM pg_inherits WHERE inhparent = 'latency_points'::regclass) AS table_bytes,
       pg_database_size(current_database()) AS whole_bytes",
);

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

/// Adds so many services, each on a host of its own at `port`, that will be polled evenly. One of so many
/// turns with every poll.
pub(crate) async fn build(
    target: Target,
    services: u32,
    port: u16,
    turning: Option<u32>,
) -> anyhow::Result<()> {
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
        (0..services).map(|number| definition(number, port, turning)).collect::<Result<_, _>>()?;
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

/// What the latencies take, while nobody else has the database open.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    /// Rows of latencies: one for each poll.
    pub(crate) rows: f64,
    /// Bytes of their table with its key.
    pub(crate) table: f64,
    /// Bytes of everything.
    pub(crate) whole: f64,
}

pub(crate) async fn size(target: &Target) -> anyhow::Result<Size> {
    let options = StoreOptions::new(target.clone(), Arc::new(SystemClock::new()));
    let db = Db::open(options).await?;
    let row = db.fetch_one(&SIZE, &[]).await?;
    let size = Size {
        rows: count(row.get("rows")?)?,
        table: count(row.get("table_bytes")?)?,
        whole: count(row.get("whole_bytes")?)?,
    };
    db.close().await;
    Ok(size)
}

fn count(number: i64) -> anyhow::Result<f64> {
    Ok(f64::from(u32::try_from(number)?))
}

fn definition(number: u32, port: u16, turning: Option<u32>) -> anyhow::Result<Definition> {
    let turns = turning.is_some_and(|every| number.is_multiple_of(every));
    let path = if turns { TURNING } else { "/health/" };
    let draft = Draft {
        name: format!("service {number}"),
        health_endpoint: format!("http://{}:{port}{path}{number}", host(number)),
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
