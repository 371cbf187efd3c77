//! A net.

use mainstay_base::{Id, PlainText, Timestamp};
use serde_json::Value;

use super::operation::{Ended, Failure, NetOperation, Underway};
use super::status::LoadState;
use super::worker::MAX_NAME;

/// The most nets of one user.
pub const MAX_NETS_PER_USER: i64 = 1_000;
/// The most nets of one worker.
pub const MAX_NETS_PER_WORKER: usize = 200;
/// The largest definition, in bytes of its JSON text.
pub const MAX_DEFINITION_BYTES: usize = 64 * 1024;

/// What its owner calls a net.
pub type NetName = PlainText<MAX_NAME>;

/// What a net runs: a JSON object that the agent understands.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition(Value);

/// What is no definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a definition is a JSON object of at most {MAX_DEFINITION_BYTES} bytes; name services and journeys in it"
)]
pub struct BadDefinition;

/// A net with what it runs.
#[derive(Debug, Clone, PartialEq)]
pub struct DefinedNet {
    /// The net.
    pub net: Net,
    /// What it runs.
    pub definition: Definition,
}

/// A net and where it stands, without what it runs: of that there may be much, and of nets there are many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Net {
    /// The id.
    pub id: Id,
    /// Whose it is.
    pub user_id: Id,
    /// What its owner calls it.
    pub name: String,
    /// Which worker it is for.
    pub worker_id: Option<Id>,
    /// Whether it is loaded there.
    pub load_state: LoadState,
    /// Since when.
    pub load_state_since: Timestamp,
    /// Why, where it failed.
    pub reason: Option<String>,
    /// Counts its announced states.
    pub generation: i64,
    /// The generation under which the worker was last given this definition; none where it was not, or
    /// was told to drop it.
    pub cast_generation: Option<i64>,
    /// What is being done to it.
    pub operation: Option<Underway<NetOperation>>,
    /// How the last such thing ended.
    pub ended: Option<Ended<NetOperation>>,
    /// When it was made.
    pub created_at: Timestamp,
}

impl Definition {
    /// Checks a definition.
    ///
    /// # Errors
    /// [`BadDefinition`].
    pub fn new(value: Value) -> Result<Self, BadDefinition> {
        let fits = value.is_object() && value.to_string().len() <= MAX_DEFINITION_BYTES;
        if fits { Ok(Self(value)) } else { Err(BadDefinition) }
    }

    /// The JSON.
    #[must_use]
    pub const fn as_value(&self) -> &Value {
        &self.0
    }

    /// The JSON, and nothing else.
    #[must_use]
    pub fn into_value(self) -> Value {
        self.0
    }
}

impl Net {
    /// Moves it on, with the reason.
    pub(crate) fn becomes(&mut self, state: LoadState, reason: Option<String>, now: Timestamp) {
        if self.load_state != state {
            self.load_state = state;
            self.load_state_since = now;
        }
        self.reason = reason;
    }

    /// Ends what is being done to it.
    pub(crate) fn ends(&mut self, failure: Option<Failure>, now: Timestamp) {
        if let Some(Underway { id, kind, .. }) = self.operation.take() {
            self.ended = Some(Ended { id, kind, at: now, failure });
        }
    }

    /// Nothing is known of it on its worker any more, whatever it was; what was being done to it has
    /// failed. What was cast is remembered: a worker that comes back may still hold it.
    pub(crate) fn drops_off(&mut self, failure: &Failure, now: Timestamp) {
        self.becomes(LoadState::Unloaded, None, now);
        self.ends(Some(failure.clone()), now);
    }

    /// Whether its owner and the events are told that it differs from `before`: then it is of a new
    /// generation.
    pub(crate) fn is_told_apart(&self, before: &Self) -> bool {
        let told = |net: &Self| {
            (net.load_state, net.worker_id, net.operation.map(|operation| operation.id))
        };
        told(self) != told(before) || self.name != before.name
    }
}

impl DefinedNet {
    /// The same, also where it runs something else.
    pub(crate) fn is_told_apart(&self, before: &Self) -> bool {
        self.net.is_told_apart(&before.net) || self.definition != before.definition
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_definition_is_an_object_that_is_not_too_large() {
        assert!(Definition::new(json!({})).is_ok());
        let around = r#"{"a":""}"#.len();
        let longest = "x".repeat(MAX_DEFINITION_BYTES - around);
        assert!(Definition::new(json!({ "a": longest })).is_ok());
        for value in [json!([]), json!("a"), json!(null), json!({ "a": format!("{longest}x") })] {
            assert_eq!(Definition::new(value), Err(BadDefinition));
        }
    }
}
