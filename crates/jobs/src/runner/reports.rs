//! What the loop does with what its tasks and handlers say.

use std::collections::HashSet;
use std::time::Duration;

use mainstay_base::Moment;
use tokio::task::JoinError;

use super::ending::{Ending, FIRST_WAIT, LONGEST_WAIT};
use super::engine::Engine;
use super::errands::{Back, Errand, Report};
use super::fetch::{Fetched, Look};
use super::held::{Holding, Stage};
use super::run::{Outcome, PANICKED};
use crate::decide::{self, Verdict};
use crate::error::JobsError;
use crate::handler::JobError;
use crate::measure;
use crate::model::{Claimed, Lease};
use crate::queue::Beat;

impl Engine {
    pub(super) fn take_back(&mut self, (errand, report): Back) {
        let report = match report {
            Ok(report) => report,
            Err(error) if error.is_cancelled() => {
                let what = errand.name();
                tracing::warn!(
                    what,
                    runner = self.options.id,
                    "the database did not answer in time"
                );
                measure::given_up(what);
                errand.given_up()
            }
            Err(error) => {
                tracing::error!(%error, "a task of the job runner panicked");
                self.let_go(errand);
                return;
            }
        };
        match (errand, report) {
            (Errand::Fetch, Report::Fetched(fetched)) => self.take_fetched(fetched),
            (Errand::Start(jobs), Report::Started(started)) => self.take_started(jobs, started),
            (Errand::Flush(leases), Report::Flushed(flushed)) => self.take_flushed(leases, flushed),
            (Errand::Ending(lease), Report::Ended(written)) => {
                if let Some(ending) = &written {
                    self.tell_ending(lease, ending);
                }
                self.take_ended(lease, written.is_some());
            }
            (Errand::Beat { sent, moves }, Report::Beat(beat)) => self.take_beat(sent, moves, beat),
            _ => {}
        }
    }

    /// Nothing in the tasks panics; if one does, its jobs are no longer kept alive, so that their
    /// leases run out and others go on.
    fn let_go(&mut self, errand: Errand) {
        match errand {
            Errand::Start(jobs) => {
                let leases: Vec<Lease> = jobs.iter().map(Claimed::lease).collect();
                self.forget(&leases);
                // None of them has run.
                self.begin_release(leases);
            }
            Errand::Flush(leases) => self.forget(&leases),
            Errand::Ending(lease) => self.forget(&[lease]),
            Errand::Beat { .. } => self.beat_soon(),
            Errand::Fetch => {
                let again = self.clock.moment().plus(LONGEST_WAIT);
                self.next_look = self.next_look.min(again);
            }
            Errand::Release => {}
        }
    }

    pub(super) fn forget(&mut self, leases: &[Lease]) {
        for lease in leases {
            self.held.remove(*lease);
        }
        self.has_place = true;
    }

    pub(super) fn take_outcome(&mut self, outcome: Result<Outcome, JoinError>) {
        match outcome {
            Ok(outcome) => self.end(outcome),
            Err(error) => match self.held.of_task(error.id()) {
                Some(lease) => {
                    let error = JobError::retriable(PANICKED, "the handler panicked at its end");
                    let took = Duration::ZERO;
                    self.end(Outcome { lease, result: Err(error), is_finished: false, took });
                }
                None => self.free_place(),
            },
        }
    }

    /// The lease is another's, or can't be trusted any more: the handler is cancelled.
    pub(super) fn lose(&mut self, lease: Lease) {
        let Some(holding) = self.held.get_mut(lease) else { return };
        holding.is_lost = true;
        holding.lost.cancel();
        measure::lost(&holding.kind);
        tracing::warn!(
            job = %holding.id, kind = %holding.kind, attempt = holding.attempt,
            runner = self.options.id, "the lease of a job was lost"
        );
        if matches!(holding.stage, Stage::Ready) {
            self.has_place = true;
            self.held.remove(lease);
            self.ready.retain(|job| job.lease != lease);
            self.marked.retain(|job| job.lease != lease);
        }
    }

