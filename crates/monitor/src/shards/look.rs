//! One look at the leases, in one transaction: renew, release, see, decide, take.

use mainstay_base::{Clock, Id, Moment, Timestamp};
use mainstay_store::{StoreError, Tx};

use super::decide::{Plan, Sight, plan};
use super::model::{LEASE, LeaseRow, Standing};
use super::record::instances::{self, Load, Registered};
use super::record::{leases, patience};
use super::shard::{Shard, ShardSet};

/// Who looks, and with what.
#[derive(Debug, Clone, Copy)]
pub(super) struct Looker<'a> {
    /// The id that it has, if it was known once.
    pub(super) me: Option<Id>,
    /// The one that it gets when others have found it dead.
    pub(super) next_id: Id,
    /// The one that it gets when it had come in under that one, never heard of it, and was found dead.
    pub(super) spare_id: Id,
    pub(super) name: &'a str,
    pub(super) version: &'a str,
    /// `None` until it was known once.
    pub(super) started_at: Option<Timestamp>,
    pub(super) load: Load,
    /// What it is handing over, and what of it can be released.
    pub(super) draining: ShardSet,
    pub(super) drained: ShardSet,
    /// Whether it says of others that they are lost.
    pub(super) may_bury: bool,
}

/// What was seen and done.
#[derive(Debug)]
pub(super) struct Looked {
    pub(super) me: Id,
    pub(super) started_at: Timestamp,
    /// Whether it is known from now on, and was not before.
    pub(super) is_new: bool,
    pub(super) plan: Plan,
    /// What it owns now.
    pub(super) mine: Vec<LeaseRow>,
    pub(super) released: ShardSet,
    /// What it took: released before, and of owners that are lost.
    pub(super) taken: (ShardSet, ShardSet),
    /// What the database's clock showed, when it was asked, and when the answer was there.
    pub(super) time: (Timestamp, Moment, Moment),
}

/// Looks once. Nothing that it finds or does counts before the transaction is committed.
pub(super) async fn look(
    tx: &mut Tx,
    clock: &dyn Clock,
    looker: Looker<'_>,
) -> Result<Looked, StoreError> {
    // Whoever stands still in the middle of this holds nobody up for long.
    patience::shorten(tx).await?;
    let asked = clock.moment();
    let now = tx.now().await?;
    let time = (now, asked, clock.moment());
    let (me, is_new) = enter(tx, looker, now).await?;
    // Another id owns nothing yet, so it hands nothing over either.
    let (draining, drained) =
        if is_new { Default::default() } else { (looker.draining, looker.drained) };
    // What a recording holds in this moment is released with the next look.
    let released = if drained.is_empty() {
        ShardSet::NONE
    } else {
        leases::release(tx, me, drained, now).await?
    };
    if looker.may_bury {
        instances::bury(tx, now).await?;
    }
    let (standings, mut rows) = (instances::standings(tx).await?, leases::all(tx).await?);
    let draining = draining.without(released);
    let sight = Sight { me, now, instances: &standings, leases: &rows, draining };
    let plan = plan(&sight);
    let taken = if plan.take.is_empty() {
        Vec::new()
    } else {
        leases::take(tx, me, plan.take, now).await?
    };
    let sorted = sort(&taken, &rows, &standings);
    rows.retain(|row| row.owner == Some(me));
    rows.extend(taken);
    let started_at = looker.started_at.unwrap_or(now);
    Ok(Looked { me, started_at, is_new, plan, mine: rows, released, taken: sorted, time })
}

/// Gives everything back. What another holds in this moment is free all the same: its owner is gone.
pub(super) async fn leave(tx: &mut Tx, me: Id) -> Result<(), StoreError> {
    patience::shorten(tx).await?;
    let now = tx.now().await?;
    leases::release(tx, me, Shard::all().collect(), now).await?;
    instances::leave(tx, me, now).await
}

/// Renews, or comes in as somebody new.
async fn enter(tx: &mut Tx, looker: Looker<'_>, now: Timestamp) -> Result<(Id, bool), StoreError> {
    if let Some(me) = looker.me
        && instances::renew(tx, me, looker.load, now, LEASE).await?
    {
        return Ok((me, false));
    }
    // An earlier try may have been committed after all.
    if instances::renew(tx, looker.next_id, looker.load, now, LEASE).await? {
        return Ok((looker.next_id, true));
    }
    let is_used_up = instances::is_known(tx, looker.next_id).await?;
    let id = if is_used_up { looker.spare_id } else { looker.next_id };
    let registered = Registered {
        id,
        name: looker.name,
        version: looker.version,
        started_at: looker.started_at.unwrap_or(now),
        expires_at: Some(now.plus(LEASE)),
    };
    instances::register(tx, registered, now).await?;
    instances::sweep(tx, now).await?;
    Ok((id, true))
}

/// What was taken: shards that somebody had released, and shards of owners that are lost.
fn sort(taken: &[LeaseRow], before: &[LeaseRow], standings: &[Standing]) -> (ShardSet, ShardSet) {
    let of = |is_lost: bool| {
        let shards = taken.iter().map(|row| row.lease.shard);
        shards
            .filter(|shard| {
                let before = before.iter().find(|row| row.lease.shard == *shard);
                let owner = before.and_then(|row| row.owner);
                owner.is_some_and(|owner| standings.iter().any(|one| one.id == owner)) == is_lost
            })
            .collect()
    };
    (of(false), of(true))
}
