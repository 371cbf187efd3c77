//! The claim: what is due and what a dead runner left, each to one runner, in order.

use std::collections::HashSet;

use mainstay_jobs::decide::{ALONE_FROM, ClaimPlan, Load, Plan, Suspects, Verdict, plan};
use mainstay_jobs::{Claimed, Failure, NewJob, Queue, Status};
use mainstay_testkit::each_database;
use serde_json::json;

use crate::house::{House, SECOND, TTL, claim, claim_alone, work};

async fn take(queue: &Queue, plan: &ClaimPlan) -> Vec<Claimed> {
    queue.claim(plan).await.unwrap().jobs
}

/// A claim whose runner then dies, with the handler begun or not.
async fn die(house: &House, plan: &ClaimPlan, begun: bool) {
    let queue = house.queue("dead");
    let jobs = take(&queue, plan).await;
    if begun {
        let leases: Vec<_> = jobs.iter().map(Claimed::lease).collect();
        assert_eq!(queue.start(&leases).await.unwrap().len(), leases.len());
    }
    house.advance(TTL + SECOND);
}

/// What a runner with four places has once it claims no more.
async fn fill(queue: &Queue) -> Vec<Claimed> {
    let mut held: Vec<Claimed> = Vec::new();
    loop {
        let load = Load {
            held: held.len().try_into().unwrap(),
            concurrency: 4,
            runs_alone: held.iter().any(|job| job.crashes >= ALONE_FROM),
        };
        let buckets = queue.look(&["work".to_owned()]).await.unwrap();
        let Plan::Claim(next) = plan(&buckets, load, |_| None) else { return held };
        let claims = queue.claim(&next).await.unwrap();
        if claims.jobs.is_empty() && claims.given_up == 0 {
            return held;
        }
        held.extend(claims.jobs);
    }
}

