//! The one task that sends: it tries what is new, tries again what was put off, and stops in time.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{Clock, Moment, Rng};
use mainstay_breaker::{Breaker, ByError, CallError, Detector, HalfOpenPolicy, Sleep};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::config::{FAILURES_TO_OPEN, Pace};
use super::error::StartError;
use super::failure::Failure;
use super::job::Job;
use super::measure::{self, Outcome};
use super::transport::Transport;

/// Owns everything that waits. A mail that is put off does not hold up the others.
pub(crate) struct Owner<T> {
    transport: T,
    breaker: Breaker<ByError<Failure>>,
    pace: Pace,
    clock: Arc<dyn Clock>,
    rng: Arc<dyn Rng>,
    receiver: mpsc::Receiver<Job>,
    /// What is tried again, and when. It is bounded by the places of the queue.
    waiting: Vec<(Moment, Job)>,
}

/// What one look at a mail came to.
enum Look {
    Sent,
    Failed(Failure),
    /// The breaker refused it for this long.
    Refused(Duration),
}

impl<T: Transport> Owner<T> {
    pub(crate) fn new(
        transport: T,
        pace: Pace,
        clock: Arc<dyn Clock>,
        rng: Arc<dyn Rng>,
        receiver: mpsc::Receiver<Job>,
    ) -> Result<Self, StartError> {
        let breaker = Breaker::builder("mail server")
            .detector(Detector::consecutive(FAILURES_TO_OPEN))
            .open_for(pace.open_for)
            .half_open(HalfOpenPolicy::all(1))
            .clock(BreakerClock(Arc::clone(&clock)))
            .classify_errors(Failure::verdict)
            .build()?;
        Ok(Self { transport, breaker, pace, clock, rng, receiver, waiting: Vec::new() })
    }

    /// Sends until `stop`, and then for a short while what is left.
    pub(crate) async fn run(mut self, stop: CancellationToken) {
        let drain_for = self.pace.drain_for;
        let time_is_up = async {
            stop.cancelled().await;
            tokio::time::sleep(drain_for).await;
        };
        // What is left when this task ends tells by itself that it was dropped.
        tokio::select! {
            () = self.work(&stop) => {}
            () = time_is_up => {}
        }
    }

    async fn work(&mut self, stop: &CancellationToken) {
        while let Some(job) = self.next(stop).await {
            self.attempt(job).await;
        }
        self.receiver.close();
        while let Some(job) = self.any_left() {
            self.attempt_last(job).await;
        }
    }

    /// The next mail to try; none when it is time to stop, or when nobody can send any more.
    async fn next(&mut self, stop: &CancellationToken) -> Option<Job> {
        loop {
            let earliest = self.earliest();
            let wait = earliest.map(|(_, due)| due.since(self.clock.moment()));
            let nothing_comes = self.receiver.is_closed() && self.receiver.is_empty();
            if nothing_comes && wait.is_none() {
                return None;
            }
            tokio::select! {
                biased;
                () = stop.cancelled() => return None,
                () = tokio::time::sleep(wait.unwrap_or_default()), if wait.is_some() => {
                    return earliest.map(|(at, _)| self.waiting.swap_remove(at).1);
                }
                job = self.receiver.recv(), if !nothing_comes => {
                    if job.is_some() {
                        return job;
                    }
                }
            }
        }
    }

    fn earliest(&self) -> Option<(usize, Moment)> {
        let all = self.waiting.iter().map(|(due, _)| *due).enumerate();
        all.min_by_key(|(_, due)| *due)
    }

    fn any_left(&mut self) -> Option<Job> {
        self.waiting.pop().map(|(_, job)| job).or_else(|| self.receiver.try_recv().ok())
    }

    async fn attempt(&mut self, mut job: Job) {
        match self.look(&mut job).await {
            Look::Sent => job.sent(),
            Look::Refused(wait) => self.put_off(job, wait, &Failure::LeftAlone),
            Look::Failed(failure) if failure.is_transient() && job.tries < self.pace.tries => {
                let rng = self.rng.as_ref();
                let wait = job.backoff.next_delay(&self.pace.backoff, Duration::ZERO, rng);
                self.put_off(job, wait, &failure);
            }
            Look::Failed(failure) => job.failed(&failure),
        }
    }

    /// One more try, and no wait: there is no time left.
    async fn attempt_last(&mut self, mut job: Job) {
        match self.look(&mut job).await {
            Look::Sent => job.sent(),
            Look::Failed(failure) if !failure.is_transient() => job.failed(&failure),
            Look::Failed(_) | Look::Refused(_) => drop(job),
        }
    }

    async fn look(&self, job: &mut Job) -> Look {
        let started = self.clock.moment();
        let outcome = self.breaker.call(self.transport.deliver(&job.letter)).await;
        let look = match outcome {
            Ok(()) => Look::Sent,
            Err(CallError::Inner(failure)) => Look::Failed(failure),
            Err(CallError::Open { retry_after, .. }) => {
                return Look::Refused(retry_after.unwrap_or(self.pace.open_for));
            }
            Err(_) => Look::Failed(Failure::Timeout),
        };
        job.tries = job.tries.saturating_add(1);
        let outcome = if matches!(look, Look::Sent) { Outcome::Sent } else { Outcome::Failed };
        measure::attempted(outcome, self.clock.moment().since(started));
        look
    }

    /// Keeps it for later, unless it is too old for that.
    fn put_off(&mut self, job: Job, wait: Duration, failure: &Failure) {
        let due = self.clock.moment().plus(wait);
        if due.since(job.since) > self.pace.keep_for {
            job.failed(failure);
        } else {
            job.put_off(failure);
            self.waiting.push((due, job));
        }
    }
}

/// The breaker goes by the same clock as everything else.
struct BreakerClock(Arc<dyn Clock>);

impl mainstay_breaker::Clock for BreakerClock {
    fn now(&self) -> mainstay_breaker::Moment {
        let origin = Moment::from_origin(Duration::ZERO);
        mainstay_breaker::Moment::default().plus(self.0.moment().since(origin))
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        Box::pin(tokio::time::sleep(duration))
    }
}

#[cfg(test)]
#[path = "owner_tests.rs"]
mod tests;
