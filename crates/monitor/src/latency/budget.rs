//! How much one run may do.

use tokio_util::sync::CancellationToken;

/// Steps that are left to one run, which ends early when it is told to.
#[derive(Debug)]
pub(crate) struct Budget<'a> {
    left: u32,
    stop: &'a CancellationToken,
}

impl<'a> Budget<'a> {
    pub(crate) const fn new(steps: u32, stop: &'a CancellationToken) -> Self {
        Self { left: steps, stop }
    }

    /// Whether one more step may be done.
    pub(crate) fn take(&mut self) -> bool {
        if self.left == 0 || self.stop.is_cancelled() {
            return false;
        }
        self.left = self.left.saturating_sub(1);
        true
    }
}
