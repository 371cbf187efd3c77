//! The health loop: every so often it looks at all ready workers, and ends what nobody else ends.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use mainstay_base::{Id, Timestamp};
use mainstay_jobs::JobsError;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::announce;
use crate::decide::look::{Asker, look};
use crate::decide::{Brake, Look};
use crate::error::FleetError;
use crate::fleet::Fleet;
use crate::measure;
use crate::model::Crew;
use crate::providers::ProviderKind;
use crate::record::sweep::Overdue;
use crate::record::{crew, sweep, workers};

/// Workers that are asked at the same time.
pub const MAX_IN_FLIGHT: usize = 20;
/// Workers of one sweep; the rest waits for the next.
pub const MAX_SWEPT: i64 = 5_000;
/// Workers that are read or noted in one statement.
const TOGETHER: usize = 500;
/// Operations that one sweep ends.
const MAX_OVERDUE: i64 = 200;

/// Turns the health loop.
#[derive(Debug)]
pub struct Engine {
    fleet: Fleet,
    slots: Arc<Semaphore>,
    brake: Brake,
}

/// The running health loop.
#[derive(Debug)]
pub struct EngineTask(JoinHandle<()>);

/// What one sweep has done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// Workers that were looked at.
    pub looked: usize,
    /// Workers that answered or did not.
    pub asked: usize,
    /// Workers that did not, twice.
    pub failed: usize,
    /// Whether the brake is pulled.
    pub is_braked: bool,
    /// Operations whose time was up.
    pub overdue: usize,
}

impl Engine {
    /// The health loop of `fleet`.
    #[must_use]
    pub fn new(fleet: Fleet) -> Self {
        Self { fleet, slots: Arc::new(Semaphore::new(MAX_IN_FLIGHT)), brake: Brake::default() }
    }

    /// Turns until `stop`.
    #[must_use]
    pub fn start(self, stop: CancellationToken) -> EngineTask {
        EngineTask(tokio::spawn(self.run(stop)))
    }

    /// Looks once at every ready worker that is due and nobody else looks at.
    ///
    /// # Errors
    /// When the database fails; what was written until then stays.
    pub async fn sweep(&mut self) -> Result<Swept, FleetError> {
        let overdue = self.end_overdue().await?;
        let looks = self.look_at_all().await?;
        let asked = looks.iter().filter(|(_, found)| is_answer(found)).count();
        let failed: BTreeSet<Id> = looks
            .iter()
            .filter(|(_, found)| matches!(found, Look::Lost(_)))
            .map(|(crew, _)| crew.worker.id)
            .collect();
        let mut swept =
            Swept { looked: looks.len(), asked, failed: failed.len(), is_braked: false, overdue };
        let is_connected = Brake::is_mass(asked, failed.len()) && self.is_connected().await;
        let verdict = self.brake.judge(asked, failed, is_connected);
        swept.is_braked = self.brake.is_pulled();
        measure::brake(swept.is_braked);
        if verdict.alerts {
            self.alert(&swept).await?;
        }
        let believed = |(crew, found): &(Crew, Look)| {
            !matches!(found, Look::Lost(_)) || verdict.lost.contains(&crew.worker.id)
        };
        self.record(looks.into_iter().filter(believed).collect()).await?;
        Ok(swept)
    }

    async fn run(mut self, stop: CancellationToken) {
        let clock = Arc::clone(&self.fleet.shared.clock);
        while !stop.is_cancelled() {
            let begun = clock.moment();
            match stop.run_until_cancelled(self.sweep()).await {
                None => return,
                Some(Ok(_)) => {}
                Some(Err(error)) => {
                    tracing::warn!(%error, "a sweep of the fleet ended early; the next one goes on");
                }
            }
            let took = clock.moment().since(begun);
            measure::swept(took);
            let rest = self.fleet.shared.pace.sweep.saturating_sub(took);
            // Also when a sweep takes longer than there is from one to the next.
            let rest = rest.max(Duration::from_millis(100));
            if stop.run_until_cancelled(tokio::time::sleep(rest)).await.is_none() {
                return;
            }
        }
    }

    async fn look_at_all(&self) -> Result<Vec<(Crew, Look)>, FleetError> {
        let fleet = &self.fleet;
        let pace = fleet.shared.pace;
        // Another instance, whose turn is a little later than ours, finds them due again only if we die.
        let again_in = pace.sweep.saturating_mul(3) / 4;
        let claiming = fleet.db().write(async |tx| sweep::claim(tx, again_in, MAX_SWEPT).await);
        let claimed = claiming.await?;
        let mut crews = Vec::with_capacity(claimed.len());
        for ids in claimed.chunks(TOGETHER) {
            crews.extend(workers::some(fleet.db(), ids).await?);
        }
        let looking: FuturesUnordered<_> = crews
            .into_iter()
            .map(|crew| async {
                tokio::time::sleep(pace.offset(turn(crew.worker.id))).await;
                let found = fleet.look(&crew, Some(&self.slots)).await;
                measure::looked(word(&found));
                (crew, found)
            })
            .collect();
        Ok(looking.collect().await)
    }

