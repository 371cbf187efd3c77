//! Two instances whose clocks disagree by ten minutes hand a service over as if they agreed.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;
use mainstay_base::{Clock, IdSource, Moment, SystemClock, SystemRng, Timestamp};
use mainstay_events::{Events, EventsOptions};
use mainstay_monitor::observe::{Observation, Observe, Observing};
use mainstay_monitor::services::{Definition, Services, ServicesError};
use mainstay_monitor::shards::{About, DatabaseClock, Shard};
use mainstay_monitor::{
    Endpoint, Engine, EngineParts, Keeper, KeeperParts, PollPolicy, Recorder, Tenure,
};
use mainstay_store::{Db, Dialect, Sql, migrate};
use mainstay_testkit::{Stalls, TestDatabase};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::house::{Mirror, draft};

const INTERVAL: Duration = Duration::from_secs(5);
const SKEW_MS: i64 = 300_000;
/// What a busy machine may add to each time.
const DOUBT: Duration = Duration::from_secs(1);
const PATIENCE: Duration = Duration::from_secs(60);

/// The steady clock of the machine, and a wall clock that is wrong.
struct Skewed {
    inner: SystemClock,
    wrong_by_ms: i64,
}

impl Clock for Skewed {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.inner.now().as_millis() + self.wrong_by_ms)
    }

    fn moment(&self) -> Moment {
        self.inner.moment()
    }
}

/// Who asked when.
type Asked = Arc<Mutex<Vec<(&'static str, Instant)>>>;

/// Answers at once, and notes that this instance asked.
struct Endpoints {
    name: &'static str,
    asked: Asked,
}

impl Observe for Endpoints {
    fn observe<'a>(&'a self, _: &'a Arc<Endpoint>) -> Observing<'a> {
        self.asked.lock().unwrap().push((self.name, Stalls::now()));
        let answer = Ok(Bytes::from_static(b"[]"));
        Box::pin(async { Observation { latency: Duration::from_millis(1), answer } })
    }
}

struct Instance {
    db: Db,
    events: Events,
    services: Services,
    stop: CancellationToken,
}

impl Instance {
    async fn start(
        database: &TestDatabase,
        clock: &SystemClock,
        (name, wrong_by_ms): (&'static str, i64),
        asked: &Asked,
    ) -> Self {
        let skewed: Arc<dyn Clock> = Arc::new(Skewed { inner: clock.clone(), wrong_by_ms });
        let db = database.open_with(Arc::clone(&skewed), |_| {}).await;
        migrate::up(&db).await.unwrap();
        let (stop, rng, tasks) =
            (CancellationToken::new(), Arc::new(SystemRng), TaskTracker::new());
        let options = EventsOptions::default();
        let starting =
            Events::start(db.clone(), options, Arc::clone(&skewed), rng.clone(), stop.clone());
        let events = starting.await.unwrap().0;
        let ids = IdSource::new(Arc::clone(&skewed), rng.clone());
        let wall = Arc::new(DatabaseClock::new(skewed));
        let clock_of_room: Arc<dyn Clock> = Arc::clone(&wall) as _;
        let recorder = Recorder::start(
            events.clone(),
            Arc::clone(&clock_of_room),
            ids.clone(),
            &tasks,
            stop.clone(),
        );
        let seal = Arc::new(Mirror::default());
        let services = Services::new(events.clone(), ids.clone(), seal, Arc::new(|| {}));
        let tenure = Tenure::shared();
        let observe = Endpoints { name, asked: Arc::clone(asked) };
        let parts = EngineParts {
            policy: PollPolicy::new(Duration::from_secs(1), 5, 256).unwrap(),
            source: Arc::new(services.clone()),
            observe: Arc::new(observe),
            sink: Arc::new(recorder.clone()),
            tenure: tenure.clone(),
            clock: clock_of_room,
            rng,
        };
        let _engine = Engine::start(parts, &tasks, stop.clone());
        let about = About { name: name.to_owned(), version: "1.0.0" };
        let (events_of_keeper, recorded) = (events.clone(), recorder.ended());
        let keeper = KeeperParts { events: events_of_keeper, wall, ids, tenure, about, recorded };
        Keeper::start(keeper, &tasks, stop.clone());
        Self { db, events, services, stop }
    }

    /// What was polled just now is soon stored, and its time is that of the database. Each poll is another chance
    /// to see it in time.
    async fn is_stored_as_now(&self) {
        let sql = Sql::same("test.polled", "SELECT last_polled_at AS v FROM service_states");
        let mut off = i64::MAX;
        for _ in 0..400 {
            tokio::time::sleep(DOUBT / 20).await;
            let at: Option<i64> = self.db.fetch_one(&sql, &[]).await.unwrap().get("v").unwrap();
            off = self.db.now().await.unwrap().as_millis() - at.unwrap();
            if (-100..1_000).contains(&off) {
                return;
            }
        }
        panic!("it is stored {off} ms off");
    }
}

/// Waits until `name` has asked so often, and gives all that was asked.
async fn until_asked(asked: &Asked, name: &str, times: usize) -> Vec<(&'static str, Instant)> {
    let waiting = async {
        loop {
            let all = asked.lock().unwrap().clone();
            if all.iter().filter(|(who, _)| *who == name).count() >= times {
                return all;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, waiting).await.unwrap_or_else(|_| panic!("{name} did not poll"))
}

/// A service in the shard that is handed over first.
fn definition() -> Definition {
    let host = (0..10_000).map(|number| format!("host-{number}.example"));
    let last = host.into_iter().find(|host| Shard::of(&host.parse().unwrap()).number() == 63);
    let mut draft = draft("orders");
    draft.health_endpoint = format!("http://{}/health", last.unwrap());
    draft.poll_interval_ms = Some(i64::try_from(INTERVAL.as_millis()).unwrap());
    Definition::check(draft).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clocks_that_disagree_neither_move_polls_nor_what_is_stored() {
    let database = TestDatabase::new(Dialect::Postgres).await;
    let (clock, asked, stalls) = (SystemClock::new(), Asked::default(), Stalls::watch());
    let ahead = Instance::start(&database, &clock, ("ahead", SKEW_MS), &asked).await;
    let (services, definition) = (&ahead.services, definition());
    let made: Result<_, ServicesError> =
        ahead.events.write(async |tx, out| services.create(tx, out, &definition).await).await;
    made.unwrap();
    until_asked(&asked, "ahead", 2).await;
    ahead.is_stored_as_now().await;

    let behind = Instance::start(&database, &clock, ("behind", -SKEW_MS), &asked).await;
    let all = until_asked(&asked, "behind", 2).await;
    behind.is_stored_as_now().await;
    for two in all.windows(2) {
        let ((_, one), (_, next)) = (two[0], two[1]);
        let gap = next - one;
        // Where the machine let nobody go on, the first came late and the next in time, or the next late.
        let least = INTERVAL.saturating_sub(DOUBT + stalls.between(one - INTERVAL, one));
        let most = INTERVAL * 2 + stalls.between(one, next);
        assert!((least..=most).contains(&gap), "{gap:?} between {two:?}");
    }
    behind.stop.cancel();
    ahead.stop.cancel();
}
