//! Keeps what happens while a journey runs, and tells who looks on.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mainstay_base::{Clock, Moment, Timestamp};
use mainstay_poller::Entry;
use serde_json::Value;

use super::adapter::Told;
use super::step_error::StepError;
use super::{News, Observer, millis};
use crate::bounds::MAX_RUN_EVENTS;
use crate::courier::Answer;
use crate::mask::Mask;
use crate::model::{Journey, Mode, Step};
use crate::report::{AnswerRecord, EventRecord, RequestRecord, StepRecord, StepState};
use crate::scope::Secrets;

/// What happened so far.
pub(super) struct Journal {
    pub(super) mode: Mode,
    pub(super) observer: Arc<dyn Observer>,
    pub(super) vars: BTreeMap<String, Value>,
    pub(super) started_at: Timestamp,
    clock: Arc<dyn Clock>,
    began: Moment,
    held: Mutex<Held>,
}

/// What is written down.
#[derive(Debug, Default)]
pub(super) struct Held {
    pub(super) steps: Vec<Option<StepRecord>>,
    pub(super) events: Vec<EventRecord>,
    pub(super) pollers: BTreeMap<u64, PollerNote>,
    pub(super) mask: Mask,
}

/// What is known of a poller from its beginning.
#[derive(Debug, Clone)]
pub(super) struct PollerNote {
    pub(super) began: Duration,
    pub(super) request: RequestRecord,
}

/// A step on its way.
pub(super) struct StepNote {
    pub(super) record: StepRecord,
    began: Duration,
}

impl Journal {
    pub(super) fn new(
        journey: &Journey,
        mode: Mode,
        vars: BTreeMap<String, Value>,
        secrets: &Secrets,
        clock: Arc<dyn Clock>,
        observer: Arc<dyn Observer>,
    ) -> Self {
        let held = Held {
            steps: vec![None; journey.steps.len()],
            mask: Mask::new(secrets),
            ..Held::default()
        };
        let (started_at, began) = (clock.now(), clock.moment());
        Self { mode, observer, vars, started_at, clock, began, held: Mutex::new(held) }
    }

    /// The time since the beginning of the run.
    pub(super) fn now(&self) -> Duration {
        self.clock.moment().since(self.began)
    }

    pub(super) fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn begin(&self, index: usize, step: &Step) -> StepNote {
        self.observer.tell(&News::StepBegan { step: &step.id });
        let began = self.now();
        let record = unreached(&step.id, began);
        // What stands there if the run ends before the step does.
        let cut_off = StepRecord {
            state: StepState::Failed,
            error: Some("the run ended while it was under way".to_owned()),
            ..record.clone()
        };
        if let Some(place) = self.held().steps.get_mut(index) {
            *place = Some(cut_off);
        }
        StepNote { record, began }
    }

    pub(super) fn end_step(&self, index: usize, mut note: StepNote, error: Option<&StepError>) {
        note.record.state = if error.is_none() { StepState::Passed } else { StepState::Failed };
        note.record.error = error.map(ToString::to_string);
        note.record.duration_ms = millis(self.now().saturating_sub(note.began));
        let mut held = self.held();
        held.mask.step(&mut note.record);
        if let Some(place) = held.steps.get_mut(index) {
            *place = Some(note.record.clone());
        }
        drop(held);
        self.observer.tell(&News::StepEnded(&note.record));
    }

    /// Whether there was room for it.
    pub(super) fn event(&self, entry: &Entry<Told>) -> bool {
        let event = EventRecord {
            sequence: entry.sequence,
            name: entry.event.name.clone(),
            step: entry.event.step.to_string(),
            poller: entry.poller.map(mainstay_poller::PollerId::get),
            offset_ms: millis(entry.event.at),
        };
        self.observer.tell(&News::Event(&event));
        let mut held = self.held();
        let has_room = held.events.len() < MAX_RUN_EVENTS;
        if has_room {
            held.events.push(event);
        }
        has_room
    }

    /// Nobody is shown this value from now on.
    pub(super) fn hide(&self, value: &Value) {
        self.held().mask.hide_value(value);
    }

    pub(super) fn poller_began(&self, id: u64, began: Duration, request: RequestRecord) {
        self.held().pollers.insert(id, PollerNote { began, request });
    }

    pub(super) fn poller_ended(&self, step: &str, error: Option<&str>) {
        let error = error.map(|error| self.held().mask.text(error));
        self.observer.tell(&News::PollerEnded { step, error: error.as_deref() });
    }
}

impl StepNote {
    pub(super) fn answered(&mut self, answer: &Answer) {
        self.record.answer = Some(AnswerRecord {
            status: answer.status,
            latency_ms: millis(answer.latency),
            content_type: answer.header("content-type").map(str::to_owned),
            body: answer.text().into_owned(),
            body_bytes: answer.body.len(),
        });
    }
}

/// A step of which nothing is known yet.
pub(super) fn unreached(id: &str, began: Duration) -> StepRecord {
    StepRecord {
        id: id.to_owned(),
        state: StepState::Skipped,
        offset_ms: millis(began),
        duration_ms: 0.0,
        request: None,
        answer: None,
        checks: Vec::new(),
        captures: BTreeMap::new(),
        error: None,
    }
}
