//! The fault matrix: a call to the storage or to the database fails once, wherever it stands in an upload,
//! in the making of a report and in a deletion. After that nothing is stuck or lost, each file has one report,
//! and what is left over is swept.
//!
//! Of the calls to the database the everyday run looks at a share only, at every third or eighth place, say;
//! `./scripts/prove reports` looks at all of them, several times.

use std::time::Duration;

use mainstay_base::Id;
use mainstay_jobs::RunnerOptions;
use mainstay_reports::{File, FileStatus, ObjectErrorKind, ReportsError};
use mainstay_store::Dialect;
use mainstay_testkit::{Fault, PostgresRelay, TestDatabase, Trap, each_database};

use crate::house::{House, Log, SECOND, remove, until, window};

const ROUNDS: &str = "MAINSTAY_FAULT_ROUNDS";
const LOOK: Duration = Duration::from_millis(10);
/// A pipeline has far fewer calls than this.
const MOST_PLACES: usize = 200;
/// And all that is looked at has more than this.
const FEWEST_CALLS: usize = 5;
const DAY: Duration = Duration::from_secs(26 * 3_600);

/// How often the matrix is gone through, and every how many places of it are looked at: a short form leaves
/// out all but every so many.
fn extent(short: usize) -> (u32, usize) {
    let rounds = std::env::var(ROUNDS).ok().and_then(|text| text.parse().ok());
    rounds.map_or((1, short), |rounds| (rounds, 1))
}

/// What a test looks at, and what is done by another house than that.
struct Watch<'a> {
    house: House,
    database: &'a TestDatabase,
    users: Vec<Id>,
}

impl<'a> Watch<'a> {
    async fn new(database: &'a TestDatabase) -> Self {
        Self { house: House::new(database).await, database, users: Vec::new() }
    }

    async fn user(&mut self) -> Id {
        let user = self.house.user().await;
        self.users.push(user);
        user
    }

    /// Runs jobs until the file has its report or has failed, without the waits between tries.
    async fn ended(&self, runs: &House, user: Id, id: Id) -> File {
        let poll = Duration::from_millis(50);
        let runner =
            runs.run_with(RunnerOptions { ttl: 2 * SECOND, poll, ..RunnerOptions::new("r") });
        for _ in 0..6_000 {
            let file = self.house.file(user, id).await;
            match file.status {
                FileStatus::Succeeded | FileStatus::Failed => {
                    runner.stop().await;
                    return file;
                }
                FileStatus::Queued if file.started_at.is_some() => self.hurry().await,
                FileStatus::Queued | FileStatus::Processing => {}
            }
            tokio::time::sleep(LOOK).await;
        }
        panic!("the file is stuck: {:?}", self.house.file(user, id).await);
    }

    async fn hurry(&self) {
        let sql = "UPDATE jobs SET next_run_at = 1, claim_at = 1 WHERE status = 'queued'";
        self.house.execute(sql).await;
    }

    /// What failed for good may be tried again by its owner, and then there is a report.
    async fn reported(&self, runs: &House, user: Id, id: Id) {
        let file = self.ended(runs, user, id).await;
        if file.status == FileStatus::Failed {
            let retrying =
                self.house.write(async |tx, out| self.house.reports.retry(tx, out, user, id).await);
            retrying.await.unwrap();
            let file = self.ended(runs, user, id).await;
            assert_eq!(file.status, FileStatus::Succeeded, "{file:?}");
        }
    }

    async fn has_one_report(&self, user: Id, id: Id) {
        assert!(self.house.reports.read(user, id).await.unwrap().recorded.is_some());
        let told = self.house.told(user).await;
        assert_eq!(told.iter().filter(|kind| *kind == "report_ready").count(), 1, "{told:?}");
    }

