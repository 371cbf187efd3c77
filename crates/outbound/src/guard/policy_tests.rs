use std::sync::Arc;

use proptest::prelude::*;
use url::{Host, Url};

use super::*;

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn open(private: bool, allow: &[&str]) -> Policy {
    Policy { private, allow: AllowList::parse(allow).unwrap(), own: None }
}

fn judge(policy: &Policy, host: &str, address: &str) -> Result<(), Blocked> {
    policy.judge(host, ip(address), 80, "/")
}

#[test]
fn public_addresses_pass_everywhere() {
    for policy in [open(false, &[]), open(true, &[]), open(false, &["10.0.0.0/8"])] {
        assert_eq!(judge(&policy, "example.com", "93.184.215.14"), Ok(()));
        assert_eq!(judge(&policy, "example.com", "2606:4700::1"), Ok(()));
    }
}

#[test]
fn inner_addresses_pass_when_alone_or_listed() {
    let closed = open(false, &[]);
    for address in ["127.0.0.1", "10.1.2.3", "::1", "fd00::1", "::ffff:10.1.2.3", "100.64.0.1"] {
        assert!(matches!(judge(&closed, "db", address), Err(Blocked::Inner(_))), "{address}");
        assert_eq!(judge(&open(true, &[]), "db", address), Ok(()), "{address}");
        assert_eq!(judge(&open(false, &["db"]), "db", address), Ok(()), "{address}");
    }
    let listed = open(false, &["10.0.0.0/8", "*.internal"]);
    assert_eq!(judge(&listed, "db", "10.1.2.3"), Ok(()));
    assert_eq!(judge(&listed, "db", "::ffff:10.1.2.3"), Ok(()));
    assert_eq!(judge(&listed, "db", "64:ff9b::10.1.2.3"), Ok(()));
    assert_eq!(judge(&listed, "db.internal.", "192.168.1.1"), Ok(()));
    assert!(judge(&listed, "db", "192.168.1.1").is_err());
    assert!(judge(&listed, "internal.example", "192.168.1.1").is_err());
}

#[test]
fn what_is_never_called_passes_for_nobody() {
    let everything = open(true, &["0.0.0.0/0", "::/0", "meta", "*.internal"]);
    for address in [
        "169.254.169.254",
        "::ffff:169.254.169.254",
        "64:ff9b::a9fe:a9fe",
        "fe80::1",
        "ff02::1",
        "0.0.0.0",
        "::",
        "255.255.255.255",
        "224.0.0.1",
        "fd00:ec2::254",
        "100.100.100.200",
        "2001:0:1::1",
    ] {
        for host in ["meta", "meta.internal", address] {
            let judged = judge(&everything, host, address);
            assert!(matches!(judged, Err(Blocked::Never(_))), "{address}");
        }
    }
}

#[test]
fn the_own_port_is_refused_but_for_its_health() {
    let local = |address: IpAddr| address == ip("203.0.114.7") || address == ip("192.168.1.2");
    let own = Some(OwnDoor::at(7373, Arc::new(local)));
    let policy = Policy { own, ..open(true, &["0.0.0.0/0", "me"]) };
    for address in
        ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "203.0.114.7", "192.168.1.2"]
    {
        for path in ["/", "/api/services", "/health/", "/healthz", "/Health", "//health"] {
            assert_eq!(
                policy.judge("me", ip(address), 7373, path),
                Err(Blocked::OwnDoor),
                "{path}"
            );
        }
        assert_eq!(policy.judge("me", ip(address), 7373, "/health"), Ok(()), "{address}");
        assert_eq!(policy.judge("me", ip(address), 7374, "/"), Ok(()), "{address}");
    }
    assert_eq!(policy.judge("other", ip("192.168.1.3"), 7373, "/"), Ok(()));
}

#[test]
fn every_refusal_names_the_setting_and_no_address() {
    let policy = Policy { own: Some(OwnDoor::new(7373)), ..open(false, &["127.0.0.0/8"]) };
    for (address, port) in [("10.1.2.3", 80), ("169.254.169.254", 80), ("127.0.0.1", 7373)] {
        let told = policy.judge("db", ip(address), port, "/").unwrap_err().to_string();
        assert!(told.contains("outbound.allow") && !told.contains(address), "{told}");
    }
}

#[test]
fn every_spelling_of_a_literal_is_the_address_it_is() {
    let policy = open(false, &[]);
    for url in [
        "http://127.0.0.1/",
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0177.0.0.1/",
        "http://127.1/",
        "http://127.0.0.1./",
        "http://0x7f.0.0.0x1:8080/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::127.0.0.1]/",
        "http://user:pass@127.0.0.1/",
        "http://example.com@127.0.0.1/",
        "http://①②⑦.0.0.1/",
        "http://127。0。0。1/",
        "http:\\\\127.0.0.1\\",
        "http://0/",
        "http://[::]/",
        "http://3232235777/",
    ] {
        let url = Url::parse(url).unwrap();
        let address = match url.host().unwrap() {
            Host::Ipv4(four) => IpAddr::V4(four),
            Host::Ipv6(six) => IpAddr::V6(six),
            Host::Domain(name) => panic!("{url} is taken for the name {name}"),
        };
        let judged = policy.judge(url.host_str().unwrap(), address, 80, url.path());
        assert!(judged.is_err(), "{url}");
    }
}

proptest! {
    #[test]
    fn what_is_let_pass_stays_within_what_is_listed(bits: u32, host in "[a-z]{1,8}") {
        let address = IpAddr::V4(std::net::Ipv4Addr::from_bits(bits));
        let listed = open(false, &["10.0.0.0/8"]);
        let in_list = bits >> 24 == 10;
        if judge(&open(false, &[]), &host, &address.to_string()).is_err() && !in_list {
            prop_assert!(listed.judge(&host, address, 80, "/").is_err());
        }
    }
}
