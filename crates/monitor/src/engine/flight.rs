//! One request, from its take-off to everybody who waits for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mainstay_base::{Moment, Timestamp};

use super::Shared;
use super::manual::Landed;
use crate::failure::{FailureKind, PollFailure};
use crate::observe::Observation;
use crate::report::Report;
use crate::roster::{Aboard, Outcome, Takeoff};
use crate::sink::PollResult;

/// How long after the stop a request may still land: whoever polls its service next would ask again at
/// once what has no result.
const LAST_LANDING: Duration = Duration::from_secs(3);

/// Makes the request and settles everybody aboard. Whoever ends it before lands it all the same.
pub(super) async fn fly(shared: Arc<Shared>, takeoff: Takeoff) {
    let ending = Outcome::NotBegun;
    let mut landing =
        Landing { shared: &shared, takeoff: Some(takeoff), aboard: Vec::new(), ending };
    let Some(takeoff) = &landing.takeoff else { return };
    // Right before the request: a process that stood still since the take-off asks nobody.
    if !shared.parts.tenure.may_begin(takeoff.lease, shared.moment()) {
        return;
    }
    landing.ending = Outcome::GivenUp;
    let observation = tokio::select! {
        observation = shared.parts.observe.observe(&takeoff.endpoint) => observation,
        () = shared.last_landing() => return,
    };
    landing.land(&observation);
}

/// Lands a request, whatever becomes of its task.
struct Landing<'a> {
    shared: &'a Shared,
    takeoff: Option<Takeoff>,
    /// Who is not settled yet.
    aboard: Vec<Aboard>,
    /// What has become of those who are not settled in the end.
    ending: Outcome,
}

impl Landing<'_> {
    fn land(mut self, observation: &Observation) {
        let Some(takeoff) = self.takeoff.take() else { return };
        let shared = self.shared;
        // Until the results are where they can be waited for.
        let _landing = Counted::new(&shared.landing);
        let (now, at) = (shared.moment(), shared.parts.clock.now());
        self.aboard = shared.aboard(&takeoff);
        while let Some(next) = self.aboard.last().cloned() {
            shared.settle(next, observation, now, at);
            self.aboard.pop();
        }
        shared.wake_for(shared.next_beat(now));
    }
}

/// Counts itself for as long as it is there.
struct Counted<'a>(&'a AtomicUsize);

impl<'a> Counted<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Drop for Landing<'_> {
    fn drop(&mut self) {
        if let Some(takeoff) = self.takeoff.take() {
            self.aboard = self.shared.aboard(&takeoff);
        }
        let now = self.shared.moment();
        // Also those whose answer could not be read to its end.
        for aboard in self.aboard.drain(..) {
            let number = aboard.watch.number;
            self.shared.roster().settle(number, aboard.attempt, self.ending, now);
            self.shared.state().waiting.remove(&aboard.attempt);
        }
    }
}

impl Shared {
    /// When what is in the air is given up, after the stop.
    async fn last_landing(&self) {
        self.stop.cancelled().await;
        tokio::time::sleep(LAST_LANDING).await;
    }

    fn aboard(&self, takeoff: &Takeoff) -> Vec<Aboard> {
        let mut dropped = 0;
        let aboard = self.roster().land(takeoff, &mut dropped);
        self.meters.dropped(dropped);
        aboard
    }

    /// Reads the answer as the service reads it, plans its next poll and hands the result on.
    fn settle(&self, aboard: Aboard, observation: &Observation, now: Moment, at: Timestamp) {
        let Aboard { watch, attempt } = aboard;
        let outcome = match &observation.answer {
            Ok(body) => watch.format.read(body, at).map_err(|bad| bad_body(&bad)),
            Err(failure) => Err(failure.clone()),
        };
        let ending = if outcome.is_ok() { Outcome::Success } else { Outcome::Failure };
        // Before it is settled: a look at who still waits must not find it ended by an edit.
        let waiting = self.state().waiting.remove(&attempt);
        let settlement = self.roster().settle(watch.number, attempt, ending, now);
        let Some(settlement) = settlement else { return self.meters.dropped(1) };
        self.meters.polled(&outcome, observation.latency);
        let recorded = waiting.and_then(|waiting| tell(waiting, observation, &outcome));
        let latency = observation.latency;
        self.parts.sink.take(PollResult { watch, at, latency, outcome, settlement, recorded });
    }
}

/// Tells an operator how the poll ended, and gives them a way to learn what was recorded.
fn tell(
    waiting: tokio::sync::oneshot::Sender<Option<Landed>>,
    observation: &Observation,
    outcome: &Result<Report, PollFailure>,
) -> Option<tokio::sync::oneshot::Sender<crate::sink::Recorded>> {
    let (sender, recorded) = tokio::sync::oneshot::channel();
    let (warnings, failure) = match outcome {
        Ok(report) => (report.warnings.iter().map(ToString::to_string).collect(), None),
        Err(failure) => (Vec::new(), Some(failure.clone())),
    };
    let landed = Landed { latency: observation.latency, warnings, failure, recorded };
    waiting.send(Some(landed)).ok().map(|()| sender)
}

fn bad_body(bad: &crate::formats::BadBody) -> PollFailure {
    PollFailure { kind: FailureKind::BadBody, message: bad.to_string() }
}
