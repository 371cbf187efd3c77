//! How an agent knows us.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use mainstay_base::Secret;
use sha2::Sha256;

use crate::providers::MachineName;

/// What keeps these tokens from standing for anything else.
const DOMAIN: &[u8] = b"mainstay agent\0";

/// What the tokens of all agents are made of. Each machine has a token of its own, by its name: nobody
/// has to store it, every instance knows it, and the one of an older machine opens no newer one.
#[derive(Debug, Clone)]
pub struct AgentKey(Secret<Vec<u8>>);

impl AgentKey {
    /// Tokens made of this: 32 bytes of chance, or what stands for them.
    #[must_use]
    pub fn new(key: impl Into<Vec<u8>>) -> Self {
        Self(Secret::new(key.into()))
    }

    /// The token of a machine.
    #[must_use]
    pub fn token(&self, machine: &MachineName) -> Secret<String> {
        // A key of any length is fine for HMAC, so this never falls back to the empty one.
        let mut mac = Hmac::<Sha256>::new_from_slice(self.0.expose())
            .unwrap_or_else(|_| Hmac::<Sha256>::new(&Default::default()));
        mac.update(DOMAIN);
        mac.update(machine.as_str().as_bytes());
        Secret::new(URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_machine_has_its_own_token_and_always_the_same() {
        let name = |text| MachineName::parse(text).unwrap();
        let key = AgentKey::new([7_u8; 32]);
        let token = key.token(&name("mainstay-a-1"));
        assert_eq!(token, AgentKey::new([7_u8; 32]).token(&name("mainstay-a-1")));
        assert_ne!(token, key.token(&name("mainstay-a-2")));
        assert_ne!(token, AgentKey::new([8_u8; 32]).token(&name("mainstay-a-1")));
        assert_eq!(token.expose().len(), 43);
        assert!(!format!("{key:?} {token:?}").contains(token.expose().as_str()));
    }
}
