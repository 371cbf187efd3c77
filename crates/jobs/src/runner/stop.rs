//! A graceful stop: no new claims, what is not begun is given back at once, handlers get a deadline,
//! then their jobs are taken from them and given back.

use std::time::Duration;

use mainstay_base::Moment;

use super::ending;
use super::engine::Engine;
use super::errands::{Errand, Report};
use crate::model::Lease;

/// After the deadline of the handlers, the loop ends after this whatever is left: leases run out.
const LAST_WAIT: Duration = Duration::from_secs(5);

/// The deadlines of a stop.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stopping {
    /// Handlers that run now are cancelled.
    cancel_at: Moment,
    /// The loop ends.
    end_at: Moment,
}

impl Engine {
    pub(super) fn begin_stop(&mut self, now: Moment) {
        let cancel_at = now.plus(self.options.grace);
        self.stopping = Some(Stopping { cancel_at, end_at: cancel_at.plus(LAST_WAIT) });
        tracing::info!(running = self.running, "the job runner stops; running jobs may finish");
        self.release_if_stopping();
    }

    /// Gives back what is not begun.
    pub(super) fn release_if_stopping(&mut self) {
        if self.stopping.is_none() {
            return;
        }
        let waiting = self.ready.drain(..).chain(self.marked.drain(..));
        let leases: Vec<Lease> = waiting.map(|job| job.lease).collect();
        for lease in &leases {
            self.held.remove(*lease);
        }
        self.begin_release(leases);
    }

    pub(super) fn look_at_deadlines(&mut self, now: Moment) {
        let Some(stopping) = self.stopping else { return };
        if now < stopping.cancel_at {
            return;
        }
        for lease in self.held.running() {
            if let Some(holding) = self.held.get_mut(lease) {
                holding.is_stopped = true;
                holding.cancel.cancel();
            }
        }
    }

    /// Whether nothing is left to wait for, or no time.
    pub(super) fn is_over(&mut self, now: Moment) -> bool {
        let Some(stopping) = self.stopping else { return false };
        if now >= stopping.end_at {
            tracing::error!(
                left = self.held.len(),
                "the job runner ends with jobs; their leases run out"
            );
            return true;
        }
        self.held.is_empty() && self.errands.is_empty()
    }

    pub(super) fn begin_release(&mut self, leases: Vec<Lease>) {
        if leases.is_empty() {
            return;
        }
        let queue = self.queue.clone();
        self.errands.send(Errand::Release, self.clock.moment(), async move {
            ending::release(&queue, leases).await;
            Report::Released
        });
    }
}
