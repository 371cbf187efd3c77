//! The loop of a runner. It owns all state; what waits for the database or a handler is a task that
//! reports back, so the loop itself never waits, and a statement is given up half way only when the
//! database has not answered for long.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{Clock, Moment};
use mainstay_events::{Ears, Heard, Topic};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::RunnerOptions;
use super::ending::{FIRST_WAIT, LONGEST_WAIT};
use super::errands::{ERRAND_BOUND, Errands, in_time};
use super::held::Held;
use super::mean::Means;
use super::run::Outcome;
use super::steps::Steps;
use super::stop::Stopping;
use super::turning::Turning;
use crate::decide;
use crate::handler::Handler;
use crate::jobs::{CANCEL_BELL, Jobs, PAUSE_BELL};
use crate::measure;
use crate::model::{Claimed, Kind, Lease};
use crate::queue::Queue;
use crate::record::kinds;

/// How often leases are looked at, at the least and at the most.
const TICK_BOUNDS: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(500));

/// A runner.
pub(super) struct Engine {
    pub(super) jobs: Jobs,
    pub(super) queue: Queue,
    pub(super) options: RunnerOptions,
    pub(super) handlers: HashMap<Kind, Arc<dyn Handler>>,
    pub(super) kinds: Arc<Vec<String>>,
    /// Those of them that wait long.
    pub(super) long: Arc<HashSet<Kind>>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) stop: CancellationToken,
    pub(super) stopping: Option<Stopping>,
    pub(super) held: Held,
    /// Claimed, and not marked as begun.
    pub(super) ready: VecDeque<Claimed>,
    /// Marked as begun, and waiting for a place.
    pub(super) marked: VecDeque<Claimed>,
    pub(super) running: usize,
    /// Done, and not written down.
    pub(super) done: Vec<Lease>,
    pub(super) means: Means,
    pub(super) handling: JoinSet<Outcome>,
    pub(super) errands: Errands,
    /// There may be something to claim.
    pub(super) is_wanted: bool,
    /// The last look found something that there was no room for.
    pub(super) waits_for_place: bool,
    /// A place has become free since the last look began.
    pub(super) has_place: bool,
    pub(super) next_look: Moment,
    pub(super) next_beat: Moment,
    next_tick: Moment,
    /// Nothing is written before: the database has failed.
    pub(super) not_before: Moment,
    pub(super) wait: Duration,
    /// The leases are to be asked after at once: a job was cancelled.
    pub(super) is_asked: bool,
    pub(super) turning: Turning,
    /// What was seen of the database's clock.
    pub(super) steps: Steps,
}

impl Engine {
    pub(super) fn new(
        jobs: Jobs,
        handlers: Vec<Arc<dyn Handler>>,
        options: RunnerOptions,
        stop: CancellationToken,
    ) -> Self {
        let clock = Arc::clone(jobs.clock());
        let now = clock.moment();
        let handlers: HashMap<_, _> = handlers.into_iter().map(|one| (one.kind(), one)).collect();
        let kinds = handlers.keys().map(|kind| kind.as_str().to_owned()).collect();
        let long = handlers.iter().filter(|(_, handler)| handler.waits_long());
        let long = long.map(|(kind, _)| kind.clone()).collect();
        Self {
            queue: Queue::new(jobs.clone(), options.id.clone(), options.ttl),
            turning: Turning::new(Arc::clone(&clock), options.poll),
            jobs,
            options,
            handlers,
            kinds: Arc::new(kinds),
            long: Arc::new(long),
            clock,
            stop,
            stopping: None,
            held: Held::default(),
            ready: VecDeque::new(),
            marked: VecDeque::new(),
            running: 0,
            done: Vec::new(),
            means: Means::default(),
            handling: JoinSet::new(),
            errands: Errands::default(),
            is_wanted: true,
            waits_for_place: false,
            has_place: false,
            next_look: now,
            next_beat: now,
            next_tick: now,
            not_before: now,
            wait: FIRST_WAIT,
            is_asked: false,
            steps: Steps::default(),
        }
    }

