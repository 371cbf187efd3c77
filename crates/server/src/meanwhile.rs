//! In place of the job queue: letters wait in the memory of this process and are tried once, and a
//! timer removes what is over.

use std::sync::Arc;
use std::time::Duration;

use mainstay_accounts::{Accounts, Pepper, Posted};
use mainstay_base::{Clock, IdSource};
use mainstay_outbound::Mailer;
use mainstay_store::Tx;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::post::{Letterbox, SealedLetter, Undelivered, deliver};

/// Letters that wait.
const MAX_WAITING: usize = 256;
/// How often accounts are cleaned up.
const CLEAN_EVERY: Duration = Duration::from_mins(10);

/// Delivers as soon as what put the letter in is committed.
pub(crate) struct Memory {
    pub(crate) mailer: Mailer,
    pub(crate) pepper: Pepper,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: IdSource,
    pub(crate) places: Arc<Semaphore>,
}

impl Memory {
    pub(crate) fn places() -> Arc<Semaphore> {
        Arc::new(Semaphore::new(MAX_WAITING))
    }
}

impl Letterbox for Memory {
    fn put<'a>(&'a self, tx: &'a mut Tx, letter: SealedLetter) -> Posted<'a> {
        let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else {
            return Box::pin(async { Ok(false) });
        };
        let (mailer, pepper) = (self.mailer.clone(), self.pepper.clone());
        let (id, written_at) = (self.ids.next(), self.clock.now());
        tx.after_commit(move || {
            tokio::spawn(async move {
                let delivered = deliver(&mailer, &pepper, &letter, id, written_at).await;
                // The mailer has told of what it tried.
                if let Err(error @ Undelivered::Unreadable) = delivered {
                    tracing::warn!(reason = error.reason(), %error, "mail not sent");
                }
                drop(place);
            });
        });
        Box::pin(async { Ok(true) })
    }
}

/// Cleans up accounts until `stop`.
pub(crate) async fn clean_up(accounts: Accounts, audit_kept: Duration, stop: CancellationToken) {
    let mut ticks = tokio::time::interval(CLEAN_EVERY);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    while stop.run_until_cancelled(ticks.tick()).await.is_some() {
        stop.run_until_cancelled(accounts.clean_up(audit_kept)).await;
    }
}
