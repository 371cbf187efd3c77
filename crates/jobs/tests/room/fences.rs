//! Every write is fenced: a zombie can neither begin, finish, fail nor release what is another's.

use std::sync::Arc;

use mainstay_jobs::decide::Verdict;
use mainstay_jobs::{Claimed, Failure, JobsError, Status};
use mainstay_testkit::each_database;

use crate::house::{House, SECOND, TTL, claim};

/// A zombie's job, which `next` has claimed after it.
async fn overtaken(house: &House) -> (Claimed, Claimed) {
    house.enqueue_some(1).await;
    let zombie = house.queue("zombie").claim(&claim(1)).await.unwrap().jobs.pop().unwrap();
    house.advance(TTL + SECOND);
    let next = house.queue("next").claim(&claim(1)).await.unwrap().jobs.pop().unwrap();
    assert_eq!(zombie.id, next.id);
    (zombie, next)
}

fn failure() -> Failure {
    Failure { code: "late".to_owned(), message: "late".to_owned() }
}

each_database! {
    async fn a_zombie_can_do_nothing(database: &TestDatabase) {
        let house = House::new(database).await;
        let (zombie, next) = overtaken(&house).await;
        let before = house.view(next.id).await;
        let (queue, lease) = (house.queue("zombie"), zombie.lease());
        assert!(queue.start(&[lease]).await.unwrap().is_empty());
        assert_eq!(queue.heartbeat(&[lease]).await.unwrap().lost, [lease]);
        assert_eq!(queue.held(&[lease]).await.unwrap().lost, [lease]);
        assert_eq!(queue.succeed_many(&[lease]).await.unwrap().lost, [lease]);
        assert!(matches!(queue.succeed(lease).await, Err(JobsError::LeaseLost)));
        for verdict in [
            Verdict::Retry { wait: SECOND, failure: failure() },
            Verdict::Fail { failure: failure() },
            Verdict::PutOff { wait: SECOND },
        ] {
            let settled = queue.settle(lease, &verdict).await;
            assert!(matches!(settled, Err(JobsError::LeaseLost)), "{verdict:?}");
        }
        queue.release(&[lease]).await.unwrap();
        assert_eq!(house.view(next.id).await, before, "nothing of the newer attempt has changed");
        assert_eq!(house.queue("next").succeed_many(&[next.lease()]).await.unwrap().kept.len(), 1);
        assert_eq!(house.view(next.id).await.status, Status::Succeeded);
    }

    async fn a_stale_completion_in_one_batch_with_the_newer_claim_is_refused(database: &TestDatabase) {
        let house = House::new(database).await;
        let (zombie, next) = overtaken(&house).await;
        house.enqueue_some(1).await;
        let queue = house.queue("next");
        let other = queue.claim(&claim(1)).await.unwrap().jobs.pop().unwrap();
        // The same runner has the job anew, under the token of another claim that is done too.
        let done = queue.succeed_many(&[zombie.lease(), other.lease()]).await.unwrap();
        assert_eq!((done.kept, done.lost), (vec![other.lease()], vec![zombie.lease()]));
        assert_eq!(house.view(next.id).await.status, Status::Processing);
    }

    async fn a_finished_job_is_finished_once(database: &TestDatabase) {
        let house = House::new(database).await;
        house.enqueue_some(2).await;
        let queue = house.queue("r");
        let jobs = queue.claim(&claim(2)).await.unwrap().jobs;
        let leases: Vec<_> = jobs.iter().map(Claimed::lease).collect();
        assert_eq!(queue.succeed_many(&leases).await.unwrap().kept.len(), 2);
        assert_eq!(queue.succeed_many(&leases).await.unwrap().lost.len(), 2);
        assert!(matches!(queue.succeed(leases[0]).await, Err(JobsError::LeaseLost)));
        let late = queue.settle(leases[0], &Verdict::Fail { failure: failure() }).await;
        assert!(matches!(late, Err(JobsError::LeaseLost)));
        assert_eq!(house.view(jobs[0].id).await.status, Status::Succeeded);
    }

    async fn heartbeats_and_completions_side_by_side_never_fail(database: &TestDatabase) {
        let house = Arc::new(House::new(database).await);
        house.enqueue_some(200).await;
        let queue = house.queue("r");
        let jobs = queue.claim(&claim(200)).await.unwrap().jobs;
        let leases: Vec<_> = jobs.iter().map(Claimed::lease).collect();
        let beating = tokio::spawn({
            let (queue, mut leases) = (queue.clone(), leases.clone());
            leases.reverse();
            async move {
                for _ in 0..20 {
                    queue.heartbeat(&leases).await.unwrap();
                }
            }
        });
        for part in leases.chunks(10) {
            assert_eq!(queue.succeed_many(part).await.unwrap().kept.len(), part.len());
        }
        beating.await.unwrap();
    }
}

/// SQLite's time is the machine's, and somebody sets it: jobs may be taken early, but never finished
/// twice, and a heartbeat counts from the new time on.
#[tokio::test]
async fn a_clock_that_steps_finishes_nothing_twice() {
    let database = mainstay_testkit::TestDatabase::new(mainstay_store::Dialect::Sqlite).await;
    let house = House::new(&database).await;
    house.enqueue_some(1).await;
    let (first, second) = (house.queue("first"), house.queue("second"));
    let start = mainstay_base::Clock::now(&*house.clock);
    let early = first.claim(&claim(1)).await.unwrap().jobs.pop().unwrap();
    house.clock.step_wall(start.plus(3_600 * SECOND));
    let next = second.claim(&claim(1)).await.unwrap().jobs.pop().unwrap();
    house.clock.step_wall(start);
    assert_eq!(second.heartbeat(&[next.lease()]).await.unwrap().kept, [next.lease()]);
    assert!(matches!(first.succeed(early.lease()).await, Err(JobsError::LeaseLost)));
    house.advance(TTL + SECOND);
    assert_eq!(
        first.claim(&claim(1)).await.unwrap().jobs.len(),
        1,
        "after a lease of the new time"
    );
    assert!(matches!(second.succeed(next.lease()).await, Err(JobsError::LeaseLost)));
}
