//! Rings PostgreSQL's bells for other instances, from a connection of its own: at once, then at most
//! every ten milliseconds. A bell that can't be rung costs delay, nothing else.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::Id;
use mainstay_store::{Notifier, StoreError};

use super::Doorbell;
use super::pending::Pending;
use crate::backoff::Backoff;
use crate::measure;
use crate::tools::Tools;
use crate::trouble::Trouble;

/// The shortest time between two rounds of bells.
const PAUSE: Duration = Duration::from_millis(10);

/// How long the last bells may take when the instance stops.
const LAST_BELLS: Duration = Duration::from_millis(500);

/// Runs until the stop.
pub(crate) async fn run(doorbell: Doorbell, tools: Tools) {
    let mut sender = Sender {
        backoff: Backoff::new(Arc::clone(&tools.rng)),
        trouble: Trouble::new("ringing for other instances"),
        notifier: None,
    };
    let ringing = async {
        loop {
            sender.ring(&doorbell, &tools).await;
        }
    };
    tools.stop.run_until_cancelled(ringing).await;
    if let Some(notifier) = sender.notifier {
        let last = ring_rest(&doorbell, notifier, tools.instance);
        // Whoever does not hear them looks by itself.
        let _ = tokio::time::timeout(LAST_BELLS, last).await;
    }
}

struct Sender {
    backoff: Backoff,
    trouble: Trouble,
    notifier: Option<Notifier>,
}

impl Sender {
    /// One round: waits for something to tell, tells it, pauses.
    async fn ring(&mut self, doorbell: &Doorbell, tools: &Tools) {
        let notifier = match &mut self.notifier {
            Some(notifier) => notifier,
            none => match connect(tools, &self.trouble).await {
                Some(notifier) => none.insert(notifier),
                None => return self.backoff.wait().await,
            },
        };
        let pending = doorbell.pending().await;
        match ring(notifier, pending, tools.instance).await {
            Ok(()) => {
                self.backoff.reset();
                self.trouble.went_well();
                tokio::time::sleep(PAUSE).await;
            }
            Err(error) => {
                self.trouble.failed(&error);
                measure::ring_failed();
                self.notifier = None;
                doorbell.tell_outside(Pending::add_anything);
                self.backoff.wait().await;
            }
        }
    }
}

async fn connect(tools: &Tools, trouble: &Trouble) -> Option<Notifier> {
    match Notifier::connect(&tools.db).await {
        Ok(notifier) => notifier,
        Err(error) => {
            trouble.failed(&error);
            measure::ring_failed();
            None
        }
    }
}

async fn ring(notifier: &mut Notifier, pending: Pending, by: Id) -> Result<(), StoreError> {
    let bells = pending.into_bells(by);
    // Texts always have a JSON form.
    notifier.ring(&serde_json::to_string(&bells).unwrap_or_default()).await?;
    for (channel, _) in bells {
        measure::rung(channel);
    }
    Ok(())
}

async fn ring_rest(doorbell: &Doorbell, mut notifier: Notifier, by: Id) {
    if let Some(pending) = doorbell.take_pending()
        && ring(&mut notifier, pending, by).await.is_err()
    {
        return;
    }
    notifier.close().await;
}
