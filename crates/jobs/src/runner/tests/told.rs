use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};

use super::super::held::Holding;
use super::*;
use crate::model::Cause;

/// What the runner has counted of how jobs ended.
fn counted(handle: &PrometheusHandle) -> u64 {
    let names = ["mainstay_jobs_ended_total{", "mainstay_jobs_retries_total{"];
    let rendered = handle.render();
    let lines = rendered.lines().filter(|line| names.iter().any(|name| line.starts_with(name)));
    lines.map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum()
}

fn agrees(_: &Change) -> Result<(), JobsError> {
    Ok(())
}

fn refuses_the_end(change: &Change) -> Result<(), JobsError> {
    let is_end = change.cause != Cause::Claimed;
    if is_end { Err(JobsError::Hook("it refuses".to_owned())) } else { Ok(()) }
}

fn ending(how: &str) -> Result<(), JobError> {
    match how {
        "well" => Ok(()),
        "for now" => Err(JobError::retriable("later", "not now")),
        _ => Err(JobError::fatal("never", "not ever")),
    }
}

#[tokio::test]
async fn an_ending_is_counted_when_it_is_written() {
    for (how, hook, wanted) in [
        ("well", agrees as Hook, 1),
        ("well", refuses_the_end, 0),
        ("for now", agrees, 1),
        ("for now", refuses_the_end, 0),
        ("for good", agrees, 1),
        ("for good", refuses_the_end, 0),
    ] {
        let recorder = PrometheusBuilder::new().build_recorder();
        let handle = recorder.handle();
        let _guard = metrics::set_default_local_recorder(&recorder);
        let handler = made(move |_, _| std::future::ready(ending(how)).boxed());
        let mut bench = Bench::new(Arc::new(Doing { hook: Some(hook), ..handler })).await;
        bench.enqueue(1).await;
        bench.turn_until(|engine| engine.ready.len() == 1).await;
        let lease = bench.leases()[0];
        let is_ending = |one: &Holding| matches!(one.stage, Stage::Ending);
        bench.turn_until(|engine| engine.held.get(lease).is_none_or(is_ending)).await;
        if wanted == 0 {
            // It would be tried for some seconds.
            bench.engine.lose(lease);
        }
        bench.settle().await;
        assert_eq!(counted(&handle), wanted, "{how}");
    }
}
