//! Every change of a job's status tells its kind's hook, in the same transaction.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use mainstay_events::{Event, Outbox, Stream};
use mainstay_jobs::decide::Verdict;
use mainstay_jobs::{
    Cause, Change, Claimed, Context, Failure, Handler, JobError, JobsError, Kind, NewJob, Status,
};
use mainstay_store::{Sql, Tx, values};
use mainstay_testkit::each_database;
use serde_json::{Map, json};

use crate::house::{Doing, House, LiveHouse, SECOND, TTL, claim, claim_alone, short, work};

/// Writes the status of each job into a table of its own, and an event.
struct Mirror {
    fails: AtomicBool,
}

const TABLE: Sql =
    Sql::same("test.table", "CREATE TABLE mirror (subject TEXT, status TEXT, cause TEXT)");
const NOTE: Sql =
    Sql::same("test.note", "INSERT INTO mirror (subject, status, cause) VALUES ($1, $2, $3)");

impl Handler for Mirror {
    fn kind(&self) -> Kind {
        work()
    }

    fn run<'a>(&'a self, _: &'a Claimed, _: &'a Context) -> BoxFuture<'a, Result<(), JobError>> {
        std::future::ready(Ok(())).boxed()
    }

    fn hooks(&self) -> bool {
        true
    }

    fn changed<'a>(
        &'a self,
        tx: &'a mut Tx,
        out: &'a mut Outbox,
        change: &'a Change,
    ) -> BoxFuture<'a, Result<(), JobsError>> {
        async move {
            let cause = format!("{:?}", change.cause);
            let values = values![change.subject.as_ref(), change.status.name(), &cause];
            tx.execute(&NOTE, values).await?;
            let event = Event::new("job_changed", &Map::new()).unwrap();
            out.add(Stream::Org, event).unwrap();
            if self.fails.load(Ordering::SeqCst) {
                return Err(JobsError::Hook("it refuses".to_owned()));
            }
            Ok(())
        }
        .boxed()
    }
}

async fn mirrored(database: &mainstay_testkit::TestDatabase) -> (House, Arc<Mirror>) {
    let house = House::new(database).await;
    house.db.write(async |tx| tx.execute(&TABLE, &[]).await).await.unwrap();
    let mirror = Arc::new(Mirror { fails: AtomicBool::new(false) });
    house.jobs.register(&[Arc::clone(&mirror) as Arc<dyn Handler>]);
    (house, mirror)
}

async fn causes(house: &House) -> Vec<(String, String)> {
    let sql = Sql::same("test.causes", "SELECT status, cause FROM mirror");
    let rows = house.db.fetch_all(&sql, &[]).await.unwrap();
    rows.iter().map(|row| (row.get("status").unwrap(), row.get("cause").unwrap())).collect()
}

fn failure() -> Failure {
    Failure { code: "no".to_owned(), message: "no".to_owned() }
}

