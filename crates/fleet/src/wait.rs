//! Waiting for an operation, as long as a caller has patience.

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use mainstay_base::Id;
use mainstay_jobs::Status;
use tokio::sync::watch;

use crate::error::FleetError;
use crate::fleet::Fleet;
use crate::model::{Crew, DefinedNet, Failure, FailureCode};

/// Said where nobody has said more.
const OVERTAKEN: &str = "it was called off before it was done";

/// What came of waiting.
#[derive(Debug, Clone, PartialEq)]
pub enum Waited<T> {
    /// It was done.
    Done(T),
    /// It ended, and was not done.
    Failed(T, Failure),
    /// The record went with it.
    Removed,
    /// It goes on.
    Underway(T),
}

impl Fleet {
    /// Waits for an operation on a worker to end.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn wait_for_worker(
        &self,
        user: Id,
        worker: Id,
        operation: Id,
    ) -> Result<Waited<Crew>, FleetError> {
        self.wait(|| self.see_worker(user, worker, operation).boxed()).await
    }

    /// Waits for an operation on a net to end.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn wait_for_net(
        &self,
        user: Id,
        net: Id,
        operation: Id,
    ) -> Result<Waited<DefinedNet>, FleetError> {
        self.wait(|| self.see_net(user, net, operation).boxed()).await
    }

    async fn see_worker(
        &self,
        user: Id,
        worker: Id,
        operation: Id,
    ) -> Result<Waited<Crew>, FleetError> {
        let crew = match self.find_worker(user, worker).await {
            Ok(crew) => crew,
            Err(FleetError::NoSuchWorker) => return Ok(Waited::Removed),
            Err(error) => return Err(error),
        };
        let is_underway = crew.worker.operation.is_some_and(|underway| underway.id == operation);
        let ended = crew.worker.ended.as_ref().filter(|ended| ended.id == operation);
        let ended = ended.map(|ended| ended.failure.clone());
        self.seen(operation, crew, is_underway, ended).await
    }

    async fn see_net(
        &self,
        user: Id,
        net: Id,
        operation: Id,
    ) -> Result<Waited<DefinedNet>, FleetError> {
        let net = match self.find_net(user, net).await {
            Ok(net) => net,
            Err(FleetError::NoSuchNet) => return Ok(Waited::Removed),
            Err(error) => return Err(error),
        };
        let (underway, ended) = (net.net.operation, net.net.ended.as_ref());
        let is_underway = underway.is_some_and(|underway| underway.id == operation);
        let ended = ended.filter(|ended| ended.id == operation);
        let ended = ended.map(|ended| ended.failure.clone());
        self.seen(operation, net, is_underway, ended).await
    }

    /// What is neither under way nor the last that ended was overtaken by another one: its job knows how it ended.
    async fn seen<T>(
        &self,
        operation: Id,
        thing: T,
        is_underway: bool,
        ended: Option<Option<Failure>>,
    ) -> Result<Waited<T>, FleetError> {
        Ok(match ended {
            _ if is_underway => Waited::Underway(thing),
            Some(Some(failure)) => Waited::Failed(thing, failure),
            Some(None) => Waited::Done(thing),
            None => match self.shared.jobs.find(operation).await? {
                Some(job) if job.status == Status::Failed => {
                    let said = job.last_error.map(|error| error.message);
                    let text = said.unwrap_or_else(|| OVERTAKEN.to_owned());
                    Waited::Failed(thing, Failure::new(FailureCode::CalledOff, text))
                }
                Some(job) if !job.status.is_finished() => Waited::Underway(thing),
                _ => Waited::Done(thing),
            },
        })
    }

    async fn wait<'a, T>(
        &self,
        look: impl Fn() -> BoxFuture<'a, Result<Waited<T>, FleetError>>,
    ) -> Result<Waited<T>, FleetError> {
        let mut ends = self.shared.ends.subscribe();
        let pace = self.shared.pace;
        let until_ended = async {
            loop {
                ends.mark_unchanged();
                let seen = look().await;
                if !matches!(seen, Ok(Waited::Underway(_))) {
                    return seen;
                }
                glance(&mut ends, pace.glance).await;
            }
        };
        match tokio::time::timeout(pace.patience, until_ended).await {
            Ok(ended) => ended,
            Err(_) => look().await,
        }
    }
}

/// Until an operation ends in this process, or the time is over: it may end in another one.
async fn glance(ends: &mut watch::Receiver<u64>, limit: std::time::Duration) {
    let _ = tokio::time::timeout(limit, ends.changed()).await;
}
