use super::*;
use crate::decide::READY_WAITS;
use crate::model::Cause;

const FETCHED: usize = 50;

/// A runner that expected quick jobs and has four that hang, and many that wait behind them.
async fn ahead() -> Bench {
    let mut bench = Bench::new(hanging()).await;
    bench.engine.means.add(&kind(), Duration::from_millis(1));
    bench.enqueue(FETCHED).await;
    bench.turn_until(|engine| engine.running == 4 && engine.held.len() == FETCHED).await;
    bench
}

async fn queued(bench: &Bench) -> i64 {
    let summary = bench.jobs.summary().await.unwrap();
    summary.kinds.iter().map(|one| one.queued).sum()
}

#[tokio::test]
async fn what_was_fetched_too_far_ahead_is_given_back_and_not_fetched_again() {
    let mut bench = ahead().await;
    bench.clock.advance(READY_WAITS);
    bench.engine.tick(bench.clock.moment());
    assert_eq!(bench.engine.held.len(), FETCHED, "it may still be begun");
    bench.clock.advance(READY_WAITS);
    bench.engine.tick(bench.clock.moment());
    bench.settle().await;
    assert_eq!((bench.engine.held.len(), queued(&bench).await), (4, 46));
    // The bell of what was given back rings here too.
    bench.engine.is_wanted = true;
    bench.engine.advance(bench.clock.moment());
    assert!(!bench.engine.errands.is_fetching());
}

#[tokio::test]
async fn what_is_not_begun_of_a_paused_kind_is_given_back() {
    let mut bench = ahead().await;
    let (jobs, other) = (bench.jobs.clone(), Kind::new("other").unwrap());
    bench.events.write(async |tx, _| jobs.pause(tx, &other).await).await.unwrap();
    bench.events.write(async |tx, _| jobs.pause(tx, &kind()).await).await.unwrap();
    bench.turn_until(|engine| engine.held.len() == 4).await;
    bench.settle().await;
    assert_eq!((bench.engine.running, queued(&bench).await), (4, 46));
}

fn refuses_one(change: &Change) -> Result<(), JobsError> {
    let refuses = change.cause == Cause::Released && change.payload == json!(7);
    if refuses { Err(JobsError::Hook("it refuses".to_owned())) } else { Ok(()) }
}

#[tokio::test]
async fn a_hook_that_refuses_keeps_no_other_job_from_being_given_back() {
    let handler = Doing { hook: Some(refuses_one), ..made(|_, _| std::future::pending().boxed()) };
    let mut bench = Bench::new(Arc::new(handler)).await;
    bench.engine.means.add(&kind(), Duration::from_millis(1));
    let new = (0..20).map(|number| NewJob::new(kind(), json!(number))).collect();
    let (jobs, events) = (bench.jobs.clone(), bench.events.clone());
    events.write(async |tx, _| jobs.enqueue_many(tx, new).await).await.unwrap();
    bench.turn_until(|engine| engine.ready.len() == 20).await;
    bench.engine.begin_stop(bench.clock.moment());
    bench.settle().await;
    assert_eq!(queued(&bench).await, 19);
}
