//! A text of a body that no answer and no log repeats.

use std::fmt;

use mainstay_base::Secret;
use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// A password or a token. Unlike a plain text, it is not shown when something else stands in its
/// place: a password that somebody sends as a number is still a password.
#[derive(Debug, Clone)]
pub struct SecretText(Secret<String>);

impl SecretText {
    /// The text itself: call it only where the secret is used.
    #[must_use]
    pub fn expose(&self) -> &str {
        self.0.expose()
    }
}

impl<'de> Deserialize<'de> for SecretText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Asked for a string, a deserializer writes the error itself, and shows what it found.
        deserializer.deserialize_any(Text)
    }
}

struct Text;

/// Refuses a value of another kind without showing it.
macro_rules! refuse {
    ($($method:ident: $kind:ty),*) => {
        $(fn $method<E: serde::de::Error>(self, _: $kind) -> Result<SecretText, E> {
            Err(E::custom(NOT_A_TEXT))
        })*
    };
}

const NOT_A_TEXT: &str = "it must be a text";

impl<'de> Visitor<'de> for Text {
    type Value = SecretText;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a text")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<SecretText, E> {
        Ok(SecretText(Secret::new(text.to_owned())))
    }

    fn visit_string<E: serde::de::Error>(self, text: String) -> Result<SecretText, E> {
        Ok(SecretText(Secret::new(text)))
    }

    refuse!(visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_bytes: &[u8]);

    fn visit_unit<E: serde::de::Error>(self) -> Result<SecretText, E> {
        Err(E::custom(NOT_A_TEXT))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<SecretText, A::Error> {
        Err(A::Error::custom(NOT_A_TEXT))
    }

    fn visit_map<A: MapAccess<'de>>(self, _: A) -> Result<SecretText, A::Error> {
        Err(A::Error::custom(NOT_A_TEXT))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Login {
        password: SecretText,
    }

    #[test]
    fn a_text_is_taken_as_it_is() {
        let login: Login = serde_json::from_str(r#"{"password":" a\u0000€ "}"#).unwrap();
        assert_eq!(login.password.expose(), " a\0€ ");
        assert_eq!(format!("{login:?}"), "Login { password: SecretText([secret]) }");
        let login: Login = serde_urlencoded::from_str("password=a+b%26").unwrap();
        assert_eq!(login.password.expose(), "a b&");
    }

    #[test]
    fn what_stands_in_its_place_is_not_shown() {
        for value in
            ["70707", "-70707", "70707.5", "true", "null", "[\"70707\"]", r#"{"70707":70707}"#]
        {
            let text = format!(r#"{{"password":{value}}}"#);
            let error = serde_json::from_str::<Login>(&text).unwrap_err().to_string();
            assert!(error.starts_with("it must be a text"), "{value}: {error}");
            assert!(!error.contains("707"), "{value}: {error}");
        }
    }
}
