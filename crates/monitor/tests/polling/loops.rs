//! Polls really happen, on time, whatever others do.

use std::sync::atomic::Ordering;
use std::time::Duration;

use mainstay_monitor::engine::PollNowError;
use mainstay_monitor::polling::PollAnswer;
use mainstay_monitor::roster::NotNow;
use mainstay_monitor::{Polling, ServiceNumber};
use tokio::task::JoinHandle;

use crate::stage::{Manner, Stage};

const GOOD: Manner = Manner::Answers(r#"[{"name":"db","healthy":true}]"#);

#[tokio::test]
async fn a_service_is_polled_again_and_again() {
    let stage = Stage::new();
    stage.add(1, 100, GOOD);
    stage.until("five polls", |stage| stage.taken(1) >= 5).await;
    let asked = stage.asked(1);
    let between = asked[4].since(asked[0]);
    // A busy machine makes it later, never earlier; missed intervals are not made up.
    assert!(between >= Duration::from_millis(350), "{between:?}");
    assert!(!stage.engine.pulse().is_late());
}

#[tokio::test]
async fn endpoints_that_hang_or_panic_delay_nobody() {
    let stage = Stage::new();
    for number in 10..30 {
        stage.add(number, 100, Manner::Hangs);
    }
    stage.add(40, 100, Manner::Panics);
    stage.add(1, 100, GOOD);
    stage.until("ten polls beside hanging ones", |stage| stage.taken(1) >= 10).await;
    assert_eq!(stage.taken(10), 0);
    assert_eq!(stage.asked(10).len(), 1, "one poll of a service at a time");
    stage.until("another try after a panic", |stage| stage.asked(40).len() >= 2).await;
}

#[tokio::test]
async fn an_answer_that_can_not_be_read_fails_the_poll() {
    let stage = Stage::new();
    let one = stage.add(1, 60_000, Manner::Answers(r#"{"not":"an array"}"#));
    stage.until("the first poll", |stage| stage.taken(1) >= 1).await;
    let answer = stage.engine.poll_now(one).await.unwrap();
    let error = answer.error.unwrap();
    assert_eq!(error.kind, "bad_body");
    assert!(error.message.contains("expected an array of dependencies"), "{error:?}");
}

#[tokio::test]
async fn an_operator_waits_for_the_result_and_never_polls_beside_another_poll() {
    let stage = Stage::new();
    let fine = stage.add(1, 60_000, GOOD);
    let hanging = stage.add(2, 60_000, Manner::Hangs);
    let failing = stage.add(3, 60_000, Manner::Fails);
    stage
        .until("the first polls", |stage| {
            stage.asked(2).len() == 1 && stage.taken(1) == 1 && stage.taken(3) == 1
        })
        .await;
    assert_eq!(stage.engine.poll_now(fine).await.unwrap().error, None);
    let error = stage.engine.poll_now(failing).await.unwrap().error.unwrap();
    assert_eq!(error.kind, "connect_refused");
    let refused = stage.engine.poll_now(hanging).await.unwrap_err();
    assert_eq!(refused, PollNowError::NotNow(NotNow::InProgress));
    assert_eq!(stage.taken(1), 2);
}

/// An operator waits for a poll that hangs.
async fn operator_waits() -> (Stage, ServiceNumber, JoinHandle<Result<PollAnswer, PollNowError>>) {
    let stage = Stage::new();
    let one = stage.add(1, 60_000, GOOD);
    stage.until("the first poll", |stage| stage.taken(1) == 1).await;
    stage.world.set(1, Manner::Hangs);
    let engine = stage.engine.clone();
    let asking = tokio::spawn(async move { engine.poll_now(one).await });
    stage.until("the operator's poll", |stage| stage.asked(1).len() == 2).await;
    (stage, one, asking)
}

#[tokio::test]
async fn what_an_operator_waits_for_ends_when_mainstay_stops() {
    let (stage, _, asking) = operator_waits().await;
    stage.stop.cancel();
    assert_eq!(asking.await.unwrap().unwrap_err(), PollNowError::Stopping);
    stage.tasks.close();
    let ended = tokio::time::timeout(Duration::from_secs(60), stage.tasks.wait()).await;
    assert!(ended.is_ok(), "a task went on after the stop");
}

#[tokio::test]
async fn who_waits_for_a_poll_that_an_edit_ends_is_told_at_once() {
    let (stage, one, asking) = operator_waits().await;
    stage.remove(one);
    let answer = tokio::time::timeout(Duration::from_secs(30), asking).await.unwrap().unwrap();
    assert_eq!(answer.unwrap_err(), PollNowError::Stale);
}

#[tokio::test]
async fn an_operators_poll_does_not_begin_either_while_results_find_no_room() {
    let stage = Stage::new();
    let one = stage.add(1, 60_000, GOOD);
    stage.until("the first poll", |stage| stage.taken(1) == 1).await;
    stage.world.is_full.store(true, Ordering::SeqCst);
    let refused = stage.engine.poll_now(one).await.unwrap_err();
    assert!(matches!(refused, PollNowError::NotNow(NotNow::Busy(_))), "{refused:?}");
    assert_eq!(stage.asked(1).len(), 1);
}

#[tokio::test]
async fn no_poll_begins_while_results_find_no_room() {
    let stage = Stage::new();
    stage.world.is_full.store(true, Ordering::SeqCst);
    stage.add(1, 100, GOOD);
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(stage.asked(1).len(), 0);
    stage.world.is_full.store(false, Ordering::SeqCst);
    stage.until("polls when there is room", |stage| stage.taken(1) >= 2).await;
}

#[tokio::test]
async fn a_list_that_can_not_be_read_stops_no_poll_and_is_read_again() {
    let stage = Stage::new();
    stage.add(1, 100, GOOD);
    stage.until("the first poll", |stage| stage.taken(1) >= 1).await;
    stage.world.is_unreadable.store(true, Ordering::SeqCst);
    stage.add(2, 100, GOOD);
    let before = stage.taken(1);
    stage.until("polls go on", |stage| stage.taken(1) >= before + 2).await;
    assert_eq!(stage.taken(2), 0);
    stage.world.is_unreadable.store(false, Ordering::SeqCst);
    stage.until("the new one", |stage| stage.taken(2) >= 1).await;
}

#[tokio::test]
async fn a_service_that_is_removed_is_polled_no_more() {
    let stage = Stage::new();
    let one = stage.add(1, 100, GOOD);
    stage.until("a poll", |stage| stage.taken(1) >= 1).await;
    stage.remove(one);
    stage.until("it is gone", |stage| stage.engine.schedule(one).is_none()).await;
    let asked = stage.asked(1).len();
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(stage.asked(1).len(), asked);
    let refused = stage.engine.poll_now(one).await.unwrap_err();
    assert_eq!(refused, PollNowError::NotNow(NotNow::NotWatched));
}

#[tokio::test]
async fn the_plan_of_a_service_is_told_on_the_wall_clock() {
    use mainstay_base::Clock;
    let stage = Stage::new();
    let one = stage.add(1, 60_000, GOOD);
    stage.until("a poll", |stage| stage.taken(1) >= 1).await;
    let plan = stage.engine.schedule(one).unwrap();
    let ahead = plan.due_at.since(stage.world.clock.now());
    assert!((Duration::from_secs(50)..=Duration::from_secs(60)).contains(&ahead), "{ahead:?}");
    assert_eq!((plan.retry_at, plan.in_flight_since), (None, None));
}