    /// A day later every file is at an end, and every object is a file's.
    async fn is_clean(&self) {
        let later = self.house.later(self.database, DAY).await;
        later.reports.sweep_rows().await.unwrap();
        later.reports.sweep_objects().await.unwrap();
        let mut wanted = Vec::new();
        for &user in &self.users {
            for file in later.reports.list(user, None, 10).await.unwrap().items {
                match (file.status, file.job_id) {
                    (FileStatus::Succeeded, Some(_)) => {
                        wanted.extend(file.keys.all().map(str::to_owned));
                    }
                    (FileStatus::Failed, None) => assert!(file.error.is_some()),
                    _ => panic!("the file is stuck: {file:?}"),
                }
            }
        }
        wanted.sort();
        assert_eq!(self.house.storage.keys().await, wanted);
        let sql = "SELECT count(*) AS n FROM jobs WHERE status IN ('queued', 'processing')";
        assert_eq!(self.house.count(sql).await, 0);
    }
}

each_database! {
    async fn each_call_to_the_storage_fails_once(database: &TestDatabase) {
        let mut watch = Watch::new(database).await;
        for kind in [ObjectErrorKind::Transient, ObjectErrorKind::Permanent] {
            for passing in 0..MOST_PLACES {
                let user = watch.user().await;
                let faults = watch.house.faults();
                faults.fail_once(passing, kind);
                let uploaded = watch.house.upload_of(user, "x", window()).await.ok();
                if let Some(id) = uploaded {
                    watch.reported(&watch.house, user, id).await;
                }
                let has_failed = faults.has_failed();
                faults.mend();
                if let Some(id) = uploaded {
                    watch.has_one_report(user, id).await;
                }
                if !has_failed {
                    assert!(passing > 8, "there are more calls than {passing}");
                    break;
                }
            }
        }
        watch.is_clean().await;
    }

    async fn each_object_of_a_deleted_file_stays_behind_once(database: &TestDatabase) {
        let mut watch = Watch::new(database).await;
        for passing in 0.. {
            let user = watch.user().await;
            let id = watch.house.upload_of(user, "x", window()).await.unwrap();
            watch.reported(&watch.house, user, id).await;
            watch.house.faults().fail_once(passing, ObjectErrorKind::Transient);
            remove(&watch.house, user, id).await.unwrap();
            if !watch.house.faults().has_failed() {
                assert_eq!(passing, 4, "the list, transcript, report and timeline");
                break;
            }
        }
        watch.house.faults().mend();
        assert_eq!(watch.house.storage.keys().await.len(), 3);
        watch.is_clean().await;
    }
}

/// A PostgreSQL that a trap stands in front of, for one of the houses.
struct Trapped {
    database: TestDatabase,
    relay: PostgresRelay,
}

impl Trapped {
    async fn new() -> Self {
        let database = TestDatabase::new(Dialect::Postgres).await;
        let relay = PostgresRelay::before(database.server_address()).await;
        Self { database, relay }
    }

    /// Goes through the places until there is none any more: the caller knows that nothing was done, or does
    /// not know.
    async fn at_each_place(&self, short: usize, mut look: impl AsyncFnMut(Armed<'_>)) {
        let (rounds, stride) = extent(short);
        let faults = [(Fault::Cut, 0), (Fault::LoseAnswer, stride / 2)];
        for (fault, first) in (0..rounds).flat_map(|_| faults) {
            let mut sprung = 0;
            for place in (first..MOST_PLACES).step_by(stride) {
                let trap = self.relay.trap();
                look(Armed { trap, fault, place }).await;
                let has_sprung = trap.has_sprung();
                trap.open();
                if !has_sprung {
                    break;
                }
                sprung = place;
            }
            assert!(sprung >= FEWEST_CALLS, "there were only {sprung} calls");
        }
    }
}

/// A trap that is to be set.
struct Armed<'a> {
    trap: &'a Trap,
    fault: Fault,
    place: usize,
}

