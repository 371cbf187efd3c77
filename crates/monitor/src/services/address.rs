//! Where a service is asked, as people write it.

use mainstay_kernel::{HostKey, HostKeyError};
use url::Url;

/// The longest address, in bytes.
pub const MAX_ADDRESS_BYTES: usize = 2_048;

/// An address that no service is asked at.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// It can't be read at all.
    #[error("no URL ({0}); give one such as https://orders.example.org/health")]
    Unreadable(String),
    /// It is longer than allowed.
    #[error("longer than {MAX_ADDRESS_BYTES} bytes; shorten it")]
    TooLong,
    /// It leads elsewhere than to a web server.
    #[error("of another kind than http and https; give one that begins with https://")]
    Scheme,
    /// It names no host.
    #[error("without a host; give one such as https://orders.example.org/health")]
    NoHost,
    /// Its host is none.
    #[error("with a host that is none: {0}")]
    Host(#[from] HostKeyError),
    /// It carries a name or a password.
    #[error(
        "with a name or a password in it, which everyone who reads the service would see; \
         take it out and give it as a header: Authorization in headers is kept sealed"
    )]
    Credentials,
}

/// An address that was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    /// As it is asked and shown: one spelling, without a fragment.
    pub(crate) url: String,
    pub(crate) host: HostKey,
}

/// Checks an address and gives it in its one spelling.
///
/// # Errors
/// [`AddressError`] says what is wrong with it.
pub fn check_address(raw: &str) -> Result<String, AddressError> {
    Address::parse(raw).map(|address| address.url)
}

impl Address {
    pub(crate) fn parse(raw: &str) -> Result<Self, AddressError> {
        if raw.len() > MAX_ADDRESS_BYTES {
            return Err(AddressError::TooLong);
        }
        let mut url =
            Url::parse(raw.trim()).map_err(|error| AddressError::Unreadable(error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(AddressError::Scheme);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(AddressError::Credentials);
        }
        url.set_fragment(None);
        let host = url.host_str().ok_or(AddressError::NoHost)?.parse()?;
        // Escapes and punycode make it longer.
        if url.as_str().len() > MAX_ADDRESS_BYTES {
            return Err(AddressError::TooLong);
        }
        Ok(Self { url: url.into(), host })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_one_spelling() {
        for (raw, url, host) in [
            ("https://Example.org", "https://example.org/", "example.org"),
            (" http://a.example:80/h?x=1#part ", "http://a.example/h?x=1", "a.example"),
            ("http://[2001:DB8::1]:8080/health", "http://[2001:db8::1]:8080/health", "2001:db8::1"),
            ("http://0x7f.1/health", "http://127.0.0.1/health", "127.0.0.1"),
            (
                "https://bücher.example/ä",
                "https://xn--bcher-kva.example/%C3%A4",
                "xn--bcher-kva.example",
            ),
        ] {
            let address = Address::parse(raw).unwrap();
            assert_eq!((address.url.as_str(), address.host.as_str()), (url, host), "{raw}");
        }
    }

    #[test]
    fn what_no_service_is_asked_at_is_refused_and_no_password_repeated() {
        for (raw, says) in [
            ("", "no URL"),
            ("orders.example.org/health", "no URL"),
            ("http://", "no URL"),
            ("http://a b/", "no URL"),
            ("ftp://example.org/health", "of another kind"),
            ("file:///etc/passwd", "of another kind"),
            ("data:text/plain,x", "of another kind"),
            ("https://user:hunter2@example.org/", "Authorization"),
            ("https://user@example.org/", "Authorization"),
            ("https://:hunter2@example.org/", "Authorization"),
        ] {
            let told = Address::parse(raw).unwrap_err().to_string();
            assert!(told.contains(says), "{raw}: {told}");
            assert!(!told.contains("hunter2"), "{told}");
        }
        let longest = format!("https://example.org/{}", "a".repeat(MAX_ADDRESS_BYTES - 20));
        assert_eq!(Address::parse(&longest).unwrap().url.len(), MAX_ADDRESS_BYTES);
        assert_eq!(Address::parse(&format!("{longest}a")), Err(AddressError::TooLong));
        let grows = format!("https://example.org/{}", "ä".repeat(600));
        assert_eq!(Address::parse(&grows), Err(AddressError::TooLong));
    }
}
