//! Only what this instance owns is polled, and what it hands over is ended in order.

use std::sync::atomic::Ordering;
use std::time::Duration;

use mainstay_base::{Clock as _, Id};
use mainstay_monitor::engine::PollNowError;
use mainstay_monitor::roster::NotNow;
use mainstay_monitor::shards::{Lease, Shard, ShardSet};
use mainstay_monitor::{Polling as _, ServiceNumber, Tenure};

use crate::stage::{Manner, Stage};

const GOOD: Manner = Manner::Answers("[]");

/// Where the host of a service is.
fn shard(number: i64) -> Shard {
    Shard::of(&format!("host-{number}.test").parse().unwrap())
}

/// Two services whose hosts are in different shards.
fn two() -> (i64, i64) {
    let other = (2..100).find(|number| shard(*number) != shard(1)).unwrap();
    (1, other)
}

fn me() -> Id {
    "019a8b3c-0000-7000-8000-000000000001".parse().unwrap()
}

impl Stage {
    /// Owns the shards of these services from now on.
    fn owns(&self, tenure: &Tenure, services: &[i64], generation: i64) {
        let lease = |number: &i64| Lease { shard: shard(*number), generation };
        tenure.adopt(me(), services.iter().map(lease), self.world.clock.moment());
    }

    /// Watches for several beats that nobody is asked.
    async fn nobody_is_asked(&self, number: i64) {
        let asked = self.asked(number).len();
        tokio::time::sleep(Duration::from_millis(400)).await;
        assert_eq!(self.asked(number).len(), asked);
    }
}

fn set(services: &[i64]) -> ShardSet {
    services.iter().map(|number| shard(*number)).collect()
}

#[tokio::test]
async fn only_what_is_owned_is_polled() {
    let tenure = Tenure::shared();
    let stage = Stage::sharing(tenure.clone());
    let (mine, others) = two();
    for number in [mine, others] {
        stage.add(number, 100, GOOD);
    }
    stage.owns(&tenure, &[mine], 1);
    stage.until("its own is polled", |stage| stage.taken(mine) >= 3).await;
    assert_eq!(stage.asked(others).len(), 0);
    let refused = stage.engine.poll_now(ServiceNumber(others)).await.unwrap_err();
    assert_eq!(refused, NotNow::NotWatched.into());

    // Taken from it, and another one gained.
    stage.owns(&tenure, &[others], 2);
    stage.until("the other is polled", |stage| stage.taken(others) >= 3).await;
    let asked = stage.asked(mine).len();
    stage.until("some more", |stage| stage.taken(others) >= 6).await;
    assert_eq!(stage.asked(mine).len(), asked, "nobody here polls it any more");
}

#[tokio::test]
async fn without_a_lease_nothing_is_polled() {
    let tenure = Tenure::shared();
    let stage = Stage::sharing(tenure.clone());
    stage.add(1, 100, GOOD);
    stage.until("the list was read", |stage| stage.engine.pulse().sync.is_some()).await;
    assert_eq!(stage.asked(1).len(), 0);
    stage.owns(&tenure, &[1], 1);
    stage.until("it is polled", |stage| stage.taken(1) >= 1).await;
}

#[tokio::test]
async fn what_is_handed_over_ends_its_polls_first() {
    let tenure = Tenure::shared();
    let stage = Stage::sharing(tenure.clone());
    let (leaving, staying) = two();
    stage.add(leaving, 100, GOOD);
    stage.add(staying, 100, GOOD);
    stage.owns(&tenure, &[leaving, staying], 1);
    stage
        .until("both are polled", |stage| stage.taken(leaving) > 0 && stage.taken(staying) > 0)
        .await;
    tenure.drain(set(&[leaving]));
    stage.until("nothing is under way", |_| tenure.draining().is_empty()).await;
    let (asked, taken) = (stage.asked(leaving).len(), stage.taken(leaving));
    assert_eq!(asked, taken, "every poll that began has ended");
    let later = stage.taken(staying) + 5;
    stage.until("the other is polled on", |stage| stage.taken(staying) >= later).await;
    assert_eq!(stage.asked(leaving).len(), asked);
}

#[tokio::test]
async fn results_carry_the_lease_that_they_were_polled_under() {
    let tenure = Tenure::shared();
    let stage = Stage::sharing(tenure.clone());
    stage.add(1, 100, GOOD);
    stage.owns(&tenure, &[1], 7);
    stage.until("a poll", |stage| stage.taken(1) >= 1).await;
    assert_eq!(stage.leases(1)[0], Some(Lease { shard: shard(1), generation: 7 }));
    let before = stage.taken(1);
    stage.owns(&tenure, &[1], 9);
    stage.until("polls of the next tenure", |stage| stage.taken(1) >= before + 3).await;
    assert_eq!(stage.leases(1).last().unwrap().map(|lease| lease.generation), Some(9));
}

