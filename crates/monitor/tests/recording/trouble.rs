//! A database that takes nothing for a while.

use std::time::Duration;

use mainstay_breaker::State;
use mainstay_monitor::roster::Circuit;
use mainstay_monitor::{FailureKind, PollFailure, PollResult, Recorded, Sink};
use mainstay_store::{Dialect, StoreError, values};
use mainstay_testkit::{TestDatabase, each_database};
use serde_json::json;
use tokio::sync::oneshot;

use crate::house::{House, up};

/// More half-open circuits than one write has room for events.
const CIRCUITS: usize = 5_000;

impl House {
    async fn eventually(&self, holds: impl AsyncFn() -> bool, what: &str) {
        for _ in 0..1_200 {
            if holds().await {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("not within a minute: {what}");
    }

    /// Takes a table away or brings it back, whoever is writing.
    async fn alter(&self, sql: &'static str) {
        self.execute(sql, &[]).await;
    }
}

/// Hands a result over without waiting.
fn begin(house: &House, mut result: PollResult) -> oneshot::Receiver<Recorded> {
    let (sender, receiver) = oneshot::channel();
    result.recorded = Some(sender);
    house.recorder.take(result);
    receiver
}

fn failure() -> PollFailure {
    PollFailure { kind: FailureKind::Timeout, message: "no answer".to_owned() }
}

each_database! {
    async fn results_are_kept_when_the_database_lacks_what_they_need(database: &TestDatabase) {
        let house = House::new(database).await;
        let mut services = Vec::new();
        for number in 0..20 {
            services.push(house.service(&format!("service {number}")).await);
        }
        house.alter("ALTER TABLE poll_history RENAME TO poll_history_away").await;
        let waiting: Vec<_> =
            services.iter().map(|one| begin(&house, house.result(one, Err(failure())))).collect();
        house.eventually(async || house.recorder.health().failing_since.is_some(), "it says that it fails").await;
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert!(house.recorder.health().failing_since.is_some());
        house.alter("ALTER TABLE poll_history_away RENAME TO poll_history").await;
        for one in waiting {
            assert!(matches!(one.await.unwrap(), Recorded::Written(_)));
        }
        assert_eq!(house.recorder.health().failing_since, None);
        assert_eq!(house.number("SELECT count(*) AS v FROM poll_history").await, 20);
    }

    async fn what_only_one_result_meets_is_its_own_fault(database: &TestDatabase) {
        let house = House::new(database).await;
        let (good, bad) = (house.service("good").await, house.service("bad").await);
        house.alter("ALTER TABLE poll_history RENAME TO poll_history_away").await;
        let alone = begin(&house, house.result(&bad, Err(failure())));
        house.eventually(async || house.recorder.health().failing_since.is_some(), "it says that it fails").await;
        // The next result shows that the database works.
        let fine = begin(&house, house.result(&good, Ok(house.read(&json!([up("db")])))));
        assert!(matches!(fine.await.unwrap(), Recorded::Written(_)));
        assert_eq!(alone.await.unwrap(), Recorded::Refused);
        house.eventually(async || house.recorder.health().failing_since.is_none(), "it is well again").await;
    }

    async fn who_was_polled_is_not_overdue_while_its_results_wait(database: &TestDatabase) {
        let house = House::new(database).await;
        house.pass(0);
        let service = house.service("orders").await;
        let report = house.read(&json!([up("db")]));
        house.answers(&service, &json!([up("db")])).await;
        house.alter("ALTER TABLE service_states RENAME TO service_states_away").await;
        let mut waiting = Vec::new();
        for _ in 0..20 {
            house.pass(30);
            waiting.push(begin(&house, house.result(&service, Ok(report.clone()))));
        }
        house.eventually(async || house.recorder.health().failing_since.is_some(), "it says that it fails").await;
        // By then it is time to look for services that nobody polls, with the first result.
        tokio::time::sleep(Duration::from_secs(6)).await;
        house.alter("ALTER TABLE service_states_away RENAME TO service_states").await;
        for one in waiting {
            assert!(matches!(one.await.unwrap(), Recorded::Written(_)));
        }
        let unknown = "SELECT count(*) AS v FROM changes WHERE after = 'unknown'";
        assert_eq!(house.number(unknown).await, 0);
    }

    async fn circuits_without_end_cost_no_result(database: &TestDatabase) {
        let house = House::new(database).await;
        let service = house.service("orders").await;
        let circuit = Circuit { watch: std::sync::Arc::clone(&service), from: State::Open, to: State::HalfOpen };
        for _ in 0..CIRCUITS {
            house.recorder.take_circuit(&circuit, mainstay_base::Clock::now(&*house.clock));
        }
        let result = house.result(&service, Ok(house.read(&json!([up("db")]))));
        assert!(matches!(house.hand_over(result).await, Recorded::Written(_)));
        let told = "SELECT count(*) AS v FROM events WHERE kind = 'circuit:half_open'";
        let all = i64::try_from(CIRCUITS).unwrap();
        house.eventually(async || house.number(told).await == all, "every circuit is told of").await;
    }
}

/// PostgreSQL says that it can't be, and not only that something failed: nobody else has to prove it.
#[tokio::test]
async fn a_text_that_can_not_be_stored_is_dropped_at_once() {
    let database = TestDatabase::new(Dialect::Postgres).await;
    let house = House::new(&database).await;
    let service = house.service("orders").await;
    let mut spoiled = house.read(&json!([up("db")]));
    spoiled.dependencies[0].description = Some("a\0b".to_owned());
    assert_eq!(house.hand_over(house.result(&service, Ok(spoiled))).await, Recorded::Refused);
    assert_eq!(house.recorder.health().failing_since, None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn services_that_nobody_polls_are_seen_however_many_results_come() {
    let database = TestDatabase::new(Dialect::Sqlite).await;
    let house = House::new(&database).await;
    house.pass(0);
    let (late, busy) = (house.service("late").await, house.service("busy").await);
    house.answers(&late, &json!([up("db")])).await;
    house
        .execute(
            "UPDATE service_states SET next_poll_at = next_poll_at - 200000 WHERE service_no = $1",
            values![late.number.0],
        )
        .await;
    let report = house.read(&json!([up("db")]));
    let unknown = "SELECT count(*) AS v FROM service_states WHERE status = 'unknown' AND stale_since IS NOT NULL";
    for _ in 0..3_000 {
        while house.recorder.health().waiting < 500 {
            house.recorder.take(house.result(&busy, Ok(report.clone())));
        }
        if house.number(unknown).await > 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(4)).await;
    }
    panic!("a service that is overdue still looks well");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn results_wait_for_a_database_that_is_busy_and_the_recorder_says_so() {
    let database = TestDatabase::new(Dialect::Sqlite).await;
    let house = House::new(&database).await;
    let service = house.service("orders").await;
    let (release, held) = oneshot::channel::<()>();
    let (begun, busy) = oneshot::channel::<()>();
    let db = house.db.clone();
    let holding = tokio::spawn(async move {
        let done: Result<(), StoreError> = db
            .write(async |_| {
                let _ = begun.send(());
                let _ = held.await;
                Ok(())
            })
            .await;
        done
    });
    busy.await.unwrap();
    let result = house.result(&service, Ok(house.read(&json!([up("db")]))));
    let waiting = house.hand_over(result);
    tokio::pin!(waiting);
    let mut failing = false;
    for _ in 0..400 {
        let quick = tokio::time::timeout(Duration::from_millis(50), &mut waiting).await;
        assert!(quick.is_err(), "it was recorded while the database was busy");
        failing = house.recorder.health().failing_since.is_some();
        if failing {
            break;
        }
    }
    assert!(failing, "the recorder does not say that it fails");
    release.send(()).unwrap();
    holding.await.unwrap().unwrap();
    assert!(matches!(waiting.await, Recorded::Written(_)));
    assert_eq!(house.recorder.health().failing_since, None);
    assert_eq!(house.number("SELECT count(*) AS v FROM dependencies").await, 1);
}
