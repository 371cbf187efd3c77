//! Ports that nobody else takes, whatever runs beside a test.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicU16, Ordering};

use tokio::net::TcpSocket;

/// Below the ports that a system gives to whoever asks for any, and apart from those of the browser tests.
const FIRST_PORT: u16 = 10_000;
/// Each process has its own part of them, shared only with one that runs beside many hundred others.
const PORTS_EACH: u16 = 16;
const PARTS: u16 = 600;

static NEXT: AtomicU16 = AtomicU16::new(0);

/// A port of loopback at which nobody listens, and nobody else can while this is held.
#[derive(Debug)]
pub struct ClosedPort {
    address: SocketAddr,
    // Bound without listening: who calls is refused, and who asks for any port gets another one.
    _socket: TcpSocket,
}

impl ClosedPort {
    /// Takes one.
    ///
    /// # Panics
    /// When there is none.
    #[must_use]
    pub fn new() -> Self {
        let socket = TcpSocket::new_v4().expect("there is room for a socket");
        socket.bind((Ipv4Addr::LOCALHOST, 0).into()).expect("a port is free");
        Self { address: socket.local_addr().expect("it is bound"), _socket: socket }
    }

    /// Where nobody answers.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The same without the host.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.address.port()
    }
}

impl Default for ClosedPort {
    fn default() -> Self {
        Self::new()
    }
}

/// A port of loopback that is free, and that nobody is given by chance until it is taken on purpose.
///
/// # Panics
/// When all that this process may take are taken.
#[must_use]
pub fn quiet_port() -> u16 {
    let part = u16::try_from(std::process::id() % u32::from(PARTS)).unwrap_or_default();
    let first = FIRST_PORT + part * PORTS_EACH;
    let is_free = |port: &u16| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok();
    (0..PORTS_EACH)
        .map(|_| first + NEXT.fetch_add(1, Ordering::Relaxed) % PORTS_EACH)
        .find(is_free)
        .expect("a port of this process is free")
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;
    use std::net::TcpStream;

    use super::*;

    #[test]
    fn a_closed_port_refuses_and_can_not_be_taken() {
        let closed = ClosedPort::new();
        let refused = TcpStream::connect(closed.address()).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
        let taken = TcpListener::bind(closed.address()).unwrap_err();
        assert_eq!(taken.kind(), ErrorKind::AddrInUse);
    }

    #[test]
    fn quiet_ports_are_free_and_differ() {
        let (one, other) = (quiet_port(), quiet_port());
        assert_ne!(one, other);
        assert!(TcpListener::bind((Ipv4Addr::LOCALHOST, one)).is_ok());
    }
}
