//! How far a run is while it is under way: folded from its news, held to a length, and due to be written down no
//! more often than people can follow. It holds times, counts and errors; what was sent and answered stands in the
//! record of its end.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mainstay_base::{Clock, Moment};
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;
use utoipa::ToSchema;

use crate::model::Journey;
use crate::report::{EventRecord, StepRecord, StepState};
use crate::run::{News, Observer, millis};
use crate::text::cut;

/// The last events that are shown of a run that is under way.
pub const EVENTS_SHOWN: usize = 50;
/// The longest error that is shown of it, in bytes.
const MAX_ERROR: usize = 256;
/// What happens is written down no sooner after what was written before.
const PAUSE: Duration = Duration::from_secs(1);
/// Polls alone are, after this part of the time so far: an hour of them is a few hundred writes.
const PART: u32 = 60;

/// How far a run is, or was when its Mainstay died.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = JourneyRunProgress)]
pub struct RunProgress {
    /// For how long it had run when this was written.
    pub elapsed_ms: f64,
    /// Every step, in the order of the file.
    pub steps: Vec<StepProgress>,
    /// Every poller that has begun, in that order.
    pub pollers: Vec<PollerProgress>,
    /// The last events, at most 50, in the order of arrival.
    pub events: Vec<EventRecord>,
}

/// One step of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StepProgress {
    /// Its name.
    pub id: String,
    /// How far it is.
    pub state: StepStage,
    /// When it began, since the beginning of the run.
    pub offset_ms: f64,
    /// How long it took, or has taken so far.
    pub duration_ms: f64,
    /// Why it failed.
    #[schema(required)]
    pub error: Option<String>,
}

/// How far a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepStage {
    /// It has not begun.
    Waiting,
    /// It is under way.
    Running,
    /// All was as expected.
    Passed,
    /// Something was not.
    Failed,
    /// It was not done.
    Skipped,
}

/// One poller of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PollerProgress {
    /// The step that started it.
    pub step: String,
    /// How far it is.
    pub state: PollerStage,
    /// When it began, since the beginning of the run.
    pub offset_ms: f64,
    /// How long it polled, or has polled so far.
    pub duration_ms: f64,
    /// How many of its polls have ended.
    pub poll_count: u64,
    /// Why it failed.
    #[schema(required)]
    pub error: Option<String>,
}

/// How far a poller is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PollerStage {
    /// It polls.
    Running,
    /// The resource settled, or did not and that was to be ignored.
    Ended,
    /// It failed.
    Failed,
}

/// Looks on, and knows when there is something to write down.
pub(crate) struct Watching {
    clock: Arc<dyn Clock>,
    began: Moment,
    held: Mutex<Held>,
    bell: Notify,
}

struct Held {
    progress: RunProgress,
    unwritten: Unwritten,
    /// How far the run was when the last was written.
    written: Duration,
}

/// What has happened since it was last written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Unwritten {
    Nothing,
    Polls,
    More,
}

impl Watching {
    /// Looks on from now.
    pub(crate) fn new(journey: &Journey, clock: Arc<dyn Clock>) -> Self {
        let steps = journey.steps.iter().map(|step| StepProgress {
            id: step.id.clone(),
            state: StepStage::Waiting,
            offset_ms: 0.0,
            duration_ms: 0.0,
            error: None,
        });
        let (pollers, events) = (Vec::new(), Vec::new());
        let progress = RunProgress { elapsed_ms: 0.0, steps: steps.collect(), pollers, events };
        let held = Held { progress, unwritten: Unwritten::Nothing, written: Duration::ZERO };
        let began = clock.moment();
        Self { clock, began, held: Mutex::new(held), bell: Notify::new() }
    }

    /// How it is, once that is due to be written down.
    pub(crate) async fn due(&self) -> RunProgress {
        loop {
            match self.due_in() {
                None => self.bell.notified().await,
                Some(Duration::ZERO) => return self.take(),
                Some(wait) => {
                    tokio::select! {
                        () = tokio::time::sleep(wait) => {}
                        () = self.bell.notified() => {}
                    }
                }
            }
        }
    }