impl Armed<'_> {
    fn set(&self) {
        self.trap.set(self.fault, self.place, |_| true);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_of_an_upload_to_the_database_fail_at_the_places_looked_at() {
    let world = Trapped::new().await;
    let mut watch = Watch::new(&world.database).await;
    let acts = watch.house.through(&world.database, world.relay.address()).await;
    world
        .at_each_place(3, async |armed| {
            let user = watch.user().await;
            armed.set();
            // Who was told that it went well has a report; who was told that it did not has no job.
            if let Ok(id) = acts.upload_of(user, "x", window()).await {
                watch.reported(&watch.house, user, id).await;
                watch.has_one_report(user, id).await;
            } else {
                let files = watch.house.reports.list(user, None, 10).await.unwrap().items;
                assert!(files.iter().all(|file| file.job_id.is_none()), "{files:?}");
            }
        })
        .await;
    watch.is_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_of_a_runner_to_the_database_fail_at_the_places_looked_at() {
    let world = Trapped::new().await;
    let mut watch = Watch::new(&world.database).await;
    let runs = watch.house.through(&world.database, world.relay.address()).await;
    world
        .at_each_place(8, async |armed| {
            let user = watch.user().await;
            let id = watch.house.upload_of(user, "x", window()).await.unwrap();
            armed.set();
            watch.reported(&runs, user, id).await;
            watch.has_one_report(user, id).await;
        })
        .await;
    watch.is_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_of_a_deletion_to_the_database_fail_at_the_places_looked_at() {
    let world = Trapped::new().await;
    let mut watch = Watch::new(&world.database).await;
    let acts = watch.house.through(&world.database, world.relay.address()).await;
    world
        .at_each_place(4, async |armed| {
            let user = watch.user().await;
            let id = watch.house.upload_of(user, "x", window()).await.unwrap();
            armed.set();
            let removed = remove(&acts, user, id).await;
            match watch.house.reports.find(user, id).await {
                Ok(_) => {
                    assert!(removed.is_err(), "it was told to be gone");
                    watch.reported(&watch.house, user, id).await;
                    watch.has_one_report(user, id).await;
                }
                Err(error) => assert!(matches!(error, ReportsError::NotFound), "{error}"),
            }
        })
        .await;
    watch.is_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_whose_answer_is_lost_is_not_undone() {
    let world = Trapped::new().await;
    let mut watch = Watch::new(&world.database).await;
    let acts = watch.house.through(&world.database, world.relay.address()).await;
    let (user, trap) = (watch.user().await, world.relay.trap());
    let lose = |of: &'static str| {
        let is_meant = move |call: &str| call.starts_with("COMMIT") && call.contains(of);
        trap.set(Fault::LoseAnswer, 0, is_meant);
    };
    lose("SET status = 'queued', job_id");
    let id = acts.upload_of(user, "x", window()).await.unwrap();
    assert!(trap.has_sprung());
    lose("SET storage_key_report");
    watch.reported(&acts, user, id).await;
    assert!(trap.has_sprung());
    watch.has_one_report(user, id).await;
    watch.is_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_attempt_has_stored_is_told_when_it_is_dropped_before_its_commit_is_known() {
    let world = Trapped::new().await;
    let mut watch = Watch::new(&world.database).await;
    let acts = watch.house.through(&world.database, world.relay.address()).await;
    let (user, trap) = (watch.user().await, world.relay.trap());
    let id = watch.house.upload_of(user, "x", window()).await.unwrap();
    let log = Log::listen();
    trap.set(Fault::Hold, 0, |call| call.starts_with("UPDATE files SET storage_key_report"));
    let options =
        RunnerOptions { ttl: 2 * SECOND, grace: Duration::ZERO, ..RunnerOptions::new("r") };
    let runner = acts.run_with(options);
    until(|| trap.has_sprung()).await;
    runner.stop().await;
    assert!(log.tells("orphan_report_object", id), "{}", log.text());
    trap.hang_up();
    watch.reported(&watch.house, user, id).await;
    watch.has_one_report(user, id).await;
    watch.is_clean().await;
}
