//! A network: an address and how many of its bits count.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A network such as `10.0.0.0/8` or `fd00::/8`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cidr {
    address: IpAddr,
    prefix: u8,
}

impl Cidr {
    /// An IPv4 network. Bits beyond the prefix do not count.
    #[must_use]
    pub const fn v4(octets: [u8; 4], prefix: u8) -> Self {
        let [a, b, c, d] = octets;
        Self { address: IpAddr::V4(Ipv4Addr::new(a, b, c, d)), prefix }
    }

    /// An IPv6 network. Bits beyond the prefix do not count.
    #[must_use]
    pub const fn v6(segments: [u16; 8], prefix: u8) -> Self {
        let [a, b, c, d, e, f, g, h] = segments;
        Self { address: IpAddr::V6(Ipv6Addr::new(a, b, c, d, e, f, g, h)), prefix }
    }

    /// The network of this address alone.
    #[must_use]
    pub const fn of(address: IpAddr) -> Self {
        Self { address, prefix: bits(address) }
    }

    /// The network of an address and a prefix, or nothing when the address has no such prefix.
    #[must_use]
    pub const fn new(address: IpAddr, prefix: u8) -> Option<Self> {
        if prefix <= bits(address) { Some(Self { address, prefix }) } else { None }
    }

    /// Whether the address lies in this network. One of the other family never does.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                let beyond = 32_u32.saturating_sub(u32::from(self.prefix));
                (own.to_bits() ^ other.to_bits()).checked_shr(beyond).unwrap_or(0) == 0
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                let beyond = 128_u32.saturating_sub(u32::from(self.prefix));
                (own.to_bits() ^ other.to_bits()).checked_shr(beyond).unwrap_or(0) == 0
            }
            _ => false,
        }
    }

    /// The same network with nothing but zeros beyond its prefix.
    #[must_use]
    pub fn truncated(&self) -> Self {
        let address = match self.address {
            IpAddr::V4(own) => {
                let beyond = 32_u32.saturating_sub(u32::from(self.prefix));
                let mask = u32::MAX.checked_shl(beyond).unwrap_or(0);
                IpAddr::V4(Ipv4Addr::from_bits(own.to_bits() & mask))
            }
            IpAddr::V6(own) => {
                let beyond = 128_u32.saturating_sub(u32::from(self.prefix));
                let mask = u128::MAX.checked_shl(beyond).unwrap_or(0);
                IpAddr::V6(Ipv6Addr::from_bits(own.to_bits() & mask))
            }
        };
        Self { address, prefix: self.prefix }
    }

    /// The address it was made of.
    #[must_use]
    pub const fn address(&self) -> IpAddr {
        self.address
    }
}

impl fmt::Display for Cidr {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.address, self.prefix)
    }
}

const fn bits(address: IpAddr) -> u8 {
    match address {
        IpAddr::V4(_) => 32,
        IpAddr::V6(_) => 128,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn a_network_holds_its_own_and_no_other() {
        for (network, inside, outside) in [
            (Cidr::v4([10, 0, 0, 0], 8), "10.255.255.255", "11.0.0.0"),
            (Cidr::v4([172, 16, 0, 0], 12), "172.31.255.255", "172.32.0.0"),
            (Cidr::v4([0; 4], 0), "255.255.255.255", "::"),
            (Cidr::of(ip("1.2.3.4")), "1.2.3.4", "1.2.3.5"),
            (Cidr::v6([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7), "fdff::1", "fe00::"),
            (Cidr::v6([0; 8], 0), "ffff::1", "0.0.0.0"),
            (Cidr::of(ip("::1")), "::1", "::2"),
        ] {
            assert!(network.contains(ip(inside)), "{network} {inside}");
            assert!(!network.contains(ip(outside)), "{network} {outside}");
        }
    }

    #[test]
    fn a_prefix_fits_its_family() {
        assert_eq!(Cidr::new(ip("10.0.0.0"), 33), None);
        assert_eq!(Cidr::new(ip("::"), 129), None);
        assert!(Cidr::new(ip("::"), 128).is_some());
    }

    proptest! {
        #[test]
        fn a_network_holds_what_shares_its_prefix(bits: u128, other: u128, prefix in 0_u8..=128) {
            let network = Cidr::new(IpAddr::V6(Ipv6Addr::from_bits(bits)), prefix).unwrap();
            let ends_alike = (0..prefix).all(|at| (bits >> (127 - at)) & 1 == (other >> (127 - at)) & 1);
            prop_assert_eq!(network.contains(IpAddr::V6(Ipv6Addr::from_bits(other))), ends_alike);
            prop_assert!(network.contains(network.truncated().address()));
        }
    }
}
