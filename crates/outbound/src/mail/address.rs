//! A mail address that can be put into a header and an SMTP command as it is.

use std::fmt;
use std::str::FromStr;

use super::error::AddressError;

/// The longest address, in characters: what SMTP can carry.
pub const MAX_ADDRESS: usize = 254;

/// The longest part before the `@`.
pub const MAX_LOCAL_PART: usize = 64;

/// What may stand before the `@` beside letters and digits. Whatever could end a command or begin
/// another address (space, quotes, brackets, comma) is not among them.
const LOCAL_SIGNS: &str = "!#$%&'*+-/=?^_`{|}~.";

/// One address, in ASCII. Its debug print tells the domain only.
#[derive(Clone, PartialEq, Eq)]
pub struct MailAddress(lettre::Address);

impl MailAddress {
    /// What stands behind the `@`: all of an address that may be logged.
    #[must_use]
    pub fn domain(&self) -> &str {
        self.0.domain()
    }

    pub(crate) fn as_lettre(&self) -> &lettre::Address {
        &self.0
    }
}

impl FromStr for MailAddress {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        if text.len() > MAX_ADDRESS {
            return Err(AddressError::TooLong);
        }
        let (local, domain) = text.split_once('@').ok_or(AddressError::NotAnAddress)?;
        if local.len() > MAX_LOCAL_PART || !is_local_part(local) || !is_domain(domain) {
            return Err(AddressError::NotAnAddress);
        }
        lettre::Address::new(local, domain).map(Self).map_err(|_| AddressError::NotAnAddress)
    }
}

impl fmt::Display for MailAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl fmt::Debug for MailAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "…@{}", self.domain())
    }
}

fn is_local_part(text: &str) -> bool {
    text.chars().all(|one| one.is_ascii_alphanumeric() || LOCAL_SIGNS.contains(one))
}

fn is_domain(text: &str) -> bool {
    text.chars().all(|one| one.is_ascii_alphanumeric() || one == '-' || one == '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<MailAddress, AddressError> {
        text.parse()
    }

    #[test]
    fn what_is_one_address_is_taken_as_it_is() {
        for (text, domain) in [
            ("ada@example.com", "example.com"),
            ("ada.lovelace+mainstay@mail.example.co.uk", "mail.example.co.uk"),
            ("o'brien@example.com", "example.com"),
            ("root@localhost", "localhost"),
            ("ada@xn--bcher-kva.example", "xn--bcher-kva.example"),
        ] {
            let address = parsed(text).expect(text);
            assert_eq!((address.to_string().as_str(), address.domain()), (text, domain));
        }
    }

    #[test]
    fn what_is_none_or_could_be_more_than_one_is_refused() {
        for text in [
            "",
            "ada",
            "@example.com",
            "ada@",
            "ada@@example.com",
            "ada@example.com,eve@example.com",
            "ada@example.com eve@example.com",
            "ada@example.com;eve@example.com",
            "ada@eve@example.com",
            " ada@example.com",
            "ada@example.com ",
            "<ada@example.com>",
            "Ada <ada@example.com>",
            "\"ada eve\"@example.com",
            "ada@[127.0.0.1]",
            "ada@example..com",
            "ada..b@example.com",
            "ada@-example.com",
            "ada@example.com\r\nBcc: eve@example.com",
            "ada@example.com\n",
            "ada\r@example.com",
            "ada\0@example.com",
            "ada@exam\0ple.com",
            "ada\t@example.com",
            "ada\u{7f}@example.com",
            "ada\u{85}@example.com",
            "adа@example.com",
            "ada@exаmple.com",
            "ada@bücher.example",
            "ada＠example.com",
        ] {
            assert_eq!(parsed(text), Err(AddressError::NotAnAddress), "{text:?}");
        }
    }

    #[test]
    fn the_lengths_are_bounded() {
        let local = "a".repeat(MAX_LOCAL_PART);
        assert!(parsed(&format!("{local}@example.com")).is_ok());
        assert_eq!(parsed(&format!("{local}a@example.com")), Err(AddressError::NotAnAddress));
        let domain = ["d".repeat(61), "d".repeat(61), "d".repeat(61)].join(".");
        let longest = format!("{local}@{domain}.io");
        assert_eq!(longest.len(), MAX_ADDRESS - 1);
        assert!(parsed(&longest).is_ok());
        for length in [MAX_ADDRESS + 1, 1_000, 100_000] {
            let long = format!("ada@{}", "d".repeat(length - 4));
            assert_eq!(parsed(&long), Err(AddressError::TooLong), "{length}");
        }
    }

    #[test]
    fn the_debug_print_tells_the_domain_only() {
        let shown = format!("{:?}", parsed("ada@example.com"));
        assert_eq!(shown, "Ok(…@example.com)");
    }
}
