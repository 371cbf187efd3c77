//! The loop of a runner. It owns all state; what waits for the database or a handler is a task that
//! reports back, so the loop itself never waits and no statement is ever given up half way.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{Clock, Moment};
use mainstay_events::{Ears, Heard, Topic};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::RunnerOptions;
use super::ending::{self, Ending, FIRST_WAIT, LONGEST_WAIT};
use super::fetch::{self, Fetched};
use super::held::{Held, Stage};
use super::mean::Means;
use super::run::{self, Outcome};
use super::stop::Stopping;
use crate::context::Context;
use crate::decide::{self, Load};
use crate::error::JobsError;
use crate::handler::Handler;
use crate::jobs::{CANCEL_BELL, Jobs};
use crate::measure;
use crate::model::{Claimed, Kind, Lease};
use crate::queue::{Beat, Queue};
use crate::record::kinds;

/// Statements that mark jobs as done, at once, on connections of their own.
const MAX_FLUSHES: usize = 2;
/// So many done jobs are worth a second statement beside one under way.
const FLUSH_TOGETHER: usize = 128;
/// The most jobs that one statement marks as done.
const MAX_FLUSH: usize = 1_000;
/// The longest that a cancelled handler has to end by itself.
const MAX_PATIENCE: Duration = Duration::from_secs(2);
/// How often leases are looked at, at the least and at the most.
const TICK_BOUNDS: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(500));

/// What a task of the loop has to say.
#[derive(Debug)]
pub(super) enum Report {
    Fetched(Result<Fetched, JobsError>),
    Started(Vec<Claimed>, Result<Vec<Lease>, JobsError>),
    Flushed(Vec<Lease>, Result<Beat, JobsError>),
    Ended(Lease, bool),
    Beat(Moment, bool, Result<Beat, JobsError>),
    Released,
}

