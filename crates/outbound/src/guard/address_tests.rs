use super::*;
use proptest::prelude::*;

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap_or_else(|_| panic!("{text}"))
}

fn worst(text: &str) -> Reach {
    let all: Vec<Reach> = readings(ip(text)).map(reach).collect();
    let never = all.iter().find(|reach| matches!(reach, Reach::Never(_)));
    let inner = all.iter().find(|reach| matches!(reach, Reach::Inner(_)));
    never.or(inner).copied().unwrap_or(Reach::Public)
}

#[test]
fn what_is_never_called_is_known_in_every_range() {
    for (text, reach) in [
        ("169.254.169.254", METADATA),
        ("100.100.100.200", METADATA),
        ("168.63.129.16", METADATA),
        ("192.0.0.192", METADATA),
        ("fd00:ec2::254", METADATA),
        ("fd20:ce::254", METADATA),
        ("fd00:c1::a9fe:a9fe", METADATA),
        ("169.254.0.0", LINK_LOCAL),
        ("169.254.255.255", LINK_LOCAL),
        ("169.254.170.2", LINK_LOCAL),
        ("fe80::1", LINK_LOCAL),
        ("febf:ffff::1", LINK_LOCAL),
        ("0.0.0.0", UNSPECIFIED),
        ("0.255.255.255", UNSPECIFIED),
        ("::", UNSPECIFIED),
        ("224.0.0.1", MULTICAST),
        ("239.255.255.255", MULTICAST),
        ("ff02::1", MULTICAST),
        ("255.255.255.255", BROADCAST),
        ("2001:0:4136:e378:8000:63bf:3fff:fdd2", TUNNEL),
    ] {
        assert_eq!(worst(text), reach, "{text}");
    }
}

#[test]
fn what_is_called_only_where_the_operator_says_so_is_known() {
    for (text, reach) in [
        ("127.0.0.1", LOOPBACK),
        ("127.255.255.255", LOOPBACK),
        ("::1", LOOPBACK),
        ("10.0.0.0", PRIVATE),
        ("10.255.255.255", PRIVATE),
        ("172.16.0.0", PRIVATE),
        ("172.31.255.255", PRIVATE),
        ("192.168.0.1", PRIVATE),
        ("fc00::1", PRIVATE),
        ("fdff::1", PRIVATE),
        ("fec0::1", PRIVATE),
        ("64:ff9b:1::8.8.8.8", PRIVATE),
        ("100.64.0.0", Reach::Inner("an address behind carrier-grade NAT")),
        ("100.127.255.255", Reach::Inner("an address behind carrier-grade NAT")),
        ("192.0.0.1", RESERVED),
        ("192.0.2.1", RESERVED),
        ("192.88.99.1", RESERVED),
        ("198.18.0.0", RESERVED),
        ("198.19.255.255", RESERVED),
        ("198.51.100.7", RESERVED),
        ("203.0.113.7", RESERVED),
        ("240.0.0.1", RESERVED),
        ("255.255.255.254", RESERVED),
        ("2001:2::1", RESERVED),
        ("2001:db8::1", RESERVED),
        ("3fff::1", RESERVED),
        ("100::1", RESERVED),
        ("5f00::1", RESERVED),
        ("4000::1", RESERVED),
        ("::8.8.8.8", RESERVED),
    ] {
        assert_eq!(worst(text), reach, "{text}");
    }
}

#[test]
fn what_the_world_may_call_is_public_also_beside_a_range() {
    for text in [
        "1.1.1.1",
        "8.8.8.8",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.0",
        "169.253.255.255",
        "169.255.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "192.0.1.0",
        "192.167.255.255",
        "192.169.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "223.255.255.255",
        "2606:4700:4700::1111",
        "2001:200::1",
        "2a00:1450::5",
        "3ffe:ffff::1",
        "::ffff:8.8.8.8",
        "64:ff9b::8.8.8.8",
        "2002:808:808::1",
    ] {
        assert_eq!(worst(text), Reach::Public, "{text}");
    }
}

