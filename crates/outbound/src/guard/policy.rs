//! The judgement.

use std::net::IpAddr;

use super::address::{Reach, reach, readings};
use super::allow::AllowList;
use super::own::OwnDoor;

/// What may be called.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    /// Whether inner addresses (private, loopback, reserved) may be called at all: they may while
    /// Mainstay serves this host alone.
    pub private: bool,
    /// What may be called beside public addresses.
    pub allow: AllowList,
    /// Where Mainstay itself listens.
    pub own: Option<OwnDoor>,
}

/// Why an address is not called. The texts name neither the address nor what the list holds: they
/// are shown to whoever named the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Blocked {
    /// Nobody let it pass.
    #[error("it leads to {0}, which is not called unless outbound.allow lists its host or network")]
    Inner(&'static str),
    /// Nobody can let it pass.
    #[error(
        "it leads to {0}, which is never called, not even when outbound.allow lists it; give another address"
    )]
    Never(&'static str),
    /// Mainstay itself.
    #[error(
        "it leads to Mainstay's own port, where only /health may be watched, whatever outbound.allow lists"
    )]
    OwnDoor,
}

impl Policy {
    /// Whether a call for `host` may go to this address. Every address that a name resolves to is
    /// judged, and again with each redirect.
    ///
    /// # Errors
    /// [`Blocked`] says why not, in words for whoever named the host.
    pub fn judge(&self, host: &str, address: IpAddr, port: u16, path: &str) -> Result<(), Blocked> {
        for reading in readings(address) {
            match reach(reading) {
                Reach::Public => {}
                Reach::Never(what) => return Err(Blocked::Never(what)),
                Reach::Inner(what) if !self.passes(host, reading) => {
                    return Err(Blocked::Inner(what));
                }
                Reach::Inner(_) => {}
            }
            if self.own.as_ref().is_some_and(|door| door.refuses(reading, port, path)) {
                return Err(Blocked::OwnDoor);
            }
        }
        Ok(())
    }

    fn passes(&self, host: &str, address: IpAddr) -> bool {
        self.private || self.allow.holds(address) || self.allow.names(host)
    }
}

#[cfg(test)]
#[path = "policy_tests.rs"]
mod tests;
