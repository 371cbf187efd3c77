//! Handlers that run for longer than their kind may: told to stop, then dropped, and what can't be
//! dropped because it never waits loses its job and keeps its place.

use mainstay_base::Moment;

use super::begin::patience;
use super::engine::Engine;
use super::held::Stage;
use super::run::Outcome;
use crate::handler::JobError;
use crate::model::{Kind, Lease};

/// The code of a handler that ran for too long.
const TIMED_OUT: &str = "timed_out";

impl Engine {
    pub(super) fn look_at_runs(&mut self, now: Moment) {
        let patience = patience(self.options.ttl);
        // Dropped after its patience by its own task; whoever is there after twice that never waits.
        for lease in self.held.overdue(now, patience * 2) {
            self.take_from_handler(lease);
        }
        for lease in self.held.overdue(now, std::time::Duration::ZERO) {
            if let Some(holding) = self.held.get_mut(lease) {
                holding.is_overdue = true;
                holding.cancel.cancel();
            }
        }
    }

    /// What a handler of this kind has done that ran for too long.
    pub(super) fn timed_out(&self, kind: &Kind) -> JobError {
        let most = self.handler(kind).map(|handler| handler.max_run()).unwrap_or_default();
        let message = format!("the handler ran for longer than {} s", most.as_secs_f64());
        JobError::retriable(TIMED_OUT, message)
    }

    fn take_from_handler(&mut self, lease: Lease) {
        let Some(holding) = self.held.get(lease) else { return };
        if let Stage::Running(task) = &holding.stage {
            task.abort();
        }
        let (is_finished, kind) = (holding.progress.is_finished(), holding.kind.clone());
        let took = self.handler(&kind).map(|handler| handler.max_run()).unwrap_or_default();
        let result = Err(self.timed_out(&kind));
        self.conclude(Outcome { lease, result, is_finished, took });
    }
}
