//! Rings when something has changed; who hears it looks.

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

/// Wakes whoever listens. It carries nothing: the listener looks for itself, after it began to listen
/// and before it waits, so that nothing is missed.
#[derive(Debug, Default)]
pub(crate) struct Bell(Notify);

impl Bell {
    pub(crate) fn ring(&self) {
        self.0.notify_waiters();
    }

    /// Must be enabled before the look.
    pub(crate) fn listen(&self) -> Notified<'_> {
        self.0.notified()
    }
}