    /// It is written down, or could not be: a database that takes its time is asked less often.
    pub(crate) fn written(&self) {
        self.held().written = self.now();
    }

    /// How it is now.
    fn take(&self) -> RunProgress {
        let (now, mut held) = (self.now(), self.held());
        (held.unwritten, held.written) = (Unwritten::Nothing, now);
        held.progress.as_of(millis(now))
    }

    fn due_in(&self) -> Option<Duration> {
        let held = self.held();
        due_in(held.unwritten, held.written, self.now())
    }

    fn now(&self) -> Duration {
        self.clock.moment().since(self.began)
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Watching {
    fn tell(&self, news: &News<'_>) {
        let now = millis(self.now());
        let mut held = self.held();
        held.progress.fold(news, now);
        let what = match news {
            News::Polled { .. } => Unwritten::Polls,
            _ => Unwritten::More,
        };
        held.unwritten = held.unwritten.max(what);
        drop(held);
        self.bell.notify_one();
    }
}

impl RunProgress {
    fn fold(&mut self, news: &News<'_>, now: f64) {
        match news {
            News::StepBegan { step } => {
                if let Some(step) = self.step(step) {
                    (step.state, step.offset_ms) = (StepStage::Running, now);
                }
            }
            News::StepEnded(record) => {
                if let Some(step) = self.step(&record.id) {
                    step.end(record);
                }
            }
            News::Event(event) => {
                if self.events.len() >= EVENTS_SHOWN {
                    self.events.remove(0);
                }
                self.events.push((*event).clone());
            }
            News::PollerBegan { step } => self.pollers.push(PollerProgress {
                step: (*step).to_owned(),
                state: PollerStage::Running,
                offset_ms: now,
                duration_ms: 0.0,
                poll_count: 0,
                error: None,
            }),
            News::Polled { step, poll_count } => {
                if let Some(poller) = self.poller(step) {
                    poller.poll_count = poller.poll_count.max(*poll_count);
                }
            }
            News::PollerEnded { step, error } => {
                if let Some(poller) = self.poller(step) {
                    let stage =
                        if error.is_some() { PollerStage::Failed } else { PollerStage::Ended };
                    (poller.state, poller.duration_ms) = (stage, now - poller.offset_ms);
                    poller.error = error.map(|error| cut(error, MAX_ERROR));
                }
            }
        }
    }

    /// What is under way has taken until now.
    fn as_of(&self, now: f64) -> Self {
        let mut shown = self.clone();
        shown.elapsed_ms = now;
        for step in shown.steps.iter_mut().filter(|step| step.state == StepStage::Running) {
            step.duration_ms = now - step.offset_ms;
        }
        for poller in shown.pollers.iter_mut().filter(|one| one.state == PollerStage::Running) {
            poller.duration_ms = now - poller.offset_ms;
        }
        shown
    }

    fn step(&mut self, id: &str) -> Option<&mut StepProgress> {
        self.steps.iter_mut().find(|step| step.id == id)
    }

    fn poller(&mut self, step: &str) -> Option<&mut PollerProgress> {
        self.pollers.iter_mut().find(|poller| poller.step == step)
    }
}

impl StepProgress {
    fn end(&mut self, record: &StepRecord) {
        self.state = match record.state {
            StepState::Passed => StepStage::Passed,
            StepState::Failed => StepStage::Failed,
            StepState::Skipped => StepStage::Skipped,
        };
        (self.offset_ms, self.duration_ms) = (record.offset_ms, record.duration_ms);
        self.error = record.error.as_deref().map(|error| cut(error, MAX_ERROR));
    }
}

/// How long to wait until it is written down, if there is anything to write.
fn due_in(unwritten: Unwritten, written: Duration, now: Duration) -> Option<Duration> {
    let pause = match unwritten {
        Unwritten::Nothing => return None,
        Unwritten::Polls => PAUSE.max(written / PART),
        Unwritten::More => PAUSE,
    };
    Some(written.saturating_add(pause).saturating_sub(now))
}

#[cfg(test)]
#[path = "progress_tests.rs"]
mod tests;