each_database! {
    async fn jobs_come_in_the_order_in_which_they_were_due(database: &TestDatabase) {
        let house = House::new(database).await;
        let ids = house.enqueue_some(5).await;
        let queue = house.queue("runner-1");
        let first = take(&queue, &claim(3)).await;
        assert_eq!(first.iter().map(|job| job.id).collect::<Vec<_>>(), ids[..3]);
        let view = house.view(ids[0]).await;
        assert_eq!((view.status, view.attempts), (Status::Processing, 1));
        assert_eq!((view.locked_by.as_deref(), view.lock_ttl_seconds), (Some("runner-1"), Some(300)));
        assert!(view.locked_at.is_some() && view.heartbeat_at == view.locked_at);
        assert_eq!(take(&queue, &claim(9)).await.len(), 2);
        assert!(take(&queue, &claim(9)).await.is_empty());
    }

    async fn many_claimers_at_once_never_share_a_job(database: &TestDatabase) {
        let house = House::new(database).await;
        let new = (0..300).map(|n| NewJob::new(work(), json!(n))).collect();
        house.write(async |tx, _| house.jobs.enqueue_many(tx, new).await).await.unwrap();
        let tasks: Vec<_> = (0..8).map(|number| {
            let queue = house.queue(&format!("runner-{number}"));
            tokio::spawn(async move {
                let mut mine = Vec::new();
                // A claim can be empty while others hold the head of the queue.
                for _ in 0..40 {
                    mine.extend(queue.claim(&claim(10)).await.unwrap().jobs);
                }
                mine
            })
        }).collect();
        let (mut seen, mut tokens) = (HashSet::new(), HashSet::new());
        for task in tasks {
            for job in task.await.unwrap() {
                assert!(seen.insert(job.id), "two runners have one job");
                tokens.insert(job.lease());
            }
        }
        assert_eq!((seen.len(), tokens.len()), (300, 300));
    }

    async fn a_dead_runners_job_is_claimed_again_after_its_lease(database: &TestDatabase) {
        let house = House::new(database).await;
        let id = house.enqueue_some(1).await[0];
        let dead = take(&house.queue("dead"), &claim(1)).await.pop().unwrap();
        house.advance(TTL - 5 * SECOND);
        assert!(take(&house.queue("next"), &claim(1)).await.is_empty(), "the lease still holds");
        house.advance(6 * SECOND);
        let next = take(&house.queue("next"), &claim(1)).await.pop().unwrap();
        assert_eq!(next.id, id);
        assert_ne!(next.lease(), dead.lease(), "each claim has its own token");
    }

    async fn a_heartbeat_keeps_the_lease(database: &TestDatabase) {
        let house = House::new(database).await;
        house.enqueue_some(1).await;
        let queue = house.queue("alive");
        let job = take(&queue, &claim(1)).await.pop().unwrap();
        for _ in 0..4 {
            house.advance(TTL - 5 * SECOND);
            let beat = queue.heartbeat(&[job.lease()]).await.unwrap();
            assert_eq!((beat.kept.len(), beat.lost.len()), (1, 0));
            assert!(take(&house.queue("next"), &claim(1)).await.is_empty());
        }
    }

    async fn a_job_that_was_not_begun_gets_its_attempt_back(database: &TestDatabase) {
        let house = House::new(database).await;
        let id = house.enqueue(NewJob { max_attempts: 1, ..NewJob::new(work(), json!(1)) }).await;
        for _ in 0..5 {
            die(&house, &claim(9), false).await;
        }
        let job = take(&house.queue("alive"), &claim(9)).await.pop().unwrap();
        assert_eq!((job.id, job.attempt, job.crashes), (id, 1, 0));
    }

    async fn three_crashes_quarantine_a_job(database: &TestDatabase) {
        let house = House::new(database).await;
        let id = house.enqueue(NewJob { max_attempts: 9, ..NewJob::new(work(), json!(1)) }).await;
        die(&house, &claim(9), true).await;
        for crashes in 1..3 {
            let queue = house.queue("dead");
            let job = take(&queue, &claim_alone()).await.pop().unwrap();
            assert_eq!(job.crashes, crashes);
            queue.start(&[job.lease()]).await.unwrap();
            house.advance(TTL + SECOND);
        }
        let claims = house.queue("alive").claim(&claim_alone()).await.unwrap();
        assert_eq!((claims.jobs.len(), claims.given_up), (0, 1));
        let view = house.view(id).await;
        assert_eq!((view.status, view.crashes), (Status::Failed, 3));
        assert_eq!(view.last_error.unwrap().code, "crash_loop");
        assert_eq!((view.locked_by, view.locked_at, view.heartbeat_at), (None, None, None));
        assert!(view.finished_at.is_some());
        assert!(take(&house.queue("alive"), &claim_alone()).await.is_empty());
    }

    async fn a_crash_in_the_last_attempt_ends_the_job_in_the_claim(database: &TestDatabase) {
        let house = House::new(database).await;
        let id = house.enqueue(NewJob { max_attempts: 1, ..NewJob::new(work(), json!(1)) }).await;
        die(&house, &claim(9), true).await;
        let claims = house.queue("alive").claim(&claim_alone()).await.unwrap();
        assert_eq!((claims.jobs.len(), claims.given_up), (0, 1));
        let view = house.view(id).await;
        assert_eq!((view.status, view.attempts, view.crashes), (Status::Failed, 1, 1));
        assert_eq!(view.last_error.unwrap().code, "attempts_exhausted");
    }

    async fn a_job_that_a_runner_died_of_is_claimed_alone(database: &TestDatabase) {
        let house = House::new(database).await;
        let ids = house.enqueue_some(6).await;
        let queue = house.queue("dead");
        let jobs = take(&queue, &claim(3)).await;
        queue.start(&[jobs[0].lease()]).await.unwrap();
        house.advance(TTL + SECOND);
        let queue = house.queue("alive");
        let bucket = queue.look(&["work".to_owned()]).await.unwrap().pop().unwrap();
        assert!(bucket.crashes == 0 || bucket.due_for.is_some());
        let batch = take(&queue, &claim(9)).await;
        let others: HashSet<_> = batch.iter().map(|job| job.id).collect();
        assert_eq!(others, ids[1..].iter().copied().collect(), "the suspect is left");
        assert!(batch.iter().all(|job| job.crashes == 0 && job.attempt == 1));
        let bucket = queue.look(&["work".to_owned()]).await.unwrap().pop().unwrap();
        assert_eq!(bucket.crashes, 1);
        let alone = take(&queue, &claim_alone()).await;
        assert_eq!(alone.iter().map(|job| (job.id, job.crashes)).collect::<Vec<_>>(), [(ids[0], 1)]);
    }

    async fn a_claim_that_a_busy_runner_makes_leaves_what_is_to_be_run_alone(database: &TestDatabase) {
        let house = House::new(database).await;
        house.enqueue_some(1).await;
        die(&house, &claim(1), true).await;
        die(&house, &claim_alone(), true).await;
        let other = house.enqueue_some(1).await;
        let beside = ClaimPlan { suspects: Suspects::BesideOthers, ..claim(1) };
        let jobs = take(&house.queue("r"), &beside).await;
        assert_eq!(jobs.iter().map(|job| job.id).collect::<Vec<_>>(), other);
        assert!(take(&house.queue("r"), &beside).await.is_empty());
        assert_eq!(take(&house.queue("r"), &claim_alone()).await[0].crashes, 2);
    }

    /// Runners that take what the plan says and die whenever one of two poison jobs is begun.
    async fn poison_jobs_are_quarantined_and_take_no_other_with_them(database: &TestDatabase) {
        let house = House::new(database).await;
        let ids = house.enqueue_some(12).await;
        let poison = [ids[2], ids[7]];
        let mut deaths = 0;
        loop {
            let queue = house.queue("r");
            let held = fill(&queue).await;
            if held.is_empty() {
                break;
            }
            let leases: Vec<_> = held.iter().map(Claimed::lease).collect();
            queue.start(&leases).await.unwrap();
            if held.iter().any(|job| poison.contains(&job.id)) {
                deaths += 1;
                house.advance(TTL + SECOND);
            } else {
                queue.succeed_many(&leases).await.unwrap();
            }
        }
        assert!(deaths <= 6, "{deaths}");
        for id in ids {
            let view = house.view(id).await;
            if poison.contains(&id) {
                assert_eq!(view.last_error.unwrap().code, "crash_loop");
            } else {
                assert_eq!((view.status, view.crashes < 3), (Status::Succeeded, true));
            }
        }
    }

    async fn every_crash_is_counted_once(database: &TestDatabase) {
        let recorder = metrics_exporter_prometheus::PrometheusBuilder::new().build_recorder();
        let handle = recorder.handle();
        let _guard = metrics::set_default_local_recorder(&recorder);
        let crashes = || {
            let rendered = handle.render();
            let line = rendered.lines().find(|line| line.starts_with("mainstay_jobs_crashes_total{"));
            line.map_or(0, |line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap())
        };
        let house = House::new(database).await;
        house.enqueue(NewJob { max_attempts: 9, ..NewJob::new(work(), json!(1)) }).await;
        die(&house, &claim(9), true).await;
        assert_eq!(crashes(), 0, "nobody has found it yet");
        let queue = house.queue("r");
        // Given back, put off and unbegun it comes again without a crash.
        for _ in 0..2 {
            let job = take(&queue, &claim_alone()).await.pop().unwrap();
            queue.release(&[job.lease()]).await.unwrap();
        }
        die(&house, &claim_alone(), false).await;
        assert_eq!(crashes(), 1);
        for counted in 1..3 {
            die(&house, &claim_alone(), true).await;
            assert_eq!(crashes(), counted);
        }
        let claims = queue.claim(&claim_alone()).await.unwrap();
        assert_eq!((claims.given_up, crashes()), (1, 3), "the last one too");
        house.enqueue(NewJob { max_attempts: 1, ..NewJob::new(work(), json!(2)) }).await;
        die(&house, &claim(9), true).await;
        let claims = queue.claim(&claim_alone()).await.unwrap();
        assert_eq!((claims.given_up, crashes()), (1, 4), "and that of a last attempt");
    }

    async fn priorities_are_buckets_of_their_own(database: &TestDatabase) {
        let house = House::new(database).await;
        house.enqueue(NewJob { priority: 5, ..NewJob::new(work(), json!(1)) }).await;
        house.enqueue(NewJob { priority: -5, ..NewJob::new(work(), json!(2)) }).await;
        let kinds = ["work".to_owned(), "other".to_owned()];
        let mut buckets = house.queue("r").look(&kinds).await.unwrap();
        buckets.sort_by_key(|bucket| bucket.priority);
        let priorities: Vec<_> = buckets.iter().map(|bucket| bucket.priority).collect();
        assert_eq!(priorities, [-5, 5]);
        assert!(house.queue("r").look(&["other".to_owned()]).await.unwrap().is_empty());
    }

    async fn a_failed_attempt_waits_and_comes_again(database: &TestDatabase) {
        let house = House::new(database).await;
        let id = house.enqueue_some(1).await[0];
        let queue = house.queue("r");
        let job = take(&queue, &claim(1)).await.pop().unwrap();
        let failure = Failure { code: "llm_timeout".to_owned(), message: "too slow".to_owned() };
        let verdict = Verdict::Retry { wait: 30 * SECOND, failure: failure.clone() };
        queue.settle(job.lease(), &verdict).await.unwrap();
        let view = house.view(id).await;
        assert_eq!((view.status, view.attempts), (Status::Queued, 1));
        assert_eq!((view.last_error, view.locked_by), (Some(failure.clone()), None));
        assert!(take(&queue, &claim(1)).await.is_empty());
        house.advance(31 * SECOND);
        let again = take(&queue, &claim(1)).await.pop().unwrap();
        assert_eq!((again.attempt, again.crashes), (2, 0));
        queue.settle(again.lease(), &Verdict::Fail { failure }).await.unwrap();
        assert_eq!(house.view(id).await.status, Status::Failed);
    }

    async fn what_is_put_off_or_released_gets_its_attempt_back(database: &TestDatabase) {
        let house = House::new(database).await;
        let id = house.enqueue_some(1).await[0];
        let queue = house.queue("r");
        let job = take(&queue, &claim(1)).await.pop().unwrap();
        queue.settle(job.lease(), &Verdict::PutOff { wait: 60 * SECOND }).await.unwrap();
        assert_eq!(house.view(id).await.attempts, 0);
        assert!(take(&queue, &claim(1)).await.is_empty());
        house.advance(61 * SECOND);
        let job = take(&queue, &claim(1)).await.pop().unwrap();
        queue.start(&[job.lease()]).await.unwrap();
        queue.release(&[job.lease()]).await.unwrap();
        let view = house.view(id).await;
        assert_eq!((view.status, view.attempts, view.locked_by), (Status::Queued, 0, None));
        assert_eq!(take(&queue, &claim(1)).await.pop().unwrap().attempt, 1, "at once");
    }

    async fn a_row_that_was_changed_by_hand_does_not_stop_its_batch(database: &TestDatabase) {
        let house = House::new(database).await;
        house.enqueue_some(3).await;
        let sql = mainstay_store::Sql::same("test.spoil", "UPDATE jobs SET payload = '{' WHERE key = 2");
        house.db.write(async |tx| tx.execute(&sql, &[]).await).await.unwrap();
        assert_eq!(take(&house.queue("r"), &claim(9)).await.len(), 3);
    }
}
