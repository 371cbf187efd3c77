//! Edits meet results that are recorded.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{IdSource, SystemClock, SystemRng};
use mainstay_breaker::{Saved, State};
use mainstay_monitor::aliases::{AliasName, CanonicalName};
use mainstay_monitor::roster::Settlement;
use mainstay_monitor::services::{Patch, ServicesError};
use mainstay_monitor::{Format, PollResult, Recorded, Recorder, ServiceStatus, Sink, Watch};
use mainstay_store::Dialect;
use mainstay_testkit::{TestDatabase, each_database};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::house::House;

impl House {
    fn recorder(&self) -> Recorder {
        let ids = IdSource::new(Arc::new(SystemClock::new()), Arc::new(SystemRng));
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        Recorder::start(self.events.clone(), Arc::clone(&self.clock) as _, ids, &tasks, stop)
    }

    /// The only service, as the engine polls it now.
    async fn watch(&self) -> Arc<Watch> {
        let all = self.services.watches(0).await.unwrap();
        Arc::new(all.watched.into_iter().next().unwrap().0)
    }

    /// Records that the service answered `body`.
    async fn answered(
        &self,
        recorder: &Recorder,
        watch: &Arc<Watch>,
        seq: i64,
        body: &str,
    ) -> Recorded {
        let (sender, recorded) = oneshot::channel();
        let at = self.now().await;
        recorder.take(PollResult {
            watch: Arc::clone(watch),
            at,
            latency: Duration::from_millis(3),
            outcome: Ok(Format::ProactiveDeps.read(body.as_bytes(), at).unwrap()),
            settlement: Settlement {
                poll_seq: seq,
                breaker: Saved {
                    state: State::Closed,
                    forced: false,
                    failures: 0,
                    open_remaining: Duration::ZERO,
                    generation: 0,
                },
                backoff: 0,
                due_in: Duration::from_secs(30),
                circuit: None,
                manual: true,
            },
            recorded: Some(sender),
        });
        tokio::time::timeout(Duration::from_secs(20), recorded).await.unwrap().unwrap()
    }
}

const ONE: &str = r#"[{"name": "db", "healthy": true}]"#;
const TWO: &str = r#"[{"name": "db", "healthy": true}, {"name": "cache", "healthy": false}]"#;

