//! Makes the record of a run that has ended.

use mainstay_poller::{Cause, Failure, PollerError, Run, State, Status};
use serde_json::Value;

use super::adapter::Told;
use super::journal::{Held, Journal, unreached};
use super::millis;
use super::poll::{self, Polled};
use super::step_error::StepError;
use crate::bounds::MAX_MESSAGE;
use crate::model::{Journey, Mode};
use crate::report::{
    FailureKind, FailureRecord, PollerRecord, PollerState, RunOutcome, RunRecord, StepRecord,
};
use crate::text::cut;

/// The record, without any secret.
pub(super) fn record<M>(
    journey: &Journey,
    journal: &Journal,
    run: &Run<Told, M>,
    cut: Option<CutOff>,
) -> RunRecord {
    let duration = journal.now();
    journal.late_events(&run.events);
    journal.tell_settled();
    let step = journal.under_way();
    let held = journal.held();
    let is_cut_off = held.is_full || cut == Some(CutOff::Cancelled);
    let mut failures: Vec<_> =
        run.failures.iter().map(|failure| failed(journey, failure)).collect();
    failures.extend(cut.map(|cut| cut.failure(journey, step)));
    let mut record = RunRecord {
        journey: journey.name.clone(),
        mode: journal.mode,
        outcome: RunOutcome::Passed,
        started_at: journal.started_at,
        duration_ms: millis(duration),
        vars: journal.vars.clone(),
        steps: steps(journey, &held, run),
        events: held.events.clone(),
        pollers: run.pollers.iter().map(|status| poller(journey, &held, status)).collect(),
        failures,
    };
    held.mask.run(&mut record);
    drop(held);
    judge(&mut record, is_cut_off);
    record
}

/// What ended a run before its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CutOff {
    /// Its time was over.
    Late,
    /// Somebody wants it no more.
    Cancelled,
}

impl CutOff {
    fn failure(self, journey: &Journey, step: Option<String>) -> FailureRecord {
        let (kind, message) = match self {
            Self::Late => (
                FailureKind::RunTimeout,
                format!("the run did not end within {:?}", journey.within),
            ),
            Self::Cancelled => (FailureKind::Cancelled, "the run was cancelled".to_owned()),
        };
        let message = match step {
            Some(_) => format!("{message}; this step was under way"),
            None => message,
        };
        FailureRecord { step, kind, message, check: None }
    }
}

/// What failures mean by the mode. A run that somebody ended, or that told too many events to go on, has passed
/// in none.
fn judge(record: &mut RunRecord, is_cut_off: bool) {
    if is_cut_off {
        record.outcome = RunOutcome::Failed;
        return;
    }
    match record.mode {
        Mode::Halt | Mode::Record if !record.failures.is_empty() => {
            record.outcome = RunOutcome::Failed;
        }
        Mode::Halt | Mode::Record => {}
        Mode::Log => {
            for FailureRecord { step, message, .. } in &record.failures {
                tracing::warn!(journey = record.journey, step, "{message}");
            }
        }
        Mode::Disabled => record.failures.clear(),
    }
}

fn steps<M>(journey: &Journey, held: &Held, run: &Run<Told, M>) -> Vec<StepRecord> {
    let steps = journey.steps.iter().zip(&held.steps).enumerate();
    steps
        .map(|(index, (step, done))| {
            done.clone().unwrap_or_else(|| {
                let mut skipped = unreached(&step.id, std::time::Duration::ZERO);
                let of_step = |failure: &&Failure| failure.command_index == index;
                let error =
                    run.failures.iter().find(of_step).map(|failure| failed(journey, failure));
                let ended = "the run ended before it";
                skipped.error = Some(error.map_or_else(|| ended.to_owned(), |error| error.message));
                skipped
            })
        })
        .collect()
}

fn poller(journey: &Journey, held: &Held, status: &Status) -> PollerRecord {
    let note = held.pollers.get(&status.id.get());
    PollerRecord {
        id: status.id.get(),
        step: step_id(journey, status.command_index).unwrap_or_default(),
        state: match status.state {
            State::Done => PollerState::Done,
            State::TimedOut => PollerState::TimedOut,
            State::Stopped | State::Running => PollerState::Stopped,
            State::Failed(_) => PollerState::Failed,
        },
        offset_ms: note.map_or(0.0, |note| millis(note.began)),
        duration_ms: millis(status.elapsed),
        poll_count: status.poll_count,
        skipped_count: status.skipped_count,
        event_count: status.event_count,
        request: note.map(|note| note.request.clone()),
        last_value: status
            .last_result
            .as_ref()
            .and_then(|last| last.downcast_ref())
            .map(last_value),
        error: status.error().map(|error| cut(&told(error), MAX_MESSAGE)),
    }
}

fn told(error: &PollerError) -> String {
    match error {
        PollerError::Timeout(info) => poll::told(info),
        error => error.to_string(),
    }
}

fn last_value(polled: &Polled) -> Value {
    match polled {
        Ok(answer) => {
            let json = answer.json.as_ref().map(|json| json.value().clone());
            json.unwrap_or_else(|_| Value::String(answer.text().into_owned()))
        }
        Err(error) => Value::String(error.to_string()),
    }
}

fn failed(journey: &Journey, failure: &Failure) -> FailureRecord {
    let step = step_id(journey, failure.command_index);
    let (kind, message, check) = match &failure.cause {
        Cause::Command(reason) => match reason.downcast_ref::<StepError>() {
            Some(error) => (error.kind, error.message.clone(), error.check.as_deref().cloned()),
            None => (FailureKind::Request, reason.to_string(), None),
        },
        Cause::Poller { error: error @ PollerError::Timeout(_), .. } => {
            (FailureKind::Timeout, told(error), None)
        }
        Cause::Poller { error, .. } => (FailureKind::Poller, error.to_string(), None),
        Cause::NeverReady => (FailureKind::NeverReady, never_ready(journey, failure), None),
        other => (FailureKind::Bound, other.to_string(), None),
    };
    FailureRecord { step, kind, message: cut(&message, MAX_MESSAGE), check }
}

fn never_ready(journey: &Journey, failure: &Failure) -> String {
    let step = journey.steps.get(failure.command_index);
    let needs = step.map(|step| step.needs.iter().map(ToString::to_string).collect::<Vec<_>>());
    let needs = needs.unwrap_or_default().join(" and ");
    format!("it waited for {needs}, and no poller was left that could tell it")
}

fn step_id(journey: &Journey, index: usize) -> Option<String> {
    journey.steps.get(index).map(|step| step.id.clone())
}
