//! What a handler makes of the result of a poll.

use crate::reason::Reason;

/// What a handler makes of the result of a poll.
#[derive(Debug, Clone)]
pub enum Outcome<E> {
    /// Nothing to tell yet: poll on.
    Continue,
    /// Put these events into the queue, all or none, and poll on.
    Inject(Vec<E>),
    /// Put these events into the queue, all or none, and stop: the resource has settled. There may be
    /// none.
    Done(Vec<E>),
    /// Stop: the resource will never be as it should.
    Error(Reason),
}

impl<E> Outcome<E> {
    /// Puts one event into the queue and polls on.
    pub fn inject(event: E) -> Self {
        Self::Inject(vec![event])
    }

    /// Puts several events into the queue and polls on.
    pub fn inject_all(events: impl IntoIterator<Item = E>) -> Self {
        Self::Inject(events.into_iter().collect())
    }

    /// Puts one event into the queue and stops.
    pub fn done(event: E) -> Self {
        Self::Done(vec![event])
    }

    /// Puts several events into the queue and stops.
    pub fn done_all(events: impl IntoIterator<Item = E>) -> Self {
        Self::Done(events.into_iter().collect())
    }

    /// Stops without an event.
    #[must_use]
    pub fn settled() -> Self {
        Self::Done(Vec::new())
    }

    /// Stops with an error.
    pub fn error(reason: impl Into<Reason>) -> Self {
        Self::Error(reason.into())
    }
}

/// What a handler may return: an [`Outcome`], or a `Result` of one, so that `?` works in it. An `Err`
/// is [`Outcome::Error`].
pub trait IntoOutcome {
    /// The type of its events.
    type Event;

    /// The outcome.
    fn into_outcome(self) -> Outcome<Self::Event>;
}

impl<E> IntoOutcome for Outcome<E> {
    type Event = E;

    fn into_outcome(self) -> Self {
        self
    }
}

impl<E, X: Into<Reason>> IntoOutcome for Result<Outcome<E>, X> {
    type Event = E;

    fn into_outcome(self) -> Outcome<E> {
        self.unwrap_or_else(Outcome::error)
    }
}
