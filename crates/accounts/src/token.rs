//! Secrets that are handed out once: made of 32 random bytes, kept only as their HMAC under the
//! pepper.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use mainstay_base::{Rng, Secret};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;

/// Bytes of chance in a token.
const TOKEN_BYTES: usize = 32;
/// Characters of those bytes in base64url.
const TOKEN_CHARACTERS: usize = 43;
/// What an API token begins with, so that people and secret scanners know it.
pub const API_TOKEN_PREFIX: &str = "mst_";
/// Characters of an API token that are shown in lists, its beginning included.
const SHOWN_CHARACTERS: usize = 8;
/// The shortest pepper that is taken.
pub const MIN_PEPPER_BYTES: usize = 32;

/// What a token is for. A token of one kind is nothing as one of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Session,
    ApiToken,
    Invite,
    Setup,
    Entry,
}

impl Kind {
    const fn domain(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::ApiToken => "api-token",
            Self::Invite => "invite",
            Self::Setup => "setup",
            Self::Entry => "entry",
        }
    }
}

/// A secret that is handed out once.
#[derive(Clone)]
pub struct Token {
    kind: Kind,
    text: Secret<String>,
}

impl Token {
    pub(crate) fn make(kind: Kind, rng: &dyn Rng) -> Self {
        let mut bytes = [0_u8; TOKEN_BYTES];
        rng.fill(&mut bytes);
        Self { kind, text: Secret::new(URL_SAFE_NO_PAD.encode(bytes)) }
    }

    /// The text if it has the shape of a token of this kind; nothing else is worth a look-up.
    pub(crate) fn read(kind: Kind, text: &str) -> Option<Self> {
        let body = if kind == Kind::ApiToken { text.strip_prefix(API_TOKEN_PREFIX)? } else { text };
        let is_token = body.len() == TOKEN_CHARACTERS
            && URL_SAFE_NO_PAD.decode(body).is_ok_and(|bytes| bytes.len() == TOKEN_BYTES);
        is_token.then(|| Self { kind, text: Secret::new(body.to_owned()) })
    }

    /// The whole text: only for the one it was made for.
    #[must_use]
    pub fn reveal(&self) -> String {
        let prefix = if self.kind == Kind::ApiToken { API_TOKEN_PREFIX } else { "" };
        format!("{prefix}{}", self.text.expose())
    }

    /// The beginning by which its owner knows it again.
    pub(crate) fn shown(&self) -> String {
        self.reveal().chars().take(SHOWN_CHARACTERS).collect()
    }

    pub(crate) fn hash(&self, pepper: &Pepper) -> String {
        pepper.keyed(self.kind.domain(), self.text.expose().as_bytes())
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Token").field(&self.kind).finish()
    }
}

/// The key under which every token, counted address and counted e-mail is hashed.
#[derive(Clone)]
pub struct Pepper(Secret<Vec<u8>>);

/// A pepper that protects nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the pepper has fewer than {MIN_PEPPER_BYTES} bytes; give more, such as `openssl rand -hex 32`"
)]
pub struct WeakPepper;

impl Pepper {
    /// A pepper of the operator's.
    ///
    /// # Errors
    /// [`WeakPepper`] when it is too short.
    pub fn new(text: &str) -> Result<Self, WeakPepper> {
        if text.len() < MIN_PEPPER_BYTES {
            return Err(WeakPepper);
        }
        Ok(Self(Secret::new(text.as_bytes().to_vec())))
    }

    /// A new one, as a text to keep.
    #[must_use]
    pub fn make(rng: &dyn Rng) -> Secret<String> {
        let mut bytes = [0_u8; TOKEN_BYTES];
        rng.fill(&mut bytes);
        Secret::new(URL_SAFE_NO_PAD.encode(bytes))
    }

    /// HMAC-SHA-256 of `message`. The domain keeps what is hashed for one purpose from standing for
    /// another.
    #[must_use]
    pub fn keyed(&self, domain: &str, message: &[u8]) -> String {
        URL_SAFE_NO_PAD.encode(self.mac(domain, message).finalize().into_bytes())
    }

