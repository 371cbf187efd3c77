//! What this instance may poll now: written by the keeper of its leases, read by the engine.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mainstay_base::{Id, Moment};
use mainstay_kernel::HostKey;
use tokio::sync::{Notify, watch};

use super::model::{LAPSE, Lease, RENEW_EVERY};
use super::record::instances::Load;
use super::shard::{Shard, ShardSet};
use crate::watch::Watch;

/// What this instance may poll. A clone is the same one.
#[derive(Debug, Clone)]
pub struct Tenure {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    is_alone: bool,
    state: Mutex<State>,
    version: watch::Sender<u64>,
    /// A shard was handed over as far as polling goes: the keeper releases it.
    drained: Notify,
}

#[derive(Debug, Default)]
struct State {
    me: Option<Id>,
    /// When the renewal was asked for that was last answered.
    renewed: Option<Moment>,
    /// When the first one after a lapse was asked for.
    back: Option<Moment>,
    /// Counts the changes of what it owns.
    version: u64,
    /// The generation of each shard that it owns.
    held: BTreeMap<Shard, i64>,
    /// Those of them that are being handed over.
    draining: ShardSet,
    /// Those of these that nothing is under way of any more.
    drained: ShardSet,
    load: Load,
}

/// What may be polled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Holding {
    /// All there is: nobody else polls.
    Everything,
    /// These shards, each under its generation.
    Shards(BTreeMap<Shard, i64>),
}

/// Hears of changes.
#[derive(Debug)]
pub struct Changes(watch::Receiver<u64>);

impl Tenure {
    /// Nobody else polls: everything is owned, always.
    #[must_use]
    pub fn alone() -> Self {
        Self::new(true)
    }

    /// Others may poll too: nothing is owned until a keeper says so.
    #[must_use]
    pub fn shared() -> Self {
        Self::new(false)
    }

    fn new(is_alone: bool) -> Self {
        let (state, version) = (Mutex::default(), watch::Sender::new(0));
        let shared = Shared { is_alone, state, version, drained: Notify::new() };
        Self { shared: Arc::new(shared) }
    }

    /// Whether nobody else polls.
    #[must_use]
    pub fn is_alone(&self) -> bool {
        self.shared.is_alone
    }

    /// Whether polls may begin: the leases were renewed a short while ago. Asked right before each
    /// start, so that a process that stood still for long begins nothing when it goes on.
    #[must_use]
    pub fn is_live(&self, now: Moment) -> bool {
        self.is_alone() || self.state().renewed.is_some_and(|at| now.since(at) < LAPSE)
    }

    /// Whether it had leases and could not renew them. Who has just come has not lapsed: nothing was
    /// polled here yet.
    #[must_use]
    pub fn has_lapsed(&self, now: Moment) -> bool {
        !self.is_alone() && self.state().has_lapsed(now)
    }

    /// Whether a request may go out under this lease: it is live, and still owned. `None` is the lease of
    /// who is alone.
    #[must_use]
    pub fn may_begin(&self, lease: Option<Lease>, now: Moment) -> bool {
        let Some(lease) = lease else { return self.is_live(now) };
        let state = self.state();
        let is_live = state.renewed.is_some_and(|at| now.since(at) < LAPSE);
        is_live && state.held.get(&lease.shard) == Some(&lease.generation)
    }

    /// What is owned, with what is being handed over, if that has changed since the version `seen`.
    pub(crate) fn owned_since(&self, seen: u64) -> Option<(u64, BTreeMap<Shard, i64>)> {
        let state = self.state();
        (state.version != seen).then(|| (state.version, state.held.clone()))
    }

    /// What may be polled. What is being handed over is not in it.
    #[must_use]
    pub fn holding(&self) -> Holding {
        if self.is_alone() {
            return Holding::Everything;
        }
        let state = self.state();
        let kept = state.held.iter().filter(|(shard, _)| !state.draining.contains(**shard));
        Holding::Shards(kept.map(|(shard, generation)| (*shard, *generation)).collect())
    }

    /// What is being handed over, and of which something may still be under way.
    #[must_use]
    pub fn draining(&self) -> ShardSet {
        let state = self.state();
        state.draining.without(state.drained)
    }

    /// Nothing of these shards is under way any more, and all of it is recorded.
    pub fn drained(&self, shards: ShardSet) {
        let mut state = self.state();
        state.drained = state.drained.and(shards.among(state.draining));
        drop(state);
        self.shared.drained.notify_one();
    }

    /// Hears of changes from now on.
    #[must_use]
    pub fn changes(&self) -> Changes {
        Changes(self.shared.version.subscribe())
    }

    /// What the engine says of itself.
    pub fn report(&self, services: usize, lag: Duration) {
        let services = u32::try_from(services).unwrap_or(u32::MAX);
        self.state().load = Load { services, lag };
    }

