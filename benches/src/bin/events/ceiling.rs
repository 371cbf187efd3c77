//! How many writes in a second one stream's counter bears on PostgreSQL: each holds the counter's row
//! until its commit, so that more writers do not help, and more events in one write do.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use mainstay_benches::cluster::Cluster;
use mainstay_benches::figure::print;
use mainstay_events::{Event, Events, EventsError, Stream};
use mainstay_store::migrate;

use crate::open;
use crate::writer::Writer;

const TIME: Duration = Duration::from_secs(5);
const WRITERS: usize = 8;

pub(crate) async fn measure(cluster: &Cluster) -> anyhow::Result<()> {
    let db = open(&cluster.database().await?).await?;
    migrate::up(&db).await?;
    let writer = Writer::start(db).await?;
    print("events.org_ceiling_tx", write_for(&writer.events, 1).await?, "1/s")?;
    let together = 100;
    let writes = write_for(&writer.events, together).await?;
    print("events.org_ceiling_batch_of_100_tx", writes, "1/s")?;
    print("events.org_ceiling_batch_of_100_events", writes * f64::from(together), "1/s")?;
    writer.end().await;
    Ok(())
}

/// Writes in a second.
#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52 writes")]
async fn write_for(events: &Events, together: u32) -> anyhow::Result<f64> {
    let written = Arc::new(AtomicU64::new(0));
    let until = Instant::now() + TIME;
    let writers: Vec<_> = (0..WRITERS)
        .map(|_| tokio::spawn(write(events.clone(), together, until, Arc::clone(&written))))
        .collect();
    for writer in writers {
        writer.await??;
    }
    Ok(written.load(Ordering::Relaxed) as f64 / TIME.as_secs_f64())
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