each_database! {
    async fn the_hook_sees_every_change(database: &TestDatabase) {
        let (house, _) = mirrored(database).await;
        let id = house.enqueue(NewJob::new(work(), json!(1)).about("f")).await;
        let queue = house.queue("r");
        let take = async || queue.claim(&claim_alone()).await.unwrap();
        let job = take().await.jobs.pop().unwrap();
        queue.settle(job.lease(), &Verdict::Retry { wait: SECOND, failure: failure() }).await.unwrap();
        house.advance(2 * SECOND);
        let job = take().await.jobs.pop().unwrap();
        queue.settle(job.lease(), &Verdict::PutOff { wait: SECOND }).await.unwrap();
        house.advance(2 * SECOND);
        let job = take().await.jobs.pop().unwrap();
        queue.release(&[job.lease()]).await.unwrap();
        for _ in 0..3 {
            let job = take().await.jobs.pop().unwrap();
            queue.start(&[job.lease()]).await.unwrap();
            house.advance(TTL + SECOND);
        }
        assert_eq!(take().await.given_up, 1);
        house.write(async |tx, out| house.jobs.retry(tx, out, id).await).await.unwrap();
        house.write(async |tx, out| house.jobs.cancel(tx, out, id).await).await.unwrap();
        house.write(async |tx, out| house.jobs.retry(tx, out, id).await).await.unwrap();
        let job = take().await.jobs.pop().unwrap();
        queue.settle(job.lease(), &Verdict::Fail { failure: failure() }).await.unwrap();
        house.write(async |tx, out| house.jobs.retry(tx, out, id).await).await.unwrap();
        let job = take().await.jobs.pop().unwrap();
        queue.succeed(job.lease()).await.unwrap();
        let seen: Vec<_> = causes(&house).await;
        let wanted = [
            ("processing", Cause::Claimed), ("queued", Cause::Retried),
            ("processing", Cause::Claimed), ("queued", Cause::PutOff),
            ("processing", Cause::Claimed), ("queued", Cause::Released),
            ("processing", Cause::Claimed), ("processing", Cause::Claimed), ("processing", Cause::Claimed),
            ("failed", Cause::CrashLoop), ("queued", Cause::Requeued), ("failed", Cause::Cancelled),
            ("queued", Cause::Requeued), ("processing", Cause::Claimed), ("failed", Cause::Failed),
            ("queued", Cause::Requeued), ("processing", Cause::Claimed), ("succeeded", Cause::Succeeded),
        ].map(|(status, cause)| (status.to_owned(), format!("{cause:?}")));
        assert_eq!(seen, wanted);
        assert_eq!(house.count("SELECT count(*) AS n FROM events").await, 18, "and each has its event");
    }

    async fn the_hook_is_told_of_an_attempt_that_was_the_last(database: &TestDatabase) {
        let (house, _) = mirrored(database).await;
        house.enqueue(NewJob { max_attempts: 1, ..NewJob::new(work(), json!(1)) }).await;
        let queue = house.queue("r");
        let job = queue.claim(&claim(1)).await.unwrap().jobs.pop().unwrap();
        queue.start(&[job.lease()]).await.unwrap();
        house.advance(TTL + SECOND);
        assert_eq!(queue.claim(&claim_alone()).await.unwrap().given_up, 1);
        assert_eq!(causes(&house).await.pop().unwrap(), ("failed".to_owned(), "AttemptsExhausted".to_owned()));
    }

    async fn a_hook_that_fails_undoes_the_change_and_keeps_nobody_else_waiting(database: &TestDatabase) {
        let (house, mirror) = mirrored(database).await;
        let id = house.enqueue_some(1).await[0];
        let queue = house.queue("r");
        mirror.fails.store(true, Ordering::SeqCst);
        assert!(matches!(queue.claim(&claim(1)).await, Err(JobsError::Hook(_))));
        let view = house.view(id).await;
        assert_eq!((view.status, view.attempts), (Status::Queued, 0));
        assert_eq!(view.last_error.unwrap().code, "hook_failed");
        assert_eq!(causes(&house).await.len(), 0);
        assert_eq!(house.count("SELECT count(*) AS n FROM events").await, 0);
        mirror.fails.store(false, Ordering::SeqCst);
        assert!(queue.claim(&claim(1)).await.unwrap().jobs.is_empty(), "it is left alone for a while");
        house.enqueue_some(1).await;
        assert_eq!(queue.claim(&claim(9)).await.unwrap().jobs.len(), 1, "others are not");
        house.advance(31 * SECOND);
        let job = queue.claim(&claim(9)).await.unwrap().jobs.pop().unwrap();
        mirror.fails.store(true, Ordering::SeqCst);
        assert!(matches!(queue.succeed(job.lease()).await, Err(JobsError::Hook(_))));
        assert_eq!(house.view(id).await.status, Status::Processing);
        let cancelled = house.write(async |tx, out| house.jobs.cancel(tx, out, id).await).await;
        assert!(matches!(cancelled, Err(JobsError::Hook(_))));
        assert_eq!(house.view(id).await.status, Status::Processing);
    }

    async fn a_runner_tells_the_hook_too(database: &TestDatabase) {
        let house = LiveHouse::new(database).await;
        let handler = Doing::new(work(), |job, _| {
            let fails = job.payload == json!("fail");
            async move { if fails { Err(JobError::fatal("no", "no")) } else { Ok(()) } }.boxed()
        }).hooked();
        let changes = handler.changes();
        let runner = house.run(vec![handler.boxed()], short("r"));
        let good = house.enqueue(NewJob::new(work(), json!("good"))).await;
        let bad = house.enqueue(NewJob::new(work(), json!("fail"))).await;
        house.until(good, |view| view.status == Status::Succeeded).await;
        house.until(bad, |view| view.status == Status::Failed).await;
        runner.stop().await;
        let of = |id| -> Vec<_> {
            changes.lock().unwrap().iter().filter(|one| one.id == id).map(|one| one.cause).collect()
        };
        assert_eq!(of(good), [Cause::Claimed, Cause::Succeeded]);
        assert_eq!(of(bad), [Cause::Claimed, Cause::Failed]);
    }
}

/// Whoever has the kind's row (a pause, say) keeps no claim of a kind without a limit waiting.
#[tokio::test]
async fn a_kind_without_a_limit_is_not_locked_by_a_claim() {
    let database = mainstay_testkit::TestDatabase::new(mainstay_store::Dialect::Postgres).await;
    let (house, _) = mirrored(&database).await;
    house.enqueue_some(1).await;
    let row = Sql::same("test.row", "INSERT INTO job_kinds (kind) VALUES ('work')");
    let lock = Sql::same("test.lock", "UPDATE job_kinds SET kind = kind");
    house.db.write(async |tx| tx.execute(&row, &[]).await).await.unwrap();
    let queue = house.queue("r");
    let claimed: Result<_, mainstay_store::StoreError> = house
        .db
        .write(async |tx| {
            tx.execute(&lock, &[]).await?;
            let claiming = tokio::spawn(async move { queue.claim(&claim(1)).await });
            Ok(tokio::time::timeout(20 * SECOND, claiming).await)
        })
        .await;
    let claimed = claimed.unwrap().expect("the claim does not wait for the row");
    assert_eq!(claimed.unwrap().unwrap().jobs.len(), 1);
}
