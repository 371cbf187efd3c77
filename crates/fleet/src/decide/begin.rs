//! Whether an operation may begin, and what it shows from then on.
//!
//! | operation | from |
//! |---|---|
//! | provision | pending |
//! | retry | error |
//! | start | stopped |
//! | stop | ready, if persistent |
//! | destroy, delete | any |
//! | health check | ready, stopped, error |
//! | load, unload | the worker ready, with nothing being done to it |

use mainstay_base::{Id, Timestamp};

use crate::model::{Category, Crew, NetOperation, Underway, WorkerOperation, WorkerStatus};

/// Why an operation can't begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Something else is being done to the worker.
    #[error("the worker is busy ({}); wait for that to end", .0.name())]
    WorkerBusy(WorkerOperation),
    /// Something else is being done to the net.
    #[error("the net is busy ({}); wait for that to end", .0.name())]
    NetBusy(NetOperation),
    /// The worker stands elsewhere.
    #[error("the worker is {}, so it can't {}; {}", .0.name(), verb(*.1), cure(*.0, *.1))]
    WrongStatus(WorkerStatus, WorkerOperation),
    /// An ephemeral worker is not stopped.
    #[error(
        "an ephemeral worker ends when it stops, so it can't be stopped; destroy it, or use a persistent one"
    )]
    NotPersistent,
    /// A net needs a ready worker.
    #[error("the worker of this net is {}, and a net needs one that is ready", .0.name())]
    WorkerNotReady(WorkerStatus),
    /// A net needs a worker.
    #[error("the net is assigned to no worker; set its worker_id first")]
    NotAssigned,
}

/// Begins an operation on a worker.
///
/// # Errors
/// [`Refusal`].
pub fn worker(crew: &Crew, kind: WorkerOperation, id: Id, now: Timestamp) -> Result<Crew, Refusal> {
    let worker = &crew.worker;
    if let Some(other) = worker.operation {
        return Err(Refusal::WorkerBusy(other.kind));
    }
    if kind == WorkerOperation::Stop && worker.category == Category::Ephemeral {
        return Err(Refusal::NotPersistent);
    }
    if !may_begin(worker.status, kind) {
        return Err(Refusal::WrongStatus(worker.status, kind));
    }
    let mut next = crew.clone();
    let worker = &mut next.worker;
    worker.operation = Some(Underway { id, kind, since: now, deadline: now.plus(kind.limit()) });
    if worker.status != WorkerStatus::Error {
        // From now on it says what this operation waits for.
        worker.reason = None;
    }
    if kind.makes_a_machine() {
        worker.becomes(WorkerStatus::Provisioning, None, now);
        // The generation that this step brings: the machine's name is made of it.
        worker.machine_generation = Some(worker.generation.saturating_add(1));
        worker.boot_id = None;
    }
    Ok(next)
}

/// Begins an operation on a net of the crew.
///
/// # Errors
/// [`Refusal`].
pub fn net(
    crew: &Crew,
    net: Id,
    kind: NetOperation,
    id: Id,
    now: Timestamp,
) -> Result<Crew, Refusal> {
    let mut next = crew.clone();
    let Some(net) = next.net_mut(net) else { return Err(Refusal::NotAssigned) };
    if let Some(other) = net.operation {
        return Err(Refusal::NetBusy(other.kind));
    }
    if let Some(other) = crew.worker.operation {
        return Err(Refusal::WorkerBusy(other.kind));
    }
    if crew.worker.status != WorkerStatus::Ready {
        return Err(Refusal::WorkerNotReady(crew.worker.status));
    }
    let deadline = now.plus(crate::model::operation::OPERATION_LIMIT);
    net.operation = Some(Underway { id, kind, since: now, deadline });
    net.cast_generation = match kind {
        // The generation that this step brings, which the agent is told.
        NetOperation::Load => Some(net.generation.saturating_add(1)),
        NetOperation::Unload => None,
    };
    Ok(next)
}

const fn may_begin(status: WorkerStatus, kind: WorkerOperation) -> bool {
    match kind {
        WorkerOperation::Provision => matches!(status, WorkerStatus::Pending),
        WorkerOperation::Retry => matches!(status, WorkerStatus::Error),
        WorkerOperation::Start => matches!(status, WorkerStatus::Stopped),
        WorkerOperation::Stop => matches!(status, WorkerStatus::Ready),
        WorkerOperation::Destroy | WorkerOperation::Delete => true,
        WorkerOperation::HealthCheck => {
            matches!(status, WorkerStatus::Ready | WorkerStatus::Stopped | WorkerStatus::Error)
        }
    }
}

const fn verb(kind: WorkerOperation) -> &'static str {
    match kind {
        WorkerOperation::Provision => "be provisioned",
        WorkerOperation::Retry => "be retried",
        WorkerOperation::Start => "be started",
        WorkerOperation::Stop => "be stopped",
        WorkerOperation::Destroy => "be destroyed",
        WorkerOperation::Delete => "be deleted",
        WorkerOperation::HealthCheck => "be asked for its health",
    }
}