#[tokio::test]
async fn who_could_not_renew_for_seven_seconds_asks_nobody_until_it_has() {
    let tenure = Tenure::shared();
    let stage = Stage::sharing(tenure.clone());
    stage.add(1, 100, GOOD);
    stage.owns(&tenure, &[1], 1);
    stage.until("a poll", |stage| stage.taken(1) >= 1).await;
    assert!(!stage.engine.pulse().has_lapsed);
    stage.world.clock.jump(Duration::from_secs(7));
    // Whatever began before has ended by then.
    tokio::time::sleep(Duration::from_millis(100)).await;
    stage.nobody_is_asked(1).await;
    assert!(stage.engine.pulse().has_lapsed);
    let refused = stage.engine.poll_now(ServiceNumber(1)).await.unwrap_err();
    assert_eq!(refused, NotNow::NotWatched.into());
    let before = stage.taken(1);
    stage.owns(&tenure, &[1], 1);
    stage.until("it goes on", |stage| stage.taken(1) > before).await;
}

/// The list of services can't be read either: nothing but the leases says that others poll by now.
#[tokio::test]
async fn who_comes_back_without_its_shards_asks_nobody() {
    let tenure = Tenure::shared();
    let stage = Stage::sharing(tenure.clone());
    let (lost, kept) = two();
    stage.add(lost, 100, GOOD);
    stage.add(kept, 100, GOOD);
    stage.owns(&tenure, &[lost, kept], 1);
    stage.until("polls", |stage| stage.taken(lost) >= 1 && stage.taken(kept) >= 1).await;
    stage.world.is_silent.store(true, Ordering::SeqCst);
    stage.engine.refresh();
    stage.world.clock.jump(Duration::from_secs(8));
    tokio::time::sleep(Duration::from_millis(100)).await;
    let before = stage.taken(kept);
    stage.owns(&tenure, &[kept], 1);
    stage.nobody_is_asked(lost).await;
    stage.until("what it has still is polled on", |stage| stage.taken(kept) > before).await;
    let refused = stage.engine.poll_now(ServiceNumber(lost)).await.unwrap_err();
    assert_eq!(refused, NotNow::NotWatched.into());
}

#[tokio::test]
async fn one_endpoint_that_hangs_holds_up_no_other_shard_and_its_own_for_five_seconds() {
    let tenure = Tenure::shared();
    let stage = Stage::sharing(tenure.clone());
    let (hanging, fine) = two();
    stage.add(hanging, 60_000, GOOD);
    stage.add(fine, 100, GOOD);
    stage.owns(&tenure, &[hanging, fine], 1);
    stage.until("polls", |stage| stage.taken(hanging) == 1 && stage.taken(fine) >= 1).await;
    stage.world.set(hanging, Manner::Hangs);
    let engine = stage.engine.clone();
    let waiting = tokio::spawn(async move { engine.poll_now(ServiceNumber(hanging)).await });
    stage.until("a poll that hangs", |stage| stage.asked(hanging).len() == 2).await;
    tenure.drain(set(&[hanging, fine]));
    stage.until("the other is handed over", |_| tenure.draining() == set(&[hanging])).await;
    stage.world.clock.jump(Duration::from_secs(5));
    stage.until("nobody waits for longer", |_| tenure.draining().is_empty()).await;
    // Who waited for it is told who to ask, not that it was edited.
    assert_eq!(waiting.await.unwrap().unwrap_err(), PollNowError::Nobody);
    assert_eq!(stage.taken(hanging), 1, "its result is not told");
}

#[tokio::test]
async fn what_is_in_the_air_at_the_stop_still_lands() {
    let tenure = Tenure::shared();
    let stage = Stage::sharing(tenure.clone());
    stage.add(1, 60_000, Manner::AnswersLate("[]"));
    stage.owns(&tenure, &[1], 1);
    stage.until("a poll under way", |stage| stage.asked(1).len() == 1).await;
    stage.stop.cancel();
    stage.engine.landed().await;
    assert_eq!((stage.asked(1).len(), stage.taken(1)), (1, 1));
    let refused = stage.engine.poll_now(ServiceNumber(1)).await.unwrap_err();
    assert_eq!(refused, PollNowError::Stopping);
}
