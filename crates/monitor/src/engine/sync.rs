//! Learns of edits: at once when one was made here, with the next tick when elsewhere; and of shards
//! that are polled here from now on, or no more.

use std::sync::Arc;
use std::time::Duration;

use mainstay_store::StoreError;

use super::Shared;
use crate::shards::{Holding, Shard, ShardSet};
use crate::source::Changes;

/// How long one part of the list may take to read: whoever waits for longer learns too late which shards
/// came and went meanwhile.
const READ_LIMIT: Duration = Duration::from_secs(3);

/// Up to where it has read.
struct Book {
    latest: i64,
    /// What the services were read for.
    holding: Holding,
}

pub(super) async fn run(shared: Arc<Shared>) {
    let mut changes = shared.parts.tenure.changes();
    let mut book = Book { latest: 0, holding: Holding::Shards(Default::default()) };
    let mut in_trouble = false;
    while !shared.stop.is_cancelled() {
        let asked = tokio::select! {
            () = shared.stop.cancelled() => break,
            asked = shared.catch_up(&mut book) => asked,
        };
        if let Err(error) = &asked
            && !in_trouble
        {
            tracing::warn!(%error, "the list of services can't be read; polling goes on with what is known");
        }
        in_trouble = asked.is_err();
        tokio::select! {
            () = shared.stop.cancelled() => break,
            () = shared.edited.notified() => {}
            () = changes.changed() => {}
            () = tokio::time::sleep(shared.parts.policy.cycle()) => {}
        }
    }
}

impl Shared {
    async fn catch_up(&self, book: &mut Book) -> Result<(), StoreError> {
        let holding = self.parts.tenure.holding();
        self.let_go(book.holding.beyond(&holding));
        if !holding.beyond(&book.holding).is_empty() {
            // What others have recorded of them meanwhile is only in the database.
            book.latest = 0;
        }
        // Not before they are read to the end: until then they are to be read again.
        let mut latest = book.latest;
        loop {
            let asked = tokio::time::timeout(READ_LIMIT, self.parts.source.changes(latest)).await;
            let changes = asked.map_err(|_| StoreError::Busy { waited: READ_LIMIT })??;
            let is_last = changes.latest <= latest || changes.is_empty();
            latest = changes.latest.max(latest);
            self.apply(changes, &holding);
            if is_last {
                break;
            }
        }
        *book = Book { latest, holding };
        self.state().synced_at = Some(self.moment());
        Ok(())
    }

    /// Polls nothing of these shards any more, except what is handed over in order.
    fn let_go(&self, shards: ShardSet) {
        let shards = shards.without(self.parts.tenure.draining());
        if !shards.is_empty() {
            let mut roster = self.roster();
            roster.drop_shards(shards);
            self.dismiss(&roster);
        }
    }

    fn apply(&self, changes: Changes, holding: &Holding) {
        let now = self.moment();
        let mut roster = self.roster();
        // While the roster is held: what is handed over or lost from here on is taken out of it later.
        let (current, draining) = (self.parts.tenure.holding(), self.parts.tenure.draining());
        for number in changes.gone {
            roster.forget(number);
        }
        for (mut watch, memory) in changes.watched {
            let host = &watch.endpoint.host;
            // Under another lease than it was read for, what was read of it may be old.
            let is_current = current.lease_of(host) == holding.lease_of(host);
            if !current.admit(&mut watch) || !is_current {
                // It may have moved to the host of another shard.
                if !draining.contains(Shard::of(&watch.endpoint.host)) {
                    roster.forget(watch.number);
                }
                continue;
            }
            let (number, name) = (watch.number, Arc::clone(&watch.name));
            let edited = roster.watch(Arc::new(watch), memory.as_ref(), now);
            if edited == crate::roster::Edited::Full {
                tracing::error!(
                    number = number.0,
                    name = &*name,
                    "there is no room for another service"
                );
            }
        }
        // Who waits for a poll that an edit has ended is told at once.
        self.state().waiting.retain(|attempt, _| roster.is_under_way(*attempt));
        let next = roster.next_beat(now);
        drop(roster);
        self.wake_for(next);
    }
}

impl Changes {
    fn is_empty(&self) -> bool {
        self.watched.is_empty() && self.gone.is_empty()
    }
}
