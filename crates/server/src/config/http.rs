//! The address that Mainstay listens on, and how it is reached from outside.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use url::Url;

use super::address;
use super::network::Network;
use super::problem::Reason;
use super::reader::{Reader, number};
use super::setting::{Fallback, Kind, Setting, parts};

/// The address to listen on.
pub const LISTEN: Setting = Setting {
    key: "http.listen",
    variables: &["MAINSTAY_LISTEN"],
    flag: Some("--listen"),
    kind: Kind::Text,
    fallback: Fallback::Fixed("127.0.0.1:7373"),
    mask: None,
    help: "Address and port to listen on; port 0 takes a free one",
};

/// The site's own address.
pub const PUBLIC_URL: Setting = Setting {
    key: "http.public_url",
    variables: &["MAINSTAY_PUBLIC_URL"],
    flag: Some("--public-url"),
    kind: Kind::Text,
    fallback: Fallback::Unset,
    mask: Some(address::masked),
    help: "Address people use in the browser, such as https://mainstay.example.com",
};

/// The proxies in front of Mainstay.
pub const TRUSTED_PROXIES: Setting = Setting {
    key: "http.trusted_proxies",
    variables: &["MAINSTAY_TRUSTED_PROXIES"],
    flag: None,
    kind: Kind::List,
    fallback: Fallback::Unset,
    mask: None,
    help: "Proxies in front of Mainstay: addresses or networks",
};

/// The bound on open connections.
pub const MAX_CONNECTIONS: Setting = Setting {
    key: "http.max_connections",
    variables: &["MAINSTAY_MAX_CONNECTIONS"],
    flag: None,
    kind: Kind::Integer,
    fallback: Fallback::Fixed("10000"),
    mask: None,
    help: "Most connections that are open at once, 1 to 65535",
};

/// Requests of one client's address in a second.
pub const ADDRESS_RATE: Setting = Setting {
    key: "http.address_rate",
    variables: &["MAINSTAY_ADDRESS_RATE"],
    flag: None,
    kind: Kind::Integer,
    fallback: Fallback::Fixed("100"),
    mask: None,
    help: "Requests that one address may make in a second, over time; 0 sets no limit",
};

/// Requests of one client's address at once.
pub const ADDRESS_BURST: Setting = Setting {
    key: "http.address_burst",
    variables: &["MAINSTAY_ADDRESS_BURST"],
    flag: None,
    kind: Kind::Integer,
    fallback: Fallback::Fixed("1000"),
    mask: None,
    help: "Requests that one address may make at once after a pause; 0 sets no limit",
};

/// The most trusted proxies that can be named.
pub const MAX_TRUSTED_PROXIES: usize = 64;

/// The longest host name there is.
const MAX_HOST_CHARACTERS: usize = 253;

/// How Mainstay is reached.
#[derive(Debug, Clone)]
pub struct HttpConfig {
    /// The address to listen on.
    pub listen: ListenAddress,
    /// The site's origin, without a slash at its end.
    pub public_url: Option<PublicUrl>,
    /// The proxies in front of Mainstay.
    pub trusted_proxies: Vec<Network>,
    /// The most connections that are open at once.
    pub max_connections: u32,
    /// Requests of one address in a second.
    pub address_rate: u32,
    /// Requests of one address at once.
    pub address_burst: u32,
}

/// A host and a port. Printed, it is what a listener binds to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListenAddress {
    /// An address.
    Address(SocketAddr),
    /// A name such as `localhost`, to be resolved when listening starts.
    Name {
        /// The name.
        host: String,
        /// The port; 0 takes a free one.
        port: u16,
    },
}

/// The origin of the site: scheme, host and port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicUrl(String);

impl ListenAddress {
    /// Whether only this machine can reach it.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        match self {
            Self::Address(address) => address.ip().to_canonical().is_loopback(),
            Self::Name { host, .. } => host.eq_ignore_ascii_case("localhost"),
        }
    }

    /// The port; 0 takes a free one.
    #[must_use]
    pub fn port(&self) -> u16 {
        match self {
            Self::Address(address) => address.port(),
            Self::Name { port, .. } => *port,
        }
    }
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(address) => write!(formatter, "{address}"),
            Self::Name { host, port } => write!(formatter, "{host}:{port}"),
        }
    }
}

impl PublicUrl {
    /// The origin: `https://mainstay.example.com`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether browsers reach the site over TLS.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.0.starts_with("https://")
    }
}

/// Reads the HTTP settings.
pub(super) fn read(reader: &mut Reader<'_>) -> Option<HttpConfig> {
    let listen = reader.required(&LISTEN, listen_address);
    let public_url = reader.optional(&PUBLIC_URL, |text| public_origin(text).map(PublicUrl));
    let trusted_proxies = reader.optional(&TRUSTED_PROXIES, networks);
    let max_connections = reader.required(&MAX_CONNECTIONS, |text| number(text, 1..=65_535));
    let address_rate = reader.required(&ADDRESS_RATE, |text| number(text, 0..=1_000_000));
    let address_burst = reader.required(&ADDRESS_BURST, |text| number(text, 0..=1_000_000));
    Some(HttpConfig {
        listen: listen?,
        public_url: public_url?,
        trusted_proxies: trusted_proxies?.unwrap_or_default(),
        max_connections: max_connections?,
        address_rate: address_rate?,
        address_burst: address_burst?,
    })
}

