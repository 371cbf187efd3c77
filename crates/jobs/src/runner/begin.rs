//! What the loop begins: handlers, and errands to the database.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::Moment;

use super::ending::{self, Ending, Named};
use super::engine::Engine;
use super::errands::{Errand, Report};
use super::fetch::{self, Able, LongOnes};
use super::held::Stage;
use super::run;
use crate::context::Context;
use crate::decide::{self, Load};
use crate::model::{Claimed, Lease};

/// Statements that mark jobs as done, at once, on connections of their own.
const MAX_FLUSHES: usize = 2;
/// So many done jobs are worth a second statement beside one under way.
const FLUSH_TOGETHER: usize = 128;
/// The most jobs that one statement marks as done.
const MAX_FLUSH: usize = 1_000;
/// The longest that a cancelled handler has to end by itself.
pub(super) const MAX_PATIENCE: Duration = Duration::from_secs(2);

impl Engine {
    pub(super) fn begin_handlers(&mut self) {
        let places = usize::try_from(self.options.concurrency).unwrap_or(usize::MAX);
        while self.running < places {
            let Some(job) = self.marked.pop_front() else { return };
            let (lease, kind) = (job.lease, job.kind.clone());
            let (Some(holding), Some(handler)) =
                (self.held.get_mut(lease), self.handlers.get(&kind))
            else {
                continue;
            };
            let (cancel, progress) = (holding.cancel.clone(), holding.progress.clone());
            let context = Context::new(self.jobs.clone(), lease, cancel, progress);
            let (max_run, now) = (handler.max_run(), self.clock.moment());
            let patience = patience(self.options.ttl);
            let clock = Arc::clone(&self.clock);
            let task =
                self.handling.spawn(run::run(Arc::clone(handler), job, context, clock, patience));
            holding.begin(task, now, max_run);
            tracing::debug!(
                job = %holding.id, %kind, attempt = holding.attempt, runner = self.options.id,
                "a job is begun"
            );
            self.running = self.running.saturating_add(1);
        }
    }

    pub(super) fn begin_start(&mut self) {
        let Some(first) = self.ready.front() else { return };
        let limit = decide::start_limit(self.options.concurrency, self.means.of(&first.kind));
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let room = limit.saturating_sub(self.running.saturating_add(self.marked.len()));
        if self.errands.starting() > 0 || room == 0 {
            return;
        }
        let jobs: Vec<Claimed> = self.ready.drain(..room.min(self.ready.len())).collect();
        let leases: Vec<Lease> = jobs.iter().map(Claimed::lease).collect();
        let queue = self.queue.clone();
        self.errands.send(Errand::Start(jobs), self.clock.moment(), async move {
            Report::Started(queue.start(&leases).await)
        });
    }

    pub(super) fn begin_flush(&mut self) {
        let flushes = self.errands.flushes();
        let is_worth = flushes == 0 || self.done.len() >= FLUSH_TOGETHER;
        if self.done.is_empty() || flushes >= MAX_FLUSHES || !is_worth {
            return;
        }
        let leases: Vec<Lease> = self.done.drain(..self.done.len().min(MAX_FLUSH)).collect();
        let (queue, named) = (self.queue.clone(), leases.clone());
        self.errands.send(Errand::Flush(leases), self.clock.moment(), async move {
            Report::Flushed(queue.succeed_many(&named).await)
        });
    }

    pub(super) fn begin_fetch(&mut self, now: Moment) {
        let load = self.load();
        let has_room = decide::claim_limit(load, self.means.least()) > 0;
        if self.errands.is_fetching() || !self.is_wanted || !has_room {
            return;
        }
        self.is_wanted = false;
        self.waits_for_place = false;
        self.has_place = false;
        self.next_look = now.plus(self.options.poll);
        let (queue, kinds) = (self.queue.clone(), Arc::clone(&self.kinds));
        let able = Able { load, means: self.means.clone(), long: self.long_ones() };
        let (clock, steps) = (Arc::clone(&self.clock), self.steps);
        self.errands.send(Errand::Fetch, now, async move {
            Report::Fetched(fetch::look(queue, kinds, able, clock, steps).await)
        });
    }

    /// Jobs that are only being written down hold no place, but there is a bound on them too.
    pub(super) fn load(&self) -> Load {
        let waiting = self.ready.len().saturating_add(self.marked.len());
        let busy = self.running.saturating_add(self.errands.starting()).saturating_add(waiting);
        let bound = usize::try_from(decide::MAX_HELD).unwrap_or(usize::MAX);
        let held = if self.held.len() >= bound.saturating_mul(2) { self.held.len() } else { busy };
        Load {
            held: u32::try_from(held).unwrap_or(u32::MAX),
            concurrency: self.options.concurrency,
            runs_alone: self.held.runs_alone(),
        }
    }

    fn long_ones(&self) -> LongOnes {
        let held = u32::try_from(self.held.count_of(&self.long)).unwrap_or(u32::MAX);
        let places = decide::long_places(self.options.concurrency).saturating_sub(held);
        LongOnes { kinds: Arc::clone(&self.long), places }
    }

    pub(super) fn begin_beat(&mut self, now: Moment) {
        let is_due = now >= self.next_beat;
        if self.errands.is_beating() || !(is_due || self.is_asked) {
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
        self.errands.send(Errand::Beat { sent: now, moves: is_due }, now, async move {
            let beat =
                if is_due { queue.heartbeat(&leases).await } else { queue.held(&leases).await };
            Report::Beat(beat)
        });
    }

    pub(super) fn beat_again_at(&mut self, at: Moment) {
        self.next_beat = self.next_beat.min(at);
    }

    pub(super) fn begin_ending(&mut self, lease: Lease, ending: Ending) {
        let Some(holding) = self.held.get_mut(lease) else { return };
        holding.stage = Stage::Ending;
        let (queue, lost) = (self.queue.clone(), holding.lost.clone());
        let named = Named {
            job: holding.id,
            kind: holding.kind.clone(),
            attempt: holding.attempt,
            runner: self.options.id.clone(),
        };
        self.errands.send(Errand::Ending(lease), self.clock.moment(), async move {
            let is_written = ending::write(&queue, lease, &named, &ending, &lost).await;
            Report::Ended(is_written.then_some(ending))
        });
    }
}

/// How long a cancelled handler has to end by itself.
pub(super) fn patience(ttl: Duration) -> Duration {
    decide::cancel_patience(ttl).min(MAX_PATIENCE)
}
