//! What people see: lists, one job, the whole at a glance, what is stuck, what has left the queue.

use std::time::Duration;

use mainstay_jobs::{Claimed, Due, JobFilter, Kind, NewJob, Page, Status};
use mainstay_testkit::each_database;
use serde_json::json;

use crate::house::{Doing, House, SECOND, TTL, claim, work};

const ALL: Page = Page { after: None, limit: 200 };

async fn ids(house: &House, filter: &JobFilter, page: Page) -> Vec<mainstay_base::Id> {
    let part = house.jobs.list(filter, page).await.unwrap();
    part.items.iter().map(|view| view.id).collect()
}

each_database! {
    async fn a_list_is_newest_first_and_goes_on_without_loss(database: &TestDatabase) {
        let house = House::new(database).await;
        let mut made = Vec::new();
        for _ in 0..25 {
            made.extend(house.enqueue_some(1).await);
            house.advance(Duration::from_millis(2));
        }
        let queue = house.queue("r");
        let jobs = queue.claim(&claim(10)).await.unwrap().jobs;
        let leases: Vec<_> = jobs.iter().map(Claimed::lease).collect();
        queue.succeed_many(&leases[..5]).await.unwrap();
        made.reverse();
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let part = house.jobs.list(&JobFilter::default(), Page { after, limit: 4 }).await.unwrap();
            assert!(part.items.len() <= 4);
            seen.extend(part.items.iter().map(|view| view.id));
            after = part.next;
            if after.is_none() { break; }
        }
        assert_eq!(seen, made, "of every status, in one order");
        let of = |status| JobFilter { status: Some(status), ..JobFilter::default() };
        assert_eq!(ids(&house, &of(Status::Queued), ALL).await.len(), 15);
        assert_eq!(ids(&house, &of(Status::Processing), ALL).await.len(), 5);
        assert_eq!(ids(&house, &of(Status::Succeeded), ALL).await.len(), 5);
        assert_eq!(ids(&house, &of(Status::Failed), ALL).await.len(), 0);
        let other = JobFilter { kind: Some(Kind::new("other").unwrap()), ..JobFilter::default() };
        assert_eq!(ids(&house, &other, ALL).await.len(), 0);
        let mine = JobFilter { kind: Some(work()), ..JobFilter::default() };
        assert_eq!(ids(&house, &mine, ALL).await.len(), 25);
    }

    async fn a_job_whose_runner_is_silent_is_stuck_until_it_is_reclaimed(database: &TestDatabase) {
        let house = House::new(database).await;
        let made = house.enqueue_some(2).await;
        let queue = house.queue("silent");
        let jobs = queue.claim(&claim(2)).await.unwrap().jobs;
        house.advance(TTL - SECOND);
        queue.heartbeat(&[jobs[1].lease()]).await.unwrap();
        house.advance(2 * SECOND);
        let stuck = house.jobs.stuck(ALL).await.unwrap().items;
        assert_eq!(stuck.iter().map(|view| view.id).collect::<Vec<_>>(), [made[0]]);
        assert_eq!(stuck[0].locked_by.as_deref(), Some("silent"));
        assert_eq!(house.jobs.summary().await.unwrap().stuck, 1);
        let next = house.queue("next").claim(&claim(9)).await.unwrap().jobs;
        assert_eq!(next.len(), 1);
        assert!(house.jobs.stuck(ALL).await.unwrap().items.is_empty());
    }

    async fn the_whole_is_seen_at_a_glance(database: &TestDatabase) {
        let house = House::new(database).await;
        house.enqueue_some(5).await;
        let later = || NewJob::new(work(), json!(1)).due(Due::After(3_600 * SECOND));
        house.enqueue(later()).await;
        house.enqueue(NewJob { priority: 9, ..later() }).await;
        house.enqueue(NewJob::new(Kind::new("other").unwrap(), json!(1))).await;
        house.advance(10 * SECOND);
        let queue = house.queue("r");
        let jobs = queue.claim(&claim(3)).await.unwrap().jobs;
        queue.succeed_many(&[jobs[0].lease()]).await.unwrap();
        house.write(async |tx, out| house.jobs.cancel(tx, out, jobs[1].id).await).await.unwrap();
        let summary = house.jobs.summary().await.unwrap();
        let [other, mine] = summary.kinds.as_slice() else { panic!("{summary:?}") };
        assert_eq!((other.kind.as_str(), other.queued, other.due), ("other", 1, 1));
        assert_eq!((mine.queued, mine.due, mine.scheduled), (4, 2, 2));
        assert_eq!((mine.processing, mine.failed, mine.succeeded), (1, 1, 1));
        assert!(mine.oldest_due().unwrap() >= 10 * SECOND);
        assert_eq!((summary.stuck, mine.concurrency, mine.paused), (0, None, false));
    }

    async fn finished_jobs_leave_the_queue_by_age_and_stay_visible(database: &TestDatabase) {
        let house = House::new(database).await;
        let made = house.enqueue_some(3).await;
        let queue = house.queue("r");
        let jobs = queue.claim(&claim(2)).await.unwrap().jobs;
        queue.succeed_many(&[jobs[0].lease()]).await.unwrap();
        house.write(async |tx, out| house.jobs.cancel(tx, out, jobs[1].id).await).await.unwrap();
        assert_eq!(house.jobs.clean_up().await.unwrap(), 0, "they are young");
        house.advance(Duration::from_hours(2));
        assert_eq!(house.jobs.clean_up().await.unwrap(), 1);
        let (done, failed) = (house.view(made[0]).await, house.view(made[1]).await);
        assert_eq!((done.archived, done.status), (true, Status::Succeeded));
        assert!(!failed.archived, "a failed one can still be tried again");
        house.advance(Duration::from_hours(7 * 24));
        assert_eq!(house.jobs.clean_up().await.unwrap(), 1);
        assert_eq!(house.count("SELECT count(*) AS n FROM jobs").await, 1, "what waits stays");
        let everything = ids(&house, &JobFilter::default(), ALL).await;
        assert_eq!(everything.len(), 3);
        house.advance(Duration::from_hours(31 * 24));
        assert_eq!(house.jobs.clean_up().await.unwrap(), 2);
        assert_eq!(house.jobs.find(made[0]).await.unwrap(), None);
    }

    async fn what_has_a_record_of_its_own_is_archived_only_when_it_failed(database: &TestDatabase) {
        let house = House::new(database).await;
        let mine = Doing::new(work(), |_, _| Box::pin(std::future::ready(Ok(())))).with_record();
        house.jobs.register(&[mine.boxed()]);
        let made = house.enqueue_some(2).await;
        let queue = house.queue("r");
        let jobs = queue.claim(&claim(2)).await.unwrap().jobs;
        queue.succeed_many(&[jobs[0].lease()]).await.unwrap();
        house.write(async |tx, out| house.jobs.cancel(tx, out, jobs[1].id).await).await.unwrap();
        assert_eq!(house.jobs.clean_up().await.unwrap(), 0, "they are young");
        house.advance(Duration::from_hours(2));
        assert_eq!(house.jobs.clean_up().await.unwrap(), 1);
        assert_eq!(house.jobs.find(made[0]).await.unwrap(), None);
        house.advance(Duration::from_hours(7 * 24));
        assert_eq!(house.jobs.clean_up().await.unwrap(), 1);
        assert!(house.view(made[1]).await.archived);
    }

    async fn what_is_scheduled_does_not_hide_what_is_due(database: &TestDatabase) {
        let house = House::new(database).await;
        for _ in 0..3 {
            let new = (0..4_000).map(|n| NewJob {
                priority: -1,
                ..NewJob::new(work(), json!(n)).due(Due::After(3_600 * SECOND))
            }).collect();
            house.write(async |tx, _| house.jobs.enqueue_many(tx, new).await).await.unwrap();
        }
        house.enqueue_some(7).await;
        let summary = house.jobs.summary().await.unwrap();
        let (mine, cap) = (&summary.kinds[0], summary.count_cap);
        assert_eq!((mine.due, mine.scheduled, mine.queued), (7, cap, cap));
    }

    async fn a_summary_and_a_look_cost_the_same_however_long_the_queue_is(database: &TestDatabase) {
        let house = House::new(database).await;
        house.enqueue_some(50).await;
        let short = quickest_look(&house).await;
        for part in 0..6 {
            let new = (0..5_000).map(|n| {
                let due = if part % 2 == 0 { Due::Now } else { Due::After(3_600 * SECOND) };
                NewJob::new(work(), json!(n)).due(due)
            }).collect();
            house.write(async |tx, _| house.jobs.enqueue_many(tx, new).await).await.unwrap();
        }
        let summary = house.jobs.summary().await.unwrap();
        assert_eq!(summary.kinds[0].queued, summary.count_cap, "counts stop");
        let long = quickest_look(&house).await;
        // Reading all rows takes far longer than the machine may have become slower meanwhile.
        assert!(long < 4 * short + Duration::from_millis(1), "a look took {long:?}, of fifty jobs {short:?}");
    }
}

/// The quickest of many looks: others may need the machine.
async fn quickest_look(house: &House) -> Duration {
    let clock = mainstay_base::SystemClock::new();
    let mut least = 60 * SECOND;
    for _ in 0..50 {
        let began = mainstay_base::Clock::moment(&clock);
        house.queue("r").look(&["work".to_owned()]).await.unwrap();
        least = least.min(mainstay_base::Clock::moment(&clock).since(began));
    }
    least
}
