//! What one host is called, however a URL spells it.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

// The address type alone, which opens nothing.
use core::net::Ipv6Addr;

/// The longest hostname that DNS knows, in bytes.
pub const MAX_HOST_BYTES: usize = 253;

/// Characters that no hostname holds: what has one is more than a hostname, or none.
const FORBIDDEN: &str = "#%/:<>?@[\\]^|";

/// The lower-case hostname without its port: the key under which a host's slots are counted.
///
/// `Example.org:8443` and `example.org.` are one host; `[2001:DB8::1]:80` and `2001:db8:0::1` are
/// one too. It is meant for the hostname of a parsed URL, which is in ASCII and has its IPv4
/// addresses written in one way.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostKey(Arc<str>);

/// A text that is no hostname.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HostKeyError {
    /// Nothing before the port, or nothing between two dots.
    #[error("the hostname, or a part between its dots, is empty; give one such as example.org")]
    Empty,
    /// Longer than any hostname.
    #[error("the hostname is longer than {MAX_HOST_BYTES} bytes; no host is called so")]
    TooLong,
    /// A character that no hostname holds.
    #[error("{found:?} can't stand in a hostname; give the host alone, in ASCII, without a path")]
    Character {
        /// The first such character.
        found: char,
    },
    /// Brackets or colons around what is no address.
    #[error("this is no IPv6 address; give one such as [2001:db8::1]")]
    Address,
    /// Something else where the port would be.
    #[error("what follows the colon is no port; give the host alone, or a port up to 65535")]
    Port,
}

impl HostKey {
    /// The key itself.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for HostKey {
    type Err = HostKeyError;

    fn from_str(hostname: &str) -> Result<Self, HostKeyError> {
        if let Some(bracketed) = hostname.strip_prefix('[') {
            let (inside, rest) = bracketed.split_once(']').ok_or(HostKeyError::Address)?;
            check_port(rest)?;
            return address(inside);
        }
        match hostname.split_once(':') {
            // A second colon: an address without its brackets.
            Some((_, after)) if after.contains(':') => address(hostname),
            Some((name, _)) => {
                check_port(hostname.strip_prefix(name).unwrap_or_default())?;
                named(name)
            }
            None => named(hostname),
        }
    }
}

impl fmt::Display for HostKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

fn address(text: &str) -> Result<HostKey, HostKeyError> {
    let address: Ipv6Addr = text.parse().map_err(|_| HostKeyError::Address)?;
    Ok(HostKey(address.to_string().into()))
}

fn named(text: &str) -> Result<HostKey, HostKeyError> {
    // The dot at the end says that the name is whole; it is the same host.
    let name = text.strip_suffix('.').unwrap_or(text);
    if name.split('.').any(str::is_empty) {
        return Err(HostKeyError::Empty);
    }
    if name.len() > MAX_HOST_BYTES {
        return Err(HostKeyError::TooLong);
    }
    let stranger = |&found: &char| !found.is_ascii_graphic() || FORBIDDEN.contains(found);
    match name.chars().find(stranger) {
        Some(found) => Err(HostKeyError::Character { found }),
        None => Ok(HostKey(name.to_ascii_lowercase().into())),
    }
}

/// `rest` is nothing, or a colon and the digits of a port, which may be none.
fn check_port(rest: &str) -> Result<(), HostKeyError> {
    if rest.is_empty() {
        return Ok(());
    }
    match rest.strip_prefix(':') {
        Some(port) if port.is_empty() || is_port(port) => Ok(()),
        _ => Err(HostKeyError::Port),
    }
}

fn is_port(text: &str) -> bool {
    // Parsing alone would take a sign.
    text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<u16>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key(hostname: &str) -> Result<String, HostKeyError> {
        hostname.parse::<HostKey>().map(|key| key.to_string())
    }

    #[test]
    fn one_host_has_one_key_however_it_is_spelled() {
        for (hostname, expected) in [
            ("example.org", "example.org"),
            ("Example.ORG", "example.org"),
            ("example.org.", "example.org"),
            ("example.org:8443", "example.org"),
            ("EXAMPLE.org.:80", "example.org"),
            ("example.org:", "example.org"),
            ("example.org:65535", "example.org"),
            ("example.org:000443", "example.org"),
            ("localhost", "localhost"),
            ("my_service.internal", "my_service.internal"),
            ("xn--bcher-kva.example", "xn--bcher-kva.example"),
            ("127.0.0.1:9090", "127.0.0.1"),
            ("[::1]", "::1"),
            ("[::1]:8080", "::1"),
            ("::1", "::1"),
            ("2001:DB8:0:0::1", "2001:db8::1"),
            ("[2001:0db8::0001]:443", "2001:db8::1"),
        ] {
            assert_eq!(key(hostname), Ok(expected.to_owned()), "{hostname}");
        }
    }

    #[test]
    fn what_is_no_hostname_is_refused_with_the_reason() {
        let character = |found| HostKeyError::Character { found };
        for (hostname, reason) in [
            ("", HostKeyError::Empty),
            (".", HostKeyError::Empty),
            (":80", HostKeyError::Empty),
            ("..", HostKeyError::Empty),
            (".example.org", HostKeyError::Empty),
            ("example..org", HostKeyError::Empty),
            ("example.org..", HostKeyError::Empty),
            ("example.org/health", character('/')),
            ("user@example.org", character('@')),
            ("exa mple.org", character(' ')),
            ("example.org\n", character('\n')),
            ("exa%6dple.org", character('%')),
            ("bücher.example", character('ü')),
            ("https://example.org", HostKeyError::Port),
            ("example.org:http", HostKeyError::Port),
            ("example.org:+80", HostKeyError::Port),
            ("[::1]8080", HostKeyError::Port),
            ("example.org:65536", HostKeyError::Port),
            ("example.org:999999999999", HostKeyError::Port),
            ("[::1]:65536", HostKeyError::Port),
            ("[::1", HostKeyError::Address),
            ("[example.org]", HostKeyError::Address),
            ("a:b:c", HostKeyError::Address),
            ("[fe80::1%eth0]", HostKeyError::Address),
        ] {
            assert_eq!(key(hostname), Err(reason), "{hostname}");
        }
    }

    #[test]
    fn a_hostname_has_a_longest() {
        let longest = "a".repeat(MAX_HOST_BYTES);
        assert_eq!(key(&longest).as_deref(), Ok(longest.as_str()));
        assert_eq!(key(&format!("{longest}.:80")).as_deref(), Ok(longest.as_str()));
        assert_eq!(key(&format!("{longest}a")), Err(HostKeyError::TooLong));
    }

    proptest! {
        #[test]
        fn a_key_is_its_own_key(hostname in ".{0,40}|[a-zA-Z0-9.:\\[\\]-]{0,40}") {
            if let Ok(key) = hostname.parse::<HostKey>() {
                prop_assert!(!key.as_str().chars().any(|letter| letter.is_ascii_uppercase()));
                prop_assert_eq!(key.as_str().parse(), Ok(key.clone()));
            }
        }

        #[test]
        fn letters_port_and_last_dot_make_no_difference(
            name in "[a-z]([a-z0-9-]{0,10}[.]?[a-z0-9])?",
            port in proptest::option::of(0_u16..),
            dot in any::<bool>(),
        ) {
            let port = port.map_or(String::new(), |port| format!(":{port}"));
            let spelled = format!("{}{}{port}", name.to_uppercase(), if dot { "." } else { "" });
            prop_assert_eq!(key(&spelled), Ok(name));
        }
    }
}
