//! Live connections: so many per owner, the newest wins, on one instance or two.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{Clock as _, Id};
use mainstay_events::{Ending, Entered, Events, Membership, Owner};
use mainstay_store::{Db, Dialect, Sql, values};
use mainstay_testkit::{FakeClock, TestDatabase, drop_at_await, each_database};

use crate::house::{Instance, LONG, user};

const LIVE: Sql = Sql::same(
    "test.live",
    "SELECT count(*) AS count FROM event_connections WHERE superseded_at IS NULL",
);
const LIVE_OF: Sql = Sql::same(
    "test.live_of",
    "SELECT count(*) AS count FROM event_connections WHERE owner = $1 AND superseded_at IS NULL",
);
const LIVE_ID: Sql =
    Sql::same("test.live_id", "SELECT id FROM event_connections WHERE superseded_at IS NULL");
const ALL: Sql = Sql::same("test.all", "SELECT count(*) AS count FROM event_connections");
const NEWEST: Sql = Sql::same("test.newest", "SELECT max(number) AS count FROM event_connections");
const KILL: Sql = Sql::same("test.kill", "UPDATE event_connections SET instance = 'another'");
const AGE: Sql = Sql::same(
    "test.age",
    "UPDATE event_connections SET superseded_at = superseded_at - $1
     WHERE superseded_at IS NOT NULL",
);
const A_DAY: i64 = 24 * 60 * 60 * 1_000;
const LOOK: Duration = Duration::from_millis(10);

async fn live(events: &Events, owner: Owner, id: Id, max: u32) -> Membership {
    match events.connections().enter(owner, Some(id), max).await.unwrap() {
        Entered::Live(membership) => membership,
        Entered::Superseded => panic!("{id} was superseded"),
    }
}

async fn is_refused(events: &Events, owner: Owner, id: Id) -> bool {
    let entered = events.connections().enter(owner, Some(id), 1).await.unwrap();
    matches!(entered, Entered::Superseded)
}

async fn ending(membership: &mut Membership) -> Ending {
    tokio::time::timeout(LONG, membership.superseded()).await.expect("it ends")
}

async fn lives(membership: &mut Membership) -> bool {
    tokio::time::timeout(Duration::ZERO, membership.superseded()).await.is_err()
}

async fn count(db: &Db, sql: &Sql) -> i64 {
    db.fetch_one(sql, &[]).await.unwrap().get("count").unwrap()
}

/// Rows are freed off everybody's path, so nobody can wait for it but by looking.
async fn settles(db: &Db, sql: &Sql, expected: i64) {
    let settling = async {
        while count(db, sql).await != expected {
            tokio::time::sleep(LOOK).await;
        }
    };
    let settled = tokio::time::timeout(LONG, settling).await;
    assert!(settled.is_ok(), "{} instead of {expected}", count(db, sql).await);
}

/// On PostgreSQL the server's clock counts.
#[tokio::test]
async fn a_clock_that_leaps_ahead_makes_no_living_instance_dead() {
    let database = TestDatabase::new(Dialect::Sqlite).await;
    let clock = Arc::new(FakeClock::new());
    let db = database.open_with(Arc::clone(&clock) as _, |_| {}).await;
    let instance = Instance::start_on(db, Arc::clone(&clock) as _, |_| {}).await;
    let mut member = live(&instance.events, Owner::User(user()), user(), 1).await;
    clock.step_wall(clock.now().plus(Duration::from_hours(2)));
    instance.events.clean_up().await.unwrap();
    assert_eq!(count(&instance.db, &LIVE).await, 1);
    assert!(lives(&mut member).await);
    instance.stop().await;
}

