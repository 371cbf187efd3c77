//! Looks on while a sequence runs.

use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::bell::Bell;
use crate::poller::{Ledger, Status};

/// Looks on while a sequence runs, and may cancel it. It keeps nothing alive.
#[derive(Clone)]
pub struct Observer {
    ledger: Arc<Ledger>,
    bell: Arc<Bell>,
    cancel: Arc<Cancel>,
}

/// Whether a run is to end early.
#[derive(Debug, Default)]
pub(super) struct Cancel(AtomicBool);

impl Observer {
    pub(super) fn new(ledger: &Arc<Ledger>, bell: &Arc<Bell>, cancel: &Arc<Cancel>) -> Self {
        Self { ledger: Arc::clone(ledger), bell: Arc::clone(bell), cancel: Arc::clone(cancel) }
    }

    /// How the active pollers are, those of [`Context::settle`](crate::Context::settle) included, in the
    /// order in which they were started.
    #[must_use]
    pub fn pollers(&self) -> Vec<Status> {
        self.ledger.statuses()
    }

    /// Ends when a poller starts, tells an event or ends. Polls that bring nothing are not told: who shows
    /// counts and times looks every so often besides.
    pub async fn changed(&self) {
        self.bell.listen().await;
    }

    /// Ends the run early: a command under way is dropped at its next await, and every poller is
    /// stopped.
    pub fn cancel(&self) {
        self.cancel.0.store(true, Ordering::Release);
        self.bell.ring();
    }
}

impl Cancel {
    pub(super) fn is_asked(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    pub(super) async fn asked(&self, bell: &Bell) {
        loop {
            let mut rung = pin!(bell.listen());
            rung.as_mut().enable();
            if self.is_asked() {
                return;
            }
            rung.await;
        }
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Observer").field("pollers", &self.pollers()).finish_non_exhaustive()
    }
}