    async fn record(&self, looks: Vec<(Crew, Look)>) -> Result<(), FleetError> {
        let now = self.fleet.db().now().await?;
        let (same, other): (Vec<_>, Vec<_>) =
            looks.into_iter().partition(|(crew, found)| changes_nothing(crew, found, now));
        let well: Vec<Id> = same
            .iter()
            .filter(|(_, found)| matches!(found, Look::Well(_)))
            .map(|(crew, _)| crew.worker.id)
            .collect();
        for ids in well.chunks(TOGETHER) {
            let noting = self.fleet.db().write(async |tx| workers::seen(tx, ids, now).await);
            noting.await?;
        }
        for (crew, found) in other {
            if let Err(error) = self.fleet.apply(&crew, &found).await {
                tracing::warn!(worker_id = %crew.worker.id, %error,
                    "what was found of a worker could not be written; the next sweep looks again");
            }
        }
        Ok(())
    }

    /// Whether something else than a worker can be reached: a provider that is elsewhere.
    async fn is_connected(&self) -> bool {
        let shared = &self.fleet.shared;
        for kind in [ProviderKind::Fly, ProviderKind::Sprite] {
            if let Some(provider) = shared.providers.of(kind)
                && let Ok(Ok(_)) = tokio::time::timeout(shared.pace.probe, provider.list()).await
            {
                return true;
            }
        }
        false
    }

    async fn alert(&self, swept: &Swept) -> Result<(), FleetError> {
        let (asked, failed) = (swept.asked, swept.failed);
        tracing::warn!(
            event = "fleet_mass_failure",
            asked,
            failed,
            "most workers fail at once: Mainstay may be cut off, so nothing changes until the next sweep"
        );
        let telling = self.fleet.shared.events.write(async |_, out| {
            announce::mass_failure(out, asked, failed)?;
            Ok::<_, FleetError>(())
        });
        telling.await
    }

    async fn end_overdue(&self) -> Result<usize, FleetError> {
        let fleet = &self.fleet;
        let grace = i64::try_from(fleet.shared.pace.grace.as_millis()).unwrap_or(i64::MAX);
        let now = fleet.db().now().await?.as_millis();
        let before = Timestamp::from_millis(now.saturating_sub(grace));
        let found = sweep::overdue(fleet.db(), before, MAX_OVERDUE).await?;
        for Overdue { worker, operation } in &found {
            fleet.give_up(*worker, *operation).await?;
        }
        Ok(found.len())
    }
}

impl Fleet {
    /// Writes down what was found of a worker, if it is still as it was then.
    pub(crate) async fn apply(&self, then: &Crew, found: &Look) -> Result<(), FleetError> {
        let written = self.shared.events.write(async |tx, out| {
            let Some(before) = crew::lock(tx, then.worker.id).await? else { return Ok(None) };
            let now = tx.now().await?;
            let Some(next) = look(then, &before, found, Asker::Loop, now) else { return Ok(None) };
            crew::save(tx, out, &before, next.crew).await?;
            // What was being done to its nets may have ended with the worker.
            self.tell_end(tx);
            Ok::<_, FleetError>(Some(next.strays))
        });
        match written.await? {
            Some(strays) => self.drop_strays(then, &strays).await,
            None => measure::stale(),
        }
        Ok(())
    }

    /// Ends an operation whose time is up, by way of its job: whoever still carries it out can't write
    /// any more.
    async fn give_up(&self, worker: Id, operation: Id) -> Result<(), FleetError> {
        let shared = &self.shared;
        let written = shared.events.write(async |tx, out| {
            match shared.jobs.cancel(tx, out, operation).await {
                // Its hook has ended the operation, where the hook is known.
                Ok(_) | Err(JobsError::AlreadyFinished | JobsError::NotFound) => {}
                Err(error) => return Err(error.into()),
            }
            self.end_overdue(tx, out, worker, operation).await
        });
        written.await
    }
}

impl EngineTask {
    /// Waits until the loop has ended. Cancel the token first.
    pub async fn finished(self) {
        if let Err(error) = self.0.await {
            tracing::error!(%error, "the health loop of the fleet panicked");
        }
    }
}

/// Whether a look says nothing new but that the worker was seen.
fn changes_nothing(then: &Crew, found: &Look, now: Timestamp) -> bool {
    look(then, then, found, Asker::Loop, now).is_some_and(|next| {
        let mut same = then.clone();
        same.worker.last_seen_at = next.crew.worker.last_seen_at;
        next.strays.is_empty() && next.crew == same
    })
}

const fn is_answer(found: &Look) -> bool {
    matches!(found, Look::Well(_) | Look::Lost(_))
}

const fn word(found: &Look) -> &'static str {
    match found {
        Look::Well(_) => "well",
        Look::Lost(_) => "lost",
        Look::Gone(_) => "gone",
        Look::Asleep { .. } => "asleep",
        Look::Cold { .. } => "cold",
        Look::Unknown(_) => "unknown",
    }
}

/// The same number for the same worker, so that from one look at it to the next it is always as long.
fn turn(worker: Id) -> u64 {
    let add = |sum: u64, byte: u8| sum.wrapping_mul(31).wrapping_add(u64::from(byte));
    worker.to_string().bytes().fold(0, add)
}