pub(super) fn listen_address(text: &str) -> Result<ListenAddress, Reason> {
    let text = text.trim();
    if let Ok(address) = text.parse() {
        return Ok(ListenAddress::Address(address));
    }
    let named = text.rsplit_once(':').and_then(|(host, port)| {
        let port = port.bytes().all(|byte| byte.is_ascii_digit()).then(|| port.parse().ok())??;
        is_host_name(host).then(|| ListenAddress::Name { host: host.to_owned(), port })
    });
    named.ok_or_else(|| {
        "is not an address with a port; give one such as 127.0.0.1:7373, or 0.0.0.0:7373 to listen \
         on every network"
            .into()
    })
}

fn is_host_name(host: &str) -> bool {
    let is_label = |label: &str| {
        !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    // All digits and dots is an address that did not parse.
    host.len() <= MAX_HOST_CHARACTERS
        && host.split('.').all(is_label)
        && host.bytes().any(|byte| byte.is_ascii_alphabetic())
}

fn public_origin(text: &str) -> Result<String, Reason> {
    let example = "give one such as https://mainstay.example.com";
    let url = Url::parse(text.trim())
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
        .ok_or_else(|| format!("is not an http or https address; {example}"))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(format!("holds a user; {example}").into());
    }
    if url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
        return Err(format!("holds more than scheme, host and port; {example}").into());
    }
    Ok(url.origin().ascii_serialization())
}

fn networks(text: &str) -> Result<Vec<Network>, Reason> {
    let found: Vec<Network> = parts(text).map(network).collect::<Result<_, _>>()?;
    if found.len() > MAX_TRUSTED_PROXIES {
        return Err(format!("names more than {MAX_TRUSTED_PROXIES}; use networks").into());
    }
    Ok(found)
}

fn network(text: &str) -> Result<Network, Reason> {
    let parsed: Result<IpAddr, _> = text.parse();
    match parsed {
        Ok(address) => Ok(Network::single(address)),
        Err(_) => text.parse().map_err(|error: super::network::NetworkError| {
            format!("holds \"{}\", {error}", text.escape_debug()).into()
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_names_with_a_port_can_be_listened_on() {
        for (text, loopback) in [
            ("127.0.0.1:7373", true),
            ("127.0.0.2:1", true),
            ("[::1]:7373", true),
            ("[::ffff:127.0.0.1]:80", true),
            ("localhost:0", true),
            ("LOCALHOST:80", true),
            ("0.0.0.0:7373", false),
            ("[::]:7373", false),
            ("192.168.1.4:80", false),
            ("mainstay.internal:80", false),
            ("localhost.example.com:80", false),
        ] {
            let address = listen_address(text).unwrap();
            assert_eq!(address.to_string(), text);
            assert_eq!(address.is_loopback(), loopback, "{text}");
        }
        assert_eq!(listen_address("localhost:7373").unwrap().port(), 7373);
        assert_eq!(listen_address("[::1]:7373").unwrap().port(), 7373);
    }

    #[test]
    fn what_can_not_be_listened_on_is_refused() {
        for text in [
            "",
            ":7373",
            "7373",
            "127.0.0.1",
            "localhost",
            "localhost:",
            "localhost:65536",
            "localhost:+1",
            "*:80",
            "1.2.3:80",
            "256.0.0.1:80",
            "::1:80",
            "a b:80",
            "http://a:80",
            "unix:/run/x",
            "a..b:80",
        ] {
            assert!(listen_address(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_public_address_is_an_origin() {
        for (text, expected) in [
            ("https://mainstay.example.com", "https://mainstay.example.com"),
            ("https://Mainstay.example.com:443/", "https://mainstay.example.com"),
            ("http://10.0.0.1:7373", "http://10.0.0.1:7373"),
            ("http://[::1]:7373", "http://[::1]:7373"),
        ] {
            assert_eq!(public_origin(text).as_deref(), Ok(expected));
        }
        for text in [
            "",
            "mainstay.example.com",
            "ftp://a",
            "https://",
            "https://a/b",
            "https://a?b",
            "https://a#b",
            "https://u@a",
            "https://u:p@a",
            "https:///",
            "//a",
        ] {
            assert!(public_origin(text).is_err(), "{text}");
        }
    }

    #[test]
    fn proxies_are_addresses_or_networks() {
        let shown = |text| {
            networks(text).map(|list| list.iter().map(ToString::to_string).collect::<Vec<_>>())
        };
        assert_eq!(shown("10.0.0.0/8, ::1 ,").unwrap(), ["10.0.0.0/8", "::1/128"]);
        assert_eq!(shown("").unwrap(), Vec::<String>::new());
        let reason = networks("10.0.0.1/8").unwrap_err().to_string();
        assert!(reason.contains("\"10.0.0.1/8\"") && reason.contains("10.0.0.0/8"), "{reason}");
        assert!(networks("proxy.internal").is_err());
        assert!(networks(&"::1,".repeat(MAX_TRUSTED_PROXIES)).is_ok());
        assert!(networks(&"::1,".repeat(MAX_TRUSTED_PROXIES + 1)).is_err());
    }
}
