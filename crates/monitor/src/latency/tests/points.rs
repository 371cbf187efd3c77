//! The rows of single polls.

use std::ops::Range;
use std::time::Duration;

use mainstay_store::{Dialect, Sql};
use mainstay_testkit::clock::START;
use mainstay_testkit::each_database;

use super::house::{House, poll, scattered};
use crate::latency::{latest, points};
use crate::watch::ServiceNumber;

const SECOND: Duration = Duration::from_secs(1);
const DAY: Duration = Duration::from_hours(24);

each_database! {
    async fn rows_of_one_statement_keep_their_own_points(database: &TestDatabase) {
        let house = House::new(database).await;
        let rows = [
            poll(3, START, &[7_000, 0, 123_456]),
            poll(1, START.plus(SECOND), &[]),
            poll(2, START.plus(DAY), &[1]),
            poll(1, START, &[40_000; 8]),
        ];
        house.insert(&rows).await;
        assert_eq!(house.count("SELECT count(*) AS n FROM latency_points").await, 3, "none without points");
        let now = START.plus(DAY).plus(SECOND);
        for row in [&rows[0], &rows[2], &rows[3]] {
            assert_eq!(latest(&house.db, row.service_no, now).await.unwrap().as_ref(), Some(row));
        }
        assert_eq!(points::unpack(&rows[0].points).unwrap(), [
            (0, Duration::from_millis(7)),
            (2, Duration::from_micros(123_456)),
        ]);
        assert_eq!(house.count("SELECT count(DISTINCT bucket) AS n FROM latency_points").await, 2);
    }

    async fn a_row_that_is_written_again_stays_as_it_was(database: &TestDatabase) {
        let house = House::new(database).await;
        house.insert(&[poll(1, START, &[5_000])]).await;
        house.insert(&[poll(1, START, &[9_000]), poll(2, START, &[9_000])]).await;
        let first = latest(&house.db, ServiceNumber(1), START).await.unwrap();
        assert_eq!(first, Some(poll(1, START, &[5_000])));
        assert_eq!(house.count("SELECT count(*) AS n FROM latency_points").await, 2);
        house.insert(&[]).await;
    }

    async fn the_latest_is_the_newest_of_some_days(database: &TestDatabase) {
        let house = House::new(database).await;
        house.insert(&[poll(1, START, &[1_000]), poll(1, START.plus(SECOND), &[2_000])]).await;
        let number = ServiceNumber(1);
        for now in [START.plus(SECOND), START.plus(2 * DAY)] {
            let row = latest(&house.db, number, now).await.unwrap();
            assert_eq!(row, Some(poll(1, START.plus(SECOND), &[2_000])));
        }
        assert_eq!(latest(&house.db, number, START.plus(3 * DAY)).await.unwrap(), None);
        assert_eq!(latest(&house.db, ServiceNumber(2), START).await.unwrap(), None);
    }

    async fn a_point_takes_at_most_sixteen_bytes_of_disk(database: &TestDatabase) {
        let house = House::new(database).await;
        // What a table takes before its first row is not counted. PostgreSQL grows by many pages at once,
        // which weighs little among so many rows.
        write_polls(&house, 0..20, 1_000).await;
        let each = bytes_for_each(&house, 20..520, 1_000).await;
        assert!(each <= 16.0, "{each} bytes");
        // Microseconds need a byte more; PostgreSQL keeps 28 bytes and an index beside each row.
        let each = bytes_for_each(&house, 520..1_020, 1).await;
        assert!(each <= if house.db.dialect() == Dialect::Sqlite { 16.0 } else { 18.0 }, "{each} bytes");
    }
}

const SERVICES: i64 = 50;
const DEPENDENCIES: usize = 8;

async fn bytes_for_each(house: &House, turns: Range<i64>, unit: u64) -> f64 {
    let points = SERVICES * (turns.end - turns.start) * i64::try_from(DEPENDENCIES).unwrap();
    let before = bytes(house).await;
    write_polls(house, turns, unit).await;
    #[expect(clippy::cast_precision_loss, reason = "a figure to look at")]
    let each = (bytes(house).await - before) as f64 / points as f64;
    println!("{}: {each:.1} bytes for a point of {unit} us", house.db.dialect().name());
    each
}

async fn write_polls(house: &House, turns: Range<i64>, unit: u64) {
    for turn in turns {
        let at = START.plus(SECOND * u32::try_from(turn * 5).unwrap());
        let rows = (1..=SERVICES).map(|number| poll(number, at, &latencies(number, turn, unit)));
        house.insert(&rows.collect::<Vec<_>>()).await;
    }
}

/// Latencies between 1 and 900 ms, in whole units of so many microseconds.
fn latencies(service: i64, turn: i64, unit: u64) -> [u64; DEPENDENCIES] {
    let mut numbers = scattered(service * 1_000 + turn, 1_000, 900_000);
    std::array::from_fn(|_| numbers.next().unwrap_or_default() / unit * unit)
}

/// What the rows take, with their indexes.
async fn bytes(house: &House) -> i64 {
    let sql = Sql::pair(
        "test.bytes",
        "SELECT page_count * page_size AS n FROM pragma_page_count(), pragma_page_size()",
        "SELECT sum(pg_total_relation_size(inhrelid))::bigint AS n FROM pg_inherits
         WHERE inhparent = 'latency_points'::regclass",
    );
    house.db.fetch_one(&sql, &[]).await.unwrap().get("n").unwrap()
}
