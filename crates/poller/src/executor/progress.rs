//! Keeps what came of a sequence so far, and decides by the mode what a failure means.

use std::ops::ControlFlow;

use super::{Cause, Failure, Mode, Model, Run};
use crate::poller::Status;
use crate::queue::{Arrival, Entry};

/// How many events a run keeps.
pub const MAX_EVENTS: usize = 1 << 20;

pub(super) struct Progress<E, M> {
    mode: Mode,
    is_halted: bool,
    run: Run<E, M>,
}

impl<E, M: Model<E>> Progress<E, M> {
    pub(super) fn new(mode: Mode, model: M) -> Self {
        let run = Run {
            events: Vec::new(),
            model,
            pollers: Vec::new(),
            failures: Vec::new(),
            commands_run: 0,
            is_cancelled: false,
        };
        Self { mode, is_halted: false, run }
    }

    pub(super) fn into_run(self) -> Run<E, M> {
        self.run
    }

    pub(super) fn events(&self) -> &[Entry<E>] {
        &self.run.events
    }

    /// Whether to go on.
    pub(super) fn flow(&self) -> ControlFlow<()> {
        if self.is_halted { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    pub(super) fn command_ran(&mut self) {
        self.run.commands_run = self.run.commands_run.saturating_add(1);
    }

    pub(super) fn cancel(&mut self) {
        self.run.is_cancelled = true;
        self.is_halted = true;
    }

    pub(super) fn take(&mut self, arrival: Arrival<E>) {
        match arrival {
            Arrival::Event(entry) => self.event(entry),
            Arrival::Ended(status) => self.ended(status),
        }
    }

    fn ended(&mut self, status: Status) {
        if let Some(error) = status.error() {
            let cause = Cause::Poller { id: status.id, error: error.clone() };
            self.fail(status.command_index, cause);
        }
        self.run.pollers.push(status);
    }

    /// What fails after the run was halted is a consequence, or came later.
    pub(super) fn fail(&mut self, command_index: usize, cause: Cause) {
        if self.is_halted {
            return;
        }
        let is_over = matches!(cause, Cause::TooManyEvents { .. });
        self.is_halted = is_over || self.mode == Mode::Halt;
        let failure = Failure { command_index, cause };
        match self.mode {
            Mode::Halt | Mode::Record => self.run.failures.push(failure),
            _ if is_over => self.run.failures.push(failure),
            Mode::Log => tracing::warn!(command_index, "{}", failure.cause),
            Mode::Disabled => {}
        }
    }

    fn event(&mut self, entry: Entry<E>) {
        if self.run.events.len() >= MAX_EVENTS {
            self.fail(entry.command_index, Cause::TooManyEvents { bound: MAX_EVENTS });
            return;
        }
        // An event that came after the end is kept, but the model has stopped before it.
        if !self.is_halted
            && let Err(reason) = self.run.model.fold(&entry)
        {
            self.fail(entry.command_index, Cause::Model { sequence: entry.sequence, reason });
        }
        self.run.events.push(entry);
    }
}
