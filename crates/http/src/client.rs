//! Where a request comes from.
//!
//! `X-Forwarded-For` is a text that anybody can write. Each proxy appends the address that it saw to
//! its right end, so only what trusted proxies wrote there is true: the header is read from the
//! right, as far as the trust goes, and only when the connection itself is a trusted proxy's.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::str;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName};

use crate::error::Error;
use crate::limits::MAX_FORWARDED_HOPS;

/// Says which addresses are proxies whose word is taken.
pub(crate) type Trusts = Arc<dyn Fn(IpAddr) -> bool + Send + Sync>;

/// The address of whoever sent a request: never a trusted proxy's, unless no proxy names another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Client(pub(crate) IpAddr);

impl<S: Send + Sync> FromRequestParts<S> for Client {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Error> {
        let found = parts.extensions.get().copied();
        found.ok_or_else(|| Error::internal("the request has no client address"))
    }
}

/// The other end of a connection.
pub(crate) struct Peer {
    address: IpAddr,
    /// Only there when the peer itself is trusted: it is asked once, not for each request.
    trusts: Option<Trusts>,
}

impl Peer {
    pub(crate) fn new(address: IpAddr, trusts: &Trusts) -> Self {
        let address = address.to_canonical();
        Self { address, trusts: trusts(address).then(|| Arc::clone(trusts)) }
    }

    /// Who sent a request with these headers over this connection.
    pub(crate) fn client(&self, headers: &HeaderMap) -> Client {
        let address = match &self.trusts {
            None => self.address,
            Some(trusts) => walk(self.address, headers, &**trusts),
        };
        Client(address)
    }
}

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// From the nearest hop to the farthest: the first that is not trusted, or the last that is known.
fn walk(peer: IpAddr, headers: &HeaderMap, trusts: &dyn Fn(IpAddr) -> bool) -> IpAddr {
    let lines = headers.get_all(X_FORWARDED_FOR).iter().rev();
    let hops = lines.flat_map(|line| line.as_bytes().rsplit(|byte| *byte == b','));
    let mut nearest = peer;
    for hop in hops.take(MAX_FORWARDED_HOPS) {
        // What a proxy could not have written says nothing, and neither does what is left of it.
        let Some(address) = read(hop) else { break };
        nearest = address;
        if !trusts(address) {
            break;
        }
    }
    nearest
}

/// An address, as proxies write it: bare, in brackets, or with the port of its connection.
fn read(hop: &[u8]) -> Option<IpAddr> {
    let text = str::from_utf8(hop).ok()?.trim_matches([' ', '\t']);
    let bare = text.parse::<IpAddr>().ok();
    let bracketed = || {
        let inner = text.strip_prefix('[')?.strip_suffix(']')?;
        inner.parse::<Ipv6Addr>().ok().map(IpAddr::from)
    };
    let with_port = || text.parse::<SocketAddr>().ok().map(|address| address.ip());
    bare.or_else(bracketed).or_else(with_port).map(|address| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    /// 10.0.0.0/8 and fd00::/8.
    fn trusts() -> Trusts {
        Arc::new(|address| match address {
            IpAddr::V4(address) => address.octets()[0] == 10,
            IpAddr::V6(address) => address.octets()[0] == 0xfd,
        })
    }

    fn client(peer: &str, lines: &[&[u8]]) -> String {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(X_FORWARDED_FOR, HeaderValue::from_bytes(line).unwrap());
        }
        let peer = Peer::new(peer.parse().unwrap(), &trusts());
        peer.client(&headers).0.to_string()
    }

    #[test]
    fn a_peer_that_is_not_trusted_is_the_client_whatever_it_says() {
        for line in ["1.1.1.1", "10.0.0.9", "127.0.0.1", "::1", "", "x"] {
            assert_eq!(client("203.0.113.9", &[line.as_bytes()]), "203.0.113.9", "{line}");
        }
        assert_eq!(client("203.0.113.9", &[b"1.1.1.1", b"10.0.0.1"]), "203.0.113.9");
        assert_eq!(client("::ffff:203.0.113.9", &[b"1.1.1.1"]), "203.0.113.9");
    }

    #[test]
    fn a_trusted_peer_names_the_client() {
        for (line, expected) in [
            ("1.1.1.1", "1.1.1.1"),
            (" 1.1.1.1\t", "1.1.1.1"),
            ("1.1.1.1:4711", "1.1.1.1"),
            ("2001:db8::1", "2001:db8::1"),
            ("[2001:db8::1]", "2001:db8::1"),
            ("[2001:db8::1]:4711", "2001:db8::1"),
            ("::ffff:1.1.1.1", "1.1.1.1"),
            // The client wrote the left one itself.
            ("6.6.6.6, 1.1.1.1", "1.1.1.1"),
            ("10.6.6.6, 1.1.1.1", "1.1.1.1"),
            // Further trusted proxies are skipped, in whichever form they are written.
            ("6.6.6.6,1.1.1.1,10.0.0.2, fd00::1, ::ffff:10.0.0.3, 10.0.0.4:80", "1.1.1.1"),
            // A client inside the trusted network is known by its own address.
            ("10.0.0.7, 10.0.0.2", "10.0.0.7"),
        ] {
            assert_eq!(client("10.0.0.1", &[line.as_bytes()]), expected, "{line}");
            assert_eq!(client("::ffff:10.0.0.1", &[line.as_bytes()]), expected, "{line}");
        }
    }

    #[test]
    fn what_is_malformed_ends_the_walk_at_the_last_good_hop() {
        for (line, expected) in [
            ("", "10.0.0.1"),
            ("unknown", "10.0.0.1"),
            ("_hidden", "10.0.0.1"),
            ("1.1.1.1 2.2.2.2", "10.0.0.1"),
            ("1.1.1.256", "10.0.0.1"),
            ("01.1.1.1", "10.0.0.1"),
            ("1.1.1.1:", "10.0.0.1"),
            ("fe80::1%eth0", "10.0.0.1"),
            ("[1.1.1.1]", "10.0.0.1"),
            ("\"1.1.1.1\"", "10.0.0.1"),
            ("1.1.1.1,", "10.0.0.1"),
            ("1.1.1.1, x, 10.0.0.2", "10.0.0.2"),
            ("1.1.1.1,, 10.0.0.2", "10.0.0.2"),
        ] {
            assert_eq!(client("10.0.0.1", &[line.as_bytes()]), expected, "{line}");
        }
        assert_eq!(client("10.0.0.1", &[b"1.1.1.1, \xff"]), "10.0.0.1");
        assert_eq!(client("10.0.0.1", &[]), "10.0.0.1");
    }

    #[test]
    fn several_lines_are_one_list() {
        assert_eq!(client("10.0.0.1", &[b"6.6.6.6", b"1.1.1.1"]), "1.1.1.1");
        assert_eq!(client("10.0.0.1", &[b"6.6.6.6, 1.1.1.1", b"10.0.0.2"]), "1.1.1.1");
        assert_eq!(client("10.0.0.1", &[b"1.1.1.1", b"x", b"10.0.0.2"]), "10.0.0.2");
    }

    #[test]
    fn only_so_many_hops_are_looked_at() {
        let list = |trusted: usize| format!("1.1.1.1{}", ", 10.0.0.2".repeat(trusted));
        let within = list(MAX_FORWARDED_HOPS - 1);
        assert_eq!(client("10.0.0.1", &[within.as_bytes()]), "1.1.1.1");
        let beyond = list(MAX_FORWARDED_HOPS);
        assert_eq!(client("10.0.0.1", &[beyond.as_bytes()]), "10.0.0.2");
    }
}
