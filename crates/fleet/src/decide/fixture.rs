//! Crews for the tables of tests.

use mainstay_base::{Id, Timestamp};

use crate::model::{
    Category, Crew, LoadState, Net, Underway, Worker, WorkerOperation, WorkerStatus,
};
use crate::providers::{Machine, MachineName, ProviderKind, Size};

/// When everything happens.
pub(crate) const NOW: Timestamp = Timestamp::from_millis(1_794_776_400_000);
/// When everything was made.
pub(crate) const BEFORE: Timestamp = Timestamp::from_millis(1_794_776_000_000);

/// An id for each number.
pub(crate) fn id(number: u32) -> Id {
    format!("01a1e102-8087-7707-8707-{number:012}").parse().unwrap()
}

/// The machine of the worker.
pub(crate) fn machine() -> Machine {
    Machine {
        id: "m1".to_owned(),
        name: MachineName::of(id(100), 5),
        run: None,
        address: Some("http://127.0.0.1:9".to_owned()),
        region: None,
    }
}

/// A persistent worker (100) of the user 200 in generation 7, with nets.
pub(crate) fn crew(status: WorkerStatus, nets: &[Net]) -> Crew {
    let has_machine = status != WorkerStatus::Pending;
    let kind = WorkerOperation::Provision;
    let operation = Underway { id: id(300), kind, since: BEFORE, deadline: NOW.plus(kind.limit()) };
    let worker = Worker {
        id: id(100),
        user_id: id(200),
        name: "w".to_owned(),
        provider: ProviderKind::Fly,
        category: Category::Persistent,
        region: None,
        size: Size::Small,
        status,
        status_since: BEFORE,
        reason: None,
        generation: 7,
        operation: (status == WorkerStatus::Provisioning).then_some(operation),
        ended: None,
        machine: has_machine.then(machine),
        machine_generation: has_machine.then_some(5),
        boot_id: (status == WorkerStatus::Ready).then(|| id(400)),
        provider_state: None,
        last_seen_at: None,
        created_at: BEFORE,
    };
    Crew { worker, nets: nets.to_vec() }
}

/// A net of that worker, in generation 3.
pub(crate) fn net(number: u32, load_state: LoadState) -> Net {
    Net {
        id: id(number),
        user_id: id(200),
        name: format!("n{number}"),
        worker_id: Some(id(100)),
        load_state,
        load_state_since: BEFORE,
        reason: None,
        generation: 3,
        cast_generation: (load_state == LoadState::Loaded).then_some(2),
        operation: None,
        ended: None,
        created_at: BEFORE,
    }
}