    fn take_fetched(&mut self, look: Result<Look, JobsError>) {
        let now = self.clock.moment();
        let fetched = look.map(|look| {
            self.steps = look.steps;
            if look.stepped {
                self.beat_again_at(now);
            }
            look.fetched
        });
        match self.noted(fetched) {
            None => self.next_look = self.not_before,
            Some(Fetched::Full(wait)) => {
                self.waits_for_place = true;
                self.look_after(wait, now);
            }
            Some(Fetched::Nothing(wait)) => self.look_after(wait, now),
            Some(Fetched::Jobs(jobs, sent)) => {
                for job in &jobs {
                    self.held.add(job, sent);
                    measure::picked_up(&job.kind, self.clock.now().since(job.next_run_at));
                }
                self.is_wanted = true;
                self.ready.extend(jobs);
                self.beat_again_at(sent.plus(decide::heartbeat_every(self.options.ttl)));
                self.release_if_stopping();
            }
        }
    }

    fn look_after(&mut self, wait: Option<Duration>, now: Moment) {
        let wait = wait.unwrap_or(self.options.poll).min(self.options.poll);
        self.next_look = self.next_look.min(now.plus(wait));
    }

    fn take_started(&mut self, jobs: Vec<Claimed>, started: Result<Vec<Lease>, JobsError>) {
        let kept: Option<HashSet<Lease>> =
            self.noted(started).map(|kept| kept.into_iter().collect());
        let (mut again, mut unbegun) = (Vec::new(), Vec::new());
        for job in jobs {
            let is_held = self.held.get(job.lease).is_some();
            match &kept {
                // Lost meanwhile. It may be marked as begun, and would count as crashed.
                _ if !is_held => unbegun.push(job.lease),
                None => again.push(job),
                Some(kept) if kept.contains(&job.lease) => self.marked.push_back(job),
                Some(_) => self.lose(job.lease),
            }
        }
        for job in again.into_iter().rev() {
            self.ready.push_front(job);
        }
        self.begin_release(unbegun);
        self.release_if_stopping();
    }

    fn take_flushed(&mut self, leases: Vec<Lease>, flushed: Result<Beat, JobsError>) {
        match self.noted(flushed) {
            None => self.done.extend(leases),
            Some(beat) => {
                for lease in beat.kept {
                    if let Some(holding) = self.held.remove(lease) {
                        measure::succeeded(&holding.kind, 1);
                    }
                }
                for lease in beat.lost {
                    self.lose(lease);
                    self.held.remove(lease);
                }
            }
        }
    }

    fn take_ended(&mut self, lease: Lease, is_written: bool) {
        if !is_written {
            self.lose(lease);
        }
        if let Some(holding) = self.held.remove(lease) {
            let is_limited =
                self.handler(&holding.kind).is_some_and(|one| one.concurrency().is_some());
            if is_limited {
                // Another runner may wait for this place.
                let bell = self.jobs.events().doorbell();
                bell.ring(mainstay_events::Topic::Jobs, holding.kind.as_str());
            }
        }
    }

    fn take_beat(&mut self, sent: Moment, moved: bool, beat: Result<Beat, JobsError>) {
        match beat {
            Err(error) => {
                tracing::warn!(%error, "a heartbeat failed; trying again");
                self.beat_soon();
            }
            Ok(beat) => {
                if moved {
                    self.held.renew(&beat.kept, sent);
                }
                if !beat.unmoved.is_empty() {
                    self.beat_soon();
                }
                for lease in beat.lost {
                    // One that is just being written down is told by that statement.
                    let is_ending = |one: &Holding| {
                        matches!(one.stage, Stage::Ending) || one.progress.is_finishing()
                    };
                    if !self.held.get(lease).is_some_and(is_ending) {
                        self.lose(lease);
                    }
                }
            }
        }
    }

    fn beat_soon(&mut self) {
        self.beat_again_at(self.clock.moment().plus(self.options.ttl / 12));
    }

