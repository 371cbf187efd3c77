//! The fault matrix: real runner processes with short leases are killed and frozen at random points.
//! After each round every job has taken effect exactly once and none is stuck.
//!
//! `MAINSTAY_FAULT_ROUNDS` says how many rounds there are; a few when it is not set. With
//! `MAINSTAY_TEST_POSTGRES_RESTART`, a command, the test's own PostgreSQL is restarted in every third.
#![cfg(test)]
#![cfg(unix)]
#![expect(
    clippy::disallowed_methods,
    reason = "a proof is told by the environment how long it may take"
)]

use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{IdSource, Rng as _, SystemClock, SystemRng};
use mainstay_events::{Events, EventsOptions};
use mainstay_jobs::{Jobs, JobsOptions, Kind, NewJob, Page};
use mainstay_store::{Db, Dialect, Sql, StoreOptions, migrate};
use mainstay_testkit::TestDatabase;
use serde_json::json;
use tokio_util::sync::CancellationToken;

const ROUNDS: &str = "MAINSTAY_FAULT_ROUNDS";
const DEFAULT_ROUNDS: u32 = 5;
const RESTART: &str = "MAINSTAY_TEST_POSTGRES_RESTART";
const JOBS_PER_ROUND: usize = 60;
/// Longer than a lease, which is a second.
const FROZEN: Duration = Duration::from_millis(1_700);
const PATIENCE: Duration = Duration::from_secs(60);

const TABLE: Sql = Sql::same(
    "test.effects",
    "CREATE TABLE effects (round BIGINT NOT NULL, number BIGINT NOT NULL, runner TEXT NOT NULL)",
);
const TABLE_SQLITE: Sql = Sql::same(
    "test.effects",
    "CREATE TABLE effects (round INTEGER NOT NULL, number INTEGER NOT NULL, runner TEXT NOT NULL)",
);
const EFFECTS: Sql = Sql::same(
    "test.count_effects",
    "SELECT count(*) AS rows_, count(DISTINCT number) AS numbers FROM effects WHERE round = $1",
);
const UNFINISHED: Sql =
    Sql::same("test.unfinished", "SELECT count(*) AS n FROM jobs WHERE status <> 'succeeded'");

/// A runner in a process of its own, killed with this value.
struct Runner {
    child: Child,
}

