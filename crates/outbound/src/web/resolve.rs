//! Which addresses a name has.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;

use super::error::{FetchError, FetchErrorKind};
use super::progress::lookup_ran_out;
use super::target::Origin;

/// The most names that are resolved at a time.
pub const MAX_LOOKUPS: usize = 64;

/// The most addresses of one name that are looked at.
pub const MAX_ADDRESSES: usize = 32;

/// A look-up in progress.
pub type Resolving<'a> =
    Pin<Box<dyn Future<Output = Result<Vec<IpAddr>, ResolveError>> + Send + 'a>>;

/// Resolves names. It is never asked for an address, nor for `localhost`.
pub trait Resolve: Send + Sync {
    /// The addresses of a host, in the order in which they are to be tried.
    fn resolve<'a>(&'a self, host: &'a str) -> Resolving<'a>;
}

/// Why a name has no addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// There is no such name, or it has no addresses.
    #[error("the name does not exist or has no addresses")]
    NotFound,
    /// Nobody could be asked.
    #[error("the DNS servers can't be asked or do not know")]
    Failed,
}

/// A resolver with its bounds.
pub(crate) struct Names {
    resolver: Arc<dyn Resolve>,
    lookups: Semaphore,
    timeout: Duration,
}

impl Names {
    pub(crate) fn new(resolver: Arc<dyn Resolve>, timeout: Duration) -> Self {
        Self { resolver, lookups: Semaphore::new(MAX_LOOKUPS), timeout }
    }

    /// The addresses of an origin, at least one, families taking turns.
    pub(crate) async fn addresses(&self, origin: &Origin) -> Result<Vec<IpAddr>, FetchError> {
        if let Some(address) = origin.address {
            return Ok(vec![address]);
        }
        if is_localhost(&origin.host) {
            return Ok(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]);
        }
        let absolute;
        let mut name = &*origin.host;
        if origin.is_absolute {
            absolute = format!("{name}.");
            name = &absolute;
        }
        let looked_up = tokio::time::timeout(self.timeout, self.look_up(name)).await;
        match looked_up.map_err(|_| lookup_ran_out(self.timeout))? {
            Ok(found) if !found.is_empty() => Ok(taking_turns(found)),
            Ok(_) | Err(ResolveError::NotFound) => Err(not_found(&origin.host)),
            Err(ResolveError::Failed) => Err(failed(&origin.host)),
        }
    }

    async fn look_up(&self, host: &str) -> Result<Vec<IpAddr>, ResolveError> {
        // Nobody closes the semaphore.
        let _place = self.lookups.acquire().await.map_err(|_| ResolveError::Failed)?;
        let mut found = self.resolver.resolve(host).await?;
        found.truncate(MAX_ADDRESSES);
        Ok(found)
    }
}

/// This host, whatever a DNS server says (RFC 6761).
fn is_localhost(host: &str) -> bool {
    host == "localhost" || host.ends_with(".localhost")
}

/// IPv6 and IPv4 by turns, beginning with the family of the first: where one of them leads nowhere,
/// the other is tried soon.
fn taking_turns(found: Vec<IpAddr>) -> Vec<IpAddr> {
    let first_is_six = found.first().is_some_and(IpAddr::is_ipv6);
    let (one, other): (Vec<IpAddr>, Vec<IpAddr>) =
        found.into_iter().partition(|address| address.is_ipv6() == first_is_six);
    let mut turns = Vec::with_capacity(one.len().saturating_add(other.len()));
    let (mut one, mut other) = (one.into_iter(), other.into_iter());
    loop {
        let pair = [one.next(), other.next()];
        if pair == [None, None] {
            return turns;
        }
        turns.extend(pair.into_iter().flatten());
    }
}

fn not_found(host: &str) -> FetchError {
    let message = format!("the name {host} does not exist or has no addresses; check its spelling");
    FetchError::new(FetchErrorKind::Dns, message)
}

fn failed(host: &str) -> FetchError {
    let message = format!(
        "the name {host} can't be resolved; check the DNS servers of the host that Mainstay runs on"
    );
    FetchError::new(FetchErrorKind::Dns, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use url::Url;

    struct Fixed(Vec<IpAddr>);

    impl Resolve for Fixed {
        fn resolve<'a>(&'a self, _host: &'a str) -> Resolving<'a> {
            Box::pin(async { Ok(self.0.clone()) })
        }
    }

    struct Silent;

    impl Resolve for Silent {
        fn resolve<'a>(&'a self, _host: &'a str) -> Resolving<'a> {
            Box::pin(std::future::pending())
        }
    }

    fn ips(texts: &[&str]) -> Vec<IpAddr> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    async fn addresses(
        resolver: impl Resolve + 'static,
        url: &str,
    ) -> Result<Vec<IpAddr>, FetchError> {
        let target = super::super::target::Target::new(&Url::parse(url).unwrap()).unwrap();
        let names = Names::new(Arc::new(resolver), Duration::from_secs(5));
        names.addresses(&target.origin).await
    }

    #[test]
    fn families_take_turns() {
        let mixed = ips(&["2606::1", "2606::2", "2606::3", "1.1.1.1", "2.2.2.2"]);
        let turns = ips(&["2606::1", "1.1.1.1", "2606::2", "2.2.2.2", "2606::3"]);
        assert_eq!(taking_turns(mixed), turns);
        assert_eq!(taking_turns(ips(&["1.1.1.1", "::1"])), ips(&["1.1.1.1", "::1"]));
        assert_eq!(taking_turns(vec![]), vec![] as Vec<IpAddr>);
    }

    #[tokio::test]
    async fn literals_and_localhost_never_reach_the_resolver() {
        for (url, found) in [
            ("http://127.0.0.1/", ips(&["127.0.0.1"])),
            ("http://[::ffff:7f00:1]/", ips(&["::ffff:7f00:1"])),
            ("http://localhost./", ips(&["127.0.0.1", "::1"])),
            ("http://api.localhost/", ips(&["127.0.0.1", "::1"])),
        ] {
            assert_eq!(addresses(Silent, url).await, Ok(found), "{url}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_resolver_has_so_much_time_and_no_more() {
        let error = addresses(Silent, "http://example.com/").await.unwrap_err();
        assert_eq!(error.kind(), FetchErrorKind::Dns);
        assert!(error.message().contains("within 5s"), "{error}");
    }

    #[tokio::test]
    async fn an_answer_has_an_end_and_is_not_empty() {
        let many = Fixed(vec![Ipv4Addr::LOCALHOST.into(); 500]);
        assert_eq!(addresses(many, "http://example.com/").await.unwrap().len(), MAX_ADDRESSES);
        let none = addresses(Fixed(vec![]), "http://example.com/").await.unwrap_err();
        assert!(none.message().contains("example.com does not exist"), "{none}");
    }
}
