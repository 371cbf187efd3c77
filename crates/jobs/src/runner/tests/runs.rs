use super::super::begin::MAX_PATIENCE;
use super::*;
use crate::decide::lease_trusted_for;

async fn running(handler: Arc<dyn Handler>) -> (Bench, crate::Enqueued, Lease) {
    let mut bench = Bench::new(handler).await;
    let made = bench.enqueue(1).await;
    bench.turn_until(|engine| engine.running == 1).await;
    let lease = bench.leases()[0];
    (bench, made[0], lease)
}

async fn is_timed_out(bench: &Bench, made: &crate::Enqueued) {
    let view = bench.view(made.id).await;
    let error = view.last_error.unwrap();
    assert_eq!((view.status, view.attempts, view.crashes), (Status::Queued, 1, 0));
    assert_eq!(error.code, "timed_out");
    assert_eq!(error.message, "the handler ran for longer than 60 s");
    assert!(view.next_run_at > view.created_at, "after a wait");
}

#[tokio::test]
async fn a_handler_that_runs_too_long_is_told_to_stop_and_its_job_tried_again() {
    let polite = doing(|_, context| {
        async {
            context.cancelled().cancelled().await;
            Err(JobError::fatal("interrupted", "in the middle"))
        }
        .boxed()
    });
    let (mut bench, made, lease) = running(polite).await;
    bench.clock.advance(MAX_RUN - Duration::from_secs(1));
    bench.engine.tick(bench.clock.moment());
    assert!(!bench.engine.held.get(lease).unwrap().cancel.is_cancelled(), "it has a second left");
    bench.clock.advance(Duration::from_secs(1));
    bench.turn_until(|engine| engine.held.is_empty()).await;
    assert_eq!(bench.engine.running, 0);
    is_timed_out(&bench, &made).await;
}

/// No heartbeat gets through for as long as a lease can be trusted.
#[tokio::test]
async fn a_handler_whose_lease_can_not_be_trusted_any_more_is_cancelled() {
    let mut handler = made(|_, _| std::future::pending().boxed());
    handler.max_run = Duration::from_hours(1);
    let (mut bench, _, lease) = running(Arc::new(handler)).await;
    let cancel = bench.engine.held.get(lease).unwrap().cancel.clone();
    let trusted = lease_trusted_for(bench.engine.options.ttl);
    for (passed, is_cancelled) in [(trusted, false), (Duration::from_secs(1), true)] {
        bench.clock.advance(passed);
        let now = bench.clock.moment();
        let beat = Errand::Beat { sent: now, moves: true };
        bench.engine.take_back((beat, Ok(Report::Beat(Err(JobsError::GivenUp)))));
        bench.engine.tick(now);
        assert_eq!(cancel.is_cancelled(), is_cancelled, "{passed:?}");
    }
    assert!(bench.engine.held.get(lease).is_none_or(|one| one.is_lost));
}

#[tokio::test]
async fn a_handler_that_never_ends_loses_its_job() {
    let (mut bench, made, _) = running(hanging()).await;
    bench.clock.advance(MAX_RUN + 2 * MAX_PATIENCE);
    bench.engine.tick(bench.clock.moment());
    assert_eq!(bench.engine.running, 1, "its place is free when it has ended, not before");
    bench.turn_until(|engine| engine.held.is_empty() && engine.running == 0).await;
    is_timed_out(&bench, &made).await;
}

#[tokio::test]
async fn what_a_handler_has_finished_is_not_timed_out() {
    let handler = doing(|_, context| {
        async {
            context.finish(async |_, _| Ok::<(), JobsError>(())).await?;
            std::future::pending().await
        }
        .boxed()
    });
    let mut bench = Bench::new(handler).await;
    let made = bench.enqueue(1).await;
    bench.turn_until(|engine| engine.running == 1).await;
    while bench.view(made[0].id).await.status != Status::Succeeded {
        tokio::task::yield_now().await;
    }
    bench.clock.advance(MAX_RUN + 2 * MAX_PATIENCE);
    bench.turn_until(|engine| engine.held.is_empty()).await;
    let view = bench.view(made[0].id).await;
    assert_eq!((view.status, view.last_error), (Status::Succeeded, None));
}
