//! What follows from what is seen.

use super::*;
use crate::shards::model::{LEASE, Lease};

const NOW: Timestamp = Timestamp::from_millis(1_000_000);

fn id(number: u8) -> Id {
    format!("019a8b3c-0000-7000-8000-0000000000{number:02x}").parse().unwrap()
}

fn alive(number: u8) -> Standing {
    let expires_at = Some(NOW.plus(LEASE));
    Standing { id: id(number), is_settled: true, expires_at, gone_at: None }
}

/// Died so long ago.
fn dead(number: u8, ago: Duration) -> Standing {
    Standing { expires_at: Some(earlier(ago)), ..alive(number) }
}

fn earlier(ago: Duration) -> Timestamp {
    Timestamp::from_millis(NOW.as_millis() - i64::try_from(ago.as_millis()).unwrap())
}

/// Every shard, owned as `owner` says, since long ago.
fn leases(owner: impl Fn(i64) -> Option<u8>) -> Vec<LeaseRow> {
    let row = |shard: Shard| LeaseRow {
        lease: Lease { shard, generation: 1 },
        owner: owner(shard.number()).map(id),
        changed_at: earlier(Duration::from_secs(60)),
    };
    Shard::all().map(row).collect()
}

fn look(instances: &[Standing], leases: &[LeaseRow], draining: ShardSet) -> Plan {
    plan(&Sight { me: id(1), now: NOW, instances, leases, draining })
}

#[test]
fn what_is_taken_and_handed_over() {
    let second = Duration::from_secs(1);
    // Who there is beside me, who owns each shard, how many are taken and handed over.
    type Owner = fn(i64) -> Option<u8>;
    let cases: [(&str, Vec<Standing>, Owner, usize, usize); 9] = [
        ("the first takes all", vec![], |_| None, 64, 0),
        ("all is mine", vec![], |_| Some(1), 0, 0),
        ("a newcomer gets no more at once than so many", vec![alive(2)], |_| Some(1), 0, 16),
        ("two that are even", vec![alive(2)], |n| Some(if n < 32 { 1 } else { 2 }), 0, 0),
        (
            "one died a moment ago, and the other gets its share of it too",
            vec![alive(2), dead(3, second)],
            |n| Some(u8::try_from(n % 3 + 1).unwrap()),
            10,
            0,
        ),
        (
            "one died long ago, and whoever sees it takes all of it",
            vec![alive(2), dead(3, second * 2)],
            |n| Some(u8::try_from(n % 3 + 1).unwrap()),
            21,
            0,
        ),
        ("an owner that nobody knows", vec![], |n| Some(if n < 60 { 1 } else { 9 }), 4, 0),
        (
            "a third that has come gets from both",
            vec![alive(2), alive(3)],
            |n| Some(if n < 32 { 1 } else { 2 }),
            0,
            10,
        ),
        (
            "what nobody took is taken before anything is handed over",
            vec![alive(2)],
            |n| (n < 40).then_some(1),
            24,
            0,
        ),
    ];
    for (name, mut instances, owner, taken, handed) in cases {
        instances.push(alive(1));
        let plan = look(&instances, &leases(owner), ShardSet::NONE);
        assert_eq!((plan.take.len(), plan.drain.len()), (taken, handed), "{name}: {plan:?}");
    }
}

#[test]
fn what_is_handed_over_already_counts() {
    let draining: ShardSet = Shard::all().skip(48).collect();
    let all_mine = leases(|_| Some(1));
    let plan = look(&[alive(1), alive(2)], &all_mine, draining);
    assert_eq!(plan.drain, ShardSet::NONE, "no more at once");
    let few: ShardSet = Shard::all().skip(60).collect();
    let plan = look(&[alive(1), alive(2)], &all_mine, few);
    assert_eq!(plan.drain.len(), 12);
    assert!(plan.drain.among(few).is_empty(), "none twice");
}

#[test]
fn a_shard_that_was_just_released_is_left_to_those_with_room() {
    let mut rows = leases(|number| Some(if number < 32 { 1 } else { 2 }));
    rows[40].owner = None;
    rows[40].changed_at = earlier(Duration::from_millis(500));
    let both = [alive(1), alive(2)];
    let plan = look(&both, &rows, ShardSet::NONE);
    assert_eq!(plan.take, ShardSet::NONE);
    assert_eq!(plan.look_in, Duration::from_millis(1_500), "it is looked at when its time is over");
    rows[40].changed_at = earlier(Duration::from_secs(2));
    assert_eq!(look(&both, &rows, ShardSet::NONE).take.numbers(), [40]);
}

#[test]
fn the_end_of_a_lease_is_not_slept_through() {
    let rows = leases(|number| Some(if number < 32 { 1 } else { 2 }));
    for (left, look_in) in [(10_000, 3_000), (1_234, 1_234), (5, 100)] {
        let until = NOW.plus(Duration::from_millis(left));
        let other = Standing { expires_at: Some(until), ..alive(2) };
        let plan = look(&[alive(1), other], &rows, ShardSet::NONE);
        assert_eq!(plan.look_in, Duration::from_millis(look_in), "{left}");
    }
    let for_ever = Standing { expires_at: None, ..alive(1) };
    assert_eq!(look(&[for_ever], &leases(|_| Some(1)), ShardSet::NONE).look_in, RENEW_EVERY);
}

#[test]
fn who_waits_for_its_share_looks_before_what_is_released_for_it_is_taken_back() {
    let both = [alive(1), alive(2)];
    let look_in =
        |owner: fn(i64) -> Option<u8>| look(&both, &leases(owner), ShardSet::NONE).look_in;
    assert_eq!(look_in(|_| Some(2)), LOOK_FOR_SHARE);
    assert!(LOOK_FOR_SHARE < LEFT_ALONE);
    assert_eq!(look_in(|number| Some(if number < 32 { 1 } else { 2 })), RENEW_EVERY);
    assert_eq!(look_in(|_| Some(1)), RENEW_EVERY, "it is the other who waits");
}

#[test]
fn who_has_just_come_gets_nothing_yet() {
    let new = Standing { is_settled: false, ..alive(2) };
    let plan = look(&[alive(1), new], &leases(|_| Some(1)), ShardSet::NONE);
    assert_eq!(plan.drain, ShardSet::NONE);
    // But what it has is its own.
    let halves = leases(|number| Some(if number < 32 { 1 } else { 2 }));
    assert_eq!(look(&[alive(1), new], &halves, ShardSet::NONE).take, ShardSet::NONE);
}

#[test]
fn who_has_stopped_counts_no_more() {
    let stopped = Standing { gone_at: Some(earlier(Duration::from_secs(3))), ..alive(2) };
    let plan = look(&[alive(1), stopped], &leases(|_| Some(2)), ShardSet::NONE);
    assert_eq!(plan.take.len(), 64);
}

#[test]
fn two_who_look_at_once_want_different_shards() {
    let nobody = leases(|_| None).into_iter().map(|row| LeaseRow { changed_at: NOW, ..row });
    let (nobody, both) = (nobody.collect::<Vec<_>>(), [alive(1), alive(2)]);
    let of = |me| {
        let sight =
            Sight { me, now: NOW, instances: &both, leases: &nobody, draining: ShardSet::NONE };
        plan(&sight).take
    };
    let (one, other) = (of(id(1)), of(id(2)));
    assert_eq!((one.len(), other.len()), (32, 32));
    assert!(one.among(other).is_empty());
}
