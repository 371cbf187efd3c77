//! Where mail goes, and at what pace.

use std::path::PathBuf;
use std::time::Duration;

use mainstay_kernel::BackoffPolicy;

use super::address::MailAddress;
use super::server::MailServer;

/// How often a mail is tried, the first time included.
pub const MAX_TRIES: u32 = 5;

/// How long one try may take, from the connection to the server's last word.
pub const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a mail is kept before it is given up, whatever the server is like.
pub const KEEP_FOR: Duration = Duration::from_secs(60 * 60);

/// How many tries in a row the server may fail before it is left alone.
pub const FAILURES_TO_OPEN: u32 = 3;

/// How long a server that fails is left alone.
pub const OPEN_FOR: Duration = Duration::from_secs(30);

/// How long mail is still sent when the process stops.
pub const DRAIN_FOR: Duration = Duration::from_secs(3);

/// The wait after the first failed try.
const FIRST_WAIT: Duration = Duration::from_secs(5);

/// By how much each further wait is longer: with five tries the last one is some seven minutes
/// after the first, when a server that first wants to see a sender come back lets it in.
const WAIT_GROWS_BY: f64 = 4.0;

/// The longest wait between two tries.
const LONGEST_WAIT: Duration = Duration::from_secs(600);

/// The part of a wait that chance may take away.
const JITTER: f64 = 0.2;

/// Where mail goes, from whom, and at what pace.
#[derive(Debug, Clone)]
pub struct MailConfig {
    /// The server that takes it.
    pub server: MailServer,
    /// Who it is from.
    pub from: MailAddress,
    /// A PEM file with certificates to trust beside the public ones.
    pub ca_file: Option<PathBuf>,
    /// How often and how long it is tried.
    pub pace: Pace,
}

/// How often and how long things are tried.
#[derive(Debug, Clone)]
pub struct Pace {
    /// How often a mail is tried, the first time included.
    pub tries: u32,
    /// How long one try may take.
    pub attempt_timeout: Duration,
    /// The waits between the tries.
    pub backoff: BackoffPolicy,
    /// How long a mail is kept before it is given up.
    pub keep_for: Duration,
    /// How long a server that fails is left alone.
    pub open_for: Duration,
    /// How long mail is still sent when the process stops.
    pub drain_for: Duration,
}

impl MailConfig {
    /// Mail from `from` by `server`, at the usual pace.
    #[must_use]
    pub fn new(server: MailServer, from: MailAddress) -> Self {
        Self { server, from, ca_file: None, pace: Pace::default() }
    }
}

impl Default for Pace {
    fn default() -> Self {
        let backoff = BackoffPolicy::new(FIRST_WAIT, WAIT_GROWS_BY, LONGEST_WAIT)
            .and_then(|policy| policy.with_jitter(JITTER))
            .unwrap_or_default();
        Self {
            tries: MAX_TRIES,
            attempt_timeout: ATTEMPT_TIMEOUT,
            backoff,
            keep_for: KEEP_FOR,
            open_for: OPEN_FOR,
            drain_for: DRAIN_FOR,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_waits_are_those_that_were_meant() {
        let waits: Vec<_> = (0..5).map(|attempt| Pace::default().backoff.delay(attempt)).collect();
        assert_eq!(waits, [5, 20, 80, 320, 600].map(Duration::from_secs));
    }
}
