//! A network of addresses in CIDR notation.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// All addresses that share the first `prefix` bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    prefix: u8,
}

/// A text that is no network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NetworkError {
    /// Something else.
    #[error("which is neither an address nor a network; give one such as 10.0.0.0/8")]
    NotANetwork,
    /// An address inside the network, where the network's own was meant.
    #[error("which is an address inside a network; did you mean {0}?")]
    HostBits(Network),
}

impl Network {
    /// The network of one address.
    #[must_use]
    pub fn single(address: IpAddr) -> Self {
        Self { address, prefix: width(address) }
    }

    /// Whether the address is in it. An IPv4 address inside IPv6 counts as itself.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        width(address) == width(self.address) && masked(address, self.prefix) == self.address
    }

    /// The first address.
    #[must_use]
    pub fn address(&self) -> IpAddr {
        self.address
    }

    /// How many leading bits are shared.
    #[must_use]
    pub fn prefix(&self) -> u8 {
        self.prefix
    }
}

impl FromStr for Network {
    type Err = NetworkError;

    fn from_str(text: &str) -> Result<Self, NetworkError> {
        let (address, prefix) = text.split_once('/').ok_or(NetworkError::NotANetwork)?;
        let address: IpAddr = address.parse().map_err(|_| NetworkError::NotANetwork)?;
        let is_number = prefix.bytes().all(|byte| byte.is_ascii_digit());
        let prefix = prefix.parse().ok().filter(|prefix| is_number && *prefix <= width(address));
        let prefix = prefix.ok_or(NetworkError::NotANetwork)?;
        let network = Self { address: masked(address, prefix), prefix };
        if network.address == address { Ok(network) } else { Err(NetworkError::HostBits(network)) }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.address, self.prefix)
    }
}

fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn masked(address: IpAddr, prefix: u8) -> IpAddr {
    let dropped = u32::from(width(address).saturating_sub(prefix));
    match address {
        // Shifting by the whole width is no shift at all, so it is asked for and answered with 0.
        IpAddr::V4(address) => {
            Ipv4Addr::from_bits(address.to_bits() & u32::MAX.checked_shl(dropped).unwrap_or(0))
                .into()
        }
        IpAddr::V6(address) => {
            Ipv6Addr::from_bits(address.to_bits() & u128::MAX.checked_shl(dropped).unwrap_or(0))
                .into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_in_the_networks_that_share_its_first_bits() {
        for (network, address, expected) in [
            ("10.0.0.0/8", "10.255.0.1", true),
            ("10.0.0.0/8", "11.0.0.1", false),
            ("10.0.0.0/8", "::ffff:10.1.2.3", true),
            ("0.0.0.0/0", "203.0.113.9", true),
            ("0.0.0.0/0", "::1", false),
            ("192.168.1.128/25", "192.168.1.127", false),
            ("fd00::/8", "fd12::1", true),
            ("fd00::/8", "fe80::1", false),
            ("::/0", "2001:db8::1", true),
            ("127.0.0.1/32", "127.0.0.1", true),
        ] {
            let parsed: Network = network.parse().unwrap();
            assert_eq!(parsed.contains(address.parse().unwrap()), expected, "{network} {address}");
            assert_eq!(parsed.to_string(), network);
        }
    }

    #[test]
    fn what_is_no_network_is_refused() {
        for text in
            ["", "/", "10.0.0.0", "10.0.0.0/33", "::/129", "10.0.0.0/+8", "10.0.0.0/", "a/8"]
        {
            assert_eq!(text.parse::<Network>(), Err(NetworkError::NotANetwork), "{text}");
        }
        let error = "10.1.2.3/8".parse::<Network>().unwrap_err();
        assert!(error.to_string().contains("did you mean 10.0.0.0/8?"), "{error}");
    }

    #[test]
    fn a_single_address_is_its_own_network() {
        let network = Network::single("::1".parse().unwrap());
        assert_eq!((network.address().to_string().as_str(), network.prefix()), ("::1", 128));
        assert!(network.contains("::1".parse().unwrap()));
        assert!(!network.contains("::2".parse().unwrap()));
    }
}
