//! The health loop: every so often it looks at all ready workers, and ends what nobody else ends.

use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use mainstay_base::{Id, Timestamp};
use mainstay_jobs::JobsError;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::agents::LoadedNet;
use crate::decide::look::{Asker, look};
use crate::decide::{Brake, Look};
use crate::error::FleetError;
use crate::fleet::Fleet;
use crate::hearsay::Ear;
use crate::mass::Round;
use crate::measure;
use crate::model::Crew;
use crate::providers::ProviderKind;
use crate::record::sweep::{Overdue, Turn};
use crate::record::{crew, sweep, workers};

/// Workers that are asked at the same time.
pub const MAX_IN_FLIGHT: usize = 20;
/// Workers of one sweep; the rest waits for the next.
pub const MAX_SWEPT: i64 = 5_000;
/// Workers that are read or noted in one statement.
const TOGETHER: usize = 500;
/// What was found and waits to be written.
const WAITING: usize = 1_000;
/// Operations that one sweep ends.
const MAX_OVERDUE: i64 = 200;

/// Turns the health loop.
#[derive(Debug)]
pub struct Engine {
    fleet: Fleet,
    slots: Arc<Semaphore>,
    brake: Brake,
    ear: Ear,
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
    /// Workers whose findings were fetched.
    pub collected: usize,
    /// Machines that nobody has, and that were ended.
    pub leftovers: usize,
}

/// What one sweep has written down.
#[derive(Default)]
struct Recorded {
    looks: Vec<(Crew, Look)>,
    strays: Vec<Strays>,
}

/// What the agent of a crew holds and should not.
type Strays = (Crew, Vec<LoadedNet>);

/// What one sweep has found so far.
#[derive(Default)]
struct Looks {
    asked: usize,
    failed: BTreeSet<Id>,
    /// What is not passed on yet, since it may be a failure of most.
    held: Vec<(Crew, Look)>,
}

impl Engine {
    /// The health loop of `fleet`.
    #[must_use]
    pub fn new(fleet: Fleet) -> Self {
        let slots = Arc::new(Semaphore::new(MAX_IN_FLIGHT));
        Self { fleet, slots, brake: Brake::default(), ear: Ear::default() }
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
        let crews = self.claim().await?;
        let looked = crews.len();
        let (sender, found) = mpsc::channel(WAITING);
        // What is known for sure is written while others are still asked: one that hangs takes long.
        let (looks, recorded) =
            tokio::join!(self.look_at_all(crews, sender), self.record_all(found));
        let Recorded { looks: mut believed, mut strays } = recorded?;
        let Looks { asked, failed, held } = looks;
        let mut swept = Swept { looked, asked, failed: failed.len(), overdue, ..Swept::default() };
        let is_connected = Brake::is_mass(asked, failed.len()) && self.is_connected().await;
        let was_braked = self.brake.is_pulled();
        let lost = self.brake.judge(asked, failed, is_connected);
        swept.is_braked = self.brake.is_pulled();
        measure::brake(swept.is_braked);
        let round = Round { is_braked: swept.is_braked, was_braked, has_asked: asked > 0 };
        self.tell(round, &swept).await?;
        let is_believed = |(crew, found): &(Crew, Look)| {
            !matches!(found, Look::Lost(_)) || lost.contains(&crew.worker.id)
        };
        let held: Vec<(Crew, Look)> = held.into_iter().filter(is_believed).collect();
        strays.extend(self.record(&held).await?);
        believed.extend(held);
        let limit = self.fleet.shared.pace.sweep / 4;
        swept.leftovers = self.fleet.end_leftovers().await?;
        let (collected, ()) =
            tokio::join!(self.collect(&believed, limit), self.drop_strays(&strays, limit));
        swept.collected = collected;
        Ok(swept)
    }

