//! What an address is, whatever it is wrapped in.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::cidr::Cidr;

/// How far an address may be called. The words finish "it leads to …".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// By everybody.
    Public,
    /// Only where the operator says so.
    Inner(&'static str),
    /// Never.
    Never(&'static str),
}

/// The most ways in which one address can be read.
const MAX_READINGS: usize = 6;

const METADATA: Reach = Reach::Never("the metadata service of a cloud");
const LINK_LOCAL: Reach = Reach::Never("a link-local address");
const MULTICAST: Reach = Reach::Never("a multicast address");
const UNSPECIFIED: Reach = Reach::Never("an unspecified address");
const BROADCAST: Reach = Reach::Never("a broadcast address");
const TUNNEL: Reach = Reach::Never("a Teredo tunnel");
const LOOPBACK: Reach = Reach::Inner("a loopback address");
const PRIVATE: Reach = Reach::Inner("a private address");
const RESERVED: Reach = Reach::Inner("a reserved address");

/// The first network that holds an address says what it is.
const V4: &[(Cidr, Reach)] = &[
    (Cidr::v4([169, 254, 169, 254], 32), METADATA),
    (Cidr::v4([100, 100, 100, 200], 32), METADATA),
    (Cidr::v4([168, 63, 129, 16], 32), METADATA),
    (Cidr::v4([192, 0, 0, 192], 32), METADATA),
    (Cidr::v4([0, 0, 0, 0], 8), UNSPECIFIED),
    (Cidr::v4([169, 254, 0, 0], 16), LINK_LOCAL),
    (Cidr::v4([224, 0, 0, 0], 4), MULTICAST),
    (Cidr::v4([255, 255, 255, 255], 32), BROADCAST),
    (Cidr::v4([127, 0, 0, 0], 8), LOOPBACK),
    (Cidr::v4([10, 0, 0, 0], 8), PRIVATE),
    (Cidr::v4([172, 16, 0, 0], 12), PRIVATE),
    (Cidr::v4([192, 168, 0, 0], 16), PRIVATE),
    (Cidr::v4([100, 64, 0, 0], 10), Reach::Inner("an address behind carrier-grade NAT")),
    (Cidr::v4([192, 0, 0, 0], 24), RESERVED),
    (Cidr::v4([192, 0, 2, 0], 24), RESERVED),
    (Cidr::v4([192, 88, 99, 0], 24), RESERVED),
    (Cidr::v4([198, 18, 0, 0], 15), RESERVED),
    (Cidr::v4([198, 51, 100, 0], 24), RESERVED),
    (Cidr::v4([203, 0, 113, 0], 24), RESERVED),
    (Cidr::v4([240, 0, 0, 0], 4), RESERVED),
];

/// As for IPv4. What no line names lies outside of what is given out to the world.
const V6: &[(Cidr, Reach)] = &[
    (Cidr::v6([0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254], 128), METADATA),
    (Cidr::v6([0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254], 128), METADATA),
    (Cidr::v6([0xfd00, 0xc1, 0, 0, 0, 0, 0xa9fe, 0xa9fe], 128), METADATA),
    (Cidr::v6([0; 8], 128), UNSPECIFIED),
    (Cidr::v6([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10), LINK_LOCAL),
    (Cidr::v6([0xff00, 0, 0, 0, 0, 0, 0, 0], 8), MULTICAST),
    (Cidr::v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 32), TUNNEL),
    (Cidr::v6([0, 0, 0, 0, 0, 0, 0, 1], 128), LOOPBACK),
    (Cidr::v6([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7), PRIVATE),
    (Cidr::v6([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10), PRIVATE),
    (NAT64_LOCAL, PRIVATE),
    (Cidr::v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 23), RESERVED),
    (Cidr::v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32), RESERVED),
    (Cidr::v6([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20), RESERVED),
    (NAT64, Reach::Public),
    (Cidr::v6([0x2000, 0, 0, 0, 0, 0, 0, 0], 3), Reach::Public),
];

const NAT64: Cidr = Cidr::v6([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96);
const NAT64_LOCAL: Cidr = Cidr::v6([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48);
const SIX_TO_FOUR: Cidr = Cidr::v6([0x2002, 0, 0, 0, 0, 0, 0, 0], 16);
const COMPATIBLE: Cidr = Cidr::v6([0; 8], 96);
const TRANSLATED: Cidr = Cidr::v6([0, 0, 0, 0, 0xffff, 0, 0, 0], 96);

/// What this address is, taken by itself.
#[must_use]
pub fn reach(address: IpAddr) -> Reach {
    let (table, otherwise) = match address {
        IpAddr::V4(_) => (V4, Reach::Public),
        IpAddr::V6(_) => (V6, RESERVED),
    };
    let found = table.iter().find(|(network, _)| network.contains(address));
    found.map_or(otherwise, |(_, reach)| *reach)
}

/// Every address that a packet to this one may end at: itself, and the IPv4 addresses that it may
/// wrap. A mapped address is nothing but what it wraps.
pub fn readings(address: IpAddr) -> impl Iterator<Item = IpAddr> {
    let mut found = [None; MAX_READINGS];
    let mut free = found.iter_mut();
    let mut add = |reading: IpAddr| {
        if let Some(slot) = free.next() {
            *slot = Some(reading);
        }
    };
    match address {
        IpAddr::V4(_) => add(address),
        IpAddr::V6(six) => match six.to_ipv4_mapped() {
            Some(four) => add(IpAddr::V4(four)),
            None => {
                add(address);
                wrapped(six, |four| add(IpAddr::V4(four)));
            }
        },
    }
    found.into_iter().flatten()
}

fn wrapped(six: Ipv6Addr, mut add: impl FnMut(Ipv4Addr)) {
    let whole = IpAddr::V6(six);
    let [.., f, g, a, b, c, d] = six.octets();
    let last = Ipv4Addr::new(a, b, c, d);
    // `::` and `::1` are themselves.
    let is_compatible = COMPATIBLE.contains(whole) && last.to_bits() > 1;
    // ISATAP writes 5efe and the IPv4 address into the interface part below any prefix.
    let is_isatap = [f, g] == [0x5e, 0xfe];
    if NAT64.contains(whole) || TRANSLATED.contains(whole) || is_compatible || is_isatap {
        add(last);
    }
    if SIX_TO_FOUR.contains(whole) {
        let [_, _, a, b, c, d, ..] = six.octets();
        add(Ipv4Addr::new(a, b, c, d));
    }
    if NAT64_LOCAL.contains(whole) {
        add(last);
        shorter_prefixes(six).into_iter().filter(|four| !is_filler(*four)).for_each(add);
    }
}

/// Where RFC 6052 puts the IPv4 address behind a prefix of 48, 56 or 64 bits: nobody but the network
/// knows which one it uses.
fn shorter_prefixes(six: Ipv6Addr) -> [Ipv4Addr; 3] {
    let [_, _, _, _, _, _, b6, b7, _, b9, b10, b11, b12, ..] = six.octets();
    [
        Ipv4Addr::new(b6, b7, b9, b10),
        Ipv4Addr::new(b7, b9, b10, b11),
        Ipv4Addr::new(b9, b10, b11, b12),
    ]
}

/// Zeros in front are what a longer prefix leaves there.
const fn is_filler(four: Ipv4Addr) -> bool {
    let [first, ..] = four.octets();
    first == 0
}

#[cfg(test)]
#[path = "address_tests.rs"]
mod tests;