    /// Which instance this is, by the name that it has in the database now.
    #[must_use]
    pub fn me(&self) -> Option<Id> {
        self.state().me
    }

    /// Takes over what the database says: who this is, and what it owns, at a question of the moment
    /// `renewed`.
    pub fn adopt(&self, me: Id, leases: impl Iterator<Item = Lease>, renewed: Moment) {
        let held: BTreeMap<_, _> = leases.map(|lease| (lease.shard, lease.generation)).collect();
        let mut state = self.state();
        let had_lapsed = state.has_lapsed(renewed);
        if had_lapsed {
            state.back = Some(renewed);
        }
        let has_changed = state.held != held;
        if has_changed {
            state.version = state.version.wrapping_add(1);
        }
        let is_same = |shard: Shard| state.held.get(&shard) == held.get(&shard);
        let kept: ShardSet = held.keys().copied().filter(|shard| is_same(*shard)).collect();
        state.draining = state.draining.among(kept);
        state.drained = state.drained.among(kept);
        let is_first = state.renewed.is_none();
        state.held = held;
        state.me = Some(me);
        state.renewed = Some(renewed);
        drop(state);
        if has_changed || had_lapsed || is_first {
            self.tell();
        }
    }

    /// Hands these shards over: they are polled no more.
    pub fn drain(&self, shards: ShardSet) {
        if shards.is_empty() {
            return;
        }
        let mut state = self.state();
        state.draining = state.draining.and(shards);
        drop(state);
        self.tell();
    }

    /// What is being handed over, and what of it can be released.
    pub(super) fn leaving(&self) -> (ShardSet, ShardSet) {
        let state = self.state();
        (state.draining, state.drained)
    }

    pub(super) async fn has_drained(&self) {
        self.shared.drained.notified().await;
    }

    pub(super) fn load(&self) -> Load {
        self.state().load
    }

    /// How long ago the renewal was asked for that was last answered.
    pub(super) fn renewed_ago(&self, now: Moment) -> Option<Duration> {
        self.state().renewed.map(|at| now.since(at))
    }

    /// Whether it may say of others that they are lost. Not while it could not renew itself, nor right
    /// after that: an outage of the database has kept the others from renewing too.
    pub(super) fn may_bury(&self, now: Moment) -> bool {
        let state = self.state();
        !state.has_lapsed(now) && state.back.is_none_or(|at| now.since(at) >= RENEW_EVERY)
    }

    pub(super) fn held(&self) -> ShardSet {
        self.state().held.keys().copied().collect()
    }

    fn tell(&self) {
        self.shared.version.send_modify(|version| *version = version.wrapping_add(1));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing in here panics half-way.
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn has_lapsed(&self, now: Moment) -> bool {
        self.renewed.is_some_and(|at| now.since(at) >= LAPSE)
    }
}

impl Changes {
    /// Waits for the next change.
    pub async fn changed(&mut self) {
        if self.0.changed().await.is_err() {
            // Nobody is left who could change anything.
            std::future::pending::<()>().await;
        }
    }
}

impl Holding {
    /// Gives a service the lease of its host; `false` when it is not polled here.
    #[must_use]
    pub fn admit(&self, watch: &mut Watch) -> bool {
        match self {
            Self::Everything => true,
            Self::Shards(_) => {
                watch.lease = self.lease_of(&watch.endpoint.host);
                watch.lease.is_some()
            }
        }
    }

    /// What is in this holding and not in `other`, or under another generation there.
    #[must_use]
    pub fn beyond(&self, other: &Self) -> ShardSet {
        let Self::Shards(mine) = self else { return ShardSet::NONE };
        let is_known = |shard: &Shard, generation: &i64| match other {
            Self::Everything => true,
            Self::Shards(theirs) => theirs.get(shard) == Some(generation),
        };
        let beyond = mine.iter().filter(|(shard, generation)| !is_known(shard, generation));
        beyond.map(|(shard, _)| *shard).collect()
    }

