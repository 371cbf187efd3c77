//! A day of the story, recorded as if it had been polled.
//!
//! The same answers, read by the same formats, go through the same recorder: only the clock of the
//! database is another one. It is moved from look to look, and all of it is over before Mainstay opens
//! the database with the real clock.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use mainstay_base::{Clock, IdSource, Moment, SystemRng, Timestamp};
use mainstay_breaker::{Saved, State};
use mainstay_events::{Events, EventsOptions};
use mainstay_monitor::aliases::Aliases;
use mainstay_monitor::desired::{Desired, DesiredError, Document, Wanted};
use mainstay_monitor::latency::Upkeep;
use mainstay_monitor::roster::Settlement;
use mainstay_monitor::{
    FailureKind, PollFailure, PollResult, Recorded, Recorder, Report, Services, Sink as _, Watch,
};
use mainstay_standins::story::PAST_MS;
use mainstay_standins::{Answer, Company, Service, Story, World, answer};
use mainstay_store::migrate;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::watched::{self, TIMEOUT_MS};
use crate::config::Config;
use crate::{data, monitor, pepper};

/// After the last look, the first real poll follows so soon.
const UNTIL_FIRST_POLL: Duration = Duration::from_secs(1);
/// Runs of the upkeep at most: each rolls up a bounded part.
const MOST_UPKEEP: usize = 50;

/// Applies what is watched and records the past of it, until now. `None` when it was stopped before its
/// end; however it ends, nothing of it goes on.
pub(super) async fn record(
    config: &Config,
    company: &Company,
    story: Story,
    clock: Arc<dyn Clock>,
    stop: &CancellationToken,
) -> anyhow::Result<Option<()>> {
    data::prepare_folder(config)?;
    let now = clock.now();
    let wall = Arc::new(PastClock::new(Arc::clone(&clock), back(now, -PAST_MS)));
    let db = data::open(config, Arc::clone(&wall) as _).await?;
    migrate::up(&db).await?;
    let told = CancellationToken::new();
    // However this ends, its tasks end too.
    let ending = told.clone().drop_guard();
    let starting = Events::start(
        db.clone(),
        EventsOptions::default(),
        Arc::clone(&wall) as _,
        Arc::new(SystemRng),
        told.clone(),
    );
    let (events, tasks) = starting.await?;
    let recording = TaskTracker::new();
    let telling = Telling { config, company, story, clock, now, wall, events };
    let recorded = stop.run_until_cancelled(telling.tell(&recording, &told)).await.transpose();
    drop(ending);
    recording.close();
    recording.wait().await;
    tasks.finished().await;
    db.close().await;
    recorded
}

/// What the past is told with.
struct Telling<'a> {
    config: &'a Config,
    company: &'a Company,
    story: Story,
    clock: Arc<dyn Clock>,
    now: Timestamp,
    wall: Arc<PastClock>,
    events: Events,
}

impl Telling<'_> {
    async fn tell(self, recording: &TaskTracker, told: &CancellationToken) -> anyhow::Result<()> {
        let Self { config, company, story, clock, now, wall, events } = self;
        let ids = IdSource::new(Arc::clone(&wall) as _, Arc::new(SystemRng));
        let recorder = Recorder::start(
            events.clone(),
            Arc::clone(&wall) as _,
            ids.clone(),
            recording,
            told.clone(),
        );
        let seal = monitor::seal(pepper::find_or_make(config, &SystemRng)?);
        let services = Services::new(events.clone(), ids.clone(), seal, Arc::new(|| ()));
        let desired = Desired::new(services.clone(), Aliases::new(events.clone(), ids));
        apply(&events, &desired, watched::services(company)).await?;
        let mut looks = Looks::new(&services, company, recorder, Arc::clone(&wall)).await?;
        let moments = story.past();
        for (index, &moment) in moments.iter().enumerate() {
            let next = moments.get(index.saturating_add(1)).copied().unwrap_or(0);
            wall.set(back(now, moment));
            looks.look(&World::at(story, moment), millis(next.saturating_sub(moment))).await?;
        }
        // Recording took its time: from here on nothing is missed.
        wall.set(clock.now());
        looks.look(&World::at(story, 0), UNTIL_FIRST_POLL).await?;
        roll_up(config, events.db(), told).await
    }
}

/// Every service, and how often it was looked at.
struct Looks {
    watched: Vec<(Arc<Watch>, &'static Service)>,
    recorder: Recorder,
    wall: Arc<PastClock>,
    count: i64,
}

impl Looks {
    async fn new(
        services: &Services,
        company: &Company,
        recorder: Recorder,
        wall: Arc<PastClock>,
    ) -> anyhow::Result<Self> {
        let by_address: HashMap<String, &'static Service> =
            company.endpoints().map(|endpoint| (endpoint.url(), endpoint.service)).collect();
        let watches = services.watches(0).await?;
        let watched = watches.watched.into_iter().filter_map(|(watch, _)| {
            let service = by_address.get(&watch.endpoint.url).copied()?;
            Some((Arc::new(watch), service))
        });
        Ok(Self { watched: watched.collect(), recorder, wall, count: 0 })
    }