    async fn run(mut self, stop: CancellationToken) {
        let clock = Arc::clone(&self.fleet.shared.clock);
        while !stop.is_cancelled() {
            let begun = clock.moment();
            // One that panics is told at once, and is not the last.
            let sweeping = AssertUnwindSafe(self.sweep()).catch_unwind();
            match stop.run_until_cancelled(sweeping).await {
                None => return,
                Some(Ok(Ok(_))) => {}
                Some(Ok(Err(error))) => {
                    tracing::warn!(%error, "a sweep of the fleet ended early; the next one goes on");
                }
                Some(Err(_)) => {
                    measure::panicked();
                    tracing::error!(
                        event = "fleet_sweep_panicked",
                        "a sweep of the fleet panicked; the next one goes on; report this as a bug"
                    );
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

    /// The ready workers that are due, claimed.
    async fn claim(&self) -> Result<Vec<Crew>, FleetError> {
        let fleet = &self.fleet;
        let pace = fleet.shared.pace;
        let claim = Turn {
            // Another instance, whose turn is a little later than ours, finds them due again only if we die.
            again_in: pace.sweep.saturating_mul(3) / 4,
            // All but those that somebody has asked within the last quarter.
            early: pace.sweep / 2,
            most: MAX_SWEPT,
        };
        let claiming = fleet.db().write(async |tx| sweep::claim(tx, claim).await);
        let claimed = claiming.await?;
        let mut crews = Vec::with_capacity(claimed.len());
        for ids in claimed.chunks(TOGETHER) {
            crews.extend(workers::some(fleet.db(), ids).await?);
        }
        Ok(crews)
    }

    /// Looks at all of them, and passes on what is found as soon as it can't be a failure of most.
    async fn look_at_all(&self, crews: Vec<Crew>, sender: mpsc::Sender<(Crew, Look)>) -> Looks {
        let (fleet, pace) = (&self.fleet, self.fleet.shared.pace);
        let mut left = crews.len();
        let mut looks = Looks::default();
        let hearsay = self.ear.listen(fleet);
        let mut looking: FuturesUnordered<_> = crews
            .into_iter()
            .map(|crew| async {
                tokio::time::sleep(pace.offset(turn(crew.worker.id))).await;
                let mut found = fleet.look(&crew, Some(&self.slots)).await;
                if found.health().is_some() {
                    let heard = hearsay(crew.worker.provider).await;
                    found = heard.beside(&crew.worker, found);
                }
                measure::looked(word(&found));
                (crew, found)
            })
            .collect();
        while let Some((crew, found)) = looking.next().await {
            left = left.saturating_sub(1);
            looks.add(crew, found);
            let most_failures = looks.failed.len().saturating_add(left);
            let most_asked = looks.asked.saturating_add(left);
            if !Brake::is_mass(most_asked, most_failures) {
                for look in looks.held.drain(..) {
                    // Whoever wrote down has failed, and says so.
                    let _ = sender.send(look).await;
                }
            }
        }
        looks
    }

    /// Writes down what comes, as much as there is at a time, and gives it back.
    async fn record_all(
        &self,
        mut found: mpsc::Receiver<(Crew, Look)>,
    ) -> Result<Recorded, FleetError> {
        let (mut recorded, mut looks) = (Recorded::default(), Vec::new());
        while found.recv_many(&mut looks, TOGETHER).await > 0 {
            recorded.strays.extend(self.record(&looks).await?);
            recorded.looks.append(&mut looks);
        }
        Ok(recorded)
    }

    /// Tells agents to drop what they should not hold, a few at a time, for as long as a sweep leaves time: only
    /// when all is written down, since an agent that lies about its nets may also hang. What is left out is found
    /// again by the next sweep.
    async fn drop_strays(&self, strays: &[Strays], limit: Duration) {
        let farewells = &self.fleet.shared.farewells;
        let dropping: FuturesUnordered<_> = strays
            .iter()
            .map(|(crew, strays)| async {
                let _permit = farewells.acquire().await.ok();
                self.fleet.drop_strays(crew, strays).await;
            })
            .collect();
        let _ = tokio::time::timeout(limit, dropping.collect::<()>()).await;
    }

    /// Fetches what the nets of all found well have found, for as long as a sweep leaves time: whoever is
    /// not reached comes first the next time, most likely, since the order is any.
    async fn collect(&self, looks: &[(Crew, Look)], limit: Duration) -> usize {
        let count = looks.len().max(1);
        let first = usize::try_from(self.fleet.chance()).unwrap_or_default() % count;
        let (before, after) = looks.split_at(first.min(looks.len()));
        let done = AtomicUsize::new(0);
        let collecting: FuturesUnordered<_> = after
            .iter()
            .chain(before)
            .map(|(crew, found)| async {
                let _slot = self.slots.acquire().await.ok();
                if self.fleet.collect_within(crew, found).await {
                    done.fetch_add(1, Ordering::Relaxed);
                }
            })
            .collect();
        if tokio::time::timeout(limit, collecting.collect::<()>()).await.is_err() {
            measure::collected("out_of_time");
        }
        done.into_inner()
    }

    /// Writes down what was found, and tells whose agents hold what they should not.
    async fn record(&self, looks: &[(Crew, Look)]) -> Result<Vec<Strays>, FleetError> {
        let now = self.fleet.db().now().await?;
        let (same, other): (Vec<_>, Vec<_>) =
            looks.iter().partition(|(crew, found)| changes_nothing(crew, found, now));
        let well: Vec<Id> = same
            .iter()
            .filter(|(_, found)| found.health().is_some())
            .map(|(crew, _)| crew.worker.id)
            .collect();
        for ids in well.chunks(TOGETHER) {
            let noting = self.fleet.db().write(async |tx| workers::seen(tx, ids, now).await);
            noting.await?;
        }
        let mut strays = Vec::new();
        for (crew, found) in other {
            match self.fleet.apply(crew, found).await {
                Ok(held) if held.is_empty() => {}
                Ok(held) => strays.push((crew.clone(), held)),
                Err(error) => tracing::warn!(worker_id = %crew.worker.id, %error,
                    "what was found of a worker could not be written; the next sweep looks again"),
            }
        }
        Ok(strays)
    }

    /// Whether something else than a worker can be reached: a provider that is elsewhere.
    async fn is_connected(&self) -> bool {
        let shared = &self.fleet.shared;
        for kind in [ProviderKind::Fly, ProviderKind::Sprite] {
            if let Some(provider) = shared.providers.of(kind)
                && let Ok(Ok(())) =
                    tokio::time::timeout(shared.pace.probe, provider.answers()).await
            {
                return true;
            }
        }
        false
    }

    async fn tell(&self, round: Round, swept: &Swept) -> Result<(), FleetError> {
        let (asked, failed) = (swept.asked, swept.failed);
        if round.is_first() {
            tracing::warn!(
                event = "fleet_mass_failure",
                asked,
                failed,
                "most workers fail at once: Mainstay may be cut off, so nothing changes until the next sweep"
            );
        }
        self.fleet.note_brake(round, swept).await
    }

    async fn end_overdue(&self) -> Result<usize, FleetError> {
        let fleet = &self.fleet;
        let grace = i64::try_from(fleet.shared.pace.grace.as_millis()).unwrap_or(i64::MAX);
        let now = fleet.db().now().await?.as_millis();
        let before = Timestamp::from_millis(now.saturating_sub(grace));
        let found = sweep::overdue(fleet.db(), before, MAX_OVERDUE).await?;
        let mut ended = 0_usize;
        for Overdue { worker, operation } in &found {
            match fleet.give_up(*worker, *operation).await {
                Ok(()) => ended = ended.saturating_add(1),
                // One that can't be read must not keep the others from being looked after.
                Err(error) => {
                    tracing::warn!(worker_id = %worker, operation_id = %operation, %error,
                    "an operation whose time is up could not be ended; the next sweep tries again");
                }
            }
        }
        Ok(ended)
    }
}

impl Fleet {
    /// Writes down what was found of a worker, if it is still as it was then, and tells what its agent holds and
    /// should not.
    async fn apply(&self, then: &Crew, found: &Look) -> Result<Vec<LoadedNet>, FleetError> {
        let written = self.shared.events.write(async |tx, out| {
            let Some(before) = crew::lock(tx, then.worker.id).await? else { return Ok(None) };
            let now = tx.now().await?;
            let Some(next) = look(then, &before, found, Asker::Loop, now) else { return Ok(None) };
            crew::save(tx, out, &before, next.crew).await?;
            // What was being done to its nets may have ended with the worker.
            self.tell_end(tx);
            Ok::<_, FleetError>(Some(next.strays))
        });
        let strays = written.await?;
        if strays.is_none() {
            measure::stale();
        }
        Ok(strays.unwrap_or_default())
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

impl Looks {
    fn add(&mut self, crew: Crew, found: Look) {
        self.asked = self.asked.saturating_add(usize::from(is_answer(&found)));
        if matches!(found, Look::Lost(_)) {
            self.failed.insert(crew.worker.id);
        }
        self.held.push((crew, found));
    }
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
