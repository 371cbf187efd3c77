//! Resolves names as the system is configured: `/etc/resolv.conf` and `/etc/hosts`.

use std::fmt;
use std::net::Ipv4Addr;

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{LookupIpStrategy, NameServerConfig, ResolverConfig};
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;

use super::error::WebError;
use super::resolve::{MAX_LOOKUPS, Resolve, ResolveError, Resolving};

/// The most answers that are remembered until they expire.
const MAX_REMEMBERED: u64 = 8_192;

/// A name is asked for in both families.
const QUESTIONS_PER_LOOKUP: usize = 2;

/// The system's DNS, as configured when this was made. Answers are remembered while they are valid.
pub struct SystemResolver(TokioResolver);

impl SystemResolver {
    /// Reads the system's configuration.
    ///
    /// # Errors
    /// [`WebError::Dns`] when it makes no sense.
    pub fn new() -> Result<Self, WebError> {
        let wrong = |error: NetError| WebError::Dns(error.to_string());
        let mut builder = TokioResolver::builder_tokio().unwrap_or_else(|error| {
            // As the C library does where nothing is configured.
            tracing::warn!(event = "dns", %error, "no DNS servers are configured: asking 127.0.0.1");
            let server = NameServerConfig::udp_and_tcp(Ipv4Addr::LOCALHOST.into());
            let config = ResolverConfig::from_name_servers(vec![server]);
            TokioResolver::builder_with_config(config, TokioRuntimeProvider::default())
        });
        let options = builder.options_mut();
        // Both families: what is judged must be all that the name leads to.
        options.ip_strategy = LookupIpStrategy::Ipv6AndIpv4;
        options.cache_size = MAX_REMEMBERED;
        options.max_active_requests = MAX_LOOKUPS.saturating_mul(QUESTIONS_PER_LOOKUP);
        builder.build().map(Self).map_err(wrong)
    }
}

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a str) -> Resolving<'a> {
        Box::pin(async move {
            match self.0.lookup_ip(host).await {
                Ok(found) => Ok(found.iter().collect()),
                Err(error) if error.is_no_records_found() => Err(ResolveError::NotFound),
                Err(error) => {
                    tracing::debug!(event = "dns", %error, %host, "a name was not resolved");
                    Err(ResolveError::Failed)
                }
            }
        })
    }
}

impl fmt::Debug for SystemResolver {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SystemResolver").finish_non_exhaustive()
    }
}