    /// The lease of a host; `None` where it is not polled here, or nobody else polls.
    pub(crate) fn lease_of(&self, host: &HostKey) -> Option<Lease> {
        let Self::Shards(held) = self else { return None };
        let shard = Shard::of(host);
        held.get(&shard).map(|generation| Lease { shard, generation: *generation })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Moment {
        Moment::from_origin(Duration::from_secs(seconds))
    }

    fn me() -> Id {
        "019a8b3c-0000-7000-8000-000000000001".parse().unwrap()
    }

    fn lease(number: i64, generation: i64) -> Lease {
        Lease { shard: Shard::new(number).unwrap(), generation }
    }

    fn set(numbers: &[i64]) -> ShardSet {
        numbers.iter().filter_map(|number| Shard::new(*number)).collect()
    }

    #[test]
    fn who_could_not_renew_for_seven_seconds_polls_no_more() {
        let tenure = Tenure::shared();
        assert!(!tenure.is_live(at(0)) && !tenure.has_lapsed(at(0)));
        tenure.adopt(me(), [lease(3, 1)].into_iter(), at(100));
        assert!(tenure.is_live(at(106)));
        assert!(!tenure.is_live(at(107)));
        assert!(!tenure.has_lapsed(at(106)) && tenure.has_lapsed(at(107)));
        let alone = Tenure::alone();
        alone.adopt(me(), std::iter::empty(), at(0));
        assert!(alone.is_live(at(1_000_000)) && !alone.has_lapsed(at(1_000_000)));
    }

    #[test]
    fn a_request_goes_out_only_under_a_lease_that_is_owned_now() {
        let tenure = Tenure::shared();
        tenure.adopt(me(), [lease(3, 1)].into_iter(), at(100));
        assert!(tenure.may_begin(Some(lease(3, 1)), at(101)));
        assert!(!tenure.may_begin(Some(lease(3, 2)), at(101)), "of another tenure");
        assert!(!tenure.may_begin(Some(lease(4, 1)), at(101)));
        assert!(!tenure.may_begin(Some(lease(3, 1)), at(107)));
        tenure.drain(set(&[3]));
        assert!(tenure.may_begin(Some(lease(3, 1)), at(101)), "until it is released");
        assert!(Tenure::alone().may_begin(None, at(1_000_000)));
    }

    #[test]
    fn what_is_owned_is_told_once_for_each_change() {
        let tenure = Tenure::shared();
        assert_eq!(tenure.owned_since(0), None);
        tenure.adopt(me(), [lease(3, 1)].into_iter(), at(0));
        let (seen, owned) = tenure.owned_since(0).unwrap();
        assert_eq!(owned, [(lease(3, 1).shard, 1)].into());
        tenure.adopt(me(), [lease(3, 1)].into_iter(), at(3));
        assert_eq!(tenure.owned_since(seen), None);
        tenure.adopt(me(), std::iter::empty(), at(30));
        assert_eq!(tenure.owned_since(seen).unwrap().1, BTreeMap::new());
    }

    #[test]
    fn who_could_not_renew_itself_calls_nobody_lost() {
        let tenure = Tenure::shared();
        assert!(tenure.may_bury(at(0)), "who starts finds those that died before");
        tenure.adopt(me(), std::iter::empty(), at(0));
        assert!(tenure.may_bury(at(6)));
        assert!(!tenure.may_bury(at(12)), "the others could not renew either");
        tenure.adopt(me(), std::iter::empty(), at(12));
        assert!(!tenure.may_bury(at(14)), "they have not had the time");
        assert!(tenure.may_bury(at(15)));
    }

    #[test]
    fn what_is_handed_over_is_not_polled_and_not_forgotten() {
        let tenure = Tenure::shared();
        tenure.adopt(me(), [lease(3, 1), lease(4, 1)].into_iter(), at(0));
        tenure.drain(set(&[4]));
        assert_eq!(tenure.holding(), Holding::Shards([(lease(3, 1).shard, 1)].into()));
        assert_eq!((tenure.draining(), tenure.leaving().1), (set(&[4]), ShardSet::NONE));
        tenure.drained(set(&[3, 4]));
        assert_eq!((tenure.draining(), tenure.leaving().1), (ShardSet::NONE, set(&[4])));
        // Taken over by somebody and had again: nothing of it is handed over.
        tenure.adopt(me(), [lease(3, 1), lease(4, 3)].into_iter(), at(1));
        assert_eq!(tenure.leaving(), (ShardSet::NONE, ShardSet::NONE));
    }

    #[test]
    fn another_generation_is_another_shard() {
        let of = |leases: &[(i64, i64)]| {
            let each = leases.iter().map(|(number, generation)| {
                let lease = lease(*number, *generation);
                (lease.shard, lease.generation)
            });
            Holding::Shards(each.collect())
        };
        let (before, after) = (of(&[(1, 1), (2, 1), (3, 1)]), of(&[(1, 1), (2, 2), (4, 1)]));
        assert_eq!(after.beyond(&before), set(&[2, 4]), "gained");
        assert_eq!(before.beyond(&after), set(&[2, 3]), "lost");
        assert_eq!(Holding::Everything.beyond(&before), ShardSet::NONE);
    }

    #[tokio::test]
    async fn changes_are_told() {
        let tenure = Tenure::shared();
        let mut changes = tenure.changes();
        tenure.adopt(me(), [lease(3, 1)].into_iter(), at(0));
        changes.changed().await;
        tenure.adopt(me(), [lease(3, 1)].into_iter(), at(3));
        assert!(!changes.0.has_changed().unwrap(), "nothing is new");
        tenure.adopt(me(), [lease(3, 1)].into_iter(), at(30));
        changes.changed().await;
    }
}
