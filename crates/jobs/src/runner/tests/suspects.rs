use super::*;
use crate::decide::{ClaimPlan, Suspects};
use crate::queue::Queue;

/// Jobs whose runners died `crashes` times while all of them ran, then another.
async fn crashed(count: usize, crashes: usize) -> Bench {
    let bench = Bench::new(hanging()).await;
    bench.enqueue(count).await;
    let ttl = bench.engine.options.ttl;
    for _ in 0..crashes {
        let dead = Queue::new(bench.jobs.clone(), "dead".to_owned(), ttl);
        for _ in 0..count {
            let plan = ClaimPlan { kind: kind(), priority: 0, limit: 1, suspects: Suspects::Any };
            let job = dead.claim(&plan).await.unwrap().jobs.pop().unwrap();
            dead.start(&[job.lease]).await.unwrap();
        }
        bench.clock.advance(ttl + Duration::from_secs(1));
    }
    bench.enqueue(1).await;
    bench
}

#[tokio::test]
async fn a_job_that_crashed_once_runs_beside_others() {
    let mut bench = crashed(3, 1).await;
    bench.turn_until(|engine| engine.running == 4).await;
}

#[tokio::test]
async fn a_job_that_crashed_twice_runs_alone() {
    let mut bench = crashed(3, 2).await;
    bench.turn_until(|engine| engine.running == 1).await;
    bench.engine.is_wanted = true;
    bench.turn().await;
    bench.settle().await;
    assert_eq!((bench.engine.held.len(), bench.engine.errands.is_fetching()), (1, false));
}