const fn cure(status: WorkerStatus, kind: WorkerOperation) -> &'static str {
    match status {
        WorkerStatus::Stopped if matches!(kind, WorkerOperation::Stop) => "there is nothing to do",
        WorkerStatus::Pending => "provision it first",
        WorkerStatus::Provisioning => "wait until it is ready",
        WorkerStatus::Ready => "it runs already",
        WorkerStatus::Stopped => "start it first",
        WorkerStatus::Error => "check its health, or retry it",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::fixture::{NOW, crew, id, net as a_net};
    use crate::model::LoadState;

    #[test]
    fn every_operation_begins_only_where_the_table_says() {
        use WorkerStatus::{Error, Pending, Ready, Stopped};
        let table: [(WorkerOperation, &[WorkerStatus]); 7] = [
            (WorkerOperation::Provision, &[Pending]),
            (WorkerOperation::Retry, &[Error]),
            (WorkerOperation::Start, &[Stopped]),
            (WorkerOperation::Stop, &[Ready]),
            (WorkerOperation::Destroy, &[Pending, Ready, Stopped, Error]),
            (WorkerOperation::Delete, &[Pending, Ready, Stopped, Error]),
            (WorkerOperation::HealthCheck, &[Ready, Stopped, Error]),
        ];
        for (kind, wanted) in table {
            for status in WorkerStatus::ALL {
                let before = crew(status, &[]);
                let begun = worker(&before, kind, id(9), NOW);
                assert_eq!(begun.is_ok(), wanted.contains(&status), "{kind:?} {status:?}");
                let Ok(after) = begun else { continue };
                assert_eq!(before.check_step(&after), Ok(()), "{kind:?} {status:?}");
                let operation = after.worker.operation.unwrap();
                assert_eq!((operation.kind, operation.id), (kind, id(9)));
                assert_eq!(operation.deadline, NOW.plus(kind.limit()));
                let provisions = after.worker.status == WorkerStatus::Provisioning;
                assert_eq!(provisions, kind.makes_a_machine());
            }
        }
    }

    #[test]
    fn a_stop_of_one_that_is_stopped_is_not_told_to_start_it() {
        let refused = |kind| worker(&crew(WorkerStatus::Stopped, &[]), kind, id(9), NOW);
        let told = refused(WorkerOperation::Stop).unwrap_err().to_string();
        assert!(told.ends_with("there is nothing to do"), "{told}");
        let told = refused(WorkerOperation::Retry).unwrap_err().to_string();
        assert!(told.ends_with("start it first"), "{told}");
    }

    #[test]
    fn an_order_has_the_generation_that_it_is_begun_under() {
        let before = crew(WorkerStatus::Pending, &[]);
        let after = worker(&before, WorkerOperation::Provision, id(9), NOW).unwrap();
        assert_eq!(after.worker.machine_generation, Some(before.worker.generation + 1));
    }

    #[test]
    fn one_thing_at_a_time() {
        let before = crew(WorkerStatus::Ready, &[a_net(1, LoadState::Loaded)]);
        let stopping = worker(&before, WorkerOperation::Stop, id(9), NOW).unwrap();
        for kind in WorkerOperation::ALL {
            let refused = worker(&stopping, kind, id(8), NOW);
            assert_eq!(refused, Err(Refusal::WorkerBusy(WorkerOperation::Stop)), "{kind:?}");
        }
        let refused = net(&stopping, id(1), NetOperation::Load, id(8), NOW);
        assert_eq!(refused, Err(Refusal::WorkerBusy(WorkerOperation::Stop)));
        let loading = net(&before, id(1), NetOperation::Load, id(9), NOW).unwrap();
        let refused = net(&loading, id(1), NetOperation::Unload, id(8), NOW);
        assert_eq!(refused, Err(Refusal::NetBusy(NetOperation::Load)));
        assert!(worker(&loading, WorkerOperation::Stop, id(8), NOW).is_ok());
    }

    #[test]
    fn an_ephemeral_worker_is_not_stopped() {
        let mut before = crew(WorkerStatus::Ready, &[]);
        before.worker.category = Category::Ephemeral;
        let refused = worker(&before, WorkerOperation::Stop, id(9), NOW);
        assert_eq!(refused, Err(Refusal::NotPersistent));
        assert!(worker(&before, WorkerOperation::Destroy, id(9), NOW).is_ok());
    }

    #[test]
    fn a_net_needs_a_ready_worker_that_it_is_assigned_to() {
        for status in WorkerStatus::ALL {
            for kind in NetOperation::ALL {
                let mut before = crew(status, &[a_net(1, LoadState::Unloaded)]);
                before.worker.operation = None;
                let begun = net(&before, id(1), kind, id(9), NOW);
                assert_eq!(begun.is_ok(), status == WorkerStatus::Ready, "{status:?} {kind:?}");
                let elsewhere = net(&before, id(2), kind, id(9), NOW);
                assert_eq!(elsewhere, Err(Refusal::NotAssigned));
            }
        }
    }

    #[test]
    fn a_load_is_told_under_its_own_generation_and_an_unload_forgets_it() {
        let before = crew(WorkerStatus::Ready, &[a_net(1, LoadState::Loaded)]);
        let wanted = before.nets[0].generation + 1;
        let loading = net(&before, id(1), NetOperation::Load, id(9), NOW).unwrap();
        assert_eq!(loading.nets[0].cast_generation, Some(wanted));
        let unloading = net(&before, id(1), NetOperation::Unload, id(9), NOW).unwrap();
        assert_eq!(unloading.nets[0].cast_generation, None);
        assert_eq!(unloading.nets[0].load_state, LoadState::Loaded, "until it is confirmed");
    }
}
