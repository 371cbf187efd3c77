//! How long an answer is waited for. PostgreSQL's own limits end what runs too long, but a peer that
//! falls silent without hanging up would be waited for for ever.

use std::io;
use std::time::Duration;

use crate::measure;

/// The limit for one statement, and where to note that it passed.
pub(crate) struct Patience<'c> {
    pub(crate) limit: Option<Duration>,
    /// Set when no answer came: one that comes later would be taken for the next question's.
    pub(crate) is_silent: &'c mut bool,
}

impl Patience<'_> {
    /// Waits for `work`, and notes when it gave no answer in time.
    pub(crate) async fn wait<F: Future>(self, work: F) -> Result<F::Output, sqlx::Error> {
        let outcome = within(self.limit, work).await;
        *self.is_silent |= outcome.is_err();
        outcome
    }
}

/// Waits for `work` for at most `limit`.
pub(crate) async fn within<F: Future>(
    limit: Option<Duration>,
    work: F,
) -> Result<F::Output, sqlx::Error> {
    let Some(limit) = limit else { return Ok(work.await) };
    tokio::time::timeout(limit, work).await.map_err(|_elapsed| {
        measure::unanswered();
        let words = format!("no answer within {} ms", limit.as_millis());
        sqlx::Error::Io(io::Error::new(io::ErrorKind::TimedOut, words))
    })
}
