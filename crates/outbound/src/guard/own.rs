//! Mainstay's own port: what it would do when it called itself, nobody asked for.

use std::fmt;
use std::io;
use std::net::{IpAddr, UdpSocket};
use std::sync::Arc;

/// The one path of Mainstay that Mainstay may watch.
pub const OWN_HEALTH: &str = "/health";

/// Knows which addresses are this host's own.
pub trait LocalAddresses: Send + Sync {
    /// Whether a call to this address ends at this host.
    fn is_here(&self, address: IpAddr) -> bool;
}

/// Asks the system, by binding to the address: that works for this host's own alone, and is true
/// also after the network has changed.
#[derive(Debug, Clone, Copy, Default)]
pub struct BoundAddresses;

impl LocalAddresses for BoundAddresses {
    fn is_here(&self, address: IpAddr) -> bool {
        match UdpSocket::bind((address, 0)) {
            Ok(_) => true,
            // Any other error says nothing about the address: better refuse one call too many.
            Err(error) => error.kind() != io::ErrorKind::AddrNotAvailable,
        }
    }
}

impl<F: Fn(IpAddr) -> bool + Send + Sync> LocalAddresses for F {
    fn is_here(&self, address: IpAddr) -> bool {
        self(address)
    }
}

/// Where Mainstay itself listens.
#[derive(Clone)]
pub struct OwnDoor {
    port: u16,
    local: Arc<dyn LocalAddresses>,
}

impl OwnDoor {
    /// Mainstay listens on this port of this host.
    #[must_use]
    pub fn new(port: u16) -> Self {
        Self::at(port, Arc::new(BoundAddresses))
    }

    /// As [`OwnDoor::new`], with somebody else who knows this host's addresses.
    #[must_use]
    pub fn at(port: u16, local: Arc<dyn LocalAddresses>) -> Self {
        Self { port, local }
    }

    /// Whether a call would come in at this door, and ask for more than Mainstay's health.
    #[must_use]
    pub fn refuses(&self, address: IpAddr, port: u16, path: &str) -> bool {
        let is_here = || address.is_loopback() || self.local.is_here(address);
        port == self.port && path != OWN_HEALTH && is_here()
    }
}

impl fmt::Debug for OwnDoor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("OwnDoor").field("port", &self.port).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_knows_its_own_addresses() {
        assert!(BoundAddresses.is_here("127.0.0.1".parse().unwrap()));
        assert!(BoundAddresses.is_here("127.1.2.3".parse().unwrap()));
        assert!(!BoundAddresses.is_here("192.0.2.1".parse().unwrap()));
    }
}
