use super::*;
use crate::decide::begin;
use crate::decide::fixture::{NOW, crew, id, machine, net as a_net};

fn running() -> WorkerEnd {
    let provider_state = Some("started".to_owned());
    WorkerEnd::Running { machine: machine(), boot_id: id(401), provider_state }
}

fn stopped() -> WorkerEnd {
    WorkerEnd::Stopped { machine: machine(), provider_state: Some("stopped".to_owned()) }
}

fn failed(code: FailureCode) -> WorkerEnd {
    WorkerEnd::Failed { failure: Failure::new(code, "why"), machine: None }
}

/// A crew with a loaded, a failed and an unloaded net, in which the operation has begun.
fn begun(kind: WorkerOperation) -> Crew {
    let from = match kind {
        WorkerOperation::Provision => WorkerStatus::Pending,
        WorkerOperation::Retry => WorkerStatus::Error,
        WorkerOperation::Start => WorkerStatus::Stopped,
        _ => WorkerStatus::Ready,
    };
    let first = if from == WorkerStatus::Ready { LoadState::Loaded } else { LoadState::Unloaded };
    let nets = [a_net(1, first), a_net(2, LoadState::Error), a_net(3, LoadState::Unloaded)];
    begin::worker(&crew(from, &nets), kind, id(9), NOW).unwrap()
}

fn states(crew: &Crew) -> Vec<LoadState> {
    crew.nets.iter().map(|net| net.load_state).collect()
}

#[test]
fn the_table_of_what_is_done() {
    use WorkerOperation::{Delete, Destroy, Provision, Retry, Start, Stop};
    for (kind, end, status) in [
        (Provision, running(), WorkerStatus::Ready),
        (Retry, running(), WorkerStatus::Ready),
        (Start, running(), WorkerStatus::Ready),
        (Stop, stopped(), WorkerStatus::Stopped),
        (Destroy, WorkerEnd::Destroyed, WorkerStatus::Pending),
        (Delete, WorkerEnd::Destroyed, WorkerStatus::Pending),
    ] {
        let before = begun(kind);
        let After { crew: after, is_removed } = worker(&before, &end, NOW);
        assert_eq!(before.check_step(&after), Ok(()), "{kind:?}");
        assert_eq!((after.worker.status, is_removed), (status, kind == Delete), "{kind:?}");
        assert_eq!(after.worker.operation, None, "{kind:?}");
        let ended = after.worker.ended.as_ref().unwrap();
        assert_eq!((ended.id, ended.kind, &ended.failure), (id(9), kind, &None), "{kind:?}");
        let left = [LoadState::Unloaded; 3];
        match kind {
            Stop | Destroy | Delete => assert_eq!(states(&after), left, "{kind:?}"),
            _ => assert_eq!(states(&after), states(&before), "{kind:?}"),
        }
        let assigned = after.nets.iter().all(|net| net.worker_id.is_some());
        assert_eq!(assigned, kind != Delete, "{kind:?}");
        assert_eq!(after.worker.machine.is_some(), !matches!(kind, Destroy | Delete), "{kind:?}");
    }
}

#[test]
fn the_table_of_what_fails() {
    use WorkerOperation::{Delete, Destroy, HealthCheck, Provision, Retry, Start, Stop};
    for kind in WorkerOperation::ALL {
        for code in FailureCode::ALL {
            let before = begun(kind);
            let After { crew: after, is_removed } = worker(&before, &failed(code), NOW);
            assert_eq!(before.check_step(&after), Ok(()), "{kind:?} {code:?}");
            let is_gone = code == FailureCode::WorkerGone;
            let is_silent = matches!(
                code,
                FailureCode::WorkerUnavailable
                    | FailureCode::TimedOut
                    | FailureCode::GivenUp
                    | FailureCode::CalledOff
            );
            let is_error = match kind {
                Provision | Retry => true,
                Start => is_gone || is_silent,
                Stop => is_gone,
                Destroy | Delete | HealthCheck => false,
            };
            let status = if is_error { WorkerStatus::Error } else { before.worker.status };
            assert_eq!((after.worker.status, is_removed), (status, false), "{kind:?} {code:?}");
            assert_eq!(after.worker.reason.is_some(), is_error, "{kind:?} {code:?}");
            assert_eq!(after.worker.operation, None);
            assert_eq!(after.worker.ended.unwrap().failure.unwrap().code, code);
            if is_error {
                assert_eq!(states(&after_nets(&after.nets)), [LoadState::Unloaded; 3]);
            } else {
                assert_eq!(states(&after_nets(&after.nets)), states(&before), "{kind:?} {code:?}");
            }
        }
    }
}

fn after_nets(nets: &[crate::model::Net]) -> Crew {
    crew(WorkerStatus::Pending, nets)
}

