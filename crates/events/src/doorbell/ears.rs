//! Somebody who listens: a bounded set of keys and a wake-up.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::Notify;

use super::{MAX_KEY, Topic};

/// Keys that wait to be taken; more are told as "anything".
pub const MAX_KEYS_HEARD: usize = 256;

/// What was heard since the last time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// These keys changed.
    Keys(BTreeSet<String>),
    /// Anything may have changed: bells were lost, or there were too many.
    Anything,
}

/// Listens to one topic.
#[derive(Debug)]
pub struct Ears {
    ear: Arc<Ear>,
}

#[derive(Debug)]
pub(super) struct Ear {
    topic: Topic,
    waiting: Mutex<Waiting>,
    wake: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    keys: BTreeSet<String>,
    anything: bool,
}

impl Ears {
    pub(super) fn new(topic: Topic) -> (Self, Weak<Ear>) {
        let (waiting, wake) = (Mutex::default(), Notify::new());
        let ear = Arc::new(Ear { topic, waiting, wake });
        let weak = Arc::downgrade(&ear);
        (Self { ear }, weak)
    }

    /// Waits until something was heard. Dropping the future loses nothing.
    pub async fn heard(&mut self) -> Heard {
        loop {
            if let Some(heard) = self.ear.take() {
                return heard;
            }
            self.ear.wake.notified().await;
        }
    }
}

impl Ear {
    pub(super) const fn topic(&self) -> Topic {
        self.topic
    }

    pub(super) fn tell(&self, key: &str) {
        self.change(|waiting| {
            if key.len() > MAX_KEY || waiting.keys.len() >= MAX_KEYS_HEARD {
                waiting.anything = true;
                waiting.keys.clear();
            } else if !waiting.anything {
                waiting.keys.insert(key.to_owned());
            }
        });
    }

    pub(super) fn tell_anything(&self) {
        self.change(|waiting| {
            waiting.anything = true;
            waiting.keys.clear();
        });
    }

    fn change(&self, change: impl FnOnce(&mut Waiting)) {
        change(&mut self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
        // There is one owner at most who waits, and the permit keeps for the next wait.
        self.wake.notify_one();
    }

    fn take(&self) -> Option<Heard> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let Waiting { keys, anything } = std::mem::take(&mut *waiting);
        match (anything, keys.is_empty()) {
            (true, _) => Some(Heard::Anything),
            (false, false) => Some(Heard::Keys(keys)),
            (false, true) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Doorbell;
    use super::*;

    fn keys(of: &[&str]) -> Heard {
        Heard::Keys(of.iter().map(|&key| key.to_owned()).collect())
    }

    #[tokio::test]
    async fn every_ear_of_the_topic_hears_each_key_once() {
        let bell = Doorbell::new(None);
        let (mut one, mut other) = (bell.listen(Topic::Jobs), bell.listen(Topic::Jobs));
        for key in ["mail", "clean", "mail"] {
            bell.ring(Topic::Jobs, key);
        }
        bell.ring(Topic::Access, "user:1");
        for ears in [&mut one, &mut other] {
            assert_eq!(ears.heard().await, keys(&["clean", "mail"]));
            assert!(ears.ear.take().is_none());
        }
    }

    #[tokio::test]
    async fn too_many_keys_and_too_long_ones_are_told_as_anything() {
        let bell = Doorbell::new(None);
        let mut ears = bell.listen(Topic::Jobs);
        for key in 0..=MAX_KEYS_HEARD {
            bell.ring(Topic::Jobs, &key.to_string());
        }
        assert_eq!(ears.heard().await, Heard::Anything);
        bell.ring(Topic::Jobs, &"x".repeat(MAX_KEY + 1));
        bell.ring(Topic::Jobs, "after");
        assert_eq!(ears.heard().await, Heard::Anything);
        bell.ring(Topic::Jobs, "after");
        assert_eq!(ears.heard().await, keys(&["after"]));
    }

    #[tokio::test]
    async fn a_dropped_wait_loses_nothing() {
        let bell = Doorbell::new(None);
        let mut ears = bell.listen(Topic::Jobs);
        let waited = tokio::time::timeout(std::time::Duration::ZERO, ears.heard()).await;
        assert!(waited.is_err());
        bell.ring(Topic::Jobs, "mail");
        assert_eq!(ears.heard().await, keys(&["mail"]));
    }

    #[tokio::test]
    async fn whoever_stopped_listening_is_forgotten() {
        let bell = Doorbell::new(None);
        drop(bell.listen(Topic::Jobs));
        let _ears = bell.listen(Topic::Jobs);
        assert_eq!(bell.shared.ears.lock().unwrap().len(), 1);
    }
}
