//! Keeps what happens while a journey runs, and tells who looks on.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mainstay_base::secret::MASK;
use mainstay_base::{Clock, Moment, Timestamp};
use mainstay_poller::Entry;
use serde_json::Value;

use super::adapter::Told;
use super::step_error::StepError;
use super::{News, Observer, millis};
use crate::bounds::MAX_RUN_EVENTS;
use crate::courier::Answer;
use crate::mask::{Mask, NotHidden};
use crate::model::{Journey, Mode, Step};
use crate::report::{AnswerRecord, EventRecord, RequestRecord, StepRecord, StepState};
use crate::request::Ready;
use crate::scope::Secrets;

/// What a step says that the run ended in the middle of.
const CUT_OFF: &str = "the run ended while it was under way";

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
    /// Pollers that have settled and whose last events are on their way: when they were told, and how many
    /// are still to come.
    settling: BTreeMap<String, (Duration, usize)>,
    pub(super) mask: Mask,
    /// There was no room for an event, and the run ended because of it.
    pub(super) is_full: bool,
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
            error: Some(CUT_OFF.to_owned()),
            ..record.clone()
        };
        if let Some(place) = self.held().steps.get_mut(index) {
            *place = Some(cut_off);
        }
        StepNote { record, began }
    }

    /// What is sent now, so that it is known also if the run ends before the answer comes.
    pub(super) fn sending(&self, index: usize, request: &RequestRecord) {
        let mut held = self.held();
        let mut request = request.clone();
        held.mask.request(&mut request);
        if let Some(Some(step)) = held.steps.get_mut(index) {
            step.request = Some(request);
        }
    }

    /// The step that has begun and not ended.
    pub(super) fn under_way(&self) -> Option<String> {
        self.held().steps.iter().flatten().find(is_under_way).map(|step| step.id.clone())
    }

    /// The run is cut off now: so long did a step take that is under way.
    pub(super) fn cut_off(&self) {
        let now = millis(self.now());
        for step in self.held().steps.iter_mut().flatten().filter(|step| is_under_way(&&**step)) {
            step.duration_ms = (now - step.offset_ms).max(0.0);
        }
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

    /// Whether the run goes on: it ends at the first event that there is no room for.
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
        let goes_on = has_room || held.is_full;
        held.is_full |= !has_room;
        if has_room {
            held.events.push(event);
        }
        let has_settled = held.arrived(&entry.event);
        drop(held);
        if has_settled {
            self.poller_ended(&entry.event.step, None);
        }
        goes_on
    }

    /// Events that arrived when the run was over already: nothing came of them, but they happened.
    pub(super) fn late_events(&self, all: &[Entry<Told>]) {
        let held = self.held();
        let known = if held.is_full { all.len() } else { held.events.len() };
        drop(held);
        for entry in all.iter().skip(known) {
            if !self.event(entry) {
                break;
            }
        }
    }

    /// A poller has settled with so many events: it is told behind the last of them.
    pub(super) fn settled(&self, step: &str, at: Duration, events: usize) {
        if events == 0 {
            self.poller_ended(step, None);
        } else {
            self.held().settling.insert(step.to_owned(), (at, events));
        }
    }

    /// Tells of those whose last events nobody waited for.
    pub(super) fn tell_settled(&self) {
        let settling = std::mem::take(&mut self.held().settling);
        for step in settling.keys() {
            self.poller_ended(step, None);
        }
    }

    /// What knows every secret that there is by now.
    pub(super) fn mask(&self) -> Mask {
        self.held().mask.clone()
    }

    /// Nobody is shown this value from now on.
    pub(super) fn hide(&self, value: &Value) -> Result<(), NotHidden> {
        self.held().mask.hide_value(value)
    }

    /// Nor what a request logs in with.
    pub(super) fn hide_login(&self, ready: &Ready) -> Result<(), NotHidden> {
        ready.login.as_ref().map_or(Ok(()), |login| self.held().mask.hide(login.expose()))
    }

    pub(super) fn poller_began(&self, id: u64, began: Duration, request: RequestRecord) {
        self.held().pollers.insert(id, PollerNote { began, request });
    }

    pub(super) fn poller_ended(&self, step: &str, error: Option<&str>) {
        let error = error.map(|error| self.held().mask.text(error));
        self.observer.tell(&News::PollerEnded { step, error: error.as_deref() });
    }
}

impl Held {
    /// Whether this was the last event of a poller that has settled.
    fn arrived(&mut self, event: &Told) -> bool {
        let Some((at, left)) = self.settling.get_mut(&*event.step) else { return false };
        if *at != event.at {
            return false;
        }
        *left = left.saturating_sub(1);
        let is_last = *left == 0;
        if is_last {
            self.settling.remove(&*event.step);
        }
        is_last
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

    /// Shows nothing of what came back: there is a secret in it that can't be told from the rest.
    pub(super) fn conceal(&mut self) {
        self.record.answer.iter_mut().for_each(|answer| MASK.clone_into(&mut answer.body));
        for check in &mut self.record.checks {
            check.got = check.got.as_ref().map(|_| MASK.into());
        }
    }
}

fn is_under_way(step: &&StepRecord) -> bool {
    step.error.as_deref() == Some(CUT_OFF)
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