    /// Whether `tag` is what [`Pepper::keyed`] gives, in constant time.
    pub(crate) fn is_keyed(&self, domain: &str, message: &[u8], tag: &str) -> bool {
        self.keyed(domain, message).as_bytes().ct_eq(tag.as_bytes()).into()
    }

    /// 32 bytes that stand for `message` and never leave the process: the key of something else.
    pub(crate) fn derived(&self, domain: &str, message: &[u8]) -> [u8; 32] {
        self.mac(domain, message).finalize().into_bytes().into()
    }

    /// What tells this pepper from another.
    pub(crate) fn fingerprint(&self) -> String {
        self.keyed("pepper-check", b"")
    }

    fn mac(&self, domain: &str, message: &[u8]) -> Hmac<Sha256> {
        // A key of any length is fine for HMAC, so this never falls back to the empty one.
        let mut mac = Hmac::<Sha256>::new_from_slice(self.0.expose())
            .unwrap_or_else(|_| Hmac::<Sha256>::new(&Default::default()));
        mac.update(domain.as_bytes());
        mac.update(&[0]);
        mac.update(message);
        mac
    }
}

impl fmt::Debug for Pepper {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Pepper")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mainstay_base::SystemRng;

    fn pepper(letter: &str) -> Pepper {
        Pepper::new(&letter.repeat(MIN_PEPPER_BYTES)).unwrap()
    }

    #[test]
    fn a_token_is_read_back_only_as_its_own_kind() {
        let session = Token::make(Kind::Session, &SystemRng);
        let read = Token::read(Kind::Session, &session.reveal()).unwrap();
        assert_eq!(read.hash(&pepper("a")), session.hash(&pepper("a")));
        let other = Token::read(Kind::Invite, &session.reveal()).unwrap();
        assert_ne!(other.hash(&pepper("a")), session.hash(&pepper("a")));
        assert!(Token::read(Kind::ApiToken, &session.reveal()).is_none());
        let api = Token::make(Kind::ApiToken, &SystemRng);
        assert!(api.reveal().starts_with("mst_") && api.reveal().len() == 47);
        assert!(Token::read(Kind::Session, &api.reveal()).is_none());
        assert_eq!(api.shown().len(), 8);
    }

    #[test]
    fn what_has_not_the_shape_of_a_token_is_none() {
        let good = Token::make(Kind::Session, &SystemRng).reveal();
        for text in [
            String::new(),
            "x".repeat(100_000),
            good[1..].to_owned(),
            format!("{good}A"),
            format!("{} ", &good[1..]),
            format!("é{}", &good[2..]),
            format!("{}+", &good[1..]),
            format!("{good}="),
        ] {
            assert!(Token::read(Kind::Session, &text).is_none(), "{} bytes", text.len());
        }
    }

    #[test]
    fn another_pepper_gives_another_hash() {
        let token = Token::make(Kind::Session, &SystemRng);
        assert_ne!(token.hash(&pepper("a")), token.hash(&pepper("b")));
        assert_ne!(pepper("a").fingerprint(), pepper("b").fingerprint());
        assert!(pepper("a").is_keyed("x", b"m", &pepper("a").keyed("x", b"m")));
        assert!(!pepper("a").is_keyed("x", b"m", &pepper("b").keyed("x", b"m")));
        assert!(!pepper("a").is_keyed("x", b"m", ""));
        assert_eq!(Pepper::new("short").unwrap_err(), WeakPepper);
    }

    /// RFC 4231's second case, by way of the same functions: key "Jefe" is too short for a pepper,
    /// so it is made by hand.
    #[test]
    fn the_hash_is_hmac_sha_256() {
        let pepper = Pepper(Secret::new(b"Jefe".to_vec()));
        let mut mac = Hmac::<Sha256>::new_from_slice(b"Jefe").unwrap();
        mac.update(b"what do ya want\0for nothing?");
        let expected = URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes());
        assert_eq!(pepper.keyed("what do ya want", b"for nothing?"), expected);
    }

    #[test]
    fn neither_a_token_nor_a_pepper_is_ever_printed() {
        let token = Token::make(Kind::Session, &SystemRng);
        let shown = format!("{token:?} {:?} {:?}", pepper("a"), Pepper::make(&SystemRng));
        assert_eq!(shown, "Token(Session) Pepper [secret]");
    }
}
