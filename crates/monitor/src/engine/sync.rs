//! Learns of edits: at once when one was made here, with the next tick when elsewhere.

use std::sync::Arc;

use mainstay_store::StoreError;

use super::Shared;
use crate::source::Changes;

pub(super) async fn run(shared: Arc<Shared>) {
    let mut latest = 0;
    let mut in_trouble = false;
    while !shared.stop.is_cancelled() {
        let asked = tokio::select! {
            () = shared.stop.cancelled() => break,
            asked = shared.catch_up(&mut latest) => asked,
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
            () = tokio::time::sleep(shared.parts.policy.cycle()) => {}
        }
    }
}

impl Shared {
    async fn catch_up(&self, latest: &mut i64) -> Result<(), StoreError> {
        loop {
            let changes = self.parts.source.changes(*latest).await?;
            let is_last = changes.latest <= *latest || changes.is_empty();
            *latest = changes.latest.max(*latest);
            self.apply(changes);
            if is_last {
                break;
            }
        }
        self.state().synced_at = Some(self.moment());
        Ok(())
    }

    fn apply(&self, changes: Changes) {
        let now = self.moment();
        let mut roster = self.roster();
        for number in changes.gone {
            roster.forget(number);
        }
        for (watch, memory) in changes.watched {
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
