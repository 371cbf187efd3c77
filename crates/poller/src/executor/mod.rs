//! Runs a sequence: [`builder`] says how, [`steps`] goes through the commands, [`progress`] keeps what
//! came of it and decides by the [`mode`] what a failure means, [`observer`] looks on.

mod builder;
mod mode;
mod model;
mod observer;
mod progress;
mod run;
mod steps;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

pub use builder::Builder;
pub use mode::Mode;
pub use model::Model;
pub use observer::Observer;
pub use progress::MAX_EVENTS;
pub use run::{Cause, Failure, Run, RunError};
pub use steps::CANCEL_WITHIN;

use crate::adapter::{Adapter, Sequence};
use crate::context::Home;
use observer::Cancel;

/// Runs a sequence of commands: each is executed by the adapter, pollers go on in the background, events
/// are folded into a model in the order of their arrival, and at the end every poller is waited for.
///
/// Dropping it, or the future of its run, stops every poller.
pub struct Executor<A: Adapter> {
    adapter: A,
    mode: Mode,
    wait_for: Option<Duration>,
    home: Arc<Home<A::Event>>,
    cancel: Arc<Cancel>,
}

impl<A: Adapter> Executor<A> {
    /// An executor that halts at the first failure.
    pub fn new(adapter: A) -> Self {
        Self::builder(adapter).build()
    }

    /// Puts an executor together.
    pub fn builder(adapter: A) -> Builder<A> {
        Builder::new(adapter)
    }

    /// Looks on while the sequence runs, and may cancel it.
    #[must_use]
    pub fn observer(&self) -> Observer {
        Observer::new(&self.home.ledger, self.home.queue.bell(), &self.cancel)
    }

    /// Runs a sequence.
    pub async fn run(self, sequence: impl Into<Sequence<A::Command>>) -> Run<A::Event> {
        self.run_with(sequence, ()).await
    }

    /// Runs a sequence, and folds every event into a model as it arrives.
    pub async fn run_with<M: Model<A::Event>>(
        self,
        sequence: impl Into<Sequence<A::Command>>,
        model: M,
    ) -> Run<A::Event, M> {
        let sequence = sequence.into();
        steps::run(self, sequence.commands(), model).await
    }
}

impl<A: Adapter> fmt::Debug for Executor<A> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Executor").field("mode", &self.mode).finish_non_exhaustive()
    }
}
