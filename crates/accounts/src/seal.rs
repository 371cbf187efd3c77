//! Texts that the database keeps and nobody may read there: sealed under a key made from the pepper.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mainstay_base::Rng;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

use crate::token::Pepper;

/// What a sealed text begins with. Another way to seal gets another one.
const VERSION: &str = "s1.";
const KEY_DOMAIN: &str = "seal-key";

impl Pepper {
    /// Seals `plain`, so that only the same pepper opens it, and only for the same purpose. The same
    /// text is sealed differently each time.
    #[must_use]
    pub fn seal(&self, purpose: &str, plain: &[u8], rng: &dyn Rng) -> String {
        let mut nonce = [0_u8; NONCE_LEN];
        rng.fill(&mut nonce);
        let mut text = plain.to_vec();
        let sealed = self.sealing_key(purpose).and_then(|key| {
            let nonce = Nonce::assume_unique_for_key(nonce);
            key.seal_in_place_append_tag(nonce, Aad::from(purpose.as_bytes()), &mut text).ok()
        });
        // Only a text of more than 256 GiB can't be sealed; what is empty is never opened.
        if sealed.is_none() {
            return String::new();
        }
        let bytes = [nonce.as_slice(), &text].concat();
        format!("{VERSION}{}", URL_SAFE_NO_PAD.encode(bytes))
    }

    /// What was sealed by this pepper for this purpose; `None` for everything else.
    #[must_use]
    pub fn open(&self, purpose: &str, sealed: &str) -> Option<Vec<u8>> {
        let bytes = URL_SAFE_NO_PAD.decode(sealed.strip_prefix(VERSION)?).ok()?;
        let (nonce, text) = bytes.split_first_chunk::<NONCE_LEN>()?;
        let (nonce, mut text) = (Nonce::assume_unique_for_key(*nonce), text.to_vec());
        let key = self.sealing_key(purpose)?;
        let plain = key.open_in_place(nonce, Aad::from(purpose.as_bytes()), &mut text).ok()?;
        Some(plain.to_vec())
    }

    /// A key of its own for each purpose, so that the chance of the same nonce twice is that of one
    /// purpose alone.
    fn sealing_key(&self, purpose: &str) -> Option<LessSafeKey> {
        let key = self.derived(KEY_DOMAIN, purpose.as_bytes());
        UnboundKey::new(&CHACHA20_POLY1305, &key).ok().map(LessSafeKey::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mainstay_base::SystemRng;

    fn pepper(letter: &str) -> Pepper {
        Pepper::new(&letter.repeat(40)).unwrap()
    }

    #[test]
    fn what_is_sealed_is_opened_again_and_never_shows() {
        for plain in [&b""[..], b"a", b"https://mainstay.example.com/invite#abc", &[0xff; 70_000]] {
            let sealed = pepper("a").seal("mail", plain, &SystemRng);
            assert!(sealed.starts_with("s1."), "{sealed}");
            assert_eq!(pepper("a").open("mail", &sealed).as_deref(), Some(plain));
        }
        let sealed = pepper("a").seal("mail", b"the token of somebody", &SystemRng);
        let bytes = URL_SAFE_NO_PAD.decode(&sealed[3..]).unwrap();
        assert!(!bytes.windows(5).any(|part| part == b"token"));
        assert_ne!(sealed, pepper("a").seal("mail", b"the token of somebody", &SystemRng));
    }

    #[test]
    fn another_purpose_or_pepper_opens_nothing() {
        let sealed = pepper("a").seal("mail", b"plain", &SystemRng);
        assert_eq!(pepper("a").open("other", &sealed), None);
        assert_eq!(pepper("a").open("", &sealed), None);
        assert_eq!(pepper("b").open("mail", &sealed), None);
    }

    #[test]
    fn a_flipped_bit_anywhere_opens_nothing() {
        let sealed = pepper("a").seal("mail", b"plain", &SystemRng);
        let bytes = URL_SAFE_NO_PAD.decode(&sealed[3..]).unwrap();
        for at in 0..bytes.len() * 8 {
            let mut changed = bytes.clone();
            changed[at / 8] ^= 1 << (at % 8);
            let changed = format!("s1.{}", URL_SAFE_NO_PAD.encode(changed));
            assert_eq!(pepper("a").open("mail", &changed), None, "bit {at}");
        }
    }

    #[test]
    fn what_was_never_sealed_opens_nothing() {
        let good = pepper("a").seal("mail", b"plain", &SystemRng);
        for text in [
            String::new(),
            "s1.".to_owned(),
            "s1.AAAA".to_owned(),
            "s1.not base64!".to_owned(),
            format!("s1.{}", "A".repeat(16)),
            format!("s1.{}", "A".repeat(100_000)),
            good[3..].to_owned(),
            good.replace("s1.", "s2."),
            good[..good.len() - 1].to_owned(),
            format!("{good}A"),
            format!("{good}="),
            format!(" {good}"),
        ] {
            assert_eq!(pepper("a").open("mail", &text), None, "{} characters", text.len());
        }
    }

    /// Computed by another implementation of HMAC-SHA-256 and RFC 8439: what a database holds stays
    /// readable.
    #[test]
    fn the_way_to_seal_stays_the_same() {
        struct Sevens;
        impl Rng for Sevens {
            fn fill(&self, bytes: &mut [u8]) {
                bytes.fill(7);
            }
        }
        let sealed = pepper("a").seal("mail", b"plain", &Sevens);
        assert_eq!(sealed, "s1.BwcHBwcHBwcHBwcH2y_00DA2nMTVBvZQcCD829uIn_kT");
    }
}
