//! What executes commands, and the sequence that they come in.

use crate::context::Context;
use crate::queue::Entry;
use crate::reason::Reason;

/// Executes commands against a real system.
pub trait Adapter: Send {
    /// What is executed. It may be a type of the program, or a value that is known only at run time.
    type Command: Send + Sync;
    /// What is told.
    type Event: Send + Sync + 'static;

    /// Executes a command and returns the events that are known at once. What settles later is watched
    /// by a poller of `ctx`; what must settle first is waited for by [`Context::settle`].
    ///
    /// A panic of it is not caught: it ends the run, and all pollers are stopped.
    fn execute(
        &mut self,
        command: &Self::Command,
        ctx: &Context<Self::Event>,
    ) -> impl Future<Output = Result<Vec<Self::Event>, Reason>> + Send;

    /// Whether a command can be executed now, after these events. While it can't and pollers are
    /// active, the executor waits for what they tell; when there are none left it is a failure.
    fn is_ready(&self, command: &Self::Command, events: &[Entry<Self::Event>]) -> bool {
        let _ = (command, events);
        true
    }
}

/// Commands, one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sequence<C>(Vec<C>);

impl<C> Sequence<C> {
    /// No command yet.
    #[must_use]
    pub fn new() -> Self {
        Self(Vec::new())
    }

    /// And then this one.
    #[must_use]
    pub fn then(mut self, command: C) -> Self {
        self.0.push(command);
        self
    }

    /// The commands.
    #[must_use]
    pub fn commands(&self) -> &[C] {
        &self.0
    }
}

impl<C> Default for Sequence<C> {
    fn default() -> Self {
        Self::new()
    }
}

impl<C> From<Vec<C>> for Sequence<C> {
    fn from(commands: Vec<C>) -> Self {
        Self(commands)
    }
}

impl<C, const N: usize> From<[C; N]> for Sequence<C> {
    fn from(commands: [C; N]) -> Self {
        Self(commands.into())
    }
}

impl<C> FromIterator<C> for Sequence<C> {
    fn from_iter<I: IntoIterator<Item = C>>(commands: I) -> Self {
        Self(commands.into_iter().collect())
    }
}
