//! The jobs that a runner has, and how far each is.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use mainstay_base::{Id, Moment};
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;

use crate::context::Progress;
use crate::decide::ALONE_FROM;
use crate::model::{Claimed, Kind, Lease};

/// How far a job is.
#[derive(Debug)]
pub(super) enum Stage {
    /// Claimed.
    Ready,
    /// Its handler runs.
    Running(AbortHandle),
    /// Its handler is done; how it ended is being written down.
    Ending,
}

/// One job that the runner has.
#[derive(Debug)]
pub(super) struct Holding {
    pub(super) id: Id,
    pub(super) kind: Kind,
    pub(super) attempt: u32,
    pub(super) max_attempts: u32,
    /// Runners died of it too often for it to have neighbours.
    runs_alone: bool,
    /// When the statement was sent that claimed it.
    claimed: Moment,
    /// When the statement was sent that last moved the lease's end.
    renewed: Moment,
    pub(super) stage: Stage,
    /// Fires when the lease is gone.
    pub(super) lost: CancellationToken,
    /// Fires with `lost`, and when the handler is to stop for another reason.
    pub(super) cancel: CancellationToken,
    /// How far the handler is with finishing the job by itself.
    pub(super) progress: Progress,
    /// The lease is gone; only the handler has yet to end.
    pub(super) is_lost: bool,
    /// The runner stops and has taken the job from its handler.
    pub(super) is_stopped: bool,
    /// When the handler began, and how long it may run.
    run: Option<(Moment, Duration)>,
    /// It has run for longer, and was told to stop.
    pub(super) is_overdue: bool,
}

impl Holding {
    /// Its handler runs from `now` on, in `task`.
    pub(super) fn begin(&mut self, task: AbortHandle, now: Moment, max_run: Duration) {
        self.stage = Stage::Running(task);
        self.run = Some((now, max_run));
    }

    /// For how long the handler has run beyond what it may.
    fn overrun(&self, now: Moment) -> Option<Duration> {
        let (began, max_run) = self.run?;
        let is_running = matches!(&self.stage, Stage::Running(task) if !task.is_finished());
        now.since(began).checked_sub(max_run).filter(|_| is_running)
    }
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Held {
    holdings: HashMap<Lease, Holding>,
}

impl Held {
    /// A job that was claimed by a statement sent at `sent`.
    pub(super) fn add(&mut self, job: &Claimed, sent: Moment) {
        let lost = CancellationToken::new();
        let holding = Holding {
            id: job.id,
            kind: job.kind.clone(),
            attempt: job.attempt,
            max_attempts: job.max_attempts,
            runs_alone: job.crashes >= ALONE_FROM,
            claimed: sent,
            renewed: sent,
            stage: Stage::Ready,
            cancel: lost.child_token(),
            lost,
            progress: Progress::default(),
            is_lost: false,
            is_stopped: false,
            run: None,
            is_overdue: false,
        };
        self.holdings.insert(job.lease, holding);
    }

    pub(super) fn get(&self, lease: Lease) -> Option<&Holding> {
        self.holdings.get(&lease)
    }

    pub(super) fn get_mut(&mut self, lease: Lease) -> Option<&mut Holding> {
        self.holdings.get_mut(&lease)
    }

    pub(super) fn remove(&mut self, lease: Lease) -> Option<Holding> {
        self.holdings.remove(&lease)
    }

    pub(super) fn len(&self) -> usize {
        self.holdings.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.holdings.is_empty()
    }

    pub(super) fn runs_alone(&self) -> bool {
        self.holdings.values().any(|holding| holding.runs_alone)
    }

    /// How many of these kinds have a place, or wait for one.
    pub(super) fn count_of(&self, kinds: &HashSet<Kind>) -> usize {
        let has_place =
            |one: &&Holding| !matches!(one.stage, Stage::Ending) && kinds.contains(&one.kind);
        self.holdings.values().filter(has_place).count()
    }

    /// What a heartbeat names.
    pub(super) fn leases(&self) -> Vec<Lease> {
        let is_kept = |one: &Holding| !one.is_lost && !one.progress.is_finished();
        let kept = self.holdings.iter().filter(|(_, holding)| is_kept(holding));
        kept.map(|(lease, _)| *lease).collect()
    }

    /// A statement sent at `sent` has moved the ends of these leases.
    pub(super) fn renew(&mut self, leases: &[Lease], sent: Moment) {
        for lease in leases {
            if let Some(holding) = self.holdings.get_mut(lease) {
                holding.renewed = holding.renewed.max(sent);
            }
        }
    }

    /// Those whose leases can't be trusted any more.
    pub(super) fn expired(&self, now: Moment, trusted: Duration) -> Vec<Lease> {
        let is_kept = |one: &Holding| !one.is_lost && !one.progress.is_finished();
        let expired = |one: &Holding| is_kept(one) && now.since(one.renewed) > trusted;
        self.holdings.iter().filter(|(_, one)| expired(one)).map(|(lease, _)| *lease).collect()
    }

    /// How long ago this one was claimed.
    pub(super) fn waited(&self, lease: Lease, now: Moment) -> Option<Duration> {
        self.holdings.get(&lease).map(|one| now.since(one.claimed))
    }

    /// Those of `leases` whose handlers have not begun.
    pub(super) fn unbegun(&self, leases: &[Lease]) -> Vec<Lease> {
        let is_ready = |lease: &Lease| {
            self.holdings.get(lease).is_some_and(|one| matches!(one.stage, Stage::Ready))
        };
        leases.iter().copied().filter(is_ready).collect()
    }

    /// Those whose handlers run, and have not been told to stop.
    pub(super) fn running(&self) -> Vec<Lease> {
        let runs = |one: &Holding| matches!(one.stage, Stage::Running(_)) && !one.is_stopped;
        self.holdings.iter().filter(|(_, one)| runs(one)).map(|(lease, _)| *lease).collect()
    }

    /// Those whose handlers have run for longer than they may by at least `beyond`.
    pub(super) fn overdue(&self, now: Moment, beyond: Duration) -> Vec<Lease> {
        let is_so = |one: &Holding| one.overrun(now).is_some_and(|over| over >= beyond);
        self.holdings.iter().filter(|(_, one)| is_so(one)).map(|(lease, _)| *lease).collect()
    }

    /// The one whose handler this task runs.
    pub(super) fn of_task(&self, id: tokio::task::Id) -> Option<Lease> {
        let runs = |one: &Holding| matches!(&one.stage, Stage::Running(task) if task.id() == id);
        self.holdings.iter().find(|(_, one)| runs(one)).map(|(lease, _)| *lease)
    }
}