    /// Records how everything is in this world. The next look comes after `until_next`.
    async fn look(&mut self, world: &World, until_next: Duration) -> anyhow::Result<()> {
        self.count = self.count.saturating_add(1);
        let (sender, recorded) = oneshot::channel();
        let mut sender = Some(sender);
        for (index, (watch, service)) in self.watched.iter().enumerate() {
            let is_last = index.saturating_add(1) == self.watched.len();
            let (latency, outcome) = self.ask(watch, service, world);
            self.recorder.take(PollResult {
                watch: Arc::clone(watch),
                at: self.wall.now(),
                latency,
                outcome,
                settlement: settlement(self.count, until_next),
                // The last one in hurries the whole batch.
                recorded: sender.take_if(|_| is_last),
            });
        }
        match recorded.await {
            Ok(Recorded::Written(_)) => Ok(()),
            other => anyhow::bail!("the past of the demo could not be recorded: {other:?}"),
        }
    }

    fn ask(
        &self,
        watch: &Watch,
        service: &Service,
        world: &World,
    ) -> (Duration, Result<Report, PollFailure>) {
        match answer(service, world) {
            Answer::Given { code: 200, body, after } => {
                let report = watch.format.read(body.as_bytes(), self.wall.now());
                let bad =
                    |bad: mainstay_monitor::BadBody| failure(FailureKind::BadBody, bad.to_string());
                (after, report.map_err(bad))
            }
            Answer::Given { code, after, .. } => (after, Err(PollFailure::of_status(code))),
            Answer::Never => {
                let limit = millis(TIMEOUT_MS);
                let said = format!(
                    "no complete answer came within {limit:?}; the endpoint is too slow, or needs a \
                     longer timeout"
                );
                (limit, Err(failure(FailureKind::Timeout, said)))
            }
        }
    }
}

/// The guards of the past are at rest: nobody waits for them.
fn settlement(poll_seq: i64, due_in: Duration) -> Settlement {
    let breaker = Saved {
        state: State::Closed,
        forced: false,
        failures: 0,
        open_remaining: Duration::ZERO,
        generation: 0,
    };
    Settlement { poll_seq, breaker, backoff: 0, due_in, circuit: None, manual: false }
}

fn failure(kind: FailureKind, message: String) -> PollFailure {
    PollFailure { kind, message }
}

/// Applies a document as the route does; the addresses are the demo's own.
async fn apply(events: &Events, desired: &Desired, document: Document) -> anyhow::Result<()> {
    let own = document.services.iter().map(|one| one.health_endpoint.clone()).collect();
    let wanted = Wanted::check(document)?;
    let applied =
        events.write(async |tx, out| desired.apply(tx, out, &wanted, false, &own).await.map(drop));
    let applied: Result<(), DesiredError> = applied.await;
    applied.context("what the demo watches can't be applied")
}

/// So that charts and strips have their past at once, not a minute later.
async fn roll_up(
    config: &Config,
    db: &mainstay_store::Db,
    stop: &CancellationToken,
) -> anyhow::Result<()> {
    let upkeep = Upkeep::new(db.clone(), config.history)?;
    for _ in 0..MOST_UPKEEP {
        let done = upkeep.run_once(stop).await?;
        if done.five_minutes == 0 && done.hours == 0 {
            break;
        }
    }
    Ok(())
}

/// A wall clock that is moved by hand, beside the real steady one.
struct PastClock {
    steady: Arc<dyn Clock>,
    wall: AtomicI64,
}

impl PastClock {
    fn new(steady: Arc<dyn Clock>, wall: Timestamp) -> Self {
        Self { steady, wall: AtomicI64::new(wall.as_millis()) }
    }

    fn set(&self, wall: Timestamp) {
        self.wall.store(wall.as_millis(), Ordering::SeqCst);
    }
}

impl Clock for PastClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.wall.load(Ordering::SeqCst))
    }

    fn moment(&self) -> Moment {
        self.steady.moment()
    }
}

/// The moment of the story as a time, when its zero is `now`.
fn back(now: Timestamp, story_ms: i64) -> Timestamp {
    Timestamp::from_millis(now.as_millis().saturating_add(story_ms))
}

fn millis(count: i64) -> Duration {
    Duration::from_millis(u64::try_from(count).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::testing::input;
    use crate::config::{data, load};
    use mainstay_base::SystemClock;

    #[tokio::test]
    async fn interrupted_it_leaves_nothing_running() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_str().unwrap().to_owned();
        let flags = vec![(&data::DATA_DIR, path)];
        let config = load(input(flags, &[], "")).map_err(|error| error.to_string()).unwrap().config;
        let company = Company::bind().await.unwrap();
        let stop = CancellationToken::new();
        let clock = Arc::new(SystemClock::new());
        let recording = record(&config, &company, Story { seed: 7 }, clock, &stop);
        let interrupting = async {
            // When it is known who is watched, the past is being told.
            let database = config.data_dir.join("mainstay.db");
            while !database.exists() {
                tokio::task::yield_now().await;
            }
            stop.cancel();
        };
        let (recorded, ()) = tokio::join!(recording, interrupting);
        assert!(recorded.unwrap().is_none(), "it was interrupted");
        assert_eq!(mainstay_testkit::tasks_left().await, 0);
    }
}
