//! What the loop has sent to the database. What each task is about is kept beside it, so that it is
//! known even of one that panics or never comes back.

use std::collections::HashMap;
use std::time::Duration;

use mainstay_base::Moment;
use tokio::task::{AbortHandle, Id, JoinError, JoinSet};

use super::ending::Ending;
use super::fetch::Look;
use crate::error::JobsError;
use crate::model::{Claimed, Lease};
use crate::queue::Beat;

/// A task that has not come back for so long is given up: its connection may lead nowhere.
pub(super) const ERRAND_BOUND: Duration = Duration::from_secs(45);

/// What a task is about.
#[derive(Debug)]
pub(super) enum Errand {
    /// Looks and claims.
    Fetch,
    /// Marks these as begun.
    Start(Vec<Claimed>),
    /// Marks these as done.
    Flush(Vec<Lease>),
    /// Writes down how this one ended.
    Ending(Lease),
    /// Says that the runner is alive, or asks whether leases hold (then no end of a lease moves).
    Beat { sent: Moment, moves: bool },
    /// Gives jobs back.
    Release,
}

impl Errand {
    /// The word for it.
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Fetch => "fetch",
            Self::Start(_) => "start",
            Self::Flush(_) => "flush",
            Self::Ending(_) => "ending",
            Self::Beat { .. } => "beat",
            Self::Release => "release",
        }
    }

    /// What it would have said if the database had failed.
    pub(super) const fn given_up(&self) -> Report {
        match self {
            Self::Fetch => Report::Fetched(Err(JobsError::GivenUp)),
            Self::Start(_) => Report::Started(Err(JobsError::GivenUp)),
            Self::Flush(_) => Report::Flushed(Err(JobsError::GivenUp)),
            Self::Ending(_) => Report::Ended(None),
            Self::Beat { .. } => Report::Beat(Err(JobsError::GivenUp)),
            Self::Release => Report::Released,
        }
    }
}

/// What a task has to say.
#[derive(Debug)]
pub(super) enum Report {
    Fetched(Result<Look, JobsError>),
    Started(Result<Vec<Lease>, JobsError>),
    Flushed(Result<Beat, JobsError>),
    /// What was written; nothing when the lease was lost before.
    Ended(Option<Ending>),
    Beat(Result<Beat, JobsError>),
    Released,
}

/// A task that has ended, and how.
pub(super) type Back = (Errand, Result<Report, JoinError>);

#[derive(Debug)]
struct Underway {
    errand: Errand,
    since: Moment,
    task: AbortHandle,
}

/// All that are under way.
#[derive(Debug, Default)]
pub(super) struct Errands {
    tasks: JoinSet<Report>,
    underway: HashMap<Id, Underway>,
    fetches: usize,
    starting: usize,
    flushes: usize,
    beats: usize,
}

impl Errands {
    pub(super) fn send(
        &mut self,
        errand: Errand,
        since: Moment,
        work: impl Future<Output = Report> + Send + 'static,
    ) {
        self.count(&errand, usize::saturating_add);
        let task = self.tasks.spawn(work);
        self.underway.insert(task.id(), Underway { errand, since, task });
    }

    /// Waits for the next to end; nothing when none is under way.
    pub(super) async fn next(&mut self) -> Option<Back> {
        loop {
            let ended = self.tasks.join_next_with_id().await?;
            if let Some(back) = self.back(ended) {
                return Some(back);
            }
        }
    }

    /// One that has ended, if any has.
    pub(super) fn next_now(&mut self) -> Option<Back> {
        loop {
            let ended = self.tasks.try_join_next_with_id()?;
            if let Some(back) = self.back(ended) {
                return Some(back);
            }
        }
    }

    /// Ends those that have been under way for too long; each comes back as a task that was
    /// cancelled. An ending bounds each of its tries itself.
    pub(super) fn give_up(&self, now: Moment) {
        for one in self.underway.values() {
            let is_bounded = !matches!(one.errand, Errand::Ending(_));
            if is_bounded && now.since(one.since) > ERRAND_BOUND {
                one.task.abort();
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.underway.is_empty()
    }

    pub(super) const fn is_fetching(&self) -> bool {
        self.fetches > 0
    }

    pub(super) const fn is_beating(&self) -> bool {
        self.beats > 0
    }

    /// How many jobs are just being marked as begun.
    pub(super) const fn starting(&self) -> usize {
        self.starting
    }

    pub(super) const fn flushes(&self) -> usize {
        self.flushes
    }

    fn back(&mut self, ended: Result<(Id, Report), JoinError>) -> Option<Back> {
        let id = match &ended {
            Ok((id, _)) => *id,
            Err(error) => error.id(),
        };
        let Underway { errand, .. } = self.underway.remove(&id)?;
        self.count(&errand, usize::saturating_sub);
        Some((errand, ended.map(|(_, report)| report)))
    }

    fn count(&mut self, errand: &Errand, change: fn(usize, usize) -> usize) {
        match errand {
            Errand::Fetch => self.fetches = change(self.fetches, 1),
            Errand::Start(jobs) => self.starting = change(self.starting, jobs.len()),
            Errand::Flush(_) => self.flushes = change(self.flushes, 1),
            Errand::Beat { .. } => self.beats = change(self.beats, 1),
            Errand::Ending(_) | Errand::Release => {}
        }
    }
}

/// What `work` gives, or that it took too long.
pub(super) async fn in_time<T, E: Into<JobsError>>(
    bound: Duration,
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, JobsError> {
    match tokio::time::timeout(bound, work).await {
        Ok(result) => result.map_err(Into::into),
        Err(_) => Err(JobsError::GivenUp),
    }
}
