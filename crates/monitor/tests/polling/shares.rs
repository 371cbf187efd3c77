//! Only what this instance owns is polled, and what it hands over is ended in order.

use mainstay_base::{Clock as _, Id};
use mainstay_monitor::roster::NotNow;
use mainstay_monitor::shards::{Lease, Shard, ShardSet};
use mainstay_monitor::{Polling as _, Tenure};

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
    let refused = stage.engine.poll_now(mainstay_monitor::ServiceNumber(others)).await.unwrap_err();
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
    let handed: ShardSet = [shard(leaving)].into_iter().collect();
    tenure.drain(handed);
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
