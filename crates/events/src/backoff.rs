//! How long to wait before trying again: longer each time, bounded, and unlike other instances.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::Rng;

/// The first wait.
const FIRST: Duration = Duration::from_millis(50);
/// The longest wait.
const LONGEST: Duration = Duration::from_secs(5);

/// The waits of one thing that is tried again.
pub(crate) struct Backoff {
    rng: Arc<dyn Rng>,
    next: Duration,
}

impl Backoff {
    pub(crate) const fn new(rng: Arc<dyn Rng>) -> Self {
        Self { rng, next: FIRST }
    }

    /// It went well: the next wait is the first one again.
    pub(crate) const fn reset(&mut self) {
        self.next = FIRST;
    }

    /// Waits between half and all of the present step.
    pub(crate) async fn wait(&mut self) {
        tokio::time::sleep(self.step()).await;
    }

    fn step(&mut self) -> Duration {
        let whole = self.next;
        self.next = whole.saturating_mul(2).min(LONGEST);
        let mut chance = [0_u8];
        self.rng.fill(&mut chance);
        let [chance] = chance;
        whole / 2 + whole * u32::from(chance) / (2 * u32::from(u8::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mainstay_base::SystemRng;

    #[test]
    fn waits_grow_up_to_the_longest_and_begin_anew() {
        let mut backoff = Backoff::new(Arc::new(SystemRng));
        for _ in 0..20 {
            let expected = backoff.next;
            let step = backoff.step();
            assert!(expected / 2 <= step && step <= expected, "{step:?} of {expected:?}");
        }
        assert_eq!(backoff.next, LONGEST);
        backoff.reset();
        assert!(backoff.step() <= FIRST);
    }
}
