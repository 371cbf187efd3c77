//! The loop behind the recorder.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use mainstay_base::{Clock, IdSource};
use mainstay_events::{Event, Events, Stream};
use serde_json::json;
use tokio::time::Interval;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::batch::{BatchError, Memory};
use super::measure;
use super::parts::{Ending, Part, Round, Verdict};
use super::queue::{Fill, Queue, WINDOW};
use crate::record::overdue::{self, OVERDUE_AT_ONCE, Overdue};
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
    /// Ends with this, however it ends.
    _ended: DropGuard,
    memory: Memory,
}

impl Task {
    pub(super) fn new(
        queue: Arc<Queue>,
        events: Events,
        clock: Arc<dyn Clock>,
        ids: IdSource,
        stop: CancellationToken,
        ended: CancellationToken,
    ) -> Self {
        let (memory, ended) = (Memory::default(), ended.drop_guard());
        Self { queue, events, clock, ids, stop, _ended: ended, memory }
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
            self.record_what_waits(&mut look).await;
        }
        // What is there by now; polling has ended.
        self.record_what_waits(&mut look).await;
    }

    async fn record_what_waits(&mut self, look: &mut Interval) {
        loop {
            match self.queue.fill() {
                Fill::Empty => break,
                Fill::Full => {}
                Fill::Some => self.wait_for_more().await,
            }
            let part = self.queue.take();
            self.record(part).await;
            measure::waiting(self.queue.len());
            if self.stop.is_cancelled() {
                if self.queue.health().failing_since.is_some() {
                    break;
                }
            } else if look.tick().now_or_never().is_some() {
                // There may always be one more result: it must not wait for the last.
                self.mark_overdue().await;
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

    /// Records a batch, again for as long as the database is in trouble.
    async fn record(&mut self, mut part: Part) {
        let mut wait = FIRST_WAIT;
        while let Some((kept, error)) = self.record_once(part).await {
            self.note_trouble(&error, kept.results.len());
            if self.stop.is_cancelled() {
                let count = kept.results.len();
                tracing::error!(results = count, "stopped before these results could be recorded");
                self.queue.done(&kept.results);
                return;
            }
            tokio::select! {
                () = self.stop.cancelled() => {}
                () = tokio::time::sleep(wait) => {}
            }
            wait = wait.saturating_mul(2).min(LONGEST_WAIT);
            // What has come since may show whose fault it is.
            part = self.queue.join(kept);
        }
    }

    /// Records a batch, in parts where something spoils it. What the database did not take is given
    /// back, with what it said.
    async fn record_once(&mut self, whole: Part) -> Option<(Part, BatchError)> {
        let mut round = Round::new(whole);
        while let Some(part) = round.next() {
            match self.try_once(&part).await {
                Ok(outcomes) => {
                    round.prove();
                    self.queue.set_failing(None);
                    self.deliver(part.results, outcomes);
                }
                Err(error) => match round.fail(part, error) {
                    Verdict::GoOn => {}
                    Verdict::Refuse(part, error) => self.refuse(part, &error),
                    Verdict::Keep(part, error) => return Some((part, error)),
                },
            }
        }
        match round.end() {
            Ending::Refuse(suspects) => {
                for (part, _) in suspects {
                    // The database may have come back only after they were tried.
                    match self.try_once(&part).await {
                        Ok(outcomes) => self.deliver(part.results, outcomes),
                        Err(error) => self.refuse(part, &error),
                    }
                }
                None
            }
            Ending::Keep(part, error) => Some((part, error)),
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
        self.queue.done(&results);
        for (result, outcome) in results.into_iter().zip(outcomes) {
            if matches!(outcome, Recorded::Stale | Recorded::TakenOver) {
                self.memory.forget(result.watch.number);
            }
            if let Some(waiting) = result.recorded {
                // Whoever asked may have gone.
                let _ = waiting.send(outcome);
            }
        }
    }

    /// Drops what can't be recorded.
    fn refuse(&mut self, part: Part, error: &BatchError) {
        for result in &part.results {
            let service = &*result.watch.name;
            tracing::error!(service, %error, "a result can't be recorded and was dropped");
        }
        for (circuit, _) in &part.circuits {
            let service = &*circuit.watch.name;
            tracing::error!(service, %error, "a breaker's state can't be recorded and was dropped");
        }
        let refused = part.results.iter().map(|_| Recorded::Refused).collect();
        self.deliver(part.results, refused);
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
            let waiting = self.queue.services();
            let marked = self
                .events
                .write(async |tx, out| {
                    crate::shards::shorten_patience(tx).await?;
                    let now = tx.now().await?;
                    let marked = overdue::mark(tx, now, &waiting).await?;
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
