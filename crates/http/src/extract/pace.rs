//! Whether an upload comes fast enough: a sender of a byte now and then never stalls, and would hold its
//! place for minutes.

use std::pin::Pin;
use std::task::Context;
use std::time::Duration;

use tokio::time::{Sleep, sleep};

use crate::limits::PACE_BYTES;

/// Less came in a span than has to. Only time in which the sender is waited for is judged: a slow storage
/// is not the sender's fault.
#[derive(Debug, thiserror::Error)]
#[error("less than {PACE_BYTES} bytes came in {} seconds", .0.as_secs_f64())]
pub(super) struct TooSlow(Duration);

/// Counts what comes in spans of time.
#[derive(Debug)]
pub(super) struct Pace {
    span: Duration,
    end: Pin<Box<Sleep>>,
    came: usize,
    is_waiting: bool,
}

impl Pace {
    pub(super) fn new(span: Duration) -> Self {
        Self { span, end: Box::pin(sleep(span)), came: 0, is_waiting: false }
    }

    /// Whether the sender may be waited for; call it whenever more is asked for.
    pub(super) fn check(&mut self, context: &mut Context<'_>) -> Result<(), TooSlow> {
        if self.end.as_mut().poll(context).is_ready() {
            if self.is_waiting && self.came < PACE_BYTES {
                return Err(TooSlow(self.span));
            }
            (self.end, self.came) = (Box::pin(sleep(self.span)), 0);
            // So that its end wakes whoever waits.
            let _ = self.end.as_mut().poll(context);
        }
        self.is_waiting = true;
        Ok(())
    }

    /// So much came.
    pub(super) fn take(&mut self, bytes: usize) {
        self.came = self.came.saturating_add(bytes);
        self.is_waiting = false;
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::task::Poll;

    use tokio::time::advance;

    use super::*;

    const SPAN: Duration = Duration::from_secs(30);

    async fn check(pace: &mut Pace) -> Result<(), TooSlow> {
        poll_fn(|context| Poll::Ready(pace.check(context))).await
    }

    #[tokio::test(start_paused = true)]
    async fn who_sends_a_byte_now_and_then_is_told_at_the_end_of_the_span() {
        let mut pace = Pace::new(SPAN);
        for _ in 0..29 {
            check(&mut pace).await.unwrap();
            advance(Duration::from_secs(1)).await;
            pace.take(1);
        }
        check(&mut pace).await.unwrap();
        advance(Duration::from_secs(2)).await;
        let slow = check(&mut pace).await.unwrap_err().to_string();
        assert_eq!(slow, "less than 65536 bytes came in 30 seconds");
    }

    #[tokio::test(start_paused = true)]
    async fn who_sends_enough_goes_on_and_each_span_is_judged_by_itself() {
        let mut pace = Pace::new(SPAN);
        for _ in 0..10 {
            check(&mut pace).await.unwrap();
            pace.take(PACE_BYTES);
            check(&mut pace).await.unwrap();
            advance(SPAN).await;
        }
        check(&mut pace).await.unwrap();
        advance(SPAN).await;
        check(&mut pace).await.unwrap_err();
    }

    #[tokio::test(start_paused = true)]
    async fn time_in_which_nobody_asked_for_more_is_not_the_senders() {
        let mut pace = Pace::new(SPAN);
        check(&mut pace).await.unwrap();
        pace.take(1);
        advance(SPAN * 3).await;
        check(&mut pace).await.unwrap();
    }
}
