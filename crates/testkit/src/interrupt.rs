//! Drops a future in the middle, as a client that hangs up does.

use std::pin::pin;
use std::task::Poll;

/// Polls `future` until it has waited `awaits` times, then drops it and gives nothing; gives its
/// output when it ends before that.
pub async fn drop_at_await<F: Future>(awaits: usize, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    let mut waited = 0_usize;
    std::future::poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending if waited >= awaits => Poll::Ready(None),
        Poll::Pending => {
            waited = waited.saturating_add(1);
            Poll::Pending
        }
    })
    .await
}
