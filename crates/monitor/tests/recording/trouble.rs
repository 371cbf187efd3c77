//! A database that takes nothing for a while.

use std::time::Duration;

use mainstay_monitor::Recorded;
use mainstay_store::{Dialect, StoreError};
use mainstay_testkit::TestDatabase;
use serde_json::json;
use tokio::sync::oneshot;

use crate::house::{House, up};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn results_wait_for_a_database_that_is_busy_and_the_recorder_says_so() {
    let database = TestDatabase::new(Dialect::Sqlite).await;
    let house = House::new(&database).await;
    let service = house.service("orders").await;
    let (release, held) = oneshot::channel::<()>();
    let db = house.db.clone();
    let holding = tokio::spawn(async move {
        let done: Result<(), StoreError> = db
            .write(async |_| {
                let _ = held.await;
                Ok(())
            })
            .await;
        done
    });
    tokio::time::sleep(Duration::from_millis(20)).await;
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
