//! Writes down how an operation ended, with the end of its job.

use mainstay_base::{Id, Timestamp};
use mainstay_events::Outbox;
use mainstay_jobs::{Cause, Change, JobError};
use mainstay_store::Tx;

use super::{Attempt, Subject, later};
use crate::agents::LoadedNet;
use crate::decide::look::{Asker, look};
use crate::decide::{Look, NetEnd, WorkerEnd, end};
use crate::error::FleetError;
use crate::fleet::Fleet;
use crate::measure;
use crate::model::{Crew, Failure, FailureCode};
use crate::record::crew;

/// Time is up.
pub(super) fn timed_out() -> Failure {
    Failure::new(FailureCode::TimedOut, "it took too long and was given up; look, then try again")
}

/// Why an operation whose job has failed has failed; of one that was cancelled, its time tells.
pub(super) fn given_up(change: &Change) -> Option<Failure> {
    match (change.cause, &change.failure) {
        (Cause::Cancelled, _) => None,
        (_, Some(failure)) => Some(Failure::new(FailureCode::GivenUp, failure.message.clone())),
        (_, None) => Some(Failure::new(FailureCode::GivenUp, "whoever did it died; try again")),
    }
}

/// The health loop cancels when time is up, and people before that.
fn cancelled(deadline: Timestamp, now: Timestamp) -> Failure {
    match now < deadline {
        true => Failure::new(FailureCode::CalledOff, "it was called off before it was done"),
        false => timed_out(),
    }
}

impl Attempt<'_> {
    pub(super) async fn finish_worker(&self, ended: WorkerEnd) -> Result<(), JobError> {
        let finished = self.context.finish(async |tx, out| {
            let Some((before, now)) = self.locked(tx).await? else { return Ok(()) };
            self.fleet.end_worker(tx, out, &before, &ended, now).await
        });
        finished.await.map_err(|error: FleetError| later(&error))
    }

    pub(super) async fn finish_net(&self, net: Id, ended: NetEnd) -> Result<(), JobError> {
        let finished = self.context.finish(async |tx, out| {
            let Some((before, now)) = self.locked(tx).await? else { return Ok(()) };
            self.fleet.end_net(tx, out, &before, net, &ended, now).await
        });
        finished.await.map_err(|error: FleetError| later(&error))
    }

    /// [`FleetError::Overtaken`] when the worker is not as it was when it was looked at.
    pub(super) async fn finish_look(&self, seen: &Crew, found: &Look) -> Result<(), FleetError> {
        let mut strays = Vec::new();
        let finished = self.context.finish(async |tx, out| {
            let Some((before, now)) = self.locked(tx).await? else { return Ok(()) };
            let asker = Asker::Person;
            let Some(next) = look(seen, &before, found, asker, now) else {
                measure::stale();
                return Err(FleetError::Overtaken);
            };
            crew::save(tx, out, &before, next.crew).await?;
            self.fleet.tell_end(tx);
            strays = next.strays;
            Ok(())
        });
        finished.await?;
        self.fleet.drop_strays(seen, &strays).await;
        Ok(())
    }

    /// The crew, locked, if the operation still goes on.
    pub(super) async fn locked(
        &self,
        tx: &mut Tx,
    ) -> Result<Option<(Crew, Timestamp)>, FleetError> {
        let found = crew::lock(tx, self.subject.worker).await?;
        let goes_on = |crew: &Crew| self.subject.deadline(crew, self.operation).is_some();
        match found.filter(goes_on) {
            Some(crew) => Ok(Some((crew, tx.now().await?))),
            None => {
                measure::stale();
                Ok(None)
            }
        }
    }
}

impl Fleet {
    /// Ends an operation whose job is over, or was never there; tells whether it went on.
    pub(super) async fn end_unfinished(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        subject: Subject,
        operation: Id,
        failure: Option<Failure>,
    ) -> Result<bool, FleetError> {
        let Some(before) = crew::lock(tx, subject.worker).await? else { return Ok(false) };
        let Some(deadline) = subject.deadline(&before, operation) else { return Ok(false) };
        let now = tx.now().await?;
        let failure = failure.unwrap_or_else(|| cancelled(deadline, now));
        match subject.net {
            None => {
                let ended = WorkerEnd::Failed { failure, machine: None };
                self.end_worker(tx, out, &before, &ended, now).await?;
            }
            Some(net) => {
                let ended = NetEnd::Failed(failure);
                self.end_net(tx, out, &before, net, &ended, now).await?;
            }
        }
        Ok(true)
    }

    /// Ends whichever operation of a crew has this id, because its time is up.
    pub(crate) async fn end_overdue(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        worker: Id,
        operation: Id,
    ) -> Result<(), FleetError> {
        let Some(crew) = crew::lock(tx, worker).await? else { return Ok(()) };
        let is_its = |net: &&crate::model::Net| {
            net.operation.is_some_and(|underway| underway.id == operation)
        };
        let subject = Subject { worker, net: crew.nets.iter().find(is_its).map(|net| net.id) };
        self.end_unfinished(tx, out, subject, operation, Some(timed_out())).await.map(drop)
    }

    /// Tells an agent to drop what it should not hold, all of it in the time of one question: it may have made up
    /// as much as it likes. What fails is tried again with the next look.
    pub(crate) async fn drop_strays(&self, crew: &Crew, strays: &[LoadedNet]) {
        let worker = &crew.worker;
        let door = worker.machine.as_ref().and_then(|machine| self.door(worker, machine));
        let Some(door) = door else { return };
        let mut left = strays.len();
        let dropping = async {
            for stray in strays {
                let unloading = self.shared.agents.unload(&door, stray.id, stray.generation);
                if unloading.await.is_ok() {
                    left = left.saturating_sub(1);
                }
            }
        };
        let _ = tokio::time::timeout(self.shared.pace.probe, dropping).await;
        if left > 0 {
            tracing::info!(worker_id = %worker.id, nets = left,
                "an agent holds nets that it should not, and did not drop them yet");
        }
    }

    async fn end_worker(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        before: &Crew,
        ended: &WorkerEnd,
        now: Timestamp,
    ) -> Result<(), FleetError> {
        let after = end::worker(before, ended, now);
        let outcome = after.crew.worker.ended.clone();
        if after.is_removed {
            crew::remove(tx, out, before, after.crew).await?;
        } else {
            crew::save(tx, out, before, after.crew).await?;
        }
        self.tell_end(tx);
        if let Some(ended) = outcome {
            let word = ended.failure.map_or("done", |failure| failure.code.name());
            tx.after_commit(move || measure::operated(ended.kind.name(), word));
        }
        Ok(())
    }

    async fn end_net(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        before: &Crew,
        net: Id,
        ended: &NetEnd,
        now: Timestamp,
    ) -> Result<(), FleetError> {
        let after = end::net(before, net, ended, now);
        let outcome = after.net(net).and_then(|net| net.ended.clone());
        crew::save(tx, out, before, after).await?;
        self.tell_end(tx);
        if let Some(ended) = outcome {
            let word = ended.failure.map_or("done", |failure| failure.code.name());
            tx.after_commit(move || measure::operated(ended.kind.name(), word));
        }
        Ok(())
    }
}