#[test]
fn a_machine_that_was_made_before_the_failure_is_remembered() {
    let mut other = machine();
    other.id = "m2".to_owned();
    let failure = Failure::new(FailureCode::TimedOut, "why");
    let end = WorkerEnd::Failed { failure, machine: Some(other.clone()) };
    let after = worker(&begun(WorkerOperation::Provision), &end, NOW).crew;
    assert_eq!(after.worker.machine, Some(other));
}

#[test]
fn an_order_that_was_refused_leaves_nothing_to_look_for() {
    for kind in [WorkerOperation::Provision, WorkerOperation::Retry] {
        let before = begun(kind);
        assert!(before.worker.unseen_order().is_some());
        let failure = Failure::new(FailureCode::OrderRefused, "why");
        let after = worker(&before, &WorkerEnd::Unmade(failure), NOW).crew;
        assert_eq!(before.check_step(&after), Ok(()), "{kind:?}");
        assert_eq!(after.worker.status, WorkerStatus::Error);
        assert_eq!(after.worker.reason.as_deref(), Some("why"));
        assert_eq!((after.worker.unseen_order(), &after.worker.machine), (None, &None), "{kind:?}");
        // Whatever else fails may have left something.
        let after = worker(&before, &failed(FailureCode::TimedOut), NOW).crew;
        assert!(after.worker.unended().count() > 0, "{kind:?}");
    }
}

#[test]
fn a_worker_without_an_operation_is_left_alone() {
    let before = crew(WorkerStatus::Ready, &[a_net(1, LoadState::Loaded)]);
    for end in [running(), stopped(), WorkerEnd::Destroyed, failed(FailureCode::WorkerGone)] {
        assert_eq!(worker(&before, &end, NOW).crew, before);
    }
    assert_eq!(net(&before, id(1), &NetEnd::WorkerLost("x".to_owned()), NOW), before);
}

#[test]
fn the_table_of_nets() {
    use LoadState::{Error, Loaded, Unloaded};
    let nets = [a_net(1, Unloaded), a_net(2, Loaded), a_net(3, Error)];
    let failure = Failure::new(FailureCode::NetRefused, "why");
    for kind in NetOperation::ALL {
        let done = if kind == NetOperation::Load { Loaded } else { Unloaded };
        for (end, own, others, status) in [
            (NetEnd::Done, done, [Loaded, Error], WorkerStatus::Ready),
            (NetEnd::Failed(failure.clone()), Error, [Loaded, Error], WorkerStatus::Ready),
            (
                NetEnd::WorkerLost("refused".to_owned()),
                Error,
                [Unloaded, Unloaded],
                WorkerStatus::Error,
            ),
        ] {
            let ready = crew(WorkerStatus::Ready, &nets);
            let before = begin::net(&ready, id(1), kind, id(9), NOW).unwrap();
            let after = net(&before, id(1), &end, NOW);
            assert_eq!(before.check_step(&after), Ok(()), "{kind:?} {end:?}");
            assert_eq!(states(&after), [own, others[0], others[1]], "{kind:?} {end:?}");
            assert_eq!(after.worker.status, status, "{kind:?} {end:?}");
            assert_eq!(after.nets[0].operation, None);
            let failed = after.nets[0].ended.as_ref().unwrap().failure.is_some();
            assert_eq!(failed, end != NetEnd::Done);
        }
    }
}

#[test]
fn what_was_being_done_to_other_nets_ends_with_their_worker() {
    let nets = [a_net(1, LoadState::Unloaded), a_net(2, LoadState::Loaded)];
    let ready = crew(WorkerStatus::Ready, &nets);
    let one = begin::net(&ready, id(1), NetOperation::Load, id(8), NOW).unwrap();
    let both = begin::net(&one, id(2), NetOperation::Unload, id(9), NOW).unwrap();
    let after = net(&both, id(1), &NetEnd::WorkerLost("refused".to_owned()), NOW);
    assert_eq!(states(&after), [LoadState::Error, LoadState::Unloaded]);
    let other = after.nets[1].ended.as_ref().unwrap();
    assert_eq!(other.id, id(9));
    assert_eq!(other.failure.as_ref().unwrap().code, FailureCode::WorkerUnavailable);
}

#[test]
fn the_words_for_what_a_provider_says() {
    let wait = std::time::Duration::from_secs(1);
    let text = || "x".to_owned();
    let conflict = crate::providers::Conflict::Capacity;
    for (error, code) in [
        (ProviderError::Gone(text()), FailureCode::WorkerGone),
        (ProviderError::Unreachable(text()), FailureCode::ProviderUnavailable),
        (ProviderError::Ambiguous(text()), FailureCode::ProviderUnavailable),
        (ProviderError::Conflict { kind: conflict, detail: text() }, FailureCode::ProviderConflict),
        (ProviderError::Throttled { retry_after: wait }, FailureCode::ProviderThrottled),
        (ProviderError::Denied(text()), FailureCode::ProviderDenied),
        (ProviderError::Invalid(text()), FailureCode::OrderRefused),
    ] {
        assert_eq!(failure_of(&error).code, code, "{error:?}");
        assert_eq!(failure_of(&error).detail, error.to_string());
    }
}
