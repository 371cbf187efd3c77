//! Does the steps of a journey, one after the other.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::secret::MASK;
use mainstay_poller::{Adapter, Context, Entry, Reason};
use serde_json::Value;

use super::journal::{Journal, StepNote};
use super::poll;
use super::step_error::StepError;
use crate::bounds::{MAX_ANSWER, MAX_CAPTURED, MAX_RUN, MAX_VALUE};
use crate::courier::{Answer, Courier};
use crate::judge;
use crate::model::{Journey, Mode, Step};
use crate::numbers;
use crate::path::Path;
use crate::report::FailureKind;
use crate::request;
use crate::scope::Scope;

/// An event on its way.
#[derive(Debug, Clone)]
pub(super) struct Told {
    pub(super) name: String,
    pub(super) step: Arc<str>,
    /// Since the beginning of the run.
    pub(super) at: Duration,
}

/// Does the steps. A command is the number of a step.
pub(super) struct Traveller {
    pub(super) journey: Arc<Journey>,
    pub(super) scope: Scope,
    pub(super) courier: Courier,
    pub(super) journal: Arc<Journal>,
    /// How long all that was captured is together, in bytes of JSON.
    pub(super) captured: usize,
}

impl Adapter for Traveller {
    type Command = usize;
    type Event = Told;

    async fn execute(&mut self, index: &usize, ctx: &Context<Told>) -> Result<Vec<Told>, Reason> {
        let journey = Arc::clone(&self.journey);
        let Some(step) = journey.steps.get(*index) else { return Ok(Vec::new()) };
        let mut note = self.journal.begin(*index, step);
        let done = self.step(*index, step, ctx, &mut note).await;
        let at = self.journal.now();
        self.journal.end_step(*index, note, done.as_ref().err());
        let told = |name: &String| Told { name: name.clone(), step: step.id.as_str().into(), at };
        match done {
            Ok(()) => Ok(step.emit.iter().map(told).collect()),
            // What failed in this mode has been noted, and the rest of the journey goes on as if nothing had.
            Err(_) if self.journal.mode == Mode::Disabled => Ok(Vec::new()),
            Err(error) => Err(error.into()),
        }
    }

    fn is_ready(&self, index: &usize, events: &[Entry<Told>]) -> bool {
        let needs = self.journey.steps.get(*index).map(|step| step.needs.as_slice());
        needs.unwrap_or_default().iter().all(|need| {
            events
                .iter()
                .any(|entry| *entry.event.step == *need.step && entry.event.name == need.event)
        })
    }
}

impl Traveller {
    async fn step(
        &mut self,
        index: usize,
        step: &Step,
        ctx: &Context<Told>,
        note: &mut StepNote,
    ) -> Result<(), StepError> {
        let ready = request::ready(&step.request, &self.scope, MAX_RUN, MAX_ANSWER)?;
        self.journal.hide_login(&ready)?;
        self.journal.sending(index, &ready.shown);
        note.record.request = Some(ready.shown.clone());
        let answer = self.courier.send(&ready.web).await?;
        note.answered(&answer);
        self.check(step, &answer, note)?;
        self.capture(step, &answer, note)?;
        if let Some(poll) = &step.poll {
            let started = poll::Start {
                poll,
                step: step.id.as_str().into(),
                scope: self.scope.clone(),
                courier: self.courier.clone(),
                journal: Arc::clone(&self.journal),
            };
            poll::start(started, ctx)?;
        }
        Ok(())
    }

    /// What is not as expected ends the step: nothing is captured, told or watched.
    fn check(&self, step: &Step, answer: &Answer, note: &mut StepNote) -> Result<(), StepError> {
        note.record.checks = judge::judge(&step.expect, answer, &self.scope)?;
        let failed: Vec<_> = note.record.checks.iter().filter(|check| !check.is_fine).collect();
        let Some(first) = failed.first() else { return Ok(()) };
        if self.journal.mode == Mode::Disabled {
            return Ok(());
        }
        let more = match failed.len() {
            1 => String::new(),
            count => format!(" (and {} more)", count.saturating_sub(1)),
        };
        let message = format!("{}{more}", judge::told(first, answer));
        let check = Some(Box::new((*first).clone()));
        Err(StepError { check, ..StepError::new(FailureKind::Assertion, message) })
    }

    fn capture(
        &mut self,
        step: &Step,
        answer: &Answer,
        note: &mut StepNote,
    ) -> Result<(), StepError> {
        let captured = self.capture_each(step, answer, note);
        // What was captured before may hold what is known to be a secret by now.
        if step.captures.iter().any(|capture| capture.is_secret) {
            self.scope.mask(&self.journal.mask());
        }
        captured
    }

    fn capture_each(
        &mut self,
        step: &Step,
        answer: &Answer,
        note: &mut StepNote,
    ) -> Result<(), StepError> {
        for capture in &step.captures {
            let (value, length) = captured(&capture.path, answer)?;
            self.captured = self.captured.saturating_add(length);
            if self.captured > MAX_CAPTURED {
                let message = format!(
                    "{} can't be captured: all that the run captures would be longer than {MAX_CAPTURED} bytes; \
                     capture only what later steps use",
                    capture.path
                );
                return Err(StepError::new(FailureKind::Bound, message));
            }
            let name = capture.name.clone();
            if !capture.is_secret {
                note.record.captures.insert(name, value.clone());
                self.scope.insert(&capture.name, value, &self.journal.mask());
                continue;
            }
            if let Err(why) = self.journal.hide(&value) {
                note.conceal();
                let message = format!("{} can't be captured as a secret: {why}", capture.path);
                return Err(StepError::new(FailureKind::Capture, message));
            }
            note.record.captures.insert(name, MASK.into());
            self.scope.insert_secret(&capture.name, value);
        }
        Ok(())
    }
}

/// The value that stands there, and how long it is as JSON.
fn captured(path: &Path, answer: &Answer) -> Result<(Value, usize), StepError> {
    let failed = |message: String| StepError::new(FailureKind::Capture, message);
    let json = answer.json.as_ref();
    let json =
        json.map_err(|why| failed(format!("{path} can't be captured: the answer is {why}")))?;
    let found = path.only(json).map_err(|error| failed(error.to_string()))?;
    let value = found.ok_or_else(|| {
        failed(format!("{path} can't be captured: it matches nothing in the answer"))
    })?;
    let length = value.to_string().len();
    if length > MAX_VALUE {
        return Err(failed(format!("what stands at {path} is longer than {MAX_VALUE} bytes")));
    }
    if numbers::has_rounded(value, &answer.body) {
        return Err(failed(format!(
            "{path} can't be captured: a whole number of more than 64 bits stands there, which would be rounded; \
             let the service send it as a text"
        )));
    }
    Ok((value.clone(), length))
}
