//! The trace of whoever asks: what is enqueued while a request or a job is worked on keeps it, however
//! deep below it is enqueued.

use crate::text::Traceparent;

tokio::task_local! {
    static TRACE: Traceparent;
}

/// The trace under which the present task works.
#[must_use]
pub fn current() -> Option<Traceparent> {
    TRACE.try_with(Clone::clone).ok()
}

/// Takes one step under `trace`, such as a poll of a future.
pub fn within<T>(trace: Option<&Traceparent>, step: impl FnOnce() -> T) -> T {
    match trace {
        Some(trace) => TRACE.sync_scope(trace.clone(), step),
        None => step(),
    }
}

/// Does all of `work` under `trace`.
pub async fn follow<F: Future>(trace: Option<Traceparent>, work: F) -> F::Output {
    match trace {
        Some(trace) => TRACE.scope(trace, work).await,
        None => work.await,
    }
}