impl Runner {
    fn start(database: &TestDatabase, name: &str) -> Self {
        let child = Command::new(env!("CARGO_BIN_EXE_job-runner-under-test"))
            .args([database.address(), name.to_owned()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .expect("the runner starts");
        Self { child }
    }

    fn signal(&self, name: &str) {
        let process = self.child.id().to_string();
        let sent = Command::new("kill").args([format!("-{name}"), process]).status();
        assert!(sent.expect("kill is there").success());
    }

    fn kill(&mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it was ours");
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The test's own look at the database.
struct Watch {
    db: Db,
    events: Events,
    jobs: Jobs,
    stop: CancellationToken,
}

impl Watch {
    async fn open(database: &TestDatabase) -> Self {
        let clock = Arc::new(SystemClock::new());
        let db =
            Db::open(StoreOptions::new(database.target().clone(), clock.clone())).await.unwrap();
        let (rng, stop) = (Arc::new(SystemRng), CancellationToken::new());
        let options = EventsOptions::default();
        let started = Events::start(db.clone(), options, clock.clone(), rng.clone(), stop.clone());
        let (events, _) = started.await.unwrap();
        let ids = IdSource::new(clock.clone(), rng.clone());
        let jobs = Jobs::new(events.clone(), clock, ids, rng, JobsOptions::default());
        Self { db, events, jobs, stop }
    }

    async fn enqueue(&self, round: u32) {
        let kind = Kind::new("effect").unwrap();
        let new = (0..JOBS_PER_ROUND)
            .map(|number| NewJob {
                // Chance may kill one job's runner more often than a job bears.
                max_attempts: 100,
                ..NewJob::new(kind.clone(), json!({ "round": round, "number": number }))
            })
            .collect();
        self.events.write(async |tx, _| self.jobs.enqueue_many(tx, new).await).await.unwrap();
    }

    async fn until_done(&self) {
        let waiting = async {
            loop {
                // PostgreSQL may be on its way back.
                let row = self.db.fetch_one(&UNFINISHED, &[]).await.ok();
                if row.is_some_and(|row| row.get::<i64>("n").unwrap() == 0) {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        if tokio::time::timeout(PATIENCE, waiting).await.is_err() {
            let page = Page { after: None, limit: 200 };
            let mut left = self.jobs.list(&Default::default(), page).await.unwrap().items;
            left.retain(|view| view.status != mainstay_jobs::Status::Succeeded);
            panic!("{} jobs are not done: {:?}", left.len(), left.first());
        }
    }

    async fn check(&self, round: u32) {
        let row = self.db.fetch_one(&EFFECTS, &[round.into()]).await.unwrap();
        let (rows, numbers): (i64, i64) = (row.get("rows_").unwrap(), row.get("numbers").unwrap());
        let wanted = i64::try_from(JOBS_PER_ROUND).unwrap();
        assert_eq!((rows, numbers), (wanted, wanted), "in round {round}");
        let page = Page { after: None, limit: 9 };
        assert!(self.jobs.stuck(page).await.unwrap().items.is_empty());
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

fn rounds() -> u32 {
    std::env::var(ROUNDS).ok().and_then(|text| text.parse().ok()).unwrap_or(DEFAULT_ROUNDS)
}

/// Restarts PostgreSQL, where a command for it is given.
fn restart_postgres() {
    if let Ok(command) = std::env::var(RESTART) {
        let restarted = Command::new("sh").args(["-c", &command]).status();
        assert!(restarted.expect("there is a shell").success(), "{command}");
    }
}

/// Between 0 and `most`.
fn chance(most: Duration) -> Duration {
    let mut byte = [0_u8; 2];
    SystemRng.fill(&mut byte);
    most * u32::from(u16::from_le_bytes(byte)) / u32::from(u16::MAX)
}

async fn prepared(dialect: Dialect) -> TestDatabase {
    let database = TestDatabase::new(dialect).await;
    let db = database.open().await;
    migrate::up(&db).await.unwrap();
    let table = if dialect == Dialect::Sqlite { TABLE_SQLITE } else { TABLE };
    db.write(async |tx| tx.execute(&table, &[]).await).await.unwrap();
    db.close().await;
    database
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_runners_on_postgres_killed_and_frozen() {
    let database = prepared(Dialect::Postgres).await;
    let watch = Watch::open(&database).await;
    let mut first = Runner::start(&database, "first");
    let second = Runner::start(&database, "second");
    for round in 0..rounds() {
        watch.enqueue(round).await;
        tokio::time::sleep(chance(Duration::from_millis(900))).await;
        second.signal("STOP");
        tokio::time::sleep(chance(Duration::from_millis(300))).await;
        first.kill();
        first = Runner::start(&database, "first");
        tokio::time::sleep(FROZEN).await;
        if round % 3 == 1 {
            tokio::task::block_in_place(restart_postgres);
        }
        // It wakes up with leases that others have by now.
        second.signal("CONT");
        watch.until_done().await;
        watch.check(round).await;
    }
}

/// One process at a time has an SQLite file: it is killed and started anew.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_runner_on_sqlite_killed_and_frozen() {
    let database = prepared(Dialect::Sqlite).await;
    let watch = Watch::open(&database).await;
    let mut runner = Runner::start(&database, "only");
    for round in 0..rounds() {
        watch.enqueue(round).await;
        tokio::time::sleep(chance(Duration::from_millis(600))).await;
        runner.signal("STOP");
        tokio::time::sleep(FROZEN).await;
        runner.signal("CONT");
        tokio::time::sleep(chance(Duration::from_millis(200))).await;
        runner.kill();
        runner = Runner::start(&database, "only");
        watch.until_done().await;
        watch.check(round).await;
    }
}
