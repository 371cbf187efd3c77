//! The loop behind the recorder.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{Clock, IdSource, Timestamp};
use mainstay_events::{Event, Events, Stream};
use mainstay_store::StoreError;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::batch::{BatchError, Memory};
use super::measure;
use super::queue::{Fill, Queue, Taken, WINDOW};
use crate::record::overdue::{self, OVERDUE_AT_ONCE, Overdue};
use crate::roster::Circuit;
use crate::sink::{PollResult, Recorded};

/// How long it waits after a database that did not take a batch, at first and at most.
const FIRST_WAIT: Duration = Duration::from_millis(100);
const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// How often it looks for services that nobody polls.
const OVERDUE_EVERY: Duration = Duration::from_secs(5);

pub(super) struct Task {
    queue: Arc<Queue>,
    events: Events,
    clock: Arc<dyn Clock>,
    ids: IdSource,
    stop: CancellationToken,
    memory: Memory,
}

/// Results that are tried together.
struct Part {
    results: Vec<PollResult>,
    circuits: Vec<(Circuit, Timestamp)>,
}

impl Task {
    pub(super) fn new(
        queue: Arc<Queue>,
        events: Events,
        clock: Arc<dyn Clock>,
        ids: IdSource,
        stop: CancellationToken,
    ) -> Self {
        Self { queue, events, clock, ids, stop, memory: Memory::default() }
    }

    pub(super) async fn run(mut self) {
        let mut look = tokio::time::interval(OVERDUE_EVERY);
        look.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        while !self.stop.is_cancelled() {
            tokio::select! {
                () = self.stop.cancelled() => break,
                () = self.queue.wake.notified() => {}
                _ = look.tick() => self.mark_overdue().await,
            }
            self.record_what_waits().await;
        }
        // What is there by now; polling has ended.
        self.record_what_waits().await;
    }

    async fn record_what_waits(&mut self) {
        loop {
            match self.queue.fill() {
                Fill::Empty => break,
                Fill::Full => {}
                Fill::Some => self.wait_for_more().await,
            }
            let Taken { results, circuits } = self.queue.take();
            self.record(Part { results, circuits }).await;
            measure::waiting(self.queue.len());
            if self.stop.is_cancelled() && self.queue.health().failing_since.is_some() {
                break;
            }
        }
    }

    /// Until the window is over, or the batch is full, or somebody waits for it.
    async fn wait_for_more(&self) {
        let full = async {
            while self.queue.fill() != Fill::Full {
                self.queue.wake.notified().await;
            }
        };
        tokio::select! {
            () = self.stop.cancelled() => {}
            () = tokio::time::sleep(WINDOW) => {}
            () = full => {}
        }
    }

    /// Records a part, in halves where one result spoils it, again where the database is in trouble.
    async fn record(&mut self, part: Part) {
        let mut parts = vec![part];
        let mut wait = FIRST_WAIT;
        while let Some(part) = parts.pop() {
            match self.try_once(&part).await {
                Ok(outcomes) => {
                    self.queue.set_failing(None);
                    wait = FIRST_WAIT;
                    self.deliver(part.results, outcomes);
                }
                Err(error) if blames_data(&error) => {
                    parts.extend(self.halve(part, &error));
                }
                Err(error) => {
                    self.note_trouble(&error, part.results.len());
                    parts.push(part);
                    if self.stop.is_cancelled() {
                        break;
                    }
                    tokio::select! {
                        () = self.stop.cancelled() => {}
                        () = tokio::time::sleep(wait) => {}
                    }
                    wait = wait.saturating_mul(2).min(LONGEST_WAIT);
                }
            }
        }
        for part in parts {
            let count = part.results.len();
            tracing::error!(results = count, "stopped before these results could be recorded");
        }
    }

    async fn try_once(&mut self, part: &Part) -> Result<Vec<Recorded>, BatchError> {
        let began = self.clock.moment();
        let done =
            self.memory.record(&self.events, &self.ids, &part.results, &part.circuits).await?;
        measure::batch(part.results.len(), self.clock.moment().since(began));
        Ok(done.outcomes)
    }

    fn deliver(&mut self, results: Vec<PollResult>, outcomes: Vec<Recorded>) {
        measure::results(&outcomes);
        for (result, outcome) in results.into_iter().zip(outcomes) {
            if outcome == Recorded::Stale {
                self.memory.forget(result.watch.number);
            }
            if let Some(waiting) = result.recorded {
                // Whoever asked may have gone.
                let _ = waiting.send(outcome);
            }
        }
    }

    /// The halves of a part that could not be written; a single result that can't be is dropped.
    fn halve(&mut self, part: Part, error: &BatchError) -> Vec<Part> {
        let Part { mut results, circuits } = part;
        if results.len() <= 1 {
            for result in &results {
                let service = &*result.watch.name;
                tracing::error!(service, %error, "a result can't be recorded and was dropped");
            }
            let refused = results.iter().map(|_| Recorded::Refused).collect();
            self.deliver(results, refused);
            return Vec::new();
        }
        let rest = results.split_off(results.len() / 2);
        vec![Part { results: rest, circuits: Vec::new() }, Part { results, circuits }]
    }

    fn note_trouble(&self, error: &BatchError, results: usize) {
        measure::retry();
        if self.queue.health().failing_since.is_none() {
            tracing::error!(%error, results, "results can't be recorded; they are kept and tried again");
        }
        self.queue.set_failing(Some(self.clock.now()));
    }

    /// Says of services that nobody polls that they are not known.
    async fn mark_overdue(&self) {
        loop {
            let marked = self
                .events
                .write(async |tx, out| {
                    let now = tx.now().await?;
                    let marked = overdue::mark(tx, now).await?;
                    for one in &marked {
                        out.add(Stream::Org, overdue_event(one)?)?;
                    }
                    Ok::<_, BatchError>(marked.len())
                })
                .await;
            match marked {
                Ok(count) if count >= OVERDUE_AT_ONCE => {}
                Ok(_) => return,
                Err(error) => {
                    tracing::warn!(%error, "could not look for services that nobody polls");
                    return;
                }
            }
        }
    }
}

fn overdue_event(overdue: &Overdue) -> Result<Event, mainstay_events::EventError> {
    let fields = json!({
        "service_id": overdue.id.to_string(),
        "service_name": overdue.name,
        "previous": overdue.before.name(),
        "current": "unknown",
        "status": "unknown",
    });
    let fields = fields.as_object().cloned().unwrap_or_default();
    Event::new("service:status", &fields)
}

/// Whether the data of a batch is at fault, and not the database.
fn blames_data(error: &BatchError) -> bool {
    match error {
        BatchError::Event(_) => true,
        BatchError::Store(error) => matches!(
            error,
            StoreError::NulInText { .. }
                | StoreError::NotANumber { .. }
                | StoreError::Unique { .. }
                | StoreError::Reference { .. }
                | StoreError::Check { .. }
                | StoreError::TooManyRows { .. }
                | StoreError::Column { .. }
                | StoreError::Statement { .. }
        ),
    }
}
