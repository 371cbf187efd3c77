//! Binds the address, and says in one sentence why that does not work.

use std::io::ErrorKind;
use std::net::SocketAddr;

use tokio::net::{TcpListener, TcpSocket};

use crate::config::{Config, ListenAddress};

/// So many may wait to be received, where the system allows it: after a restart every dashboard comes back at once,
/// and whoever finds no room in the line may be hung up on.
const LINE: u32 = 4_096;

/// Binds the configured address.
pub(crate) async fn bind(address: &ListenAddress) -> anyhow::Result<TcpListener> {
    bind_first(address).await.map_err(|error| {
        let cure = cure(error.kind());
        anyhow::Error::new(error).context(format!("can't listen on {address}; {cure}"))
    })
}

/// Where people find the site: the public address, or the bound one in a form a browser opens.
pub(crate) fn site_address(config: &Config, bound: SocketAddr) -> String {
    if let Some(public) = &config.http.public_url {
        return public.as_str().to_owned();
    }
    let scheme = if config.tls.is_some() { "https" } else { "http" };
    format!("{scheme}://{}", reachable(bound))
}

/// Binds the first of its addresses that can be bound.
async fn bind_first(address: &ListenAddress) -> std::io::Result<TcpListener> {
    let mut last = std::io::Error::new(ErrorKind::AddrNotAvailable, "the name has no address");
    for one in tokio::net::lookup_host(address.to_string()).await? {
        match listen(one) {
            Ok(listener) => return Ok(listener),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // A restart need not wait for what the last process left half closed.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(LINE)
}

fn cure(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::AddrInUse => {
            "another program uses it: stop that one, or choose another address with --listen"
        }
        ErrorKind::PermissionDenied => {
            "this user may not: choose a port from 1024 on with --listen, or grant the right"
        }
        ErrorKind::AddrNotAvailable => {
            "this machine does not have that address: choose one of its own with --listen"
        }
        _ => "check the address after --listen",
    }
}

/// "Every address" is no address to open: on this machine, loopback is.
fn reachable(bound: SocketAddr) -> SocketAddr {
    let mut shown = bound;
    match bound {
        SocketAddr::V4(v4) if v4.ip().is_unspecified() => {
            shown.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
        }
        SocketAddr::V6(v6) if v6.ip().is_unspecified() => {
            shown.set_ip(std::net::Ipv6Addr::LOCALHOST.into());
        }
        _ => {}
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_means_every_one_is_shown_as_loopback() {
        for (bound, shown) in [
            ("0.0.0.0:7373", "127.0.0.1:7373"),
            ("[::]:7373", "[::1]:7373"),
            ("192.0.2.7:80", "192.0.2.7:80"),
        ] {
            assert_eq!(reachable(bound.parse().unwrap()).to_string(), shown);
        }
    }

    #[tokio::test]
    async fn a_port_in_use_says_what_to_do() {
        let first = bind(&ListenAddress::Address("127.0.0.1:0".parse().unwrap())).await.unwrap();
        let taken = ListenAddress::Address(first.local_addr().unwrap());
        let refused = bind(&taken).await.unwrap_err().to_string();
        assert!(refused.contains(&taken.to_string()), "{refused}");
        assert!(refused.contains("choose another address with --listen"), "{refused}");
    }
}
