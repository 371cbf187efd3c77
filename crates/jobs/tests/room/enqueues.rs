//! Enqueueing: in the caller's transaction, once for each subject, within bounds.

use std::time::Duration;

use mainstay_events::{Heard, Topic};
use mainstay_jobs::{Due, JobsError, NewJob, Status, Traceparent, trace};
use mainstay_testkit::each_database;
use serde_json::json;

use crate::house::{House, SECOND, claim, work};

const TRACE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

fn job() -> NewJob {
    NewJob::new(work(), json!({ "a": 1 }))
}

each_database! {
    async fn a_job_is_there_with_all_that_was_said_of_it(database: &TestDatabase) {
        let house = House::new(database).await;
        let mut new = job().about("file-1");
        (new.priority, new.max_attempts, new.traceparent) = (-3, 7, Some(TRACE.to_owned()));
        let id = house.enqueue(new).await;
        let view = house.view(id).await;
        assert_eq!((view.status, view.priority, view.attempts), (Status::Queued, -3, 0));
        assert_eq!((view.max_attempts, view.subject.as_deref()), (7, Some("file-1")));
        assert_eq!(view.locked_by, None);
        let mut plan = claim(10);
        plan.priority = -3;
        let claimed = house.queue("r").claim(&plan).await.unwrap().jobs.pop().unwrap();
        assert_eq!(claimed.payload, json!({ "a": 1 }));
        assert_eq!(claimed.traceparent.unwrap().as_str(), TRACE);
    }

    async fn a_trace_that_is_none_is_dropped(database: &TestDatabase) {
        let house = House::new(database).await;
        let mut new = job();
        new.traceparent = Some("'; DROP TABLE jobs; --".to_owned());
        house.enqueue(new).await;
        let claimed = house.queue("r").claim(&claim(1)).await.unwrap().jobs.pop().unwrap();
        assert_eq!(claimed.traceparent, None);
    }

    async fn what_is_enqueued_on_behalf_of_a_request_keeps_its_trace(database: &TestDatabase) {
        let house = House::new(database).await;
        let given = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";
        let own = NewJob { traceparent: Some(given.to_owned()), ..job() };
        let request = async {
            house.enqueue(job()).await;
            house.enqueue(own).await;
            let both = vec![job(), job()];
            house.write(async |tx, _| house.jobs.enqueue_many(tx, both).await).await.unwrap();
        };
        trace::follow(Traceparent::parse(TRACE), request).await;
        house.enqueue(job()).await;
        let jobs = house.queue("r").claim(&claim(10)).await.unwrap().jobs;
        let mut traces: Vec<_> = jobs.into_iter().map(|job| job.traceparent).collect();
        traces.sort_by_key(|trace| trace.as_ref().map(ToString::to_string));
        let expected = [None, Some(given), Some(TRACE), Some(TRACE), Some(TRACE)];
        assert_eq!(traces, expected.map(|trace| trace.and_then(Traceparent::parse)));
    }

    async fn twice_about_one_subject_makes_one_row(database: &TestDatabase) {
        let house = House::new(database).await;
        let twice = house.write(async |tx, _| {
            let first = house.jobs.enqueue(tx, job().about("s")).await?;
            Ok((first, house.jobs.enqueue(tx, job().about("s")).await?))
        }).await.unwrap();
        assert!(twice.0.is_new && !twice.1.is_new);
        assert_eq!(twice.0.id, twice.1.id);
        assert_eq!(house.count("SELECT count(*) AS n FROM jobs").await, 1);
    }

    async fn many_at_once_about_one_subject_make_one_row(database: &TestDatabase) {
        let house = House::new(database).await;
        let tasks: Vec<_> = (0..16).map(|_| {
            let (jobs, events) = (house.jobs.clone(), house.events.clone());
            tokio::spawn(async move { crate::house::enqueue(&jobs, &events, job().about("s")).await })
        }).collect();
        let mut ids = std::collections::HashSet::new();
        for task in tasks {
            ids.insert(task.await.unwrap());
        }
        assert_eq!(ids.len(), 1);
        assert_eq!(house.count("SELECT count(*) AS n FROM jobs").await, 1);
    }

    async fn a_finished_job_frees_its_subject(database: &TestDatabase) {
        let house = House::new(database).await;
        let first = house.enqueue(job().about("s")).await;
        let queue = house.queue("r");
        let claimed = queue.claim(&claim(1)).await.unwrap().jobs.pop().unwrap();
        assert_eq!(house.enqueue(job().about("s")).await, first, "it is unfinished while it runs");
        queue.succeed(claimed.lease()).await.unwrap();
        assert_ne!(house.enqueue(job().about("s")).await, first);
    }

    async fn what_is_rolled_back_leaves_no_job_and_rings_nothing(database: &TestDatabase) {
        let house = House::new(database).await;
        let mut ears = house.events.doorbell().listen(Topic::Jobs);
        let refused = house.write(async |tx, _| {
            house.jobs.enqueue(tx, job()).await?;
            Err::<(), _>(JobsError::NotFound)
        }).await;
        assert!(matches!(refused, Err(JobsError::NotFound)));
        assert_eq!(house.count("SELECT count(*) AS n FROM jobs").await, 0);
        house.enqueue(job().about("committed")).await;
        // A listener that has just come up tells of anything, at a time of its own.
        if let Heard::Keys(keys) = ears.heard().await {
            assert_eq!(keys.into_iter().collect::<Vec<_>>(), ["work"]);
        }
    }

    async fn a_delayed_job_is_claimed_when_it_is_due(database: &TestDatabase) {
        let house = House::new(database).await;
        house.enqueue(job().due(Due::After(60 * SECOND))).await;
        let queue = house.queue("r");
        assert!(queue.claim(&claim(9)).await.unwrap().jobs.is_empty());
        let bucket = queue.look(&["work".to_owned()]).await.unwrap().pop().unwrap();
        assert_eq!(bucket.due_for, None);
        assert!(bucket.due_in > 50 * SECOND && bucket.due_in <= 60 * SECOND, "{bucket:?}");
        house.advance(61 * SECOND);
        assert_eq!(queue.claim(&claim(9)).await.unwrap().jobs.len(), 1);
    }

    async fn thousands_are_enqueued_together(database: &TestDatabase) {
        let house = House::new(database).await;
        let there = house.enqueue(job().about("subject-7")).await;
        let new: Vec<_> = (0..2_000).map(|n| job().about(format!("subject-{}", n % 1_500))).collect();
        let made = house.write(async |tx, _| house.jobs.enqueue_many(tx, new).await).await.unwrap();
        assert_eq!(made.len(), 2_000);
        assert_eq!(made.iter().filter(|one| one.is_new).count(), 1_499);
        assert_eq!(made[7].id, there);
        assert_eq!(made[1_600].id, made[100].id, "the answer is in the order that was asked");
        assert_eq!(house.count("SELECT count(*) AS n FROM jobs").await, 1_500);
    }

    async fn what_does_not_fit_is_refused(database: &TestDatabase) {
        let house = House::new(database).await;
        let mut wrong: Vec<(&str, NewJob)> = vec![
            ("payload", NewJob::new(work(), json!("x".repeat(64 * 1024)))),
            ("subject", job().about("")),
            ("subject", job().about("x".repeat(257))),
            ("subject", job().about("a\0b")),
        ];
        wrong.push(("priority", NewJob { priority: 101, ..job() }));
        wrong.push(("priority", NewJob { priority: i32::MIN, ..job() }));
        wrong.push(("tried", NewJob { max_attempts: 0, ..job() }));
        for (word, new) in wrong {
            let refused = house.write(async |tx, _| house.jobs.enqueue(tx, new).await).await;
            let told = refused.unwrap_err().to_string();
            assert!(told.contains(word), "{word}: {told}");
        }
        let many = vec![job(); 5_001];
        let refused = house.write(async |tx, _| house.jobs.enqueue_many(tx, many).await).await;
        assert!(matches!(refused, Err(JobsError::TooMany { given: 5_001, limit: 5_000 })));
        assert_eq!(house.count("SELECT count(*) AS n FROM jobs").await, 0);
        let nul = house.enqueue(NewJob::new(work(), json!({ "nul": "a\0b" }))).await;
        let claimed = house.queue("r").claim(&claim(1)).await.unwrap().jobs.pop().unwrap();
        assert_eq!((claimed.id, claimed.payload), (nul, json!({ "nul": "a\0b" })));
    }

    async fn a_time_far_away_is_no_overflow(database: &TestDatabase) {
        let house = House::new(database).await;
        let id = house.enqueue(job().due(Due::After(Duration::MAX))).await;
        assert!(house.view(id).await.next_run_at > house.view(id).await.created_at);
    }
}
