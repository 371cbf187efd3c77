//! On PostgreSQL each day has a partition of its own.

use std::time::Duration;

use mainstay_store::{Dialect, Sql, StoreError, values};
use mainstay_testkit::TestDatabase;
use mainstay_testkit::clock::START;

use super::house::{House, poll};
use crate::latency::span::DAY_MS;

const DAY: Duration = Duration::from_hours(24);
const PARTITIONS: &str = "SELECT substring(c.relname FROM '[0-9]+$')::bigint AS n
     FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid
     WHERE i.inhparent = 'latency_points'::regclass AND c.relname ~ '[0-9]$' ORDER BY n";

fn first_day() -> i64 {
    START.as_millis() / DAY_MS
}

#[tokio::test]
async fn today_and_two_days_ahead_have_partitions_and_old_days_lose_theirs() {
    let database = TestDatabase::new(Dialect::Postgres).await;
    let house = House::with_services(&database, 1).await;
    let today = first_day();
    house.run_at(START.plus(DAY / 2)).await;
    assert_eq!(house.column(PARTITIONS).await, [today, today + 1, today + 2]);
    house.insert(&[poll(1, START, &[1_000]), poll(1, START.plus(DAY), &[1_000])]).await;
    assert_eq!(house.count("SELECT count(*) AS n FROM latency_points_rest").await, 0);
    house.run_at(START.plus(3 * DAY + DAY / 2)).await;
    assert_eq!(house.column(PARTITIONS).await, [1, 2, 3, 4, 5].map(|day| today + day));
    assert_eq!(house.count("SELECT count(*) AS n FROM latency_points").await, 1);
}

#[tokio::test]
async fn a_day_that_began_without_a_partition_stays_where_it_is_and_leaves_too() {
    let database = TestDatabase::new(Dialect::Postgres).await;
    let house = House::with_services(&database, 1).await;
    let today = first_day();
    house.insert(&[poll(1, START, &[1_000])]).await;
    house.run_at(START.plus(DAY / 2)).await;
    assert_eq!(house.column(PARTITIONS).await, [today + 1, today + 2]);
    house
        .insert(&[poll(1, START.plus(DAY / 2), &[1_000]), poll(1, START.plus(DAY), &[1_000])])
        .await;
    assert_eq!(house.count("SELECT count(*) AS n FROM latency_points_rest").await, 2);
    let done = house.run_at(START.plus(3 * DAY + DAY / 2)).await;
    assert_eq!(done.removed, 2);
    assert_eq!(house.count("SELECT count(*) AS n FROM latency_points").await, 1);
}

#[tokio::test]
async fn instances_that_open_a_day_at_once_do_not_fail() {
    let database = TestDatabase::new(Dialect::Postgres).await;
    let house = House::with_services(&database, 1).await;
    let open = || house.upkeep.open_days();
    let opened = tokio::join!(open(), open(), open());
    opened.0.and(opened.1).and(opened.2).unwrap();
    assert_eq!(house.column(PARTITIONS).await.len(), 3);
}

#[tokio::test]
async fn days_that_somebody_reads_for_long_are_opened_and_dropped_later() {
    let database = TestDatabase::new(Dialect::Postgres).await;
    let house = House::with_services(&database, 1).await;
    house.run_at(START.plus(DAY / 2)).await;
    let before = house.column(PARTITIONS).await;
    let now = START.plus(3 * DAY + DAY / 2);
    let read = Sql::same("test.read", "SELECT count(*) AS n FROM latency_points WHERE at > $1");
    let reading = house.db.snapshot(async |snapshot| {
        snapshot.fetch_one(&read, values![0_i64]).await?;
        house.run_at(now).await;
        Ok::<_, StoreError>(house.column(PARTITIONS).await)
    });
    assert_eq!(reading.await.unwrap(), before);
    house.run_at(now).await;
    assert_eq!(house.column(PARTITIONS).await, [1, 2, 3, 4, 5].map(|day| first_day() + day));
}
