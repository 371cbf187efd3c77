//! An e-mail address as accounts are known by it.
//!
//! Only ASCII is taken: a Cyrillic `а` that looks like a Latin `a` would make two accounts that no
//! person can tell apart, and two spellings of one account. Domains with other letters have their
//! `xn--` form.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize};

/// The longest address that mail can carry.
pub const MAX_EMAIL_BYTES: usize = 254;
const MAX_LOCAL_BYTES: usize = 64;
const MAX_LABEL_BYTES: usize = 63;

/// A trimmed address in lower case.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct Email(String);

/// A text that is no address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EmailError {
    /// Too long to be one.
    #[error("an e-mail address has at most {MAX_EMAIL_BYTES} characters; give a shorter one")]
    TooLong,
    /// Letters beyond ASCII.
    #[error(
        "an e-mail address here has only ASCII characters; write a domain with other letters in its xn-- form"
    )]
    NotAscii,
    /// Something else.
    #[error("not an e-mail address; give one such as ada@example.com")]
    Shape,
}

impl Email {
    /// The address itself.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What stands after the `@`.
    #[must_use]
    pub fn domain(&self) -> &str {
        self.0.rsplit_once('@').map_or("", |(_, domain)| domain)
    }
}

impl FromStr for Email {
    type Err = EmailError;

    fn from_str(raw: &str) -> Result<Self, EmailError> {
        let text = raw.trim();
        if text.len() > MAX_EMAIL_BYTES {
            return Err(EmailError::TooLong);
        }
        if !text.is_ascii() {
            return Err(EmailError::NotAscii);
        }
        let (local, domain) = text.rsplit_once('@').ok_or(EmailError::Shape)?;
        if is_local(local) && is_domain(domain) {
            Ok(Self(text.to_ascii_lowercase()))
        } else {
            Err(EmailError::Shape)
        }
    }
}

fn is_local(local: &str) -> bool {
    local.len() <= MAX_LOCAL_BYTES
        && local.split('.').all(|atom| !atom.is_empty() && atom.bytes().all(is_atom_byte))
}

fn is_atom_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&byte)
}

/// Names of letters, digits and inner hyphens; `localhost` alone is one too.
fn is_domain(domain: &str) -> bool {
    domain.split('.').all(|label| {
        (1..=MAX_LABEL_BYTES).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    })
}

impl fmt::Display for Email {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Email {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_account_has_one_spelling() {
        for (raw, held) in [
            ("ada@example.com", "ada@example.com"),
            ("  Ada@Example.COM \n", "ada@example.com"),
            ("a.b+c@x-y.example", "a.b+c@x-y.example"),
            ("admin@localhost", "admin@localhost"),
            ("o'hara@xn--bcher-kva.example", "o'hara@xn--bcher-kva.example"),
        ] {
            assert_eq!(raw.parse::<Email>().unwrap().as_str(), held);
        }
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for raw in [
            "",
            "@",
            "ada",
            "ada@",
            "@example.com",
            "ada@@example.com",
            "a b@example.com",
            "ada@exa mple.com",
            "ada@example..com",
            "ada@.example.com",
            "ada@-example.com",
            ".ada@example.com",
            "a..b@example.com",
            "ada@example.com\r\nBcc: eve@example.com",
            "ada@example.com,eve@example.com",
            "<ada@example.com>",
            "\"ada\"@example.com",
            "ada@[127.0.0.1]",
            "ada\0@example.com",
        ] {
            assert_eq!(raw.parse::<Email>(), Err(EmailError::Shape), "{raw:?}");
        }
        // Cyrillic a, full-width @, a letter with a combining mark, a right-to-left mark.
        for raw in ["\u{430}da@example.com", "ada\u{ff20}example.com", "a\u{301}da@example.com"] {
            assert_eq!(raw.parse::<Email>(), Err(EmailError::NotAscii), "{raw:?}");
        }
        let long = format!("{}@{}.example", "a".repeat(64), "b".repeat(63));
        assert!(long.parse::<Email>().is_ok());
        assert!(format!("a{long}").parse::<Email>().is_err());
        let longer = format!("ada@{}example", "b.".repeat(130));
        assert_eq!(longer.parse::<Email>(), Err(EmailError::TooLong));
    }

    proptest! {
        #[test]
        fn what_is_held_needs_no_quoting_anywhere(raw in ".{0,40}@.{0,40}") {
            if let Ok(email) = raw.parse::<Email>() {
                prop_assert!(email.as_str().bytes().all(|byte| byte.is_ascii_graphic()));
                prop_assert!(!email.as_str().contains([',', ';', '<', '>', '"', '\\', '(', ')']));
                prop_assert_eq!(email.as_str().parse::<Email>(), Ok(email.clone()));
            }
        }
    }
}
