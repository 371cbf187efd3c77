//! A new connection, to exactly the addresses that were judged.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use mainstay_base::Clock;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::error::{FetchError, FetchErrorKind, WebError};
use super::measure::Measures;
use super::options::WebOptions;
use super::pool::{Card, Link, Pool};
use super::progress::{Progress, Step};
use super::resolve::Names;
use super::stream::Stream;
use super::target::{Origin, Target};
use super::tls;
use crate::guard::Policy;

/// The most addresses of one name that are tried: more would leave too little time for each.
const MAX_TRIED: usize = 4;

/// ENFILE and EMFILE, which have no word in the standard library.
const NO_DESCRIPTORS: [i32; 2] = [23, 24];

/// Makes connections.
pub(crate) struct Dialer {
    policy: Policy,
    names: Names,
    tls: TlsConnector,
    clock: Arc<dyn Clock>,
    connect_timeout: Duration,
}

impl Dialer {
    pub(crate) fn new(options: &WebOptions) -> Result<Self, WebError> {
        Ok(Self {
            policy: options.policy.clone(),
            names: Names::new(Arc::clone(&options.resolver), options.lookup_timeout),
            tls: tls::connector(options.ca_file.as_deref())?,
            clock: Arc::clone(&options.clock),
            connect_timeout: options.connect_timeout,
        })
    }

    /// Whether this address may be called for this target.
    pub(crate) fn judge(&self, target: &Target, address: IpAddr) -> Result<(), FetchError> {
        let Origin { host, port, .. } = &*target.origin;
        self.policy.judge(host, address, *port, target.path()).map_err(FetchError::blocked)
    }

    /// All addresses of a target, every one of them judged.
    pub(crate) async fn judged(&self, target: &Target) -> Result<Vec<IpAddr>, FetchError> {
        let addresses = self.names.addresses(&target.origin).await?;
        // One blocked address blocks all: a name that leads both in and out is no mistake.
        for address in &addresses {
            self.judge(target, *address)?;
        }
        Ok(addresses)
    }

    /// Resolves, judges, connects and encrypts.
    pub(crate) async fn dial(
        &self,
        target: &Target,
        pool: &Pool,
        measures: &Measures,
        progress: &Progress,
    ) -> Result<Link, FetchError> {
        progress.reach(Step::Lookup);
        let addresses = self.judged(target).await?;
        progress.reach(Step::Place);
        let place = pool.place().await.ok_or_else(no_place)?;
        progress.reach(Step::Connect);
        let connecting = self.connect(&target.origin, &addresses, progress);
        let connected = timeout(self.connect_timeout, connecting).await;
        let (stream, peer) =
            connected.unwrap_or_else(|_| Err(progress.connect_ran_out(self.connect_timeout)))?;
        let (born, counted) = (self.clock.moment(), measures.connection());
        Ok(Link { stream, card: Card { peer, born, counted, _place: place } })
    }

    async fn connect(
        &self,
        origin: &Origin,
        addresses: &[IpAddr],
        progress: &Progress,
    ) -> Result<(Stream, IpAddr), FetchError> {
        let (stream, peer) = self.connect_to_any(origin, addresses, progress).await?;
        // Questions are small and go out at once.
        stream.set_nodelay(true).map_err(|error| connect_error(&error))?;
        if !origin.is_encrypted {
            return Ok((Stream::plain(stream), peer));
        }
        progress.reach(Step::Encrypt);
        let encrypted = self.tls.connect(tls::server_name(origin)?, stream).await;
        let encrypted = encrypted.map_err(|error| tls::handshake_error(&error))?;
        Ok((Stream::encrypted(encrypted), peer))
    }

    /// Tries one after the other, each but the last with its share of the time.
    async fn connect_to_any(
        &self,
        origin: &Origin,
        addresses: &[IpAddr],
        progress: &Progress,
    ) -> Result<(TcpStream, IpAddr), FetchError> {
        let tried = addresses.len().min(MAX_TRIED);
        let share = self.connect_timeout / u32::try_from(tried.max(1)).unwrap_or(1);
        let mut failure = progress.connect_ran_out(share);
        for (at, address) in addresses.iter().take(tried).enumerate() {
            let connecting = TcpStream::connect(SocketAddr::new(*address, origin.port));
            let is_last = at.saturating_add(1) == tried;
            let limit = if is_last { self.connect_timeout } else { share };
            match timeout(limit, connecting).await {
                Ok(Ok(stream)) => return Ok((stream, *address)),
                Ok(Err(error)) => failure = connect_error(&error),
                Err(_) => failure = progress.connect_ran_out(limit),
            }
        }
        Err(failure)
    }
}

fn connect_error(error: &io::Error) -> FetchError {
    use FetchErrorKind::{ConnectRefused, ConnectTimeout};
    let (kind, message) = match error.kind() {
        io::ErrorKind::ConnectionRefused => (
            ConnectRefused,
            "the connection was refused; check that the service runs and listens on this port",
        ),
        io::ErrorKind::NetworkUnreachable | io::ErrorKind::HostUnreachable => (
            ConnectRefused,
            "there is no way to the host; check its address and the routes of this host",
        ),
        io::ErrorKind::TimedOut => (
            ConnectTimeout,
            "the host did not answer; check host and port, and whether a firewall drops the packets",
        ),
        io::ErrorKind::PermissionDenied => {
            (ConnectRefused, "the system forbids the connection; check the firewall of this host")
        }
        io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted => (
            ConnectRefused,
            "the connection was ended as soon as it was made; check the service and what stands before it",
        ),
        io::ErrorKind::AddrNotAvailable => (
            ConnectRefused,
            "this host has no address or port left to call from; look at its network and at how many connections it holds",
        ),
        _ if error.raw_os_error().is_some_and(|code| NO_DESCRIPTORS.contains(&code)) => (
            ConnectRefused,
            "Mainstay has no file descriptor left for the connection; raise the limit of open files of its process",
        ),
        _ => {
            tracing::debug!(event = "connect", %error, "the system could not make a connection");
            (ConnectRefused, "this host could not make the connection; its debug log says why")
        }
    };
    FetchError::new(kind, message)
}

fn no_place() -> FetchError {
    FetchError::new(FetchErrorKind::ConnectRefused, "Mainstay is stopping and makes no connections")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn every_error_of_the_system_has_its_sentence() {
        // ECONNREFUSED, ENETUNREACH, EHOSTUNREACH, ETIMEDOUT, EACCES, EADDRNOTAVAIL, EMFILE, EIO.
        for (code, kind, told) in [
            (111, "connect_refused", "was refused"),
            (101, "connect_refused", "no way to the host"),
            (113, "connect_refused", "no way to the host"),
            (110, "connect_timeout", "did not answer"),
            (13, "connect_refused", "forbids"),
            (99, "connect_refused", "no address or port left"),
            (24, "connect_refused", "no file descriptor left"),
            (5, "connect_refused", "debug log"),
        ] {
            let error = connect_error(&io::Error::from_raw_os_error(code));
            assert_eq!(error.kind().name(), kind, "{code}");
            assert!(error.message().contains(told), "{code} {error}");
        }
    }
}
