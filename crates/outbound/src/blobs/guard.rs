//! One call to the storage: in its time, unless the storage is left alone, and measured.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{Clock, Timestamp};
use mainstay_breaker::{Breaker, ByError, CallError, ConfigError, Detector, HalfOpenPolicy};
use tokio::time::timeout;

use super::error::BlobError;
use super::measure::{self, Operation};
use super::place::{BlobOptions, FAILURES_TO_OPEN};
use crate::pace::BreakerClock;

/// What stands in front of every call.
pub(crate) struct Guard {
    /// A folder has none: it is no host that could be spared.
    breaker: Option<Breaker<ByError<BlobError>>>,
    timeout: Duration,
    open_for: Duration,
    clock: Arc<dyn Clock>,
}

impl Guard {
    pub(crate) fn of_folder(options: &BlobOptions) -> Self {
        let (timeout, open_for) = (options.timeout, options.open_for);
        Self { breaker: None, timeout, open_for, clock: Arc::clone(&options.clock) }
    }

    pub(crate) fn of_host(options: &BlobOptions) -> Result<Self, ConfigError> {
        let breaker = Breaker::builder("object storage")
            .detector(Detector::consecutive(FAILURES_TO_OPEN))
            .open_for(options.open_for)
            .half_open(HalfOpenPolicy::all(1))
            .clock(BreakerClock(Arc::clone(&options.clock)))
            .classify_errors(BlobError::verdict)
            .build()?;
        Ok(Self { breaker: Some(breaker), ..Self::of_folder(options) })
    }

    /// The time by the clock that everything here is measured by.
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) async fn call<T>(
        &self,
        operation: Operation,
        work: impl Future<Output = Result<T, BlobError>>,
    ) -> Result<T, BlobError> {
        let started = self.clock.moment();
        let timed = async {
            let ended = timeout(self.timeout, work).await;
            ended.unwrap_or_else(|_| Err(BlobError::timeout(self.timeout)))
        };
        let ended = match &self.breaker {
            Some(breaker) => breaker.call(timed).await.map_err(|error| self.told(error)),
            None => timed.await,
        };
        measure::ended(operation, &ended, self.clock.moment().since(started));
        ended
    }

    fn told(&self, error: CallError<BlobError>) -> BlobError {
        match error {
            CallError::Inner(error) => error,
            CallError::Open { retry_after, .. } => {
                BlobError::left_alone(retry_after.unwrap_or(self.open_for))
            }
            _ => BlobError::timeout(self.timeout),
        }
    }
}
