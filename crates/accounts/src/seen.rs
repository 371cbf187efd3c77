//! Writes down, at most once a minute each, when sessions and tokens were last used: later and
//! together, so that no request waits for it.

use std::collections::HashMap;

use mainstay_base::{Id, Timestamp};
use mainstay_store::{Db, StoreError};
use tokio::sync::mpsc;

use crate::record::{sessions, tokens};

/// Uses that wait to be written; more are dropped, and written with the next use.
const QUEUE: usize = 1024;
/// Uses that one transaction writes.
const TOGETHER: usize = 256;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Used {
    Session(Id),
    Token(Id),
}

/// Where requests tell of uses.
#[derive(Debug)]
pub(crate) struct Seen(mpsc::Sender<(Used, Timestamp)>);

/// Where the engine takes them from.
#[derive(Debug)]
pub struct SeenQueue(mpsc::Receiver<(Used, Timestamp)>);

impl Seen {
    pub(crate) fn new() -> (Self, SeenQueue) {
        let (sender, receiver) = mpsc::channel(QUEUE);
        (Self(sender), SeenQueue(receiver))
    }

    /// Never waits. What does not fit is told again by the next request.
    pub(crate) fn tell(&self, used: Used, now: Timestamp) {
        let _ = self.0.try_send((used, now));
    }
}

impl SeenQueue {
    /// The uses that wait, once each, at least one. `None` when nobody can tell of any more.
    pub(crate) async fn take(&mut self) -> Option<HashMap<Used, Timestamp>> {
        let mut taken = Vec::with_capacity(TOGETHER);
        let count = self.0.recv_many(&mut taken, TOGETHER).await;
        (count > 0).then(|| taken.into_iter().collect())
    }
}

/// Writes a batch.
pub(crate) async fn write(db: &Db, batch: HashMap<Used, Timestamp>) -> Result<(), StoreError> {
    // In one order, so that two instances that write the same rows do not lock each other out.
    let mut batch: Vec<_> = batch.into_iter().collect();
    batch.sort_unstable_by_key(|(used, _)| match used {
        Used::Session(id) => (0, *id),
        Used::Token(id) => (1, *id),
    });
    db.write(async |tx| {
        for (used, at) in batch {
            match used {
                Used::Session(id) => sessions::seen(tx, id, at).await?,
                Used::Token(id) => tokens::used(tx, id, at).await?,
            }
        }
        Ok(())
    })
    .await
}
