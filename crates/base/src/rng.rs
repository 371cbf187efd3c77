//! The one source of randomness.

use rand::Rng as _;

/// Gives random bytes. Everything that needs chance takes one, so that tests can repeat it.
pub trait Rng: Send + Sync + 'static {
    /// Fills the whole of `bytes`.
    fn fill(&self, bytes: &mut [u8]);
}

/// Cryptographically strong randomness, seeded by the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemRng;

impl Rng for SystemRng {
    #[expect(clippy::disallowed_methods, reason = "this is the real source that others are given")]
    fn fill(&self, bytes: &mut [u8]) {
        rand::rng().fill_bytes(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_fillings_differ() {
        let (mut first, mut second) = ([0_u8; 32], [0_u8; 32]);
        SystemRng.fill(&mut first);
        SystemRng.fill(&mut second);
        assert_ne!(first, second);
    }
}
