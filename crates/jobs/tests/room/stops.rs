//! A graceful stop, and a database that is away.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::FutureExt as _;
use mainstay_jobs::{NewJob, RunnerOptions, Status};
use mainstay_store::{Dialect, Sql, StoreOptions, migrate};
use mainstay_testkit::{SlowProxy, TestDatabase, each_database};
use serde_json::json;
use tokio::sync::Semaphore;

use crate::house::{Doing, LiveHouse, SECOND, short, work};

fn job() -> NewJob {
    NewJob::new(work(), json!(1))
}

each_database! {
    async fn a_stop_lets_handlers_finish_and_gives_the_rest_back(database: &TestDatabase) {
        let house = LiveHouse::new(database).await;
        let (begun, gate) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
        let (noting, waiting) = (Arc::clone(&begun), Arc::clone(&gate));
        let handler = Doing::new(work(), move |_, _| {
            let (noting, waiting) = (Arc::clone(&noting), Arc::clone(&waiting));
            async move {
                noting.add_permits(1);
                waiting.acquire().await.unwrap().forget();
                Ok(())
            }.boxed()
        });
        let runner = house.run(vec![handler.boxed()], RunnerOptions { concurrency: 2, ..RunnerOptions::new("r") });
        let mut ids = Vec::new();
        for _ in 0..5 {
            ids.push(house.enqueue(job()).await);
        }
        begun.acquire_many(2).await.unwrap().forget();
        let stop = runner.stop.clone();
        stop.cancel();
        gate.add_permits(2);
        runner.stop().await;
        let mut views = Vec::new();
        for id in ids {
            views.push(house.jobs.find(id).await.unwrap().unwrap());
        }
        let of = |status| views.iter().filter(|view| view.status == status).count();
        assert_eq!((of(Status::Succeeded), of(Status::Queued)), (2, 3), "{views:?}");
        assert!(views.iter().filter(|view| view.status == Status::Queued).all(|view| view.attempts == 0));
        assert_eq!(begun.available_permits(), 0, "nothing was begun after the stop");
    }

    async fn what_does_not_finish_in_its_time_is_given_back_at_once(database: &TestDatabase) {
        let house = LiveHouse::new(database).await;
        let begun = Arc::new(Semaphore::new(0));
        let noting = Arc::clone(&begun);
        let handler = Doing::new(work(), move |_, _| {
            noting.add_permits(1);
            std::future::pending().boxed()
        });
        let options = RunnerOptions { grace: Duration::from_millis(200), ..RunnerOptions::new("r") };
        let runner = house.run(vec![handler.boxed()], options);
        let id = house.enqueue(job()).await;
        begun.acquire().await.unwrap().forget();
        runner.stop().await;
        let view = house.jobs.find(id).await.unwrap().unwrap();
        assert_eq!((view.status, view.attempts, view.crashes), (Status::Queued, 0, 0));
        assert_eq!((view.locked_by, view.last_error), (None, None));
    }

    async fn an_idle_runner_stops_at_once(database: &TestDatabase) {
        let house = LiveHouse::new(database).await;
        let handler = Doing::new(work(), |_, _| std::future::ready(Ok(())).boxed());
        let runner = house.run(vec![handler.boxed()], RunnerOptions::new("r"));
        tokio::time::timeout(15 * SECOND, runner.stop()).await.unwrap();
    }
}

