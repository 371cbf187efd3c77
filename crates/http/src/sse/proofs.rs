//! The sessions and tokens that live streams were opened with. A stream outlives the look at its
//! proof, so that all of them are looked at again: when the bell tells of a change, and now and then.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mainstay_accounts::{Accounts, Means};
use mainstay_base::{Clock, Id, Timestamp};
use mainstay_events::{Doorbell, Topic};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::stalls::Stalls;

/// How often all are looked at without a bell: sessions also end by time.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// The least time between two looks, however often it rings.
const LOOK_APART: Duration = Duration::from_millis(100);

/// The longest that one look waits for the database.
const LOOK_LIMIT: Duration = Duration::from_secs(10);

/// The proofs of the streams of this instance. A clone is another handle to the same.
#[derive(Clone)]
pub struct Proofs {
    shared: Arc<Shared>,
}

struct Shared {
    accounts: Accounts,
    clock: Arc<dyn Clock>,
    stalls: Stalls,
    /// By the session's or token's id. There are no more than connections.
    watched: Mutex<HashMap<Id, Watched>>,
}

struct Watched {
    means: Means,
    streams: usize,
    ended: CancellationToken,
}

impl Proofs {
    /// Nobody follows anything yet.
    #[must_use]
    pub fn new(accounts: Accounts, clock: Arc<dyn Clock>) -> Self {
        let stalls = Stalls::new(Arc::clone(&clock));
        Self { shared: Arc::new(Shared { accounts, clock, stalls, watched: Mutex::default() }) }
    }

    /// Looks at every proof when its bell rings and every few seconds, until `stop`, and at who takes
    /// nothing.
    pub async fn run(self, doorbell: Doorbell, stop: CancellationToken) {
        let mut ears = doorbell.listen(Topic::Access);
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                _ = ears.heard() => {}
                () = sleep(LOOK_EVERY) => {}
            }
            self.shared.stalls.cut();
            let looking = async {
                self.look().await;
                sleep(LOOK_APART).await;
            };
            if stop.run_until_cancelled(looking).await.is_none() {
                return;
            }
        }
    }

    /// Watches the proof of one stream for as long as the handle lives.
    pub(crate) fn watch(&self, means: &Means) -> Watch {
        let id = id_of(means);
        let mut watched = self.shared.watched.lock().unwrap_or_else(PoisonError::into_inner);
        let one = watched.entry(id).or_insert_with(|| Watched {
            means: means.clone(),
            streams: 0,
            ended: CancellationToken::new(),
        });
        one.streams = one.streams.saturating_add(1);
        let ended = one.ended.clone();
        drop(watched);
        Watch { shared: Arc::clone(&self.shared), id, ended }
    }

    /// Those whose client may take nothing.
    pub(crate) fn stalls(&self) -> &Stalls {
        &self.shared.stalls
    }

    /// Ends the streams whose proof is no longer good. A database that does not answer ends none: it
    /// says nothing about anybody, and what ends by time alone is seen without it.
    async fn look(&self) {
        let asked = self.shared.means();
        if asked.is_empty() {
            return;
        }
        let now = self.shared.clock.now();
        self.shared.end(asked.iter().filter(|means| is_over(means, now)).map(id_of));
        match timeout(LOOK_LIMIT, self.shared.accounts.alive(&asked)).await {
            Ok(Ok(alive)) => {
                self.shared.end(asked.iter().map(id_of).filter(|id| !alive.contains(id)));
            }
            Ok(Err(error)) => {
                tracing::warn!(%error, "live streams could not be checked; trying again");
            }
            Err(_elapsed) => {
                tracing::warn!("the database does not say who is signed in; trying again");
            }
        }
    }
}

impl Shared {
    fn end(&self, ids: impl Iterator<Item = Id>) {
        let watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        for one in ids.filter_map(|id| watched.get(&id)) {
            one.ended.cancel();
        }
    }

    fn means(&self) -> Vec<Means> {
        let watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        watched.values().map(|one| one.means.clone()).collect()
    }
}

/// The proof of one stream.
pub(crate) struct Watch {
    shared: Arc<Shared>,
    id: Id,
    ended: CancellationToken,
}

impl Watch {
    /// Is ready once the proof is no longer good.
    pub(crate) async fn ended(&self) {
        self.ended.cancelled().await;
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let mut watched = self.shared.watched.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(one) = watched.get_mut(&self.id) {
            one.streams = one.streams.saturating_sub(1);
            if one.streams == 0 {
                watched.remove(&self.id);
            }
        }
    }
}

const fn id_of(means: &Means) -> Id {
    match means {
        Means::Session { id, .. } | Means::Token { id, .. } => *id,
    }
}

fn is_over(means: &Means, now: Timestamp) -> bool {
    matches!(means, Means::Session { expires_at, .. } if *expires_at <= now)
}

impl fmt::Debug for Proofs {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Proofs")
    }
}
