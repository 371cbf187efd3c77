//! The runner: handlers that work, fail, panic, hang, ignore their cancellation and outlive their
//! leases.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt as _;
use mainstay_jobs::{
    Due, JobError, JobsError, Kind, NewJob, RunnerOptions, Status, Traceparent, trace,
};
use mainstay_testkit::each_database;
use serde_json::json;
use tokio::sync::Semaphore;

use crate::house::{Doing, LiveHouse, SECOND, short, work};

fn job() -> NewJob {
    NewJob::new(work(), json!(null))
}

each_database! {
    async fn every_job_is_done_once(database: &TestDatabase) {
        let house = LiveHouse::new(database).await;
        let done = Arc::new(AtomicUsize::new(0));
        let counting = Arc::clone(&done);
        let handler = Doing::new(work(), move |_, _| {
            counting.fetch_add(1, Ordering::SeqCst);
            std::future::ready(Ok(())).boxed()
        });
        let runner = house.run(vec![handler.boxed()], short("r"));
        let new = vec![job(); 500];
        let made = house.events.write(async |tx, _| house.jobs.enqueue_many(tx, new).await).await.unwrap();
        for one in made {
            let view = house.until(one.id, |view| view.status.is_finished()).await;
            assert_eq!((view.status, view.attempts, view.locked_by), (Status::Succeeded, 1, None));
        }
        runner.stop().await;
        assert_eq!(done.load(Ordering::SeqCst), 500);
    }

    async fn what_waits_long_holds_up_nothing_else(database: &TestDatabase) {
        let house = LiveHouse::new(database).await;
        let gate = Arc::new(Semaphore::new(0));
        let (begun, waiting) = (Arc::new(AtomicUsize::new(0)), Arc::clone(&gate));
        let counting = Arc::clone(&begun);
        let slow = Kind::new("slow").unwrap();
        let writing = Doing::new(slow.clone(), move |_, _| {
            let (counting, waiting) = (Arc::clone(&counting), Arc::clone(&waiting));
            async move {
                counting.fetch_add(1, Ordering::SeqCst);
                waiting.acquire().await.unwrap().forget();
                Ok(())
            }
            .boxed()
        });
        let quick = Doing::new(work(), |_, _| std::future::ready(Ok(())).boxed());
        // They are due before anything else, and go before it.
        let mut long = Vec::new();
        for _ in 0..6 {
            long.push(house.enqueue(NewJob { priority: -9, ..NewJob::new(slow.clone(), json!(null)) }).await);
        }
        let options = RunnerOptions { concurrency: 3, ..short("r") };
        let runner = house.run(vec![writing.waiting_long().boxed(), quick.boxed()], options);
        for _ in 0..20 {
            let other = house.enqueue(job()).await;
            house.until(other, |view| view.status == Status::Succeeded).await;
        }
        house.until(long[1], |view| view.status == Status::Processing).await;
        assert_eq!(begun.load(Ordering::SeqCst), 2, "one of three places is for the others");
        // Each that ends makes room for the next, without a bell and whatever else is there.
        gate.add_permits(6);
        for id in long {
            house.until(id, |view| view.status == Status::Succeeded).await;
        }
        runner.stop().await;
    }

    async fn a_runner_of_one_place_runs_what_waits_long_too(database: &TestDatabase) {
        let house = LiveHouse::new(database).await;
        let handler = Doing::new(work(), |_, _| std::future::ready(Ok(())).boxed());
        let options = RunnerOptions { concurrency: 1, ..short("r") };
        let runner = house.run(vec![handler.waiting_long().boxed()], options);
        for _ in 0..3 {
            let id = house.enqueue(job()).await;
            house.until(id, |view| view.status == Status::Succeeded).await;
        }
        runner.stop().await;
    }

    async fn an_enqueued_job_is_picked_up_by_the_bell_not_the_poll(database: &TestDatabase) {
        let house = LiveHouse::new(database).await;
        let handler = Doing::new(work(), |_, _| std::future::ready(Ok(())).boxed());
        let options = RunnerOptions { poll: 3_600 * SECOND, ..RunnerOptions::new("r") };
        let runner = house.run(vec![handler.boxed()], options);
        let first = house.enqueue(job()).await;
        house.until(first, |view| view.status == Status::Succeeded).await;
        // The runner has nothing to do and an hour to wait.
        let second = house.enqueue(job()).await;
        house.until(second, |view| view.status == Status::Succeeded).await;
        let delayed = house.enqueue(job().due(Due::After(Duration::from_millis(400)))).await;
        house.until(delayed, |view| view.status == Status::Succeeded).await;
        runner.stop().await;
    }

    async fn a_handler_works_in_the_trace_of_its_job_and_hands_it_on(database: &TestDatabase) {
        let house = LiveHouse::new(database).await;
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (seeing, jobs) = (Arc::clone(&seen), house.jobs.clone());
        let handler = Doing::new(work(), move |job, context| {
            let (seeing, jobs, again) = (Arc::clone(&seeing), jobs.clone(), job.payload == json!(1));
            async move {
                tokio::task::yield_now().await;
                seeing.lock().unwrap().push(trace::current());
                if again {
                    let next = NewJob::new(work(), json!(2));
                    context.write(async |tx, _| jobs.enqueue(tx, next).await).await?;
                }
                Ok(())
            }
            .boxed()
        });
        let runner = house.run(vec![handler.boxed()], short("r"));
        let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let new = NewJob { traceparent: Some(trace.to_owned()), ..NewJob::new(work(), json!(1)) };
        house.enqueue(new).await;
        while seen.lock().unwrap().len() < 2 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let untraced = house.enqueue(job()).await;
        house.until(untraced, |view| view.status == Status::Succeeded).await;
        runner.stop().await;
        let trace = Traceparent::parse(trace);
        assert_eq!(*seen.lock().unwrap(), [trace.clone(), trace, None]);
    }

    async fn errors_and_panics_are_kept_with_the_job(database: &TestDatabase) {
        let house = LiveHouse::new(database).await;
        let handler = Doing::new(work(), |job, _| {
            let what = job.payload.as_str().unwrap_or_default().to_owned();
            async move {
                match what.as_str() {
                    "panic" => panic!("two\nlines"),
                    "fatal" => Err(JobError::fatal("never", "it\0never works")),
                    "put off" => Err(JobError::PutOff { wait: 600 * SECOND }),
                    _ => Err(JobError::Retriable {
                        code: "Not A Code".to_owned(),
                        message: "x".repeat(900),
                        retry_after: Some(4_000 * SECOND),
                    }),
                }
            }.boxed()
        });
        let runner = house.run(vec![handler.boxed()], short("r"));
        let mut ids = Vec::new();
        for what in ["panic", "fatal", "put off", "again"] {
            ids.push(house.enqueue(NewJob::new(work(), json!(what))).await);
        }
        let over = |view: &mainstay_jobs::JobView| {
            view.status == Status::Failed || view.next_run_at > view.created_at
        };
        let panicked = house.until(ids[0], over).await;
        let error = panicked.last_error.unwrap();
        assert_eq!((panicked.status, panicked.attempts), (Status::Queued, 1));
        assert_eq!(error.code, "panicked");
        assert_eq!(error.message, "the handler panicked: two lines");
        let fatal = house.until(ids[1], over).await;
        assert_eq!((fatal.status, fatal.last_error.unwrap().message.as_str()), (Status::Failed, "it never works"));
        let put_off = house.until(ids[2], over).await;
        assert_eq!((put_off.status, put_off.attempts, put_off.last_error), (Status::Queued, 0, None));
        let again = house.until(ids[3], over).await;
        let waits = again.next_run_at.since(again.created_at);
        assert!(waits >= 4_000 * SECOND, "Retry-After is a floor: {waits:?}");
        let error = again.last_error.unwrap();
        assert_eq!((error.code.as_str(), error.message.chars().count()), ("unnamed_error", 280));
        runner.stop().await;
    }

    async fn a_long_handler_keeps_its_lease_by_heartbeats(database: &TestDatabase) {
        let house = LiveHouse::new(database).await;
        let runs = Arc::new(AtomicUsize::new(0));
        let counting = Arc::clone(&runs);
        let handler = Doing::new(work(), move |_, _| {
            counting.fetch_add(1, Ordering::SeqCst);
            async { tokio::time::sleep(17 * SECOND).await; Ok(()) }.boxed()
        }).boxed();
        // Two leases and a bit, neither of which ends where nobody goes on for some seconds.
        let quick = |id| RunnerOptions { ttl: 8 * SECOND, ..short(id) };
        let first = house.run(vec![Arc::clone(&handler)], quick("a"));
        let second = house.run(vec![handler], quick("b"));
        let id = house.enqueue(job()).await;
        let view = house.until(id, |view| view.status.is_finished()).await;
        assert_eq!((view.attempts, view.crashes, runs.load(Ordering::SeqCst)), (1, 0, 1));
        first.stop().await;
        second.stop().await;
    }

    async fn a_cancelled_job_stops_its_handler_which_can_write_nothing_more(database: &TestDatabase) {
        let house = LiveHouse::new(database).await;
        let (begun, told) = (Arc::new(tokio::sync::Notify::new()), Arc::new(Mutex::new(None)));
        let (noting, telling) = (Arc::clone(&begun), Arc::clone(&told));
        let handler = Doing::new(work(), move |_, context| {
            let (noting, telling) = (Arc::clone(&noting), Arc::clone(&telling));
            async move {
                noting.notify_one();
                context.cancelled().cancelled().await;
                let late = context.write(async |_, _| Ok::<(), JobsError>(())).await;
                *telling.lock().unwrap() = Some(late.is_err_and(|error| matches!(error, JobsError::LeaseLost)));
                Ok(())
            }.boxed()
        });
        // Only the bell can be the reason within the lease.
        let runner = house.run(vec![handler.boxed()], RunnerOptions::new("r"));
        let id = house.enqueue(job()).await;
        begun.notified().await;
        house.events.write(async |tx, out| house.jobs.cancel(tx, out, id).await).await.unwrap();
        runner.stop().await;
        assert_eq!(*told.lock().unwrap(), Some(true));
        let view = house.jobs.find(id).await.unwrap().unwrap();
        assert_eq!((view.status, view.last_error.unwrap().code.as_str()), (Status::Failed, "cancelled"));
    }

    async fn a_handler_that_ignores_its_cancellation_is_dropped(database: &TestDatabase) {
        let house = LiveHouse::new(database).await;
        let (begun, dropped) = (Arc::new(tokio::sync::Notify::new()), Arc::new(AtomicBool::new(false)));
        let (noting, dropping) = (Arc::clone(&begun), Arc::clone(&dropped));
        let handler = Doing::new(work(), move |_, _| {
            let (noting, flag) = (Arc::clone(&noting), Flag(Arc::clone(&dropping)));
            async move {
                let _flag = flag;
                noting.notify_one();
                std::future::pending::<()>().await;
                Ok(())
            }.boxed()
        });
        let runner = house.run(vec![handler.boxed()], short("r"));
        let id = house.enqueue(job()).await;
        begun.notified().await;
        house.events.write(async |tx, out| house.jobs.cancel(tx, out, id).await).await.unwrap();
        for _ in 0..6_000 {
            if dropped.load(Ordering::SeqCst) { break; }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert!(dropped.load(Ordering::SeqCst));
        runner.stop().await;
    }

    async fn a_handler_finishes_in_its_own_transaction(database: &TestDatabase) {
        let house = LiveHouse::new(database).await;
        let handler = Doing::new(work(), |_, context| async move {
            context.write(async |_, _| Ok::<(), JobsError>(())).await?;
            context.finish(async |_, _| Ok::<(), JobsError>(())).await?;
            let twice = context.finish(async |_, _| Ok::<(), JobsError>(())).await;
            assert!(matches!(twice, Err(JobsError::LeaseLost)));
            Ok(())
        }.boxed());
        let runner = house.run(vec![handler.boxed()], short("r"));
        let id = house.enqueue(job()).await;
        let view = house.until(id, |view| view.status.is_finished()).await;
        assert_eq!((view.status, view.attempts), (Status::Succeeded, 1));
        runner.stop().await;
    }

    async fn a_limited_kind_never_runs_more_at_once_over_all_runners(database: &TestDatabase) {
        let house = LiveHouse::new(database).await;
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (counting, peak) = (Arc::clone(&now), Arc::clone(&most));
        let handler = Doing::new(work(), move |_, _| {
            let (counting, peak) = (Arc::clone(&counting), Arc::clone(&peak));
            async move {
                peak.fetch_max(counting.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                tokio::time::sleep(Duration::from_millis(30)).await;
                counting.fetch_sub(1, Ordering::SeqCst);
                Ok(())
            }.boxed()
        }).limited(2).boxed();
        let runners: Vec<_> = ["a", "b", "c"].iter().map(|id| house.run(vec![Arc::clone(&handler)], short(id))).collect();
        let new = vec![job(); 30];
        let made = house.events.write(async |tx, _| house.jobs.enqueue_many(tx, new).await).await.unwrap();
        for one in made {
            house.until(one.id, |view| view.status == Status::Succeeded).await;
        }
        for runner in runners {
            runner.stop().await;
        }
        assert_eq!(most.load(Ordering::SeqCst), 2, "both places are used and no third one");
    }

    async fn kinds_without_a_handler_here_are_left(database: &TestDatabase) {
        let house = LiveHouse::new(database).await;
        let handler = Doing::new(work(), |_, _| std::future::ready(Ok(())).boxed());
        let runner = house.run(vec![handler.boxed()], short("r"));
        let other = house.enqueue(NewJob::new(Kind::new("other").unwrap(), json!(1))).await;
        let mine = house.enqueue(job()).await;
        house.until(mine, |view| view.status == Status::Succeeded).await;
        assert_eq!(house.jobs.find(other).await.unwrap().unwrap().status, Status::Queued);
        runner.stop().await;
    }
}

/// Hangs without awaiting: nothing can stop it, but its lease ends, another has the job, and what it
/// writes later is refused.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_handler_that_hangs_loses_its_job() {
    let database = mainstay_testkit::TestDatabase::new(mainstay_store::Dialect::Postgres).await;
    let house = LiveHouse::new(&database).await;
    let (runs, late) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(None)));
    let (counting, telling) = (Arc::clone(&runs), Arc::clone(&late));
    let handler = Doing::new(work(), move |_, context| {
        let (counting, telling) = (Arc::clone(&counting), Arc::clone(&telling));
        async move {
            if counting.fetch_add(1, Ordering::SeqCst) == 0 {
                std::thread::sleep(Duration::from_millis(2_500));
                let written = context.write(async |_, _| Ok::<(), JobsError>(())).await;
                *telling.lock().unwrap() = Some(written.is_err());
            }
            Ok(())
        }
        .boxed()
    });
    // No heartbeat comes through: the runner believes itself cut off.
    let runner = house.run(vec![handler.boxed()], short("r"));
    let id = house.enqueue(job()).await;
    // The lease is stolen from a handler that runs, not from one that is yet to begin.
    while runs.load(Ordering::SeqCst) == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let steal = mainstay_store::Sql::same(
        "test.steal",
        "UPDATE jobs SET claim_at = 0, lease_token = lease_token + 1",
    );
    house.db.write(async |tx| tx.execute(&steal, &[]).await).await.unwrap();
    let view = house.until(id, |view| view.status.is_finished()).await;
    assert_eq!(view.status, Status::Succeeded);
    for _ in 0..6_000 {
        if late.lock().unwrap().is_some() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(*late.lock().unwrap(), Some(true), "the write of the hung one was refused");
    runner.stop().await;
}

struct Flag(Arc<AtomicBool>);

impl Drop for Flag {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}
