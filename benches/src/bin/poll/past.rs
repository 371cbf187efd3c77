//! How long it takes to make the graph of thirty days ago: 5 000 services with 40 000 dependencies, a
//! keyframe, and what changed since, on an ordinary day and on one at which everything flaps.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mainstay_base::{Clock, SystemClock};
use mainstay_benches::cluster::Cluster;
use mainstay_benches::figure::{median, print};
use mainstay_graph::Places;
use mainstay_monitor::answer::Answer;
use mainstay_monitor::graph::{Picture, show, then};
use mainstay_monitor::past::keyframes::{Done, MANY_CHANGES, SETTLE};
use mainstay_monitor::past::{Keyframes, Past};
use mainstay_monitor::views::MISSING_SHOWN_FOR;
use mainstay_store::{Db, Sql, StoreOptions, Target, migrate, values};
use tokio_util::sync::CancellationToken;

use crate::world;

const ROUNDS: usize = 9;
/// Changes of an ordinary day.
const ORDINARY: i64 = 5_000;
const KEPT: Duration = Duration::from_hours(400 * 24);
const MONTH_MS: i64 = 30 * 24 * 3_600_000;
/// The moment is so long after its keyframe.
const LATER_MS: i64 = 20 * 3_600_000;

const SERVICES: Sql = Sql::same(
    "bench.services",
    "WITH RECURSIVE t (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 5000)
     INSERT INTO services (id, name, name_key, health_endpoint, format, poll_interval_ms, timeout_ms,
       header_names, is_active, revision, generation, created_at, updated_at)
     SELECT '019a8b3c-0000-7000-8000-' || (100000000000 + n), 'service ' || n, 'service ' || n,
       'http://a.example/', 'status', 5000, 100, '[]', 1, n, 1, 1, 1 FROM t",
);
const STATES: Sql = Sql::same(
    "bench.states",
    "INSERT INTO service_states (service_no, poll_seq, dependency_revision, status, status_since,
       breaker_state, breaker_failures, breaker_generation, backoff_attempt, healthy_count,
       degraded_count, down_count, skipped_count)
     SELECT number, 1, 0, 'healthy', 1, 'closed', 0, 0, 0, 8, 0, 0, 0 FROM services",
);
// Half of them are services further down, the others are things.
const DEPENDENCIES: Sql = Sql::same(
    "bench.dependencies",
    "WITH RECURSIVE t (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM t WHERE n < 7)
     INSERT INTO dependencies (id, service_no, slot, name, canonical_name, canonical_key, kind, healthy,
       state, code, skipped, status, status_since, first_seen_at)
     SELECT d.id, d.service_no, d.slot, 'dependency ' || d.slot, d.leans_on, d.leans_on, 'other', 1, 0,
       200, 0, 'healthy', 1, 1
     FROM (
       SELECT '019a8b3c-000' || t.n || substr(s.id, 14) AS id, s.number AS service_no, t.n AS slot,
         CASE WHEN t.n < 4 AND s.number < 5000
           THEN 'service ' || (s.number + 1 + (s.number * 7919 + t.n * 104729) % (5000 - s.number))
           ELSE 'thing ' || ((s.number * 7919 + t.n * 104729) % 1500) END AS leans_on
       FROM services AS s, t) AS d",
);
const CHANGES: Sql = Sql::same(
    "bench.changes",
    "WITH RECURSIVE t (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < $2)
     INSERT INTO changes (at, kind, service_no, dependency_no, before, after)
     SELECT $1 + n, 'dependency', 1 + (n * 8 / 64) % 5000, 1 + n % 40000, 'healthy',
       CASE WHEN n % 2 = 0 THEN 'down' ELSE 'healthy' END FROM t",
);
const FIRST: Sql =
    Sql::same("bench.first", "INSERT INTO changes (at, kind, service_no) VALUES ($1, 'stale', 1)");
const SETTLED: Sql = Sql::same(
    "bench.settled",
    "UPDATE past_keyframes SET marked_at = marked_at - $1, at = at - $1",
);

pub(crate) async fn measure_sqlite(folder: &Path) -> anyhow::Result<()> {
    measure("graph", world::sqlite(folder)?).await
}

pub(crate) async fn measure_postgres(cluster: &Cluster) -> anyhow::Result<()> {
    measure("graph.postgres", world::postgres(&cluster.database().await?)).await
}

async fn measure(name: &str, target: Target) -> anyhow::Result<()> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let db = Db::open(StoreOptions::new(target, Arc::clone(&clock))).await?;
    migrate::up(&db).await?;
    let now = clock.now().as_millis();
    for sql in [&SERVICES, &STATES, &DEPENDENCIES] {
        db.write(async |tx| tx.execute(sql, &[]).await).await?;
    }
    // The history is older than its first keyframe.
    db.write(async |tx| tx.execute(&FIRST, values![now - 2 * MONTH_MS]).await).await?;
    keyframe(&db, name).await?;
    let keyframe_at = now - MONTH_MS;
    db.write(async |tx| tx.execute(&SETTLED, values![MONTH_MS]).await).await?;
    let past = Past::new(db.clone(), KEPT);
    let mut places = Arc::new(Places::new());
    for (what, changes) in [("at_ms", ORDINARY), ("at_busy_ms", MANY_CHANGES - ORDINARY)] {
        db.write(async |tx| tx.execute(&CHANGES, values![keyframe_at, changes]).await).await?;
        let mut waits = Vec::new();
        for _ in 0..ROUNDS {
            let asked = Instant::now();
            let moment = mainstay_base::Timestamp::from_millis(keyframe_at + LATER_MS);
            let told = past.at(moment).await?;
            let picture = Picture::of(&then::graph(&told, MISSING_SHOWN_FOR), &places);
            let answer = Answer::of(&show::whole(&picture))?;
            waits.push(asked.elapsed().as_secs_f64() * 1_000.0);
            anyhow::ensure!(told.state.dependencies().count() == 40_000, "not all are told");
            anyhow::ensure!(answer.gzip.is_some(), "the graph is empty");
            // Whoever looks back sees things where they are drawn now.
            places = picture.places;
        }
        print(&format!("{name}.{what}"), median(waits), "ms")?;
    }
    db.close().await;
    Ok(())
}

/// Makes a keyframe, whose mark is made older than it is.
async fn keyframe(db: &Db, name: &str) -> anyhow::Result<()> {
    let (keyframes, stop) = (Keyframes::new(db.clone(), KEPT)?, CancellationToken::new());
    anyhow::ensure!(keyframes.run_once(&stop).await? == Done::Marked, "no keyframe was begun");
    let settle = i64::try_from(SETTLE.as_millis())?;
    db.write(async |tx| tx.execute(&SETTLED, values![settle]).await).await?;
    let asked = Instant::now();
    anyhow::ensure!(matches!(keyframes.run_once(&stop).await?, Done::Made(_)), "none was made");
    print(&format!("{name}.keyframe_ms"), asked.elapsed().as_secs_f64() * 1_000.0, "ms")?;
    Ok(())
}
