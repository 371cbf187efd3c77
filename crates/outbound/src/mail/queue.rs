//! The caller's side: it hands a mail over and never waits.

use std::fmt;
use std::sync::Arc;

use mainstay_base::{Clock, IdSource, Rng};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::address::MailAddress;
use super::config::{MailConfig, Pace};
use super::error::{MailError, StartError};
use super::job::Job;
use super::measure::{self, Outcome};
use super::message::Mail;
use super::owner::Owner;
use super::transport::{Smtp, Transport};

/// The most mails that wait, those that are tried again later included.
pub const MAX_QUEUED: usize = 256;

/// Takes mail. Its clones hand over to the same queue.
#[derive(Clone)]
pub struct Mailer {
    jobs: mpsc::Sender<Job>,
    places: Arc<Semaphore>,
    from: MailAddress,
    ids: IdSource,
    clock: Arc<dyn Clock>,
    stop: CancellationToken,
}

impl Mailer {
    /// Starts the one task that sends. After `stop` it sends what it can for a short while, drops
    /// the rest and ends: wait for the handle.
    ///
    /// # Errors
    /// [`StartError`] when the certificates can't be read or the pace makes no sense. Whether the
    /// server is there shows with the first mail.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn start(
        config: &MailConfig,
        clock: Arc<dyn Clock>,
        rng: Arc<dyn Rng>,
        stop: CancellationToken,
    ) -> Result<(Self, JoinHandle<()>), StartError> {
        let transport = Smtp::new(config)?;
        tracing::info!(event = "mail", server = %config.server, "mail is sent");
        Self::over(transport, config.from.clone(), &config.pace, clock, rng, stop)
    }

    /// The same over any transport.
    pub(crate) fn over(
        transport: impl Transport,
        from: MailAddress,
        pace: &Pace,
        clock: Arc<dyn Clock>,
        rng: Arc<dyn Rng>,
        stop: CancellationToken,
    ) -> Result<(Self, JoinHandle<()>), StartError> {
        let (jobs, receiver) = mpsc::channel(MAX_QUEUED);
        let owner =
            Owner::new(transport, pace.clone(), Arc::clone(&clock), Arc::clone(&rng), receiver)?;
        let task = tokio::spawn(owner.run(stop.clone()));
        let ids = IdSource::new(Arc::clone(&clock), rng);
        let places = Arc::new(Semaphore::new(MAX_QUEUED));
        Ok((Self { jobs, places, from, ids, clock, stop }, task))
    }

    /// Hands a mail over. It never waits: what becomes of the mail shows in the log and the metrics.
    ///
    /// # Errors
    /// [`MailError::Full`] when too much waits already, [`MailError::Stopped`] when the process
    /// stops.
    pub fn send(&self, mail: Mail) -> Result<(), MailError> {
        let letter = mail.into_letter(&self.from, self.ids.next(), self.clock.now())?;
        let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else {
            return Err(self.refuse(MailError::Full, &letter.domain));
        };
        if self.stop.is_cancelled() {
            return Err(self.refuse(MailError::Stopped, &letter.domain));
        }
        let job = Job::new(letter, self.clock.moment(), place);
        // Every job has a place, and there are as many as the channel holds: only a task that has
        // ended refuses one, and the job then tells that it was dropped.
        self.jobs.try_send(job).map_err(|_| MailError::Stopped)
    }

    /// How many mails wait, those that are tried again later included.
    #[must_use]
    pub fn queued(&self) -> usize {
        MAX_QUEUED.saturating_sub(self.places.available_permits())
    }

    fn refuse(&self, error: MailError, domain: &str) -> MailError {
        measure::ended(Outcome::Dropped);
        let reason = if error == MailError::Full { "full" } else { "stopped" };
        tracing::warn!(
            event = "mail",
            outcome = "dropped",
            reason,
            domain,
            "mail not taken: {error}"
        );
        error
    }
}

impl fmt::Debug for Mailer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Mailer").field("queued", &self.queued()).finish_non_exhaustive()
    }
}
