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

    /// Whether one more step may be begun.
    pub(crate) fn has_any(&self) -> bool {
        self.left > 0 && !self.stop.is_cancelled()
    }

    /// Takes one step, if there is one.
    pub(crate) fn take(&mut self) -> bool {
        self.has_any() && self.overdraw()
    }

    /// Takes one step even when there is none left, to finish what was begun. Not when it was stopped.
    pub(crate) fn overdraw(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        !self.stop.is_cancelled()
    }
}
