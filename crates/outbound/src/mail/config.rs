//! Where mail goes, and how long one try may take.

use std::path::PathBuf;
use std::time::Duration;

use super::address::MailAddress;
use super::server::MailServer;

/// How long one try may take, from the connection to the server's last word.
pub const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(30);

/// How many tries in a row the server may fail before it is left alone.
pub const FAILURES_TO_OPEN: u32 = 3;

/// How long a server that fails is left alone.
pub const OPEN_FOR: Duration = Duration::from_secs(30);

/// Where mail goes, from whom, and at what pace.
#[derive(Debug, Clone)]
pub struct MailConfig {
    /// The server that takes it.
    pub server: MailServer,
    /// Who it is from.
    pub from: MailAddress,
    /// A PEM file with certificates to trust beside the public ones.
    pub ca_file: Option<PathBuf>,
    /// How long things may take.
    pub pace: Pace,
}

/// How long things may take.
#[derive(Debug, Clone)]
pub struct Pace {
    /// How long one try may take.
    pub attempt_timeout: Duration,
    /// How long a server that fails is left alone.
    pub open_for: Duration,
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
        Self { attempt_timeout: ATTEMPT_TIMEOUT, open_for: OPEN_FOR }
    }
}
