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

use mainstay_base::{SystemClock, SystemRng};
use mainstay_kernel::BackoffPolicy;
use mainstay_outbound::{Mail, MailConfig, Mailer};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// What a test may wait for anything.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A mailer that is in a hurry.
pub(crate) struct Post {
    pub(crate) mailer: Mailer,
    pub(crate) task: JoinHandle<()>,
    pub(crate) stop: CancellationToken,
}

pub(crate) fn config(server: &str) -> MailConfig {
    let server = server.parse().unwrap_or_else(|error| panic!("{server} {error}"));
    let mut config = MailConfig::new(server, "mainstay@example.org".parse().unwrap());
    let pace = &mut config.pace;
    pace.tries = 3;
    pace.attempt_timeout = Duration::from_secs(10);
    pace.backoff =
        BackoffPolicy::new(Duration::from_millis(20), 1.0, Duration::from_secs(1)).unwrap();
    pace.open_for = Duration::from_millis(200);
    pace.drain_for = Duration::from_millis(500);
    config
}

pub(crate) fn start(config: &MailConfig) -> Post {
    let stop = CancellationToken::new();
    let (mailer, task) =
        Mailer::start(config, Arc::new(SystemClock::new()), Arc::new(SystemRng), stop.clone())
            .unwrap();
    Post { mailer, task, stop }
}

impl Post {
    pub(crate) fn send(&self, to: &str) {
        self.mailer.send(Mail::new(to, "Hello", "The text.\n").unwrap()).unwrap();
    }

    /// Waits until every mail has ended, one way or the other.
    pub(crate) async fn until_empty(&self) {
        let empty = async {
            while self.mailer.queued() > 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(PATIENCE, empty).await.expect("the queue empties");
    }

    pub(crate) async fn stopped(self) {
        self.stop.cancel();
        tokio::time::timeout(PATIENCE, self.task).await.expect("it stops").unwrap();
    }
}
