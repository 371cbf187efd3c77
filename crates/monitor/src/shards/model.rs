//! What is known of instances and of who owns which shard.

use std::time::Duration;

use mainstay_base::{Id, Timestamp};

use super::shard::Shard;

/// How long an instance counts as alive after it has renewed, by the database's clock.
pub const LEASE: Duration = Duration::from_secs(10);
/// How often an instance renews.
pub const RENEW_EVERY: Duration = Duration::from_secs(3);
/// After so long without renewing, by its own steady clock, an instance polls no more. It is shorter
/// than [`LEASE`], so that it has stopped before another begins.
pub const LAPSE: Duration = Duration::from_secs(7);
/// For so long a free shard is left to those who have fewer than their share; then anybody takes it.
pub const LEFT_ALONE: Duration = Duration::from_secs(2);
/// How often an instance looks that has room for what another has too much of. What is released for it
/// would be taken back after [`LEFT_ALONE`], should a bell be lost: it must have looked before.
pub const LOOK_FOR_SHARE: Duration = Duration::from_secs(1);
/// Who runs and renews for so long gets a share. One that dies whenever it is started gets none: shards
/// would wait for it again and again.
pub const SETTLED_AFTER: Duration = Duration::from_secs(2);
/// The most shards that an instance hands over at once: if the newcomer dies, few have waited for it.
pub const MOST_HANDED_OVER: usize = 16;

/// The right to poll the hosts of a shard. Whoever takes or releases the shard counts its generation
/// up, so that what was begun under an earlier one is known to be late.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Lease {
    /// Which part of all hosts.
    pub shard: Shard,
    /// Counts the owners that it ever had, and the times between them.
    pub generation: i64,
}

/// Who owns a shard, as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseRow {
    /// The shard and its generation.
    pub lease: Lease,
    /// The instance that owns it.
    pub owner: Option<Id>,
    /// When it was taken or released.
    pub changed_at: Timestamp,
}

/// An instance, as far as deciding needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// Which one.
    pub id: Id,
    /// Whether it has run for long enough to get a share of what others have.
    pub is_settled: bool,
    /// Until when it counts as alive; `None` for ever: nobody else can have the database.
    pub expires_at: Option<Timestamp>,
    /// When it stopped, or others found that it had not renewed. It never comes back under this id.
    pub gone_at: Option<Timestamp>,
}

impl Standing {
    /// Whether it counts as alive.
    #[must_use]
    pub fn is_alive(&self, now: Timestamp) -> bool {
        self.gone_at.is_none() && self.expires_at.is_none_or(|until| until > now)
    }

    /// Since when it does not count as alive any more.
    #[must_use]
    pub fn dead_since(&self, now: Timestamp) -> Option<Timestamp> {
        self.gone_at.or_else(|| self.expires_at.filter(|until| *until <= now))
    }
}
