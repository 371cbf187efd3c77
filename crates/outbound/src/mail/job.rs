//! One mail on its way, which tells its end exactly once.

use mainstay_base::Moment;
use mainstay_kernel::Backoff;
use tokio::sync::OwnedSemaphorePermit;

use super::failure::Failure;
use super::measure::{self, Outcome};
use super::message::Letter;

/// A mail that waits or is tried. Whoever lets go of it without [`Job::sent`] or [`Job::failed`]
/// has dropped it, and that is told too.
pub(crate) struct Job {
    pub(crate) letter: Letter,
    /// When it was taken.
    pub(crate) since: Moment,
    /// How often it was tried.
    pub(crate) tries: u32,
    pub(crate) backoff: Backoff,
    has_ended: bool,
    /// Its place in the queue.
    _place: OwnedSemaphorePermit,
}

impl Job {
    pub(crate) fn new(letter: Letter, since: Moment, place: OwnedSemaphorePermit) -> Self {
        measure::entered();
        let backoff = Backoff::default();
        Self { letter, since, tries: 0, backoff, has_ended: false, _place: place }
    }

    /// The server has it.
    pub(crate) fn sent(mut self) {
        self.has_ended = true;
        measure::ended(Outcome::Sent);
        tracing::info!(
            event = "mail", outcome = "sent", mail = %self.letter.id,
            domain = %self.letter.domain, tries = self.tries, "mail sent"
        );
    }

    /// It is given up.
    pub(crate) fn failed(mut self, failure: &Failure) {
        self.has_ended = true;
        measure::ended(Outcome::Failed);
        tracing::warn!(
            event = "mail", outcome = "failed", reason = failure.reason(), mail = %self.letter.id,
            domain = %self.letter.domain, tries = self.tries, error = %failure, "mail not sent"
        );
    }

    /// It is tried again later. While the server is left alone that happens to every mail, over and
    /// over: not worth a line each time.
    pub(crate) fn put_off(&self, failure: &Failure) {
        if *failure == Failure::LeftAlone {
            return;
        }
        tracing::info!(
            event = "mail", outcome = "put_off", reason = failure.reason(), mail = %self.letter.id,
            domain = %self.letter.domain, tries = self.tries, error = %failure, "mail put off"
        );
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        measure::left();
        if !self.has_ended {
            measure::ended(Outcome::Dropped);
            tracing::warn!(
                event = "mail", outcome = "dropped", reason = "stopped", mail = %self.letter.id,
                domain = %self.letter.domain, tries = self.tries,
                "mail dropped: Mainstay stopped before it was sent"
            );
        }
    }
}
