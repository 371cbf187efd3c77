//! How calls are made.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use mainstay_base::Clock;

use super::error::WebError;
use super::resolve::Resolve;
use super::system::SystemResolver;
use crate::guard::Policy;

/// The most connections at a time, kept and in use together.
pub const MAX_CONNECTIONS: usize = 10_000;

/// The most connections to one origin that are kept.
pub const MAX_IDLE_PER_ORIGIN: usize = 8;

/// How long a connection is kept that nobody asks on.
pub const IDLE_TIMEOUT: Duration = Duration::from_secs(90);

/// How old a connection may be when it is asked on, so that a change of DNS is noticed.
pub const MAX_AGE: Duration = Duration::from_secs(300);

/// The longest that connecting and TLS may take.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The longest that resolving a name may take.
pub const LOOKUP_TIMEOUT: Duration = Duration::from_secs(5);

/// What calls are made with.
#[derive(Clone)]
pub struct WebOptions {
    /// What may be called.
    pub policy: Policy,
    /// Authorities to trust beside the system's, in PEM form.
    pub ca_file: Option<PathBuf>,
    /// Who resolves names.
    pub resolver: Arc<dyn Resolve>,
    /// What latencies and ages are measured by.
    pub clock: Arc<dyn Clock>,
    /// The most connections at a time, kept and in use together.
    pub max_connections: usize,
    /// The most connections to one origin that are kept.
    pub max_idle_per_origin: usize,
    /// How long a connection is kept that nobody asks on.
    pub idle_timeout: Duration,
    /// How old a connection may be when it is asked on.
    pub max_age: Duration,
    /// The longest that connecting and TLS may take.
    pub connect_timeout: Duration,
    /// The longest that resolving a name may take.
    pub lookup_timeout: Duration,
}

impl WebOptions {
    /// The defaults, with the system's own DNS.
    ///
    /// # Errors
    /// [`WebError::Dns`] when the system's DNS configuration makes no sense.
    pub fn new(policy: Policy, clock: Arc<dyn Clock>) -> Result<Self, WebError> {
        Ok(Self::with_resolver(policy, clock, Arc::new(SystemResolver::new()?)))
    }

    /// The defaults, with somebody else who resolves names.
    #[must_use]
    pub fn with_resolver(
        policy: Policy,
        clock: Arc<dyn Clock>,
        resolver: Arc<dyn Resolve>,
    ) -> Self {
        Self {
            policy,
            ca_file: None,
            resolver,
            clock,
            max_connections: MAX_CONNECTIONS,
            max_idle_per_origin: MAX_IDLE_PER_ORIGIN,
            idle_timeout: IDLE_TIMEOUT,
            max_age: MAX_AGE,
            connect_timeout: CONNECT_TIMEOUT,
            lookup_timeout: LOOKUP_TIMEOUT,
        }
    }

    pub(crate) fn check(&self) -> Result<(), WebError> {
        for (name, is_zero) in [
            ("max_connections", self.max_connections == 0),
            ("connect_timeout", self.connect_timeout.is_zero()),
            ("lookup_timeout", self.lookup_timeout.is_zero()),
        ] {
            if is_zero {
                return Err(WebError::ZeroBound(name));
            }
        }
        Ok(())
    }
}

impl fmt::Debug for WebOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("WebOptions")
            .field("policy", &self.policy)
            .field("ca_file", &self.ca_file)
            .field("max_connections", &self.max_connections)
            .finish_non_exhaustive()
    }
}
