//! How long the machine let nobody go on: a promise of time is not broken by that.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often it is looked.
const LOOK: Duration = Duration::from_millis(10);
/// Who wakes up this late was held up by somebody.
const WORTH: Duration = Duration::from_millis(50);
/// The most stalls that are remembered; later ones count for nothing.
const MOST: usize = 10_000;

/// Looks on, on a thread of its own, whether threads are woken up in time. It ends when this is dropped.
#[derive(Debug)]
pub struct Stalls {
    noted: Arc<Mutex<Noted>>,
}

#[derive(Debug)]
struct Noted {
    /// When it was last looked.
    looked: Instant,
    /// From when until when nobody went on.
    stalls: Vec<(Instant, Instant)>,
}

impl Stalls {
    /// Looks on from now on.
    #[must_use]
    pub fn watch() -> Self {
        let noted = Arc::new(Mutex::new(Noted::from(Instant::now())));
        let watched = Arc::downgrade(&noted);
        std::thread::spawn(move || {
            while let Some(noted) = watched.upgrade() {
                noted.lock().unwrap_or_else(PoisonError::into_inner).look(Instant::now());
                drop(noted);
                std::thread::sleep(LOOK);
            }
        });
        Self { noted }
    }

    /// A moment to ask about later.
    #[must_use]
    pub fn now() -> Instant {
        Instant::now()
    }

    /// How long nobody went on between two moments, all in all.
    #[must_use]
    pub fn between(&self, from: Instant, until: Instant) -> Duration {
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever asks may have woken up before the one that looks.
        noted.look(Instant::now());
        noted.between(from, until)
    }

    /// How long nobody went on since then.
    #[must_use]
    pub fn since(&self, from: Instant) -> Duration {
        self.between(from, Instant::now())
    }
}

impl From<Instant> for Noted {
    fn from(looked: Instant) -> Self {
        Self { looked, stalls: Vec::new() }
    }
}

impl Noted {
    fn look(&mut self, now: Instant) {
        if now.saturating_duration_since(self.looked) >= LOOK + WORTH && self.stalls.len() < MOST {
            self.stalls.push((self.looked + LOOK, now));
        }
        self.looked = now;
    }

    fn between(&self, from: Instant, until: Instant) -> Duration {
        let within = |(begun, ended): &(Instant, Instant)| {
            (*ended).min(until).saturating_duration_since((*begun).max(from))
        };
        self.stalls.iter().map(within).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn whoever_wakes_up_late_was_held_up_for_as_long() {
        let begun = Instant::now();
        let mut noted = Noted::from(begun);
        noted.look(begun + LOOK);
        noted.look(begun + LOOK * 3);
        assert_eq!(
            noted.between(begun, begun + SECOND),
            Duration::ZERO,
            "a little late is no stall"
        );
        noted.look(begun + LOOK * 4 + 3 * SECOND);
        assert_eq!(noted.between(begun, begun + 9 * SECOND), 3 * SECOND);
        assert_eq!(noted.between(begun + 3 * SECOND, begun + 9 * SECOND), LOOK * 4);
        assert_eq!(noted.between(begun, begun + LOOK * 4 + SECOND), SECOND);
        assert_eq!(noted.between(begun + 9 * SECOND, begun), Duration::ZERO);
    }
}