    pub(super) async fn run(mut self) {
        let mut ears = self.jobs.events().doorbell().listen(Topic::Jobs);
        self.write_limits().await;
        loop {
            let now = self.clock.moment();
            self.turning.turned(now);
            self.tick(now);
            self.advance(now);
            if self.is_over(now) {
                break;
            }
            self.wait_for_something(&mut ears, now).await;
        }
        measure::running(0);
    }

    /// Other processes read the limits of kinds from the database.
    async fn write_limits(&mut self) {
        for (kind, handler) in &self.handlers {
            let limit = handler.concurrency();
            let write = || in_time(ERRAND_BOUND, kinds::limit(self.jobs.book(), kind, limit));
            while let Err(error) = write().await {
                tracing::warn!(%error, "the job runner can't reach the database; trying again");
                let waited = tokio::time::sleep(self.wait);
                if self.stop.run_until_cancelled(waited).await.is_none() {
                    return;
                }
                self.wait = (self.wait * 2).min(LONGEST_WAIT);
            }
            self.wait = FIRST_WAIT;
        }
    }

    pub(super) async fn wait_for_something(&mut self, ears: &mut Ears, now: Moment) {
        let pause = self.next_thing(now).since(now);
        tokio::select! {
            biased;
            () = self.stop.cancelled(), if self.stopping.is_none() => {
                self.begin_stop(self.clock.moment());
            }
            Some(back) = self.errands.next() => self.take_back(back),
            Some(outcome) = self.handling.join_next() => self.take_outcome(outcome),
            heard = ears.heard() => self.hear(&heard),
            () = tokio::time::sleep(pause) => {}
        }
        while let Some(outcome) = self.handling.try_join_next() {
            self.take_outcome(outcome);
        }
        while let Some(back) = self.errands.next_now() {
            self.take_back(back);
        }
    }

    /// When the loop has something to do even if nothing happens.
    fn next_thing(&self, now: Moment) -> Moment {
        let mut next = self.next_look;
        if !self.held.is_empty() || !self.errands.is_empty() {
            next = next.min(self.next_tick);
        }
        if self.stopping.is_some() {
            next = self.next_tick;
        }
        if self.not_before > now && !self.is_idle() {
            next = next.min(self.not_before);
        }
        next
    }

    fn is_idle(&self) -> bool {
        self.ready.is_empty() && self.done.is_empty()
    }

    /// Looks at the leases and, when the runner stops, at its deadlines.
    pub(super) fn tick(&mut self, now: Moment) {
        if now < self.next_tick {
            return;
        }
        let (least, most) = TICK_BOUNDS;
        self.next_tick = now.plus((self.options.ttl / 30).clamp(least, most));
        let expired = self.held.expired(now, decide::lease_trusted_for(self.options.ttl));
        let unbegun = self.held.unbegun(&expired);
        for lease in expired {
            self.lose(lease);
        }
        self.begin_release(unbegun);
        self.errands.give_up(now);
        self.look_at_runs(now);
        self.give_back_stale(now);
        self.look_at_deadlines(now);
        measure::running(self.running);
    }

    /// Begins whatever can be begun.
    pub(super) fn advance(&mut self, now: Moment) {
        if now >= self.next_look {
            self.is_wanted = true;
            self.next_look = now.plus(self.options.poll);
        }
        self.is_wanted |= self.waits_for_place && self.has_place;
        self.begin_handlers();
        self.begin_beat(now);
        if now < self.not_before {
            return;
        }
        self.begin_flush();
        if self.stopping.is_none() {
            self.begin_start();
            self.begin_fetch(now);
        }
    }

    pub(super) fn hear(&mut self, heard: &Heard) {
        match heard {
            Heard::Anything => {
                self.is_wanted = true;
                self.is_asked = !self.held.is_empty();
            }
            Heard::Keys(keys) => {
                for key in keys {
                    if let Some(kind) = key.strip_prefix(PAUSE_BELL) {
                        self.give_back_paused(kind);
                    }
                    self.is_asked |= key.starts_with(CANCEL_BELL) && !self.held.is_empty();
                    self.is_wanted |= self.kinds.iter().any(|kind| kind == key);
                }
            }
        }
    }

    pub(super) fn handler(&self, kind: &Kind) -> Option<&Arc<dyn Handler>> {
        self.handlers.get(kind)
    }
}
