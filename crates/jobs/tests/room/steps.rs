//! A clock that is set on or back by an hour while runners work: it takes no lease from whoever is well,
//! no job runs twice, and none is stuck.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::FutureExt as _;
use mainstay_base::{Clock, Moment, SystemClock, Timestamp};
use mainstay_jobs::{Due, NewJob, Queue, RunnerOptions, Status};
use mainstay_store::{Sql, migrate};
use mainstay_testkit::each_database;
use serde_json::json;
use tokio::sync::Semaphore;

use crate::house::{Doing, LiveHouse, SECOND, claim, short, work};

const HOUR: i64 = 3_600_000;
const AT_ONCE: usize = 4;

/// The system's clock, whose wall part can be set.
struct Stepping {
    system: SystemClock,
    shift: AtomicI64,
}

impl Clock for Stepping {
    fn now(&self) -> Timestamp {
        let now = self.system.now().as_millis();
        Timestamp::from_millis(now + self.shift.load(Ordering::SeqCst))
    }

    fn moment(&self) -> Moment {
        self.system.moment()
    }
}

each_database! {
    async fn a_clock_that_is_set_takes_no_lease_and_leaves_nothing_behind(database: &TestDatabase) {
        let system = SystemClock::new();
        let clock = Arc::new(Stepping { system, shift: AtomicI64::new(0) });
        let db = database.open_with(Arc::clone(&clock) as Arc<dyn Clock>, |_| {}).await;
        migrate::up(&db).await.unwrap();
        let house = LiveHouse::by(db.clone(), Arc::clone(&clock) as Arc<dyn Clock>).await;
        let (begun, go) = (Arc::new(AtomicUsize::new(0)), Arc::new(Semaphore::new(0)));
        let handler = || {
            let (begun, go) = (Arc::clone(&begun), Arc::clone(&go));
            Doing::new(work(), move |_, _| {
                begun.fetch_add(1, Ordering::SeqCst);
                let go = Arc::clone(&go);
                async move {
                    go.acquire().await.unwrap().forget();
                    Ok(())
                }
                .boxed()
            })
        };
        let options = |id: &str| RunnerOptions { concurrency: 2, ..short(id) };
        let runners = [
            house.run(vec![handler().boxed()], options("one")),
            house.run(vec![handler().boxed()], options("other")),
        ];
        // First nothing: until all places are taken, a runner may not have looked at the clock yet.
        for step in [0, HOUR, -HOUR, -HOUR, HOUR] {
            begun.store(0, Ordering::SeqCst);
            let mut ids = Vec::new();
            // Set on, it finds an idle runner, which could take a lease that seems to have ended; set back, it
            // finds a job that waits and was due.
            let count = if step > 0 { 1 } else { AT_ONCE + 1 };
            for _ in 0..count {
                ids.push(house.enqueue(NewJob::new(work(), json!(null))).await);
            }
            let running = count.min(AT_ONCE);
            while begun.load(Ordering::SeqCst) < running {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            let shift = clock.shift.fetch_add(step, Ordering::SeqCst) + step;
            db.shift_clock(shift);
            // Longer than several looks and one heartbeat of each runner take.
            tokio::time::sleep(3 * SECOND).await;
            assert_eq!(begun.load(Ordering::SeqCst), running, "{step}: a job was begun twice");
            ids.push(house.enqueue(NewJob::new(work(), json!(null))).await);
            go.add_permits(ids.len());
            for id in &ids {
                let view = house.until(*id, |view| view.status.is_finished()).await;
                assert_eq!((view.status, view.attempts, view.crashes), (Status::Succeeded, 1, 0), "{step}");
            }
            assert_eq!(begun.load(Ordering::SeqCst), ids.len(), "{step}");
        }
        for runner in runners {
            runner.stop().await;
        }
    }

    async fn what_a_clock_that_was_ahead_left_behind_is_run_by_the_next_runner(database: &TestDatabase) {
        let house = LiveHouse::new(database).await;
        let new = |due| NewJob::new(work(), json!(null)).due(due);
        let due = house.enqueue(new(Due::Now)).await;
        let begun = house.enqueue(new(Due::Now)).await;
        let (one, other) = (Due::After(Duration::from_hours(1)), Due::After(Duration::from_hours(1)));
        let (asked, later) = (house.enqueue(new(one)).await, house.enqueue(new(other)).await);
        let at = house.db.now().await.unwrap().plus(Duration::from_hours(2));
        let at_a_time = house.enqueue(new(Due::At(at))).await;
        let dead = Queue::new(house.jobs.clone(), "dead".to_owned(), SECOND);
        let job = dead.claim(&claim(1)).await.unwrap().jobs.pop().unwrap();
        dead.start(&[job.lease()]).await.unwrap();
        let honest = house.jobs.find(asked).await.unwrap().unwrap();
        // All but the honest one speak of the next year.
        for id in [due, begun, later] {
            let ahead = Sql::same("test.ahead", "UPDATE jobs SET created_at = created_at + $2,
                claim_at = claim_at + $2, next_run_at = next_run_at + $2,
                heartbeat_at = heartbeat_at + $2, locked_at = locked_at + $2 WHERE id = $1");
            let values = [id.into(), (365 * 24 * HOUR).into()];
            house.db.write(async |tx| tx.execute(&ahead, &values).await).await.unwrap();
        }
        let made_ahead = Sql::same("test.made_ahead", "UPDATE jobs SET created_at = created_at + $2 WHERE id = $1");
        let values = [at_a_time.into(), (365 * 24 * HOUR).into()];
        house.db.write(async |tx| tx.execute(&made_ahead, &values).await).await.unwrap();
        let handler = Doing::new(work(), |_, _| std::future::ready(Ok(())).boxed());
        let runner = house.run(vec![handler.boxed()], short("next"));
        for id in [due, begun] {
            house.until(id, |view| view.status == Status::Succeeded).await;
        }
        let now = house.db.now().await.unwrap();
        let view = house.jobs.find(asked).await.unwrap().unwrap();
        assert_eq!((view.status, view.next_run_at), (Status::Queued, honest.next_run_at));
        let view = house.jobs.find(at_a_time).await.unwrap().unwrap();
        assert_eq!((view.status, view.next_run_at), (Status::Queued, at));
        let view = house.jobs.find(later).await.unwrap().unwrap();
        assert_eq!(view.status, Status::Queued);
        let wait = view.next_run_at.since(now);
        assert!(wait > Duration::from_mins(59) && wait <= Duration::from_hours(1), "{wait:?}");
        runner.stop().await;
    }
}
