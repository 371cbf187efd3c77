//! What the room refuses, and why it could not answer.

use mainstay_base::Id;
use mainstay_events::EventError;
use mainstay_jobs::JobsError;
use mainstay_store::StoreError;

use crate::file::Mistake;
use crate::kept::{MAX_JOURNEYS, UnknownWord};

/// A refusal, or a failure.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JourneysError {
    /// The source is no journey.
    #[error("the journey has {}; the first is {}", counted(.0.len()), first(.0))]
    Mistakes(Vec<Mistake>),
    /// Another journey has this name.
    #[error("another journey has this name; give it another one, or change that one")]
    NameTaken,
    /// There are as many as there may be.
    #[error("there are {MAX_JOURNEYS} journeys, which is the limit; delete some first")]
    TooMany,
    /// There is none with this id.
    #[error("there is no journey with this id; it may have been deleted")]
    NotFound,
    /// There is no run with this id.
    #[error("there is no run with this id; a journey keeps its last 300")]
    NoRun,
    /// Somebody else has edited it.
    #[error(
        "the journey was edited meanwhile and is now at generation {generation}; look at it and edit that one"
    )]
    Changed {
        /// What it is at now.
        generation: i64,
    },
    /// A run of it has not ended.
    #[error("a run of this journey has not ended; wait for it")]
    InProgress {
        /// Which.
        run: Option<Id>,
    },
    /// The run has ended.
    #[error("the run has ended, so there is nothing to cancel")]
    RunEnded,
    /// The schedule of it was moved on by another instance.
    #[error("another instance has started this journey")]
    Taken,
    /// An event could not be made.
    #[error(transparent)]
    Event(#[from] EventError),
    /// The queue did not do it.
    #[error(transparent)]
    Jobs(#[from] JobsError),
    /// The database holds what nobody wrote.
    #[error(transparent)]
    Word(#[from] UnknownWord),
    /// The database did not do it.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn counted(count: usize) -> String {
    if count == 1 { "1 mistake".to_owned() } else { format!("{count} mistakes") }
}

fn first(mistakes: &[Mistake]) -> String {
    mistakes.first().map(ToString::to_string).unwrap_or_default()
}
