//! The loop: asks the roster what to start, makes the requests, and hands the results on.
//!
//! Four things run: the beat starts what is due, each request lands in a task of its own, the sync
//! learns of edits and of shards that came or went, and the drain sees to it that nothing is under way
//! of a shard that is handed over. None of them waits for another: a slow endpoint delays nobody.

mod beat;
mod drain;
mod flight;
mod manual;
mod measure;
mod sync;

use std::collections::HashMap;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mainstay_base::{Clock, Moment, Rng};
use tokio::sync::{Notify, oneshot};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::manual::Landed;
pub use self::manual::PollNowError;
use self::measure::Meters;
pub use self::measure::{METRIC_BUCKETS, describe_metrics};
use crate::observe::Observe;
use crate::policy::PollPolicy;
use crate::polling::{Answering, PollAnswer, Polling, ScheduleView};
use crate::roster::{Attempt, Roster};
use crate::shards::Tenure;
use crate::sink::Sink;
use crate::source::Source;
use crate::watch::ServiceNumber;

/// Polls services until it is stopped. A clone is the same engine.
#[derive(Clone)]
pub struct Engine {
    shared: Arc<Shared>,
}

/// What the engine works with.
pub struct EngineParts {
    /// The numbers that polling goes by.
    pub policy: PollPolicy,
    /// Which services there are.
    pub source: Arc<dyn Source>,
    /// Makes the requests.
    pub observe: Arc<dyn Observe>,
    /// Takes the results.
    pub sink: Arc<dyn Sink>,
    /// Which shards of all hosts are polled here.
    pub tenure: Tenure,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Chance, for backoff with jitter.
    pub rng: Arc<dyn Rng>,
}

struct Shared {
    parts: EngineParts,
    roster: Mutex<Roster>,
    state: Mutex<State>,
    /// Something is due earlier than the beat thinks.
    wake: Notify,
    /// An edit was made: sync at once.
    edited: Notify,
    meters: Meters,
    /// How many requests are landing: their results are on the way to the sink.
    landing: AtomicUsize,
    tasks: TaskTracker,
    /// The beat, and what it has sent out.
    flights: TaskTracker,
    stop: CancellationToken,
}

#[derive(Default)]
struct State {
    /// Until when the beat sleeps.
    asleep_until: Option<Moment>,
    /// When the beat last came round.
    beat_at: Option<Moment>,
    /// When the source was last read to its end.
    synced_at: Option<Moment>,
    /// The version of what is owned here that the roster was last held to.
    owned: u64,
    /// Who waits for a poll that an operator asked for. Nothing has landed for whoever it is whose
    /// service went to another instance meanwhile.
    waiting: HashMap<Attempt, oneshot::Sender<Option<Landed>>>,
}

/// Whether the loop turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pulse {
    /// How long ago the beat last came round.
    pub beat: Option<Duration>,
    /// How long ago the list of services was last read.
    pub sync: Option<Duration>,
    /// How long either may take.
    pub limit: Duration,
    /// Whether nothing is polled here because the leases could not be renewed.
    pub has_lapsed: bool,
}

impl Engine {
    /// Starts polling. It ends with `stop`; what is in the air then has a short while to land.
    #[must_use]
    pub fn start(parts: EngineParts, tasks: &TaskTracker, stop: CancellationToken) -> Self {
        let roster = Roster::new(parts.policy, Arc::clone(&parts.rng));
        let shared = Arc::new(Shared {
            roster: Mutex::new(roster),
            state: Mutex::default(),
            wake: Notify::new(),
            edited: Notify::new(),
            meters: Meters::new(),
            landing: AtomicUsize::new(0),
            tasks: tasks.clone(),
            flights: TaskTracker::new(),
            stop,
            parts,
        });
        tasks.spawn(shared.flights.track_future(beat::run(Arc::clone(&shared))));
        tasks.spawn(sync::run(Arc::clone(&shared)));
        tasks.spawn(drain::run(Arc::clone(&shared)));
        Self { shared }
    }

    /// Waits, after the stop, until nothing is in the air any more.
    pub async fn landed(&self) {
        self.shared.flights.close();
        self.shared.flights.wait().await;
    }

    /// An edit was committed: it takes effect now, not at the next tick.
    pub fn refresh(&self) {
        self.shared.edited.notify_one();
    }

    /// Whether a service is polled here.
    #[must_use]
    pub fn watches(&self, number: ServiceNumber) -> bool {
        self.shared.roster().watch_of(number).is_some()
    }

    /// Whether the loop turns.
    #[must_use]
    pub fn pulse(&self) -> Pulse {
        let now = self.shared.moment();
        let state = self.shared.state();
        let ago = |at: Option<Moment>| at.map(|at| now.since(at));
        let limit = self.shared.parts.policy.cycle().saturating_mul(PULSE_CYCLES) + PULSE_GRACE;
        let has_lapsed = self.shared.parts.tenure.has_lapsed(now);
        Pulse { beat: ago(state.beat_at), sync: ago(state.synced_at), limit, has_lapsed }
    }
}

impl Polling for Engine {
    fn schedule(&self, number: ServiceNumber) -> Option<ScheduleView> {
        let now = (self.shared.moment(), self.shared.parts.clock.now());
        let schedule = self.shared.roster().schedule_of(number, now.0)?;
        Some(ScheduleView::new(&schedule, now))
    }

    fn poll_now(&self, number: ServiceNumber) -> Answering<'_, Result<PollAnswer, PollNowError>> {
        Box::pin(self.poll_and_record(number))
    }
}

/// How many rounds may pass without the loop turning.
const PULSE_CYCLES: u32 = 3;
const PULSE_GRACE: Duration = Duration::from_secs(5);

impl Pulse {
    /// Whether either stands still.
    #[must_use]
    pub fn is_late(&self) -> bool {
        [self.beat, self.sync].into_iter().any(|ago| ago.is_none_or(|ago| ago > self.limit))
    }
}

impl Shared {
    fn moment(&self) -> Moment {
        self.parts.clock.moment()
    }

    fn roster(&self) -> MutexGuard<'_, Roster> {
        // The roster keeps its rules in every call: one that panicked left it whole.
        self.roster.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Holds the roster to what is owned now: others may have polled the rest for long.
    fn hold_to_owned(&self, roster: &mut Roster) {
        let seen = self.state().owned;
        if let Some((version, owned)) = self.parts.tenure.owned_since(seen) {
            roster.keep_owned(&owned);
            self.dismiss(roster);
            self.state().owned = version;
        }
    }

    /// Tells whoever waits for a poll of a service that went to another instance.
    fn dismiss(&self, roster: &Roster) {
        let mut state = self.state();
        let gone = state.waiting.extract_if(|attempt, _| !roster.is_under_way(*attempt));
        for (_, waiting) in gone {
            // Whoever asked may have gone too.
            let _ = waiting.send(None);
        }
    }

    /// Wakes the beat if `next` comes before what it waits for.
    fn wake_for(&self, next: Option<Moment>) {
        let asleep_until = self.state().asleep_until;
        if next.is_some_and(|next| asleep_until.is_none_or(|until| next < until)) {
            self.wake.notify_one();
        }
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Engine {{ roster: {:?} }}", self.shared.roster())
    }
}

impl std::fmt::Debug for EngineParts {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("EngineParts").field("policy", &self.policy).finish_non_exhaustive()
    }
}