    /// A handler has ended.
    fn end(&mut self, outcome: Outcome) {
        self.free_place();
        let is_running = |one: &Holding| matches!(one.stage, Stage::Running(_));
        // One that was taken from its handler has been concluded.
        if self.held.get(outcome.lease).is_some_and(is_running) {
            self.conclude(outcome);
        }
    }

    /// What becomes of a job after its handler.
    pub(super) fn conclude(&mut self, outcome: Outcome) {
        let lease = outcome.lease;
        let Some(holding) = self.held.get(lease) else { return };
        let (kind, is_lost, is_stopped) =
            (holding.kind.clone(), holding.is_lost, holding.is_stopped);
        let is_overdue = holding.is_overdue;
        let (attempt, max_attempts) = (holding.attempt, holding.max_attempts);
        self.means.add(&kind, outcome.took);
        measure::ran(&kind, word(&outcome), outcome.took);
        if outcome.is_finished {
            measure::succeeded(&kind, 1);
        }
        if outcome.is_finished || is_lost {
            self.take_ended(lease, true);
            return;
        }
        match outcome.result {
            Ok(()) if self.is_plain(&kind) => {
                if let Some(holding) = self.held.get_mut(lease) {
                    holding.stage = Stage::Ending;
                }
                self.done.push(lease);
            }
            Ok(()) => self.begin_ending(lease, Ending::Succeeded),
            Err(_) if is_stopped => self.begin_ending(lease, Ending::Released),
            Err(error) => {
                let error = if is_overdue { self.timed_out(&kind) } else { error };
                let verdict =
                    decide::after_error(&error, attempt, max_attempts, self.jobs.chance());
                self.begin_ending(lease, Ending::Failed(verdict));
            }
        }
    }

    /// An ending was written down; nothing is counted before.
    fn tell_ending(&self, lease: Lease, ending: &Ending) {
        let Some(holding) = self.held.get(lease) else { return };
        let (job, kind, attempt) = (holding.id, &holding.kind, holding.attempt);
        let runner = &self.options.id;
        match ending {
            Ending::Succeeded => measure::succeeded(kind, 1),
            Ending::Failed(Verdict::Retry { wait, failure }) => {
                measure::retried(kind);
                let (code, wait) = (&failure.code, wait.as_secs());
                tracing::info!(%job, %kind, attempt, runner, code, wait, "a job failed and is tried again");
            }
            Ending::Failed(Verdict::Fail { failure }) => {
                measure::failed(kind);
                let code = &failure.code;
                tracing::info!(%job, %kind, attempt, runner, code, "a job failed for good");
            }
            Ending::Failed(Verdict::PutOff { .. }) | Ending::Released => {}
        }
    }

    fn free_place(&mut self) {
        self.running = self.running.saturating_sub(1);
        self.has_place = true;
    }

    /// Neither a hook nor a limit over all runners: it goes in batches.
    fn is_plain(&self, kind: &crate::model::Kind) -> bool {
        self.handler(kind).is_some_and(|one| !one.hooks() && one.concurrency().is_none())
    }

    /// A failure of the database makes the loop wait, longer each time; a success ends that.
    fn noted<T>(&mut self, result: Result<T, JobsError>) -> Option<T> {
        match result {
            Ok(value) => {
                self.wait = FIRST_WAIT;
                Some(value)
            }
            Err(error) => {
                tracing::warn!(%error, "the job runner can't use the database; trying again");
                self.not_before = self.clock.moment().plus(self.wait);
                self.wait = (self.wait * 2).min(LONGEST_WAIT);
                self.is_wanted = true;
                None
            }
        }
    }
}

fn word(outcome: &Outcome) -> &'static str {
    match &outcome.result {
        Ok(()) => "succeeded",
        Err(JobError::Retriable { .. }) => "retriable",
        Err(JobError::Fatal { .. }) => "fatal",
        Err(JobError::PutOff { .. }) => "put_off",
    }
}