/// PostgreSQL goes away in the middle, with every connection hanging, and comes back: the runner goes
/// on by itself and nothing is lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_hangs_and_comes_back_loses_nothing() {
    let database = TestDatabase::new(Dialect::Postgres).await;
    let proxy = SlowProxy::before(database.server_address(), Duration::from_micros(100)).await;
    let mut options = StoreOptions::new(
        database.through(proxy.address()),
        Arc::new(mainstay_base::SystemClock::new()),
    );
    options.wait = 2 * SECOND;
    let db = mainstay_store::Db::open(options).await.unwrap();
    migrate::up(&db).await.unwrap();
    let house = LiveHouse::on(db).await;
    let straight = LiveHouse::on(database.open().await).await;
    let done = Arc::new(AtomicUsize::new(0));
    let counting = Arc::clone(&done);
    let handler = Doing::new(work(), move |_, _| {
        counting.fetch_add(1, Ordering::SeqCst);
        async {
            tokio::time::sleep(Duration::from_millis(5)).await;
            Ok(())
        }
        .boxed()
    });
    let runner = house.run(vec![handler.boxed()], RunnerOptions { ttl: 2 * SECOND, ..short("r") });
    let new = vec![job(); 400];
    let made = straight
        .events
        .write(async |tx, _| straight.jobs.enqueue_many(tx, new).await)
        .await
        .unwrap();
    while done.load(Ordering::SeqCst) < 50 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    proxy.freeze();
    tokio::time::sleep(3 * SECOND).await;
    proxy.thaw();
    for one in made {
        let view = straight.until(one.id, |view| view.status.is_finished()).await;
        assert_eq!(view.status, Status::Succeeded);
    }
    runner.stop().await;
}

/// What a restart of PostgreSQL does to whoever is connected, again and again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_are_cut_in_the_middle_lose_nothing() {
    let database = TestDatabase::new(Dialect::Postgres).await;
    let house = LiveHouse::new(&database).await;
    let straight = LiveHouse::on(database.open().await).await;
    let handler = Doing::new(work(), |_, _| {
        async {
            tokio::time::sleep(Duration::from_millis(4)).await;
            Ok(())
        }
        .boxed()
    });
    // A lease outlives some seconds in which nobody goes on: only what is cut off loses its own.
    let runner = house.run(vec![handler.boxed()], RunnerOptions { ttl: 8 * SECOND, ..short("r") });
    let new = vec![job(); 300];
    let made = straight
        .events
        .write(async |tx, _| straight.jobs.enqueue_many(tx, new).await)
        .await
        .unwrap();
    let cut = Sql::same(
        "test.cut",
        "SELECT count(pg_terminate_backend(pid)) AS n FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid()",
    );
    for _ in 0..10 {
        tokio::time::sleep(Duration::from_millis(60)).await;
        // The one that cuts may have been cut itself while it rested.
        let _ = straight.db.fetch_one(&cut, &[]).await;
    }
    for one in made {
        for _ in 0..6_000 {
            let found = straight.jobs.find(one.id).await;
            if matches!(&found, Ok(Some(view)) if view.status == Status::Succeeded) {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let view = straight.jobs.find(one.id).await.unwrap().unwrap();
        assert_eq!((view.status, view.crashes), (Status::Succeeded, 0));
    }
    runner.stop().await;
}

/// SQLite can't grow any more, and later can again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_is_told_and_waited_for() {
    let database = TestDatabase::new(Dialect::Sqlite).await;
    let house = LiveHouse::new(&database).await;
    let handler = Doing::new(work(), |_, _| std::future::ready(Ok(())).boxed());
    let full = Sql::same("test.full", "PRAGMA max_page_count = 1");
    let room = Sql::same("test.room", "PRAGMA max_page_count = 1000000");
    house.db.write(async |tx| tx.fetch_all(&full, &[]).await).await.unwrap();
    let mut enqueued = 0_usize;
    let refused = loop {
        let new = NewJob::new(work(), json!("x".repeat(20_000)));
        match house.events.write(async |tx, _| house.jobs.enqueue(tx, new).await).await {
            Ok(_) => enqueued += 1,
            Err(error) => break error,
        }
        assert!(enqueued < 1_000, "the disk never was full");
    };
    assert!(refused.is_transient(), "{refused}");
    let runner = house.run(vec![handler.boxed()], short("r"));
    tokio::time::sleep(SECOND).await;
    house.db.write(async |tx| tx.fetch_all(&room, &[]).await).await.unwrap();
    let id = house.enqueue(job()).await;
    house.until(id, |view| view.status == Status::Succeeded).await;
    runner.stop().await;
}
