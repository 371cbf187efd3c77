//! What fails over and over is told of twice: when that begins, and when it is over.

use std::fmt::Display;
use std::sync::atomic::{AtomicBool, Ordering};

/// One thing that is tried again and again.
#[derive(Debug)]
pub(crate) struct Trouble {
    what: &'static str,
    is_failing: AtomicBool,
}

impl Trouble {
    /// Nothing has failed yet.
    pub(crate) const fn new(what: &'static str) -> Self {
        Self { what, is_failing: AtomicBool::new(false) }
    }

    /// It failed and is tried again.
    pub(crate) fn failed(&self, error: &dyn Display) {
        let what = self.what;
        if self.is_failing.swap(true, Ordering::Relaxed) {
            tracing::debug!(%error, "{what} still fails");
        } else {
            tracing::warn!(%error, "{what} fails; it is tried again until it goes well");
        }
    }

    /// It went well.
    pub(crate) fn went_well(&self) {
        if self.is_failing.swap(false, Ordering::Relaxed) {
            tracing::info!("{} goes well again", self.what);
        }
    }

    /// It ended so.
    pub(crate) fn ended<T, E: Display>(&self, result: &Result<T, E>) {
        match result {
            Ok(_) => self.went_well(),
            Err(error) => self.failed(error),
        }
    }
}
