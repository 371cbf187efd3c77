//! How many writes in a second one stream's counter bears on PostgreSQL: each holds the counter's row
//! until its commit, so that more writers do not help, and more events in one write do.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use mainstay_base::{SystemClock, SystemRng};
use mainstay_benches::cluster::Cluster;
use mainstay_benches::figure::print;
use mainstay_events::{Event, Events, EventsError, EventsOptions, Stream};
use mainstay_store::migrate;
use tokio_util::sync::CancellationToken;

use crate::open;

const TIME: Duration = Duration::from_secs(5);
const WRITERS: usize = 8;

#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52 writes")]
pub(crate) async fn measure(cluster: &Cluster) -> anyhow::Result<()> {
    let address = cluster.database().await?;
    let db = open(&address).await?;
    migrate::up(&db).await?;
    let stop = CancellationToken::new();
    let (clock, rng) = (Arc::new(SystemClock::new()), Arc::new(SystemRng));
    let starting = Events::start(db, EventsOptions::default(), clock, rng, stop.clone());
    let (events, tasks) = starting.await?;
    for (name, together) in [("single", 1_u32), ("batch_of_100", 100)] {
        let writes = write_for(&events, together).await? as f64 / TIME.as_secs_f64();
        print(&format!("events.org_writes_per_s_{name}"), writes, "1/s")?;
        print(&format!("events.org_events_per_s_{name}"), writes * f64::from(together), "1/s")?;
    }
    stop.cancel();
    tasks.finished().await;
    Ok(())
}

async fn write_for(events: &Events, together: u32) -> anyhow::Result<u64> {
    let written = Arc::new(AtomicU64::new(0));
    let until = Instant::now() + TIME;
    let writers: Vec<_> = (0..WRITERS)
        .map(|_| tokio::spawn(write(events.clone(), together, until, Arc::clone(&written))))
        .collect();
    for writer in writers {
        writer.await??;
    }
    Ok(written.load(Ordering::Relaxed))
}

async fn write(
    events: Events,
    together: u32,
    until: Instant,
    written: Arc<AtomicU64>,
) -> Result<(), EventsError> {
    let event = Event::new("measured", &serde_json::Map::new())?;
    while Instant::now() < until {
        let writing = events.write(async |_, out| {
            for _ in 0..together {
                out.add(Stream::Org, event.clone())?;
            }
            Ok::<_, EventsError>(())
        });
        writing.await?;
        written.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}
