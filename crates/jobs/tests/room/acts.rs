//! What people do: cancel, try again, pause.

use std::time::Duration;

use mainstay_jobs::decide::Verdict;
use mainstay_jobs::{Failure, JobsError, Kind, NewJob, Status};
use mainstay_testkit::each_database;
use serde_json::json;

use crate::house::{House, SECOND, TTL, claim, claim_alone, work};

fn about(subject: &str) -> NewJob {
    NewJob::new(work(), json!(1)).about(subject)
}

async fn cancel(house: &House, id: mainstay_base::Id) -> Result<(), JobsError> {
    house.write(async |tx, out| house.jobs.cancel(tx, out, id).await).await.map(drop)
}

async fn retry(house: &House, id: mainstay_base::Id) -> Result<(), JobsError> {
    house.write(async |tx, out| house.jobs.retry(tx, out, id).await).await.map(drop)
}

each_database! {
    async fn a_cancelled_job_is_never_claimed(database: &TestDatabase) {
        let house = House::new(database).await;
        let id = house.enqueue_some(1).await[0];
        cancel(&house, id).await.unwrap();
        let view = house.view(id).await;
        assert_eq!((view.status, view.last_error.unwrap().code.as_str()), (Status::Failed, "cancelled"));
        assert!(house.queue("r").claim(&claim(9)).await.unwrap().jobs.is_empty());
        assert!(matches!(cancel(&house, id).await, Err(JobsError::AlreadyFinished)));
    }

    async fn a_running_job_that_is_cancelled_is_lost_to_its_runner(database: &TestDatabase) {
        let house = House::new(database).await;
        let id = house.enqueue_some(1).await[0];
        let queue = house.queue("r");
        let job = queue.claim(&claim(1)).await.unwrap().jobs.pop().unwrap();
        cancel(&house, id).await.unwrap();
        assert_eq!(queue.heartbeat(&[job.lease()]).await.unwrap().lost, [job.lease()]);
        assert!(matches!(queue.succeed(job.lease()).await, Err(JobsError::LeaseLost)));
        assert_eq!(house.view(id).await.status, Status::Failed);
        assert_eq!(house.view(id).await.locked_by, None);
    }

    async fn a_failed_job_is_tried_again_as_if_it_were_new(database: &TestDatabase) {
        let house = House::new(database).await;
        let id = house.enqueue_some(1).await[0];
        let queue = house.queue("r");
        for _ in 0..3 {
            let job = queue.claim(&claim_alone()).await.unwrap().jobs.pop().unwrap();
            queue.start(&[job.lease()]).await.unwrap();
            house.advance(TTL + SECOND);
        }
        assert_eq!(queue.claim(&claim_alone()).await.unwrap().given_up, 1);
        retry(&house, id).await.unwrap();
        let job = queue.claim(&claim(1)).await.unwrap().jobs.pop().unwrap();
        assert_eq!((job.id, job.attempt, job.crashes), (id, 1, 0));
        assert!(matches!(retry(&house, id).await, Err(JobsError::NotFailed)), "it runs");
        queue.succeed(job.lease()).await.unwrap();
        assert!(matches!(retry(&house, id).await, Err(JobsError::NotFailed)), "it is done");
        assert!(matches!(cancel(&house, id).await, Err(JobsError::AlreadyFinished)));
    }

    async fn what_is_unknown_is_said_so(database: &TestDatabase) {
        let house = House::new(database).await;
        let unknown = "01a1e102-8087-7707-8707-070707070707".parse().unwrap();
        assert!(matches!(retry(&house, unknown).await, Err(JobsError::NotFound)));
        assert!(matches!(cancel(&house, unknown).await, Err(JobsError::NotFound)));
        assert_eq!(house.jobs.find(unknown).await.unwrap(), None);
    }

    async fn a_failed_job_whose_subject_is_taken_stays_failed(database: &TestDatabase) {
        let house = House::new(database).await;
        let first = house.enqueue(about("s")).await;
        cancel(&house, first).await.unwrap();
        house.enqueue(about("s")).await;
        assert!(matches!(retry(&house, first).await, Err(JobsError::SubjectTaken)));
        assert_eq!(house.view(first).await.status, Status::Failed);
    }

    async fn an_old_failure_is_in_the_archive_and_can_not_be_tried_again(database: &TestDatabase) {
        let house = House::new(database).await;
        let id = house.enqueue_some(1).await[0];
        let queue = house.queue("r");
        let job = queue.claim(&claim(1)).await.unwrap().jobs.pop().unwrap();
        let failure = Failure { code: "never".to_owned(), message: "no".to_owned() };
        queue.settle(job.lease(), &Verdict::Fail { failure }).await.unwrap();
        house.advance(Duration::from_hours(8 * 24));
        assert_eq!(house.jobs.clean_up().await.unwrap(), 1);
        assert!(house.view(id).await.archived);
        assert!(matches!(retry(&house, id).await, Err(JobsError::Archived)));
        assert!(matches!(cancel(&house, id).await, Err(JobsError::AlreadyFinished)));
    }

    async fn a_paused_kind_rests_until_it_is_resumed(database: &TestDatabase) {
        let house = House::new(database).await;
        house.enqueue_some(2).await;
        let (queue, kinds) = (house.queue("r"), ["work".to_owned()]);
        house.write(async |tx, _| house.jobs.pause(tx, &work()).await).await.unwrap();
        house.write(async |tx, _| house.jobs.pause(tx, &work()).await).await.unwrap();
        assert!(queue.look(&kinds).await.unwrap().is_empty());
        assert!(queue.claim(&claim(9)).await.unwrap().jobs.is_empty(), "a look from before is no way around");
        assert!(house.jobs.summary().await.unwrap().kinds[0].paused);
        house.write(async |tx, _| house.jobs.resume(tx, &work()).await).await.unwrap();
        assert_eq!(queue.look(&kinds).await.unwrap().len(), 1);
        assert_eq!(queue.claim(&claim(9)).await.unwrap().jobs.len(), 2);
        let never = Kind::new("never_paused").unwrap();
        house.write(async |tx, _| house.jobs.resume(tx, &never).await).await.unwrap();
    }

    async fn a_kind_stays_paused_after_a_restart(database: &TestDatabase) {
        let house = House::new(database).await;
        house.enqueue_some(1).await;
        house.write(async |tx, _| house.jobs.pause(tx, &work()).await).await.unwrap();
        drop(house);
        let house = House::new(database).await;
        assert!(house.queue("r").look(&["work".to_owned()]).await.unwrap().is_empty());
    }
}