#[test]
fn what_wraps_an_address_is_what_it_wraps() {
    for text in [
        "::ffff:169.254.169.254",
        "::ffff:a9fe:a9fe",
        "::169.254.169.254",
        "::ffff:0:169.254.169.254",
        "64:ff9b::169.254.169.254",
        "64:ff9b:1::169.254.169.254",
        "64:ff9b:1:a9fe:a9:fe00::",
        "64:ff9b:1:a9:fe:a9fe::",
        "64:ff9b:1:0:a9:fea9:fe00:0",
        "2002:a9fe:a9fe::1",
        "2606:4700::5efe:169.254.169.254",
        "2606:4700::200:5efe:169.254.169.254",
    ] {
        assert!(matches!(worst(text), Reach::Never(_)), "{text}: {:?}", worst(text));
    }
    for text in ["::ffff:10.1.2.3", "::7f00:1", "64:ff9b::127.0.0.1", "2002:c0a8:101::1"] {
        assert!(matches!(worst(text), Reach::Inner(_)), "{text}: {:?}", worst(text));
    }
}

/// Every way to write an IPv4 address into an IPv6 one.
fn forms(four: Ipv4Addr) -> Vec<Ipv6Addr> {
    let bits = u128::from(four.to_bits());
    let [a, b, c, d] = four.octets().map(u128::from);
    let local = 0x0064_ff9b_0001_u128 << 80;
    vec![
        Ipv6Addr::from_bits(bits),
        Ipv6Addr::from_bits((0xffff << 32) | bits),
        Ipv6Addr::from_bits((0xffff << 48) | bits),
        Ipv6Addr::from_bits((0x0064_ff9b << 96) | bits),
        Ipv6Addr::from_bits(local | bits),
        Ipv6Addr::from_bits(local | (a << 72) | (b << 64) | (c << 48) | (d << 40)),
        Ipv6Addr::from_bits(local | (a << 64) | (b << 48) | (c << 40) | (d << 32)),
        Ipv6Addr::from_bits(local | (a << 48) | (b << 40) | (c << 32) | (d << 24)),
        Ipv6Addr::from_bits((0x2002 << 112) | (bits << 80) | 1),
        Ipv6Addr::from_bits((0x2606_4700 << 96) | (0x5efe << 32) | bits),
        Ipv6Addr::from_bits((0x2606_4700 << 96) | (0x0200_5efe << 32) | bits),
    ]
}

fn forbidden() -> impl Strategy<Value = Ipv4Addr> {
    prop_oneof![
        any::<u16>().prop_map(|low| Ipv4Addr::from_bits(0xa9fe_0000 | u32::from(low))),
        any::<u32>().prop_map(|low| Ipv4Addr::from_bits(0xe000_0000 | (low >> 4))),
        Just(Ipv4Addr::new(100, 100, 100, 200)),
        Just(Ipv4Addr::new(192, 0, 0, 192)),
        Just(Ipv4Addr::BROADCAST),
    ]
}

proptest! {
    #[test]
    fn no_form_hides_an_address_that_is_never_called(four in forbidden()) {
        for form in forms(four) {
            let never = readings(IpAddr::V6(form)).any(|one| matches!(reach(one), Reach::Never(_)));
            prop_assert!(never, "{form} hides {four}");
        }
    }

    #[test]
    fn no_form_hides_an_address_of_the_inner_network(low: u32, range in 0_usize..3) {
        let four = match range {
            0 => Ipv4Addr::from_bits(0x0a00_0000 | (low >> 8)),
            1 => Ipv4Addr::from_bits(0x7f00_0000 | (low >> 8)),
            _ => Ipv4Addr::from_bits(0xc0a8_0000 | (low >> 16)),
        };
        for form in forms(four) {
            let public = readings(IpAddr::V6(form)).all(|one| reach(one) == Reach::Public);
            prop_assert!(!public, "{form} hides {four}");
        }
    }

    #[test]
    fn every_address_has_a_reading(bits: u128) {
        let all: Vec<IpAddr> = readings(IpAddr::V6(Ipv6Addr::from_bits(bits))).collect();
        prop_assert!((1..=MAX_READINGS).contains(&all.len()));
    }
}
