//! A worker with the nets that are assigned to it, and the rules that bind them.

use mainstay_base::Id;

use super::net::Net;
use super::status::{LoadState, WorkerStatus};
use super::worker::Worker;

/// A worker with the nets that are assigned to it, as they stand at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Crew {
    /// The worker.
    pub worker: Worker,
    /// Its nets.
    pub nets: Vec<Net>,
}

/// A rule that a change would break: a mistake in this program, never written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// The table of states does not have this step.
    #[error("a worker can't go from {} to {}", .0.name(), .1.name())]
    WorkerStep(WorkerStatus, WorkerStatus),
    /// A net is loaded, and its worker is not ready.
    #[error("the net {0} would be loaded on a worker that is not ready")]
    LoadedOnNobody(Id),
    /// A worker leaves `ready`, and a net that did not find the failure is not unloaded.
    #[error("the net {0} would not be unloaded although its worker is not ready any more")]
    LeftLoaded(Id),
    /// A machine is being made, and nobody makes it.
    #[error("the worker would be provisioning without an operation")]
    NobodyProvisions,
}

impl Crew {
    /// The net with this id.
    #[must_use]
    pub fn net(&self, id: Id) -> Option<&Net> {
        self.nets.iter().find(|net| net.id == id)
    }

    pub(crate) fn net_mut(&mut self, id: Id) -> Option<&mut Net> {
        self.nets.iter_mut().find(|net| net.id == id)
    }

    /// Checks what would become of it against the rules: every write goes through here.
    ///
    /// # Errors
    /// [`Broken`].
    pub fn check_step(&self, next: &Self) -> Result<(), Broken> {
        let (from, to) = (self.worker.status, next.worker.status);
        if from != to && !from.may_become(to) {
            return Err(Broken::WorkerStep(from, to));
        }
        if to == WorkerStatus::Provisioning && next.worker.operation.is_none() {
            return Err(Broken::NobodyProvisions);
        }
        let leaves_ready = from == WorkerStatus::Ready && to != WorkerStatus::Ready;
        let assigned = |net: &&Net| net.worker_id == Some(next.worker.id);
        for net in next.nets.iter().filter(assigned) {
            if net.load_state == LoadState::Loaded && to != WorkerStatus::Ready {
                return Err(Broken::LoadedOnNobody(net.id));
            }
            let found_it = net.load_state == LoadState::Error && to == WorkerStatus::Error;
            if leaves_ready && net.load_state != LoadState::Unloaded && !found_it {
                return Err(Broken::LeftLoaded(net.id));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::fixture::{crew, net};

    #[test]
    fn a_step_that_the_table_lacks_is_refused() {
        for from in WorkerStatus::ALL {
            for to in WorkerStatus::ALL {
                let (before, mut after) = (crew(from, &[]), crew(to, &[]));
                after.worker.operation = crew(WorkerStatus::Provisioning, &[]).worker.operation;
                let is_fine = from == to || from.may_become(to);
                assert_eq!(before.check_step(&after).is_ok(), is_fine, "{from:?} {to:?}");
            }
        }
    }

    #[test]
    fn no_net_stays_loaded_on_a_worker_that_is_not_ready() {
        let loaded = [net(1, LoadState::Loaded)];
        let before = crew(WorkerStatus::Ready, &loaded);
        for to in [WorkerStatus::Stopped, WorkerStatus::Error, WorkerStatus::Pending] {
            let after = crew(to, &loaded);
            assert!(matches!(before.check_step(&after), Err(Broken::LoadedOnNobody(_))), "{to:?}");
            let unloaded = crew(to, &[net(1, LoadState::Unloaded)]);
            assert_eq!(before.check_step(&unloaded), Ok(()), "{to:?}");
            let failed = crew(to, &[net(1, LoadState::Error)]);
            let is_fine = to == WorkerStatus::Error;
            assert_eq!(before.check_step(&failed).is_ok(), is_fine, "{to:?}");
        }
    }

    #[test]
    fn a_machine_is_made_only_for_as_long_as_somebody_makes_it() {
        let before = crew(WorkerStatus::Pending, &[]);
        let mut after = crew(WorkerStatus::Provisioning, &[]);
        assert_eq!(before.check_step(&after), Ok(()));
        after.worker.operation = None;
        assert_eq!(before.check_step(&after), Err(Broken::NobodyProvisions));
    }
}
