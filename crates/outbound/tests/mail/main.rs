//! Mail against real servers on loopback: [`server`] starts aiosmtpd, [`hostile`] one that no
//! library would be.
#![cfg(test)]

mod delivery;
mod encryption;
mod hostile;
mod outage;
mod server;
mod telling;

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{Clock as _, Id, IdSource, SystemClock, SystemRng, Timestamp};
use mainstay_outbound::{Mail, MailConfig, Mailer, SendError};

/// What a test may wait for anything.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A mailer, and one mail's id and date.
pub(crate) struct Post {
    pub(crate) mailer: Mailer,
    pub(crate) id: Id,
    pub(crate) written_at: Timestamp,
}

pub(crate) fn config(server: &str) -> MailConfig {
    let server = server.parse().unwrap_or_else(|error| panic!("{server} {error}"));
    let mut config = MailConfig::new(server, "mainstay@example.org".parse().unwrap());
    config.pace.attempt_timeout = Duration::from_secs(10);
    config.pace.open_for = Duration::from_millis(200);
    config
}

pub(crate) fn start(config: &MailConfig) -> Post {
    let clock = Arc::new(SystemClock::new());
    let mailer = Mailer::new(config, Arc::clone(&clock) as _).unwrap();
    let id = IdSource::new(Arc::clone(&clock) as _, Arc::new(SystemRng)).next();
    Post { mailer, id, written_at: clock.now() }
}

impl Post {
    pub(crate) async fn send(&self, to: &str) -> Result<(), SendError> {
        self.send_mail(&Mail::new(to, "Hello", "The text.\n").unwrap()).await
    }

    pub(crate) async fn send_mail(&self, mail: &Mail) -> Result<(), SendError> {
        let sending = self.mailer.send(self.id, self.written_at, mail);
        tokio::time::timeout(PATIENCE, sending).await.expect("a try ends")
    }
}

/// The word for why it was not sent.
pub(crate) fn reason(sent: Result<(), SendError>) -> &'static str {
    sent.expect_err("it is not sent").reason()
}
