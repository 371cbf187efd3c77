//! A circuit breaker in front of a poll.

use std::time::Duration;

use mainstay_breaker::{Breaker, CallError, CallOptions, Classify};

use super::{BoxedPoll, Guard, Guarded};

impl<A, X, C> Guard<Result<A, X>> for Breaker<C>
where
    A: Send + 'static,
    X: Send + 'static,
    C: Classify<A, X> + Send + Sync + 'static,
{
    fn guard<'a>(
        &'a self,
        poll: BoxedPoll<'a, Result<A, X>>,
        within: Option<Duration>,
    ) -> BoxedPoll<'a, Guarded<Result<A, X>>> {
        let options =
            within.map_or_else(CallOptions::default, |time| CallOptions::default().at_most(time));
        Box::pin(async move {
            match self.limited(options).call(poll).await {
                Ok(answer) => Guarded::Result(Ok(answer)),
                Err(CallError::Inner(error)) => Guarded::Result(Err(error)),
                Err(CallError::Open { .. }) => Guarded::Skipped,
                Err(_) => Guarded::Dropped,
            }
        })
    }
}