each_database! {
    async fn a_result_from_before_an_edit_says_nothing_any_more(database: &TestDatabase) {
        let house = House::new(database).await;
        let (id, recorder) = (house.service("Orders").await, house.recorder());
        let old = house.watch().await;
        assert!(matches!(house.answered(&recorder, &old, 1, ONE).await, Recorded::Written(_)));
        let moved = Patch { health_endpoint: Some("https://new.example.org/".to_owned()), ..Patch::default() };
        house.update(id, moved).await.unwrap();
        assert_eq!(house.answered(&recorder, &old, 2, TWO).await, Recorded::Stale);
        let new = house.watch().await;
        assert!(new.generation > old.generation);
        assert!(matches!(house.answered(&recorder, &new, 3, TWO).await, Recorded::Written(_)));
        let shown = house.views.whole(id).await.unwrap().unwrap();
        assert_eq!((shown.service.status, shown.dependencies.len()), (ServiceStatus::Degraded, 2));
        // A new name says nothing of what is polled.
        house.update(id, Patch { name: Some("Sales".to_owned()), ..Patch::default() }).await.unwrap();
        assert!(matches!(house.answered(&recorder, &new, 4, ONE).await, Recorded::Written(_)));
        house.update(id, Patch { is_active: Some(false), ..Patch::default() }).await.unwrap();
        assert_eq!(house.answered(&recorder, &new, 5, ONE).await, Recorded::Stale);
        let off = house.views.service(id).await.unwrap().unwrap().1;
        assert_eq!(off.status, ServiceStatus::Unknown);
        house.delete(id).await.unwrap();
        assert_eq!(house.answered(&recorder, &new, 6, ONE).await, Recorded::Stale);
    }

    async fn what_another_instance_polls_shows_the_plan_that_was_recorded(database: &TestDatabase) {
        let house = House::new(database).await;
        let (id, recorder) = (house.service("Orders").await, house.recorder());
        assert_eq!(house.views.whole(id).await.unwrap().unwrap().recorded, None, "never polled");
        let watch = house.watch().await;
        house.answered(&recorder, &watch, 1, ONE).await;
        house.execute("UPDATE service_states SET backoff_attempt = 3, breaker_failures = 2").await;
        let shown = house.views.whole(id).await.unwrap().unwrap();
        let recorded = shown.recorded.unwrap();
        assert_eq!(Some(recorded.due_at), shown.service.next_poll_at);
        assert_eq!((recorded.backoff_attempt, recorded.failures), (3, 2));
        assert_eq!(recorded.host_in_flight, None, "nobody here knows");
        house.update(id, Patch { is_active: Some(false), ..Patch::default() }).await.unwrap();
        assert_eq!(house.views.whole(id).await.unwrap().unwrap().recorded, None);
    }

    async fn what_is_recorded_after_an_alias_goes_by_it(database: &TestDatabase) {
        let house = House::new(database).await;
        let (id, recorder) = (house.service("Orders").await, house.recorder());
        let watch = house.watch().await;
        assert!(matches!(house.answered(&recorder, &watch, 1, ONE).await, Recorded::Written(_)));
        for name in ["db", "cache"] {
            let (aliases, alias) = (&house.aliases, AliasName::parse(name).unwrap());
            let canonical = CanonicalName::parse(&format!("The {name}")).unwrap();
            let made = house.events.write(async |tx, out| aliases.create(tx, out, alias, canonical).await);
            made.await.unwrap();
        }
        assert!(matches!(house.answered(&recorder, &watch, 2, TWO).await, Recorded::Written(_)));
        let shown = house.views.whole(id).await.unwrap().unwrap();
        let names: Vec<_> = shown.dependencies.iter().map(|one| one.canonical_name.as_str()).collect();
        assert_eq!(names, ["The cache", "The db"]);
        let history = house.views.activity(Default::default()).await.unwrap();
        assert_eq!(history.items.len(), 1, "one at least is asked for");
    }
}

/// A result that waits for a deletion to end must not bring back what was deleted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_result_that_meets_a_deletion_is_dropped() {
    let database = TestDatabase::new(Dialect::Postgres).await;
    let house = House::new(&database).await;
    let (id, recorder) = (house.service("Orders").await, house.recorder());
    let watch = house.watch().await;
    assert!(matches!(house.answered(&recorder, &watch, 1, ONE).await, Recorded::Written(_)));
    let (deleted, is_deleted) = oneshot::channel();
    let (release, held) = oneshot::channel::<()>();
    let (services, events) = (house.services.clone(), house.events.clone());
    let deleting = tokio::spawn(async move {
        let done = events.write(async |tx, out| {
            let edited = services.delete(tx, out, id).await?;
            let _ = deleted.send(());
            let _ = held.await;
            Ok::<_, ServicesError>(edited)
        });
        done.await
    });
    is_deleted.await.unwrap();
    let waits = "SELECT count(*) AS n FROM pg_stat_activity
                 WHERE datname = current_database() AND wait_event_type = 'Lock'";
    let meeting = async {
        for _ in 0..400 {
            if house.row(waits).await.get::<i64>("n").unwrap() > 0 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        release.send(()).unwrap();
    };
    let (recorded, ()) = tokio::join!(house.answered(&recorder, &watch, 2, TWO), meeting);
    deleting.await.unwrap().unwrap();
    assert_eq!(recorded, Recorded::Stale);
    let open = house.row("SELECT count(*) AS n FROM dependencies WHERE removed_at IS NULL").await;
    assert_eq!(open.get::<i64>("n").unwrap(), 0);
}
