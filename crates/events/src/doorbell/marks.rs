//! Marks: bells that an instance rings for itself. A connection can be deaf with its questions
//! answered; a mark that was rung and does not come back shows it, also where nobody follows a stream.

use std::time::Duration;

use mainstay_base::Id;
use mainstay_store::{Db, StoreError, listen};
use tokio::sync::watch;

use super::Topic;
use crate::record::bells;
use crate::tools::{Tools, within_limit};
use crate::trouble::Trouble;

/// How often one is rung.
const RING_EVERY: Duration = Duration::from_secs(5);

/// How long one may take to come back.
const BACK_WITHIN: Duration = listen::ANSWER_LIMIT;

/// No key looks like this.
const MARK: &str = "mark:";

/// The marks of one listening connection.
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// The number of the last that was heard.
    heard: watch::Sender<u64>,
}

impl Marks {
    /// This one came back.
    pub(super) fn heard(&self, number: u64) {
        // One that was given up may come back after the one that followed it.
        self.heard.send_modify(|heard| *heard = number.max(*heard));
    }

    /// Rings one after the other; resolves when one did not come back. One that can't be rung tells
    /// nothing of the listener.
    pub(super) async fn lost(&self, tools: &Tools) {
        let trouble = Trouble::new("ringing the bell by which a deaf listener is noticed");
        let mut heard = self.heard.subscribe();
        let mut ticks = tokio::time::interval(RING_EVERY);
        ticks.reset();
        let mut number = 0_u64;
        loop {
            ticks.tick().await;
            number = number.saturating_add(1);
            let rung = within_limit(ring(&tools.db, tools.instance, number)).await;
            trouble.ended(&rung);
            if rung.is_err() {
                continue;
            }
            let back = heard.wait_for(|heard| *heard >= number);
            if tokio::time::timeout(BACK_WITHIN, back).await.is_err() {
                return;
            }
        }
    }
}

/// Which mark a bell is, if it is one.
pub(super) fn number(said: &str) -> Option<u64> {
    said.strip_prefix(MARK)?.parse().ok()
}

async fn ring(db: &Db, by: Id, number: u64) -> Result<(), StoreError> {
    bells::ring(db, Topic::Jobs.name(), &format!("{by} {MARK}{number}")).await
}
