use super::super::errands::ERRAND_BOUND;
use super::*;

const MOMENT: Duration = Duration::from_secs(1);

#[tokio::test]
async fn a_database_that_never_answers_is_asked_again() {
    let mut bench = Bench::new(hanging()).await;
    bench.enqueue(2).await;
    bench.turn_until(|engine| engine.ready.len() == 2).await;
    let jobs: Vec<Claimed> = bench.engine.ready.drain(..).collect();
    let done = jobs[1].lease;
    let now = bench.clock.moment();
    for errand in [
        Errand::Fetch,
        Errand::Start(jobs),
        Errand::Flush(vec![done]),
        Errand::Beat { sent: now, moves: true },
        Errand::Release,
    ] {
        bench.engine.errands.send(errand, now, std::future::pending());
    }
    bench.clock.advance(ERRAND_BOUND);
    bench.engine.tick(bench.clock.moment());
    tokio::task::yield_now().await;
    assert!(bench.engine.errands.next_now().is_none(), "they have a moment left");
    bench.clock.advance(MOMENT);
    bench.engine.tick(bench.clock.moment());
    bench.settle().await;
    let engine = &bench.engine;
    assert!(!engine.errands.is_fetching() && !engine.errands.is_beating());
    assert_eq!((engine.errands.starting(), engine.errands.flushes()), (0, 0));
    assert_eq!((engine.ready.len(), engine.done.as_slice()), (2, [done].as_slice()));
    assert!(engine.is_wanted && engine.not_before > bench.clock.moment(), "after a wait");
    bench.clock.advance(MOMENT);
    bench.turn_until(|engine| engine.running > 0).await;
}

#[tokio::test]
async fn an_ending_is_written_for_as_long_as_its_lease_holds() {
    let mut bench = Bench::new(hanging()).await;
    bench.enqueue(1).await;
    bench.turn_until(|engine| engine.ready.len() == 1).await;
    let ending = Errand::Ending(bench.leases()[0]);
    bench.engine.errands.send(ending, bench.clock.moment(), std::future::pending());
    bench.clock.advance(ERRAND_BOUND + MOMENT);
    bench.engine.tick(bench.clock.moment());
    tokio::task::yield_now().await;
    assert!(bench.engine.errands.next_now().is_none(), "each of its tries is bounded by itself");
}
