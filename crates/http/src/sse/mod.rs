//! Live streams of events: `ask` (what the query says) → `frame` (the texts) → `follower` (what one is told,
//! until it has to end) → `takeover` (how that travels on HTTP/1) or `body` (on HTTP/2) → `proofs` (whose
//! session or token has ended) → `stalls` (who takes nothing).

mod ask;
mod body;
mod follower;
mod frame;
mod proofs;
mod stalls;
mod takeover;

use std::fmt;
use std::sync::Arc;

use mainstay_base::Rng;
use mainstay_events::{Connections, Events};

pub(crate) use ask::{StreamAsk, StreamQuery};
pub(crate) use body::body;
pub(crate) use follower::{Follower, Head};
pub use proofs::Proofs;
pub(crate) use takeover::Taken;

/// What the live streams are made of.
#[derive(Clone)]
pub struct Live {
    /// Where events come from.
    pub events: Events,
    /// Who follows them, on every instance.
    pub connections: Connections,
    /// Whose session or token has ended.
    pub proofs: Proofs,
    /// Chance, so that not all come back at once.
    pub rng: Arc<dyn Rng>,
    /// How many one user may hold.
    pub max_per_user: u32,
    /// How many one API token may hold.
    pub max_per_token: u32,
}

impl fmt::Debug for Live {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Live")
            .field("max_per_user", &self.max_per_user)
            .field("max_per_token", &self.max_per_token)
            .finish_non_exhaustive()
    }
}

/// How long a client waits before it connects again after a loss: so many milliseconds, and up to as
/// many more by chance.
const RETRY: Spread = Spread { least: 1_000, by_chance: 2_000 };

/// The same when this instance stops and all of its clients come back together.
const RETRY_AFTER_STOP: Spread = Spread { least: 500, by_chance: 4_500 };

struct Spread {
    least: u64,
    by_chance: u64,
}

impl Spread {
    fn pick(&self, rng: &dyn Rng) -> u64 {
        let mut bytes = [0; 8];
        rng.fill(&mut bytes);
        self.least.saturating_add(u64::from_le_bytes(bytes) % self.by_chance)
    }
}
