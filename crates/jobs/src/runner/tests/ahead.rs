use super::*;
use crate::decide::READY_WAITS;

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