/// A runner.
pub(super) struct Engine {
    pub(super) jobs: Jobs,
    pub(super) queue: Queue,
    pub(super) options: RunnerOptions,
    handlers: HashMap<Kind, Arc<dyn Handler>>,
    kinds: Arc<Vec<String>>,
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
    handling: JoinSet<Outcome>,
    pub(super) working: JoinSet<Report>,
    pub(super) is_fetching: bool,
    pub(super) is_starting: bool,
    pub(super) is_beating: bool,
    pub(super) flushes: usize,
    /// There may be something to claim.
    pub(super) is_wanted: bool,
    pub(super) next_look: Moment,
    next_beat: Moment,
    next_tick: Moment,
    /// Nothing is written before: the database has failed.
    pub(super) not_before: Moment,
    pub(super) wait: Duration,
    /// The leases are to be asked after at once: a job was cancelled.
    is_asked: bool,
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
        Self {
            queue: Queue::new(jobs.clone(), options.id.clone(), options.ttl),
            jobs,
            options,
            handlers,
            kinds: Arc::new(kinds),
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
            working: JoinSet::new(),
            is_fetching: false,
            is_starting: false,
            is_beating: false,
            flushes: 0,
            is_wanted: true,
            next_look: now,
            next_beat: now,
            next_tick: now,
            not_before: now,
            wait: FIRST_WAIT,
            is_asked: false,
        }
    }

    pub(super) async fn run(mut self) {
        let mut ears = self.jobs.events().doorbell().listen(Topic::Jobs);
        self.write_limits().await;
        loop {
            let now = self.clock.moment();
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
            while let Err(error) = kinds::limit(self.jobs.book(), kind, handler.concurrency()).await
            {
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

    async fn wait_for_something(&mut self, ears: &mut Ears, now: Moment) {
        let pause = self.next_thing(now).since(now);
        tokio::select! {
            biased;
            () = self.stop.cancelled(), if self.stopping.is_none() => {
                self.begin_stop(self.clock.moment());
            }
            Some(report) = self.working.join_next() => self.take_report(report),
            Some(outcome) = self.handling.join_next() => self.take_outcome(outcome),
            heard = ears.heard() => self.hear(&heard),
            () = tokio::time::sleep(pause) => {}
        }
        while let Some(outcome) = self.handling.try_join_next() {
            self.take_outcome(outcome);
        }
        while let Some(report) = self.working.try_join_next() {
            self.take_report(report);
        }
    }

    /// When the loop has something to do even if nothing happens.
    fn next_thing(&self, now: Moment) -> Moment {
        let mut next = self.next_look;
        if !self.held.is_empty() {
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
    fn tick(&mut self, now: Moment) {
        if now < self.next_tick {
            return;
        }
        let (least, most) = TICK_BOUNDS;
        self.next_tick = now.plus((self.options.ttl / 30).clamp(least, most));
        for lease in self.held.expired(now, decide::lease_trusted_for(self.options.ttl)) {
            self.lose(lease);
        }
        self.look_at_deadlines(now);
        measure::running(self.running);
    }

    /// Begins whatever can be begun.
    pub(super) fn advance(&mut self, now: Moment) {
        if now >= self.next_look {
            self.is_wanted = true;
            self.next_look = now.plus(self.options.poll);
        }
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

    fn begin_handlers(&mut self) {
        let places = usize::try_from(self.options.concurrency).unwrap_or(usize::MAX);
        while self.running < places {
            let Some(job) = self.marked.pop_front() else { return };
            let (lease, kind) = (job.lease, job.kind.clone());
            let (Some(holding), Some(handler)) =
                (self.held.get_mut(lease), self.handlers.get(&kind))
            else {
                continue;
            };
            let context = Context::new(self.jobs.clone(), lease, holding.cancel.clone());
            let patience = decide::cancel_patience(self.options.ttl).min(MAX_PATIENCE);
            let clock = Arc::clone(&self.clock);
            let task =
                self.handling.spawn(run::run(Arc::clone(handler), job, context, clock, patience));
            holding.stage = Stage::Running(task);
            self.running = self.running.saturating_add(1);
        }
    }

    fn begin_start(&mut self) {
        let Some(first) = self.ready.front() else { return };
        let limit = decide::start_limit(self.options.concurrency, self.means.of(&first.kind));
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let room = limit.saturating_sub(self.running.saturating_add(self.marked.len()));
        if self.is_starting || room == 0 {
            return;
        }
        let jobs: Vec<Claimed> = self.ready.drain(..room.min(self.ready.len())).collect();
        let queue = self.queue.clone();
        self.is_starting = true;
        self.working.spawn(async move {
            let leases: Vec<Lease> = jobs.iter().map(Claimed::lease).collect();
            let started = queue.start(&leases).await;
            Report::Started(jobs, started)
        });
    }

    fn begin_flush(&mut self) {
        let is_worth = self.flushes == 0 || self.done.len() >= FLUSH_TOGETHER;
        if self.done.is_empty() || self.flushes >= MAX_FLUSHES || !is_worth {
            return;
        }
        let leases: Vec<Lease> = self.done.drain(..self.done.len().min(MAX_FLUSH)).collect();
        let queue = self.queue.clone();
        self.flushes = self.flushes.saturating_add(1);
        self.working.spawn(async move {
            let flushed = queue.succeed_many(&leases).await;
            Report::Flushed(leases, flushed)
        });
    }

    fn begin_fetch(&mut self, now: Moment) {
        let load = self.load();
        let has_room = decide::claim_limit(load, self.means.least()) > 0;
        if self.is_fetching || !self.is_wanted || !has_room {
            return;
        }
        self.is_fetching = true;
        self.is_wanted = false;
        self.next_look = now.plus(self.options.poll);
        let (queue, kinds) = (self.queue.clone(), Arc::clone(&self.kinds));
        let (means, clock) = (self.means.clone(), Arc::clone(&self.clock));
        self.working.spawn(async move {
            Report::Fetched(fetch::fetch(queue, kinds, load, means, clock).await)
        });
    }

    /// Jobs that are only being written down hold no place, but there is a bound on them too.
    fn load(&self) -> Load {
        let busy = self.running.saturating_add(self.marked.len()).saturating_add(self.ready.len());
        let bound = usize::try_from(decide::MAX_HELD).unwrap_or(usize::MAX);
        let held = if self.held.len() >= bound.saturating_mul(2) { self.held.len() } else { busy };
        Load {
            held: u32::try_from(held).unwrap_or(u32::MAX),
            concurrency: self.options.concurrency,
            runs_suspect: self.held.runs_suspect(),
        }
    }

    fn begin_beat(&mut self, now: Moment) {
        let is_due = now >= self.next_beat;
        if self.is_beating || !(is_due || self.is_asked) {
            return;
        }
        let leases = self.held.leases();
        self.is_asked = false;
        if is_due {
            self.next_beat = now.plus(decide::heartbeat_every(self.options.ttl));
        }
        if leases.is_empty() {
            return;
        }
        let queue = self.queue.clone();
        self.is_beating = true;
        self.working.spawn(async move {
            let beat =
                if is_due { queue.heartbeat(&leases).await } else { queue.held(&leases).await };
            Report::Beat(now, is_due, beat)
        });
    }

    pub(super) fn beat_again_at(&mut self, at: Moment) {
        self.next_beat = self.next_beat.min(at);
    }

    pub(super) fn begin_ending(&mut self, lease: Lease, ending: Ending) {
        let Some(holding) = self.held.get_mut(lease) else { return };
        holding.stage = Stage::Ending;
        let (queue, lost) = (self.queue.clone(), holding.cancel.clone());
        // A handler that was cancelled by a stop has used its token up.
        let lost = if holding.is_stopped { CancellationToken::new() } else { lost };
        self.working.spawn(async move {
            let is_written = ending::write(&queue, lease, &ending, &lost).await;
            Report::Ended(lease, is_written)
        });
    }

    fn hear(&mut self, heard: &Heard) {
        match heard {
            Heard::Anything => {
                self.is_wanted = true;
                self.is_asked = !self.held.is_empty();
            }
            Heard::Keys(keys) => {
                for key in keys {
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
