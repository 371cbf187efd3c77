//! Sends one mail, once, unless the server failed so often of late that it is left alone.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{Clock, Id, Timestamp};
use mainstay_breaker::{Breaker, ByError, CallError, Detector, HalfOpenPolicy};

use super::address::MailAddress;
use super::config::{FAILURES_TO_OPEN, MailConfig, Pace};
use super::error::{SendError, StartError};
use super::failure::Failure;
use super::measure::{self, Outcome};
use super::message::{Letter, Mail};
use super::transport::{Smtp, Transport};
use crate::pace::BreakerClock;

/// Sends mail. Its clones speak to the same server and share what they learn of it.
#[derive(Clone)]
pub struct Mailer(Arc<Guard<Smtp>>);

impl Mailer {
    /// Prepares to send. Whether the server is there shows with the first mail.
    ///
    /// # Errors
    /// [`StartError`] when the certificates can't be read or the pace makes no sense.
    pub fn new(config: &MailConfig, clock: Arc<dyn Clock>) -> Result<Self, StartError> {
        let transport = Smtp::new(config)?;
        let guard = Guard::new(transport, config.from.clone(), &config.pace, clock)?;
        tracing::info!(event = "mail", server = %config.server, "mail is sent");
        Ok(Self(Arc::new(guard)))
    }

    /// Tries once, and tells the log and the metrics how that ended. The receiver knows the mail by
    /// `id`, so whoever tries again gives the same, and the same `written_at`. Dropping the future
    /// ends the conversation; the mail may have arrived by then.
    ///
    /// # Errors
    /// [`SendError`] says whether to try again.
    pub async fn send(&self, id: Id, written_at: Timestamp, mail: &Mail) -> Result<(), SendError> {
        self.0.send(id, written_at, mail).await
    }
}

impl fmt::Debug for Mailer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Mailer").field("from", &self.0.from).finish_non_exhaustive()
    }
}

/// The breaker in front of a transport.
struct Guard<T> {
    transport: T,
    breaker: Breaker<ByError<Failure>>,
    from: MailAddress,
    open_for: Duration,
    clock: Arc<dyn Clock>,
}

impl<T: Transport> Guard<T> {
    fn new(
        transport: T,
        from: MailAddress,
        pace: &Pace,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, StartError> {
        let breaker = Breaker::builder("mail server")
            .detector(Detector::consecutive(FAILURES_TO_OPEN))
            .open_for(pace.open_for)
            .half_open(HalfOpenPolicy::all(1))
            .clock(BreakerClock(Arc::clone(&clock)))
            .classify_errors(Failure::verdict)
            .build()?;
        Ok(Self { transport, breaker, from, open_for: pace.open_for, clock })
    }

    async fn send(&self, id: Id, written_at: Timestamp, mail: &Mail) -> Result<(), SendError> {
        let sent = match mail.letter(&self.from, id, written_at) {
            Ok(letter) => self.attempt(&letter).await,
            Err(error) => Err(error.into()),
        };
        measure::ended(Outcome::of(&sent));
        tell(id, mail.domain(), &sent);
        sent
    }

    async fn attempt(&self, letter: &Letter) -> Result<(), SendError> {
        let started = self.clock.moment();
        let called = self.breaker.call(self.transport.deliver(letter)).await;
        let sent = called.map_err(|error| match error {
            CallError::Inner(failure) => failure.into(),
            CallError::Open { retry_after, .. } => {
                SendError::LeftAlone { retry_after: retry_after.unwrap_or(self.open_for) }
            }
            _ => Failure::Timeout.into(),
        });
        measure::attempted(Outcome::of(&sent), self.clock.moment().since(started));
        sent
    }
}

/// While the server is left alone nothing is told: that happens to every mail, over and over.
fn tell(id: Id, domain: &str, sent: &Result<(), SendError>) {
    let outcome = Outcome::of(sent).label();
    match sent {
        Ok(()) => tracing::info!(event = "mail", outcome, mail = %id, %domain, "mail sent"),
        Err(SendError::LeftAlone { .. }) => {}
        Err(error @ SendError::Later { .. }) => tracing::info!(
            event = "mail", outcome, reason = error.reason(), mail = %id, %domain, %error,
            "mail put off"
        ),
        Err(error) => tracing::warn!(
            event = "mail", outcome, reason = error.reason(), mail = %id, %domain, %error,
            "mail not sent"
        ),
    }
}

#[cfg(test)]
#[path = "mailer_tests.rs"]
mod tests;
