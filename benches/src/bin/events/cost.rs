//! How much dearer a state change is with its event than without: 32 writers over the streams of 100
//! users on PostgreSQL, each writer with a row of its own to change.

use std::time::{Duration, Instant};

use mainstay_base::{Id, IdSource, SystemClock, SystemRng};
use mainstay_benches::cluster::Cluster;
use mainstay_benches::figure::{median, print};
use mainstay_events::{Event, Events, EventsError, Stream};
use mainstay_store::{Db, Sql, StoreError, migrate, values};
use serde_json::json;
use std::sync::Arc;

use crate::open_with;
use crate::writer::Writer;

const WRITERS: u32 = 32;
const USERS: usize = 100;
/// With and without take turns, so that a noisy second hits both.
const ROUNDS: usize = 15;
const ROUND: Duration = Duration::from_secs(1);

const CREATE: Sql = Sql::same(
    "bench.create",
    "CREATE TABLE bench_states (number BIGINT PRIMARY KEY, status TEXT NOT NULL, changed BIGINT NOT NULL)",
);
const FILL: Sql = Sql::same("bench.fill", "INSERT INTO bench_states VALUES ($1, 'idle', 0)");
const CHANGE: Sql = Sql::same(
    "bench.change",
    "UPDATE bench_states SET status = $2, changed = changed + 1 WHERE number = $1",
);

pub(crate) async fn measure(cluster: &Cluster) -> anyhow::Result<()> {
    // A connection for each writer and some for the streams.
    let db = open_with(&cluster.database().await?, WRITERS + 4).await?;
    migrate::up(&db).await?;
    let filling = db.write(async |tx| {
        tx.execute(&CREATE, &[]).await?;
        for number in 0..WRITERS {
            tx.execute(&FILL, values![i64::from(number)]).await?;
        }
        Ok::<_, StoreError>(())
    });
    filling.await?;
    let writer = Writer::start(db).await?;
    let ids = IdSource::new(Arc::new(SystemClock::new()), Arc::new(SystemRng));
    let users: Arc<[Id]> = (0..USERS).map(|_| ids.next()).collect();
    // Every stream has its row, and every connection its statements, before anything counts.
    for announces in [true, false] {
        round(&writer.events, &users, announces).await?;
    }
    let (mut costs, mut with, mut without) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let plain = round(&writer.events, &users, false).await?;
        let announced = round(&writer.events, &users, true).await?;
        costs.push((plain / announced - 1.0) * 100.0);
        with.push(announced);
        without.push(plain);
    }
    print("events.commit_cost_pct", median(costs), "%")?;
    print("events.commits_with_event_tx", median(with), "1/s")?;
    print("events.commits_without_event_tx", median(without), "1/s")?;
    writer.end().await;
    Ok(())
}

/// Transactions in a second of all writers together.
async fn round(events: &Events, users: &Arc<[Id]>, announces: bool) -> anyhow::Result<f64> {
    let began = Instant::now();
    let writers: Vec<_> = (0..WRITERS)
        .map(|number| {
            let (events, users) = (events.clone(), Arc::clone(users));
            tokio::spawn(async move {
                let mut written = 0_u32;
                while began.elapsed() < ROUND {
                    // Each writer comes past every user, and no two of them in step.
                    let place = (number * 7 + written) as usize % users.len();
                    let user = users.get(place).copied().filter(|_| announces);
                    change(&events, i64::from(number), user).await?;
                    written += 1;
                }
                Ok::<_, EventsError>(written)
            })
        })
        .collect();
    let mut written = 0;
    for writer in writers {
        written += writer.await??;
    }
    Ok(f64::from(written) / began.elapsed().as_secs_f64())
}

/// One change of a state, told to `user` if there is one.
async fn change(events: &Events, number: i64, user: Option<Id>) -> Result<(), EventsError> {
    let Some(user) = user else { return Ok(change_alone(events.db(), number).await?) };
    let fields = json!({ "worker_id": user.to_string(), "status": "running" });
    let fields = fields.as_object().cloned().unwrap_or_default();
    let event = Event::new("worker_state_changed", &fields)?;
    let writing = events.write(async |tx, out| {
        tx.execute(&CHANGE, values![number, "running"]).await?;
        out.add(Stream::User(user), event)?;
        Ok::<_, EventsError>(())
    });
    writing.await
}

async fn change_alone(db: &Db, number: i64) -> Result<(), StoreError> {
    db.write(async |tx| tx.execute(&CHANGE, values![number, "running"]).await.map(drop)).await
}
