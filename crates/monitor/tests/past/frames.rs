//! Keyframes: when they are made, what they are worth, and what they survive.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::Id;
use mainstay_monitor::latency::Retention;
use mainstay_monitor::past::keyframes::Done;
use mainstay_monitor::past::{Keyframes, PastError};
use mainstay_monitor::services::Patch;
use mainstay_store::{Dialect, Sql, StoreError, values};
use mainstay_testkit::{TestDatabase, each_database};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::house::{House, body};

const WHOLE: &str = "SELECT count(*) AS v FROM past_keyframes WHERE at IS NOT NULL";

each_database! {
    async fn the_first_one_is_made_when_there_is_something_and_then_one_a_day(database: &TestDatabase) {
        let house = House::new(database).await;
        assert_eq!(house.look().await, Done::Nothing, "nothing has ever changed");
        house.add("shop").await;
        assert_eq!(house.look().await, Done::Marked);
        house.pass(Duration::from_mins(4));
        assert_eq!(house.look().await, Done::Nothing, "somebody may still be writing");
        house.pass(Duration::from_mins(2));
        assert_eq!(house.look().await, Done::Made(1));
        house.pass(Duration::from_hours(23));
        assert_eq!(house.look().await, Done::Nothing);
        house.pass(Duration::from_hours(2));
        house.keyframe().await;
        assert_eq!(house.number(WHOLE).await, 2);
    }

    async fn one_comes_earlier_where_much_has_changed(database: &TestDatabase) {
        let house = House::new(database).await;
        house.add("shop").await;
        house.keyframe().await;
        // As many numbers as if much had changed.
        let many = "WITH RECURSIVE t (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 200000)
            INSERT INTO changes (at, kind, service_no, before, after)
            SELECT 1794776400000, 'service', 1, 'healthy', 'down' FROM t";
        house.execute(many).await;
        assert_eq!(house.look().await, Done::Nothing, "but not at once");
        house.pass(Duration::from_hours(2));
        house.keyframe().await;
    }

    async fn a_moment_needs_nothing_from_before_its_keyframe(database: &TestDatabase) {
        let house = House::new(database).await;
        let (shop, _) = (house.add("shop").await, house.add("bank").await);
        house.alias("db", "Orders").await;
        house.poll(shop, Some(body(&[("db", 0), ("cache", 2)]))).await;
        house.pass(Duration::from_secs(5));
        house.poll(shop, Some(body(&[("db", 1)]))).await;
        house.pass(Duration::from_mins(1));
        house.keyframe().await;
        let parts = house.number("SELECT count(*) AS v FROM past_keyframe_parts").await;
        assert!(parts >= 2, "in portions: {parts}");
        house.pass(Duration::from_mins(20));
        house.poll(shop, Some(body(&[("db", 2)]))).await;
        house.pass(Duration::from_mins(1));
        let (at, live) = (house.now(), house.live().await);
        house.execute("DELETE FROM changes WHERE number <= (SELECT from_number FROM past_keyframes)").await;
        house.pass(Duration::from_mins(5));
        assert_eq!(house.at(at).await, live);
    }

    async fn before_the_first_record_nothing_is_known_and_the_future_is_refused(database: &TestDatabase) {
        let house = House::new(database).await;
        let empty = house.past.at(house.now()).await.unwrap();
        assert_eq!((empty.since, empty.state.is_empty()), (None, true), "there are no records");
        house.pass(Duration::from_hours(1));
        let before = house.now();
        house.pass(Duration::from_secs(1));
        house.add("shop").await;
        house.pass(Duration::from_secs(2));
        let told = house.past.at(before).await.unwrap();
        assert!(told.state.is_empty());
        let since = told.since.unwrap();
        assert!(since > before && since <= house.now(), "{since}");
        assert!(!house.past.at(house.now()).await.unwrap().state.is_empty());
        let later = house.now().plus(Duration::from_mins(5));
        assert!(matches!(house.past.at(later).await, Err(PastError::Future { asked, .. }) if asked == later));
    }

    async fn what_is_too_old_leaves_and_is_not_told_by_halves(database: &TestDatabase) {
        let house = House::new(database).await;
        let shop = house.add("shop").await;
        house.pass(Duration::from_mins(1));
        let early = house.now();
        house.keyframe().await;
        house.pass(Duration::from_hours(48));
        house.poll(shop, Some(body(&[("db", 0)]))).await;
        house.keyframe().await;
        house.pass(Retention::default().hours() - Duration::from_hours(24));
        house.keyframe().await;
        house.upkeep.run_once(&CancellationToken::new()).await.unwrap();
        assert_eq!(house.number(WHOLE).await, 2, "the first one is gone");
        let told = house.past.at(early).await.unwrap();
        assert!(told.state.is_empty());
        let since = told.since.unwrap();
        assert!(since > early, "{since}");
        let first = house.past.at(since).await.unwrap().state;
        assert_eq!((first.services().count(), first.dependencies().count()), (1, 1));
    }

    async fn a_keyframe_that_can_not_be_read_is_passed_over(database: &TestDatabase) {
        let house = House::new(database).await;
        let shop = house.add("shop").await;
        house.keyframe().await;
        house.pass(Duration::from_hours(25));
        house.poll(shop, Some(body(&[("db", 2)]))).await;
        house.keyframe().await;
        house.pass(Duration::from_hours(1));
        let live = house.live().await;
        let damage = if house.db.dialect() == Dialect::Sqlite { "x'00'" } else { "'\\x00'" };
        house.execute(&format!("UPDATE past_keyframe_parts SET body = {damage}
            WHERE keyframe_no = (SELECT max(number) FROM past_keyframes)")).await;
        assert_eq!(house.at(house.now()).await, live);
        house.execute(&format!("UPDATE past_keyframe_parts SET body = {damage}")).await;
        assert_eq!(house.at(house.now()).await, live, "in the end all changes tell it");
    }

    async fn who_is_stopped_half_way_leaves_nothing_that_is_believed(database: &TestDatabase) {
        let house = House::new(database).await;
        for number in 0..30 {
            house.add(&format!("s{number}")).await;
        }
        assert_eq!(house.look().await, Done::Marked);
        house.pass(Duration::from_mins(6));
        let stopped = CancellationToken::new();
        stopped.cancel();
        assert_eq!(house.keyframes.run_once(&stopped).await.unwrap(), Done::Nothing);
        assert_eq!(house.number(WHOLE).await, 0);
        assert_eq!(house.look().await, Done::Nothing, "somebody else may be at it");
        house.pass(Duration::from_mins(20));
        assert_eq!(house.look().await, Done::Nothing, "what was left is removed");
        house.keyframe().await;
        assert_eq!(house.number("SELECT count(*) AS v FROM past_keyframes").await, 1);
        let other = Keyframes::new(house.db.clone(), Duration::from_hours(1)).unwrap();
        house.pass(Duration::from_hours(2));
        other.run_once(&CancellationToken::new()).await.unwrap();
        assert_eq!(house.number(WHOLE).await, 0, "it was kept for an hour");
    }

    async fn a_keyframe_without_all_its_parts_is_passed_over(database: &TestDatabase) {
        let house = House::new(database).await;
        for number in 0..30 {
            house.add(&format!("s{number}")).await;
        }
        house.keyframe().await;
        house.pass(Duration::from_hours(1));
        let live = house.live().await;
        house.execute("DELETE FROM past_keyframe_parts WHERE part = (SELECT max(part) FROM past_keyframe_parts)").await;
        assert_eq!(house.at(house.now()).await, live, "all changes tell it");
    }

    async fn what_a_late_result_says_counts_from_its_own_moment_on(database: &TestDatabase) {
        let house = House::new(database).await;
        let shop = house.add("shop").await;
        house.poll(shop, Some(body(&[]))).await;
        house.keyframe().await;
        // A result that waited for its database for half an hour.
        let at = house.now().as_millis();
        house.pass(Duration::from_mins(30));
        house.execute(&format!("INSERT INTO changes (at, kind, service_no, before, after)
            SELECT {at}, 'service', number, 'healthy', 'down' FROM services")).await;
        house.pass(Duration::from_hours(25));
        house.keyframe().await;
        house.pass(Duration::from_hours(1));
        let status = async |millis: i64| {
            let told = house.past.at(mainstay_base::Timestamp::from_millis(millis)).await.unwrap();
            told.state.services().next().unwrap().1.status.to_string()
        };
        assert_eq!(status(at - 1).await, "healthy");
        assert_eq!(status(at + 1).await, "down");
        assert_eq!(status(at + 900_000).await, "down");
    }
}

/// Somebody renames the bank and does not commit yet: when the answer is told, a number is taken.
async fn rename_late(
    house: &House,
    bank: Id,
    may_commit: &Arc<Notify>,
) -> JoinHandle<Result<(), StoreError>> {
    let has_number = Arc::new(Notify::new());
    let (db, at, id) = (house.db.clone(), house.now(), bank.to_string());
    let (told, may_commit) = (Arc::clone(&has_number), Arc::clone(may_commit));
    let late = tokio::spawn(async move {
        let rename = Sql::same("test.rename", "UPDATE services SET name = 'late' WHERE id = $1");
        let change = Sql::same(
            "test.change",
            "INSERT INTO changes (at, kind, service_no, before, after)
             SELECT $2, 'renamed', number, 'bank', 'late' FROM services WHERE id = $1",
        );
        db.write(async |tx| {
            tx.execute(&rename, values![id.as_str()]).await?;
            tx.execute(&change, values![id.as_str(), at]).await?;
            told.notify_one();
            may_commit.notified().await;
            Ok::<_, StoreError>(())
        })
        .await
    });
    has_number.notified().await;
    late
}

/// On PostgreSQL numbers are not taken in the order of commits.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_committed_after_the_keyframe_is_not_lost() {
    let database = TestDatabase::new(Dialect::Postgres).await;
    let house = House::new(&database).await;
    let (shop, bank) = (house.add("shop").await, house.add("bank").await);
    house.poll(shop, Some(body(&[("db", 0)]))).await;
    house.pass(Duration::from_secs(1));
    assert_eq!(house.look().await, Done::Marked);
    let may_commit = Arc::new(Notify::new());
    let late = rename_late(&house, bank, &may_commit).await;
    house.poll(shop, None).await;
    house.pass(Duration::from_mins(6));
    assert!(matches!(house.look().await, Done::Made(_)));
    may_commit.notify_one();
    late.await.unwrap().unwrap();
    house.pass(Duration::from_hours(1));
    let upto = house.number("SELECT upto_number AS v FROM past_keyframes").await;
    let number = house.number("SELECT number AS v FROM changes WHERE kind = 'renamed'").await;
    assert!(number < upto, "others with higher numbers were first");
    let live = house.live().await;
    assert!(live.iter().any(|line| line.contains(" late ")), "{live:?}");
    assert_eq!(house.at(house.now()).await, live);
    house.change(shop, Patch { name: Some("store".to_owned()), ..Patch::default() }).await;
}

/// Who has a number below the mark commits before the keyframe is taken: that is what it waits for.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_has_a_number_below_the_mark_is_in_the_keyframe() {
    let database = TestDatabase::new(Dialect::Postgres).await;
    let house = House::new(&database).await;
    let (shop, bank) = (house.add("shop").await, house.add("bank").await);
    house.pass(Duration::from_secs(1));
    let may_commit = Arc::new(Notify::new());
    let late = rename_late(&house, bank, &may_commit).await;
    house.poll(shop, None).await;
    assert_eq!(house.look().await, Done::Marked);
    house.pass(Duration::from_mins(4));
    assert_eq!(house.look().await, Done::Nothing, "somebody may still be writing");
    may_commit.notify_one();
    late.await.unwrap().unwrap();
    house.pass(Duration::from_mins(2));
    assert!(matches!(house.look().await, Done::Made(_)));
    house.pass(Duration::from_hours(1));
    let mark = house.number("SELECT from_number AS v FROM past_keyframes").await;
    let number = house.number("SELECT number AS v FROM changes WHERE kind = 'renamed'").await;
    assert!(number < mark, "it is not told again");
    let live = house.live().await;
    assert!(live.iter().any(|line| line.contains(" late ")), "{live:?}");
    assert_eq!(house.at(house.now()).await, live);
}
