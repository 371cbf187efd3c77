//! What may happen to a fleet, in any order.

use mainstay_fleet::{NetOperation, ProviderKind, WorkerOperation};
use proptest::prelude::*;

use crate::world::Call;

/// How many workers and nets a history is about.
pub(crate) const WORKERS: usize = 3;
pub(crate) const NETS: usize = 4;

#[derive(Debug, Clone, Copy)]
pub(crate) enum Step {
    /// Somebody begins an operation, and waits for its end or not.
    Operate(usize, WorkerOperation, bool),
    Cast(usize, NetOperation, bool),
    /// The same while the health loop sweeps.
    OperateInASweep(usize, WorkerOperation),
    CastInASweep(usize, NetOperation),
    Move(usize, Option<usize>),
    Redefine(usize),
    Rename(usize),
    RemoveNet(usize),
    Sweep,
    /// What happens outside.
    Crash(usize),
    Vanish(usize),
    Reboot(usize),
    /// A sprite that nobody asks falls asleep, with its memory or without, until it is asked.
    Sleep(usize),
    GoCold(usize),
    Wake(usize),
    Forget(usize, usize),
    Cut(usize, bool),
    Fault(Call, Fault),
    RefuseNets,
    /// Lists show nothing until the provider is healed.
    HideMachines,
    /// Machines that are ended are on their way until the provider is healed.
    OnlyPromise,
    HealProvider,
    /// The runner dies in the middle of whatever it does, and another comes when its leases are over.
    Kill,
    /// All deadlines pass.
    Later,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Fault {
    Gone,
    Unreachable,
    Throttled,
    Denied,
    Ambiguous,
    Invalid,
}

/// What may happen to machines of this provider: only sprites sleep.
pub(crate) fn steps(kind: ProviderKind) -> impl Strategy<Value = Vec<Step>> {
    let step = match kind {
        ProviderKind::Sprite => prop_oneof![8 => step(), 2 => sleep()].boxed(),
        ProviderKind::Fly | ProviderKind::Process => step().boxed(),
    };
    prop::collection::vec(step, 4..16)
}

fn sleep() -> impl Strategy<Value = Step> {
    let worker = 0..WORKERS;
    prop_oneof![
        2 => worker.clone().prop_map(Step::Sleep),
        3 => worker.clone().prop_map(Step::GoCold),
        1 => worker.prop_map(Step::Wake),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let worker = 0..WORKERS;
    let net = 0..NETS;
    let operation = prop::sample::select(WorkerOperation::ALL.to_vec());
    let cast = prop::sample::select(NetOperation::ALL.to_vec());
    let makes = Just(WorkerOperation::Provision);
    prop_oneof![
        5 => (worker.clone(), makes).prop_map(|(who, kind)| Step::Operate(who, kind, true)),
        8 => (worker.clone(), operation.clone(), any::<bool>())
            .prop_map(|(who, kind, waits)| Step::Operate(who, kind, waits)),
        8 => (net.clone(), cast.clone(), any::<bool>())
            .prop_map(|(which, kind, waits)| Step::Cast(which, kind, waits)),
        2 => (worker.clone(), operation).prop_map(|(who, kind)| Step::OperateInASweep(who, kind)),
        2 => (net.clone(), cast).prop_map(|(which, kind)| Step::CastInASweep(which, kind)),
        2 => (net.clone(), prop::option::of(worker.clone())).prop_map(|(n, w)| Step::Move(n, w)),
        1 => net.clone().prop_map(Step::Redefine),
        2 => net.clone().prop_map(Step::Rename),
        1 => net.clone().prop_map(Step::RemoveNet),
        4 => Just(Step::Sweep),
        2 => worker.clone().prop_map(Step::Crash),
        1 => worker.clone().prop_map(Step::Vanish),
        1 => worker.clone().prop_map(Step::Reboot),
        1 => (worker.clone(), net).prop_map(|(w, n)| Step::Forget(w, n)),
        2 => (worker, any::<bool>()).prop_map(|(who, is_cut)| Step::Cut(who, is_cut)),
        3 => (call(), fault()).prop_map(|(call, fault)| Step::Fault(call, fault)),
        1 => Just(Step::RefuseNets),
        1 => Just(Step::HideMachines),
        1 => Just(Step::OnlyPromise),
        1 => Just(Step::HealProvider),
        1 => Just(Step::Kill),
        1 => Just(Step::Later),
    ]
}

fn call() -> impl Strategy<Value = Call> {
    prop::sample::select(vec![
        Call::Create,
        Call::Look,
        Call::Wait,
        Call::Start,
        Call::Stop,
        Call::Destroy,
        Call::List,
    ])
}

fn fault() -> impl Strategy<Value = Fault> {
    prop::sample::select(vec![
        Fault::Gone,
        Fault::Unreachable,
        Fault::Throttled,
        Fault::Denied,
        Fault::Ambiguous,
        Fault::Invalid,
    ])
}