each_database! {
    async fn the_newest_wins_and_the_older_must_not_come_back(database: &TestDatabase) {
        let instance = Instance::start(database).await;
        let (owner, first, second) = (Owner::User(user()), user(), user());
        let mut older = live(&instance.events, owner, first, 1).await;
        assert!(lives(&mut older).await);
        let mut newer = live(&instance.events, owner, second, 1).await;
        assert_eq!(ending(&mut older).await, Ending::Superseded);
        drop(older);
        assert!(is_refused(&instance.events, owner, first).await);
        assert!(lives(&mut newer).await, "a refused one ends nobody");
        instance.stop().await;
    }

    async fn so_many_may_live_as_are_allowed(database: &TestDatabase) {
        let instance = Instance::start(database).await;
        let owner = Owner::Token(user());
        let mut members = Vec::new();
        for _ in 0..6 {
            members.push(live(&instance.events, owner, user(), 5).await);
        }
        assert_eq!(ending(&mut members[0]).await, Ending::Superseded);
        for member in &mut members[1..] {
            assert!(lives(member).await);
        }
        // Fewer are allowed now: all but the newest of them end.
        let _last = live(&instance.events, owner, user(), 2).await;
        for member in &mut members[1..5] {
            assert_eq!(ending(member).await, Ending::Superseded);
        }
        assert!(lives(&mut members[5]).await);
        instance.stop().await;
    }

    async fn owners_do_not_meet(database: &TestDatabase) {
        let instance = Instance::start(database).await;
        let (person, id) = (user(), user());
        let mut by_session = live(&instance.events, Owner::User(person), id, 1).await;
        let mut by_token = live(&instance.events, Owner::Token(person), id, 1).await;
        let mut other = live(&instance.events, Owner::User(user()), id, 1).await;
        for member in [&mut by_session, &mut by_token, &mut other] {
            assert!(lives(member).await);
        }
        instance.stop().await;
    }

    async fn whoever_comes_back_under_its_name_takes_its_place_over(database: &TestDatabase) {
        let (here, there) = (Instance::start(database).await, Instance::start(database).await);
        let (owner, id) = (Owner::User(user()), user());
        let mut first = live(&here.events, owner, id, 1).await;
        let mut second = live(&here.events, owner, id, 1).await;
        assert_eq!(ending(&mut first).await, Ending::TakenOver);
        let mut third = live(&there.events, owner, id, 1).await;
        assert_eq!(ending(&mut second).await, Ending::TakenOver);
        drop(first);
        drop(second);
        let mut fourth = live(&here.events, owner, id, 1).await;
        assert_eq!(ending(&mut third).await, Ending::TakenOver);
        drop(third);
        assert!(lives(&mut fourth).await);
        assert_eq!(count(&here.db, &ALL).await, 1);
        here.stop().await;
        there.stop().await;
    }

    async fn the_newest_wins_across_instances(database: &TestDatabase) {
        let (here, there) = (Instance::start(database).await, Instance::start(database).await);
        let (owner, first) = (Owner::User(user()), user());
        let mut older = live(&here.events, owner, first, 1).await;
        let mut newer = live(&there.events, owner, user(), 1).await;
        assert_eq!(ending(&mut older).await, Ending::Superseded);
        assert!(is_refused(&there.events, owner, first).await);
        assert!(lives(&mut newer).await);
        here.stop().await;
        there.stop().await;
    }

    async fn when_two_instances_enter_at_once_one_lives(database: &TestDatabase) {
        let (here, there) = (Instance::start(database).await, Instance::start(database).await);
        let owner = Owner::User(user());
        let entering: Vec<_> = (0..100).map(|turn| {
            let instance = if turn % 2 == 0 { &here } else { &there };
            let events = instance.events.clone();
            tokio::spawn(async move { live(&events, owner, user(), 1).await })
        }).collect();
        let mut members = Vec::new();
        for member in entering {
            members.push(member.await.unwrap());
        }
        assert_eq!(count(&here.db, &LIVE).await, 1);
        let alive: Id = here.db.fetch_one(&LIVE_ID, &[]).await.unwrap().get("id").unwrap();
        for member in &mut members {
            if member.id() != alive {
                assert_eq!(ending(member).await, Ending::Superseded);
            }
        }
        let newest = members.iter_mut().find(|member| member.id() == alive).unwrap();
        assert!(lives(newest).await);
        here.stop().await;
        there.stop().await;
    }

    async fn however_two_instances_meet_one_lives(database: &TestDatabase) {
        let (here, there) = (Instance::start(database).await, Instance::start(database).await);
        for round in 0..40 {
            let owner = Owner::User(user());
            let (_one, _other) = tokio::join!(
                live(&here.events, owner, user(), 1),
                live(&there.events, owner, user(), 1),
            );
            let name = owner.to_string();
            let row = here.db.fetch_one(&LIVE_OF, values![&name]).await.unwrap();
            assert_eq!(row.get::<i64>("count").unwrap(), 1, "in round {round}");
        }
        here.stop().await;
        there.stop().await;
    }

    async fn five_thousand_enter_at_once(database: &TestDatabase) {
        let instance = Instance::start(database).await;
        let same = Owner::User(user());
        let entering: Vec<_> = (0..5_000).map(|turn| {
            let events = instance.events.clone();
            let owner = if turn % 10 == 0 { same } else { Owner::User(user()) };
            tokio::spawn(async move { live(&events, owner, user(), 1).await })
        }).collect();
        let mut members = Vec::new();
        for member in entering {
            members.push(member.await.unwrap());
        }
        assert_eq!(count(&instance.db, &LIVE).await, 4_501);
        drop(members);
        settles(&instance.db, &LIVE, 0).await;
        instance.stop().await;
    }

    async fn many_entries_under_one_name_are_few_rows_and_the_newest_lives(database: &TestDatabase) {
        let instance = Instance::start(database).await;
        let (owner, id) = (Owner::User(user()), user());
        let entering: Vec<_> = (0..1_000).map(|_| {
            let events = instance.events.clone();
            tokio::spawn(async move { live(&events, owner, id, 1).await })
        }).collect();
        let mut members = Vec::new();
        for member in entering {
            members.push(member.await.unwrap());
        }
        assert_eq!(count(&instance.db, &ALL).await, 1);
        let made = count(&instance.db, &NEWEST).await;
        assert!(made <= 100, "{made} rows were made");
        let mut alive = Vec::new();
        for mut member in members {
            if lives(&mut member).await {
                alive.push(member);
            } else {
                assert_eq!(ending(&mut member).await, Ending::TakenOver);
            }
        }
        assert_eq!(alive.len(), 1);
        assert_eq!(count(&instance.db, &LIVE).await, 1, "the others free nothing");
        drop(alive);
        settles(&instance.db, &ALL, 0).await;
        instance.stop().await;
    }

    async fn a_dropped_connection_frees_its_row(database: &TestDatabase) {
        let instance = Instance::start(database).await;
        let owner = Owner::User(user());
        drop(live(&instance.events, owner, user(), 1).await);
        settles(&instance.db, &ALL, 0).await;
        for awaits in 0..4 {
            let entering = instance.events.connections().enter(owner, None, 1);
            drop(drop_at_await(awaits, entering).await);
        }
        settles(&instance.db, &LIVE, 0).await;
        instance.stop().await;
    }

    async fn a_stop_frees_what_the_instance_held(database: &TestDatabase) {
        let instance = Instance::start(database).await;
        let member = live(&instance.events, Owner::User(user()), user(), 1).await;
        let db = database.open().await;
        assert_eq!(count(&db, &ALL).await, 1);
        instance.stop().await;
        drop(member);
        assert_eq!(count(&db, &ALL).await, 0);
    }

    async fn what_a_dead_instance_held_is_removed(database: &TestDatabase) {
        let instance = Instance::start(database).await;
        let _member = live(&instance.events, Owner::User(user()), user(), 1).await;
        instance.events.clean_up().await.unwrap();
        assert_eq!(count(&instance.db, &ALL).await, 1, "a living one keeps its rows");
        instance.db.write(async |tx| tx.execute(&KILL, &[]).await).await.unwrap();
        instance.events.clean_up().await.unwrap();
        assert_eq!(count(&instance.db, &ALL).await, 0);
        instance.stop().await;
    }

    async fn superseded_ones_are_remembered_for_a_day_and_not_all_of_them(database: &TestDatabase) {
        let instance = Instance::start(database).await;
        let owner = Owner::User(user());
        let first = user();
        let mut members = vec![live(&instance.events, owner, first, 1).await];
        for _ in 0..80 {
            members.push(live(&instance.events, owner, user(), 1).await);
        }
        instance.events.clean_up().await.unwrap();
        assert_eq!(count(&instance.db, &ALL).await, 65, "the 64 newest of them and the live one");
        instance.db.write(async |tx| tx.execute(&AGE, values![A_DAY + 1_000]).await).await.unwrap();
        instance.events.clean_up().await.unwrap();
        assert_eq!(count(&instance.db, &ALL).await, 1);
        instance.stop().await;
    }
}
