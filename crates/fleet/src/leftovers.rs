//! Looks for machines of orders whose end nobody knows, and ends those that came.

use std::collections::BTreeSet;
use std::time::Duration;

use mainstay_base::Id;

use crate::decide::orders::{Fate, OpenOrder, after_list};
use crate::error::FleetError;
use crate::fleet::Fleet;
use crate::providers::{
    Departure, MachineName, MachineState, Provider, ProviderError, ProviderKind, Sighting,
};
use crate::record::orders;

/// Orders that one sweep looks for; the rest waits for the next.
const MAX_LOOKED_FOR: i64 = 200;

/// How long ending them may take of one sweep, for each provider.
const LIMIT: Duration = Duration::from_secs(10);
/// The most workers whose machines are listed one by one.
const MAX_BY_THEMSELVES: usize = 3;
/// However short a sweep is, a provider is not asked all the time.
const SECOND: Duration = Duration::from_secs(1);

impl Fleet {
    /// Ends machines that came after nobody waited for them any more; tells how many.
    pub(crate) async fn end_leftovers(&self) -> Result<usize, FleetError> {
        // Another instance looks for them only if we die.
        let again_in = (self.shared.pace.sweep.saturating_mul(3) / 4).max(SECOND);
        let claiming =
            self.db().write(async |tx| orders::claim(tx, again_in, MAX_LOOKED_FOR).await);
        let open = claiming.await?;
        if open.is_empty() {
            return Ok(0);
        }
        let mut ended = 0_usize;
        for kind in ProviderKind::ALL {
            let of_kind: Vec<&OpenOrder> = open.iter().filter(|one| one.provider == kind).collect();
            let Some(provider) = self.shared.providers.of(kind) else { continue };
            if of_kind.is_empty() {
                continue;
            }
            let ending = self.end_leftovers_of(&**provider, &of_kind);
            // What is not ended in time is ended by a later sweep.
            ended =
                ended.saturating_add(tokio::time::timeout(LIMIT, ending).await.unwrap_or(Ok(0))?);
        }
        Ok(ended)
    }

    async fn end_leftovers_of(
        &self,
        provider: &dyn Provider,
        open: &[&OpenOrder],
    ) -> Result<usize, FleetError> {
        let Ok(listed) = list(provider, open).await else { return Ok(0) };
        let now = self.db().now().await?;
        let mut ended = 0_usize;
        let (mut settled, mut missed) = (Vec::new(), Vec::new());
        for order in open {
            let found: Vec<&Sighting> =
                listed.iter().filter(|seen| seen.machine.name == order.name).collect();
            match after_list(order, !found.is_empty(), now) {
                Fate::Keep => missed.push(order.name.clone()),
                Fate::Forget => settled.push(order.name.clone()),
                Fate::End => {
                    if end_all(provider, &found).await {
                        ended = ended.saturating_add(1);
                        self.settle(std::slice::from_ref(&order.name), &[]).await?;
                    }
                }
            }
        }
        self.settle(&settled, &missed).await?;
        Ok(ended)
    }

    async fn settle(
        &self,
        settled: &[MachineName],
        missed: &[MachineName],
    ) -> Result<(), FleetError> {
        let writing = self.db().write(async |tx| {
            orders::settle(tx, settled).await?;
            orders::missed(tx, missed).await
        });
        writing.await
    }
}

/// What is listed of the workers of these orders: of a few each by itself, since all machines may be many.
async fn list(
    provider: &dyn Provider,
    open: &[&OpenOrder],
) -> Result<Vec<Sighting>, ProviderError> {
    let workers = open.iter().map(|order| order.name.order().map(|(worker, _)| worker));
    let workers: Option<BTreeSet<Id>> = workers.collect();
    let few = workers.filter(|workers| workers.len() <= MAX_BY_THEMSELVES);
    let Some(workers) = few else { return provider.list().await };
    let mut listed = Vec::new();
    for worker in workers {
        listed.extend(provider.list_of(worker).await?);
    }
    Ok(listed)
}

/// Ends the machines of one order; tells whether all of them are gone.
async fn end_all(provider: &dyn Provider, found: &[&Sighting]) -> bool {
    let mut are_ended = true;
    // What its provider is ending already it is not told again.
    for seen in found {
        let is_leaving = seen.state == MachineState::Leaving;
        are_ended &= !is_leaving && end(provider, seen).await;
    }
    are_ended
}

async fn end(provider: &dyn Provider, seen: &Sighting) -> bool {
    let (name, provider_name) = (seen.machine.name.as_str(), provider.kind().name());
    match provider.destroy(&seen.machine).await {
        Ok(departure) => {
            let is_gone = departure == Departure::Gone;
            tracing::info!(
                event = "machine_of_nobody_ended",
                machine = name,
                provider = provider_name,
                is_gone,
                "a machine came after nobody waited for it any more, and was ended"
            );
            is_gone
        }
        Err(error) => {
            tracing::warn!(machine = name, provider = provider_name, %error,
                "a machine that nobody has could not be ended; the next sweep tries again");
            false
        }
    }
}
