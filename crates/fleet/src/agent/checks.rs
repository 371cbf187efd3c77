//! What a net has an agent do. Who knows how to poll a service or to run a journey implements it.

use serde_json::Value;

use super::program::Reporter;

/// The most checks of one net.
pub const MAX_CHECKS: usize = 200;

/// Why a net can't be run: a sentence for whoever wrote it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadNet(pub String);

impl BadNet {
    /// The key that is wrong, where the sentence begins with one: `services[0].url`.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        let (key, _) = self.0.split_once(": ")?;
        (!key.contains(char::is_whitespace)).then_some(key)
    }
}

/// Makes checks of a definition.
pub trait Checker: Send + Sync + 'static {
    /// The checks of a net. None of them runs yet.
    ///
    /// # Errors
    /// [`BadNet`] says what is wrong with the definition.
    fn checks(&self, definition: &Value) -> Result<Box<dyn Checks>, BadNet>;
}

/// The checks of a net.
pub trait Checks: Send {
    /// How many there are.
    fn count(&self) -> usize;

    /// Runs them, each over and over, until what it gives is dropped. Whatever comes of a run is told to
    /// the reporter. It is called inside of the runtime.
    fn start(self: Box<Self>, reporter: Reporter) -> Running;
}

/// Checks that run: they end when it is dropped.
pub type Running = Box<dyn Send + Sync>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_that_is_wrong_is_told_apart() {
        for (sentence, key) in [
            ("services[0].interval_s: give from 5 to 3600 seconds", Some("services[0].interval_s")),
            ("journeys[1]: line 3, column 1: evry: there is no such key", Some("journeys[1]")),
            ("it has 201 checks: make several nets", None),
            ("give an object", None),
        ] {
            assert_eq!(BadNet(sentence.to_owned()).key(), key, "{sentence}");
        }
    }
}
