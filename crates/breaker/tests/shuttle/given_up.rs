//! A caller who goes away.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Poll;

/// What became of a future.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended<T> {
    Done(T),
    GivenUp,
    Panicked,
}

/// A caller who never goes away.
pub(crate) const PATIENT: usize = usize::MAX;

/// Polls a future at most so often, then drops it, some time after its last poll: shuttle's own
/// tasks run on when they are aborted. A panic ends it, as it would end a task.
pub(crate) async fn given_up_after<F: Future>(polls: usize, future: F) -> Ended<F::Output> {
    let mut future = Some(Box::pin(future));
    let mut left = polls;
    poll_fn(move |context| {
        let Some(running) = future.as_mut().filter(|_| left > 0) else {
            future = None;
            return Poll::Ready(Ended::GivenUp);
        };
        left -= 1;
        match catch_unwind(AssertUnwindSafe(|| running.as_mut().poll(context))) {
            Ok(Poll::Ready(answer)) => Poll::Ready(Ended::Done(answer)),
            Ok(Poll::Pending) => {
                if polls != PATIENT {
                    context.waker().wake_by_ref();
                }
                Poll::Pending
            }
            Err(_) => {
                future = None;
                Poll::Ready(Ended::Panicked)
            }
        }
    })
    .await
}
