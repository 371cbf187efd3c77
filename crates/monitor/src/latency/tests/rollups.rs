//! Single polls become rows of five minutes, and those rows of hours.

use mainstay_store::{Sql, values};
use mainstay_testkit::clock::START;
use mainstay_testkit::each_database;
use tokio_util::sync::CancellationToken;

use super::house::{House, SMALL, later, poll, scattered};
use crate::latency::packed;
use crate::latency::rollup::Sizes;
use crate::latency::span::{FIVE_MINUTES_MS, HOUR_MS};
use crate::latency::summary::PERCENTILE_ERROR;
use crate::latency::upkeep::Done;
use crate::latency::{PointsRow, Range};

/// Polls of each service, a minute apart, for two dependencies.
fn polls(services: i64, minutes: u64) -> Vec<PointsRow> {
    let of = |service: i64| {
        let mut latencies = scattered(service, 1_000, 400_000);
        (0..minutes).map(move |minute| {
            let two = [latencies.next().unwrap(), latencies.next().unwrap()];
            poll(service, later(START, minute, 7), &two)
        })
    };
    (1..=services).flat_map(of).collect()
}

/// How many latencies the rows of a length count in all.
async fn counted(house: &House, length: i64) -> u64 {
    let rows = house.rollups().await;
    let of_length = rows.iter().filter(|(span, ..)| *span == length);
    let summaries = of_length.flat_map(|(.., bytes)| packed::unpack(bytes).unwrap().into_values());
    summaries.map(|summary| summary.count()).sum()
}

each_database! {
    async fn every_latency_is_counted_once_from_polls_to_hours(database: &TestDatabase) {
        let house = House::with_services(database, 7).await;
        house.insert(&polls(7, 120)).await;
        let done = house.run_at(later(START, 123, 0)).await;
        assert_eq!(done, Done { five_minutes: 7 * 24, hours: 7 * 2, closed: 0, removed: 0 });
        assert_eq!(counted(&house, FIVE_MINUTES_MS).await, 7 * 120 * 2);
        assert_eq!(counted(&house, HOUR_MS).await, 7 * 120 * 2);
    }

    async fn rolling_up_twice_changes_nothing(database: &TestDatabase) {
        let house = House::with_services(database, 5).await;
        house.insert(&polls(5, 70)).await;
        house.run_at(later(START, 80, 0)).await;
        let before = house.rollups().await;
        assert_eq!(house.run_at(later(START, 80, 30)).await, Done::default());
        assert!(house.rollups().await == before);
        // Even when everything that says what was done is lost.
        let forget = Sql::same("test.forget", "DELETE FROM latency_rollups WHERE service_no = 0");
        house.execute(&forget, &[]).await;
        house.run_at(later(START, 81, 0)).await;
        assert!(house.rollups().await == before);
    }

    async fn a_span_is_rolled_up_when_those_who_write_late_had_time_to(database: &TestDatabase) {
        let house = House::with_services(database, 1).await;
        house.insert(&[poll(1, later(START, 1, 0), &[1_000])]).await;
        house.run_at(later(START, 6, 30)).await;
        assert_eq!(counted(&house, FIVE_MINUTES_MS).await, 0, "the grace is not over");
        house.insert(&[poll(1, later(START, 4, 59), &[2_000])]).await;
        house.run_at(later(START, 7, 1)).await;
        assert_eq!(counted(&house, FIVE_MINUTES_MS).await, 2, "what was late counts");
        house.insert(&[poll(1, later(START, 4, 58), &[3_000]), poll(1, later(START, 5, 0), &[4_000])]).await;
        house.run_at(later(START, 12, 1)).await;
        assert_eq!(counted(&house, FIVE_MINUTES_MS).await, 3, "what was too late does not");
    }

    async fn an_hour_waits_for_its_last_five_minutes(database: &TestDatabase) {
        let house = House::with_services(database, 1).await;
        house.insert(&polls(1, 60)).await;
        assert_eq!(house.run_at(later(START, 61, 30)).await.hours, 0);
        assert_eq!(house.run_at(later(START, 62, 1)).await, Done { five_minutes: 1, hours: 1, closed: 0, removed: 0 });
    }

    async fn a_gap_is_passed_and_later_polls_are_rolled_up(database: &TestDatabase) {
        let house = House::with_services(database, 3).await;
        house.insert(&polls(3, 10)).await;
        house.run_at(later(START, 30, 0)).await;
        let after = later(START, 3 * 24 * 60, 0);
        house.insert(&[poll(2, after, &[5_000])]).await;
        let done = house.run_at(later(START, 3 * 24 * 60 + 65, 0)).await;
        assert_eq!((done.five_minutes, done.hours), (1, 3 + 1));
        let rows = house.rollups().await;
        assert!(rows.iter().any(|(span, start, service, _)| {
            (*span, *start, *service) == (HOUR_MS, after.as_millis(), 2)
        }));
    }

    async fn what_was_rolled_up_while_the_clock_was_wrong_is_done_again(database: &TestDatabase) {
        let house = House::with_services(database, 3).await;
        house.insert(&polls(3, 62)).await;
        house.run_at(later(START, 24 * 60, 0)).await;
        assert_eq!(counted(&house, HOUR_MS).await, 3 * 62 * 2, "as if the second hour were over");
        let rest: Vec<_> = polls(3, 120).into_iter().filter(|row| row.at > later(START, 62, 0)).collect();
        house.insert(&rest).await;
        house.run_at(later(START, 66, 0)).await;
        assert_eq!(counted(&house, FIVE_MINUTES_MS).await, 3 * 60 * 2, "the second hour is taken back");
        house.run_at(later(START, 123, 0)).await;
        assert_eq!(counted(&house, FIVE_MINUTES_MS).await, 3 * 120 * 2);
        assert_eq!(counted(&house, HOUR_MS).await, 3 * 120 * 2);
    }

    async fn what_is_too_much_for_one_run_is_finished_by_the_next_ones(database: &TestDatabase) {
        let mut house = House::with_services(database, 5).await;
        let polls = [polls(5, 15), vec![poll(3, later(START, 23 * 60, 0), &[1_000])]].concat();
        house.insert(&polls).await;
        house.upkeep = house.upkeep.with_sizes(Sizes { steps: 100, ..SMALL });
        let now = later(START, 30 * 24 * 60, 0);
        let mut runs = 0;
        while house.count("SELECT count(*) AS n FROM latency_points").await > 0 {
            assert!(runs < 50, "it goes on");
            house.run_at(now).await;
            runs += 1;
        }
        assert!(runs > 2, "one run did it all");
        assert_eq!(counted(&house, FIVE_MINUTES_MS).await, 5 * 15 * 2 + 1, "nothing was removed before");
    }

    async fn nothing_polled_is_nothing_to_do(database: &TestDatabase) {
        let house = House::with_services(database, 1).await;
        for minutes in [0, 10, 24 * 60 * 100] {
            let done = house.run_at(later(START, minutes, 0)).await;
            assert_eq!((done.five_minutes, done.hours), (0, 0));
        }
        assert_eq!(house.count("SELECT count(*) AS n FROM latency_rollups WHERE service_no > 0").await, 0);
    }

    async fn damaged_points_are_left_out_and_the_others_kept(database: &TestDatabase) {
        let house = House::with_services(database, 2).await;
        let mut damaged = poll(1, later(START, 1, 0), &[1_000]);
        damaged.points = vec![5, 0xff];
        house.insert(&[damaged, poll(1, later(START, 2, 0), &[1_000]), poll(2, START, &[1_000])]).await;
        house.run_at(later(START, 8, 0)).await;
        assert_eq!(counted(&house, FIVE_MINUTES_MS).await, 3);
        let garble = Sql::pair(
            "test.garble",
            "UPDATE latency_rollups SET summaries = x'0909' WHERE service_no = $1",
            "UPDATE latency_rollups SET summaries = '\\x0909' WHERE service_no = $1",
        );
        house.execute(&garble, values![1_i64]).await;
        house.run_at(later(START, 63, 0)).await;
        assert_eq!(counted_hours(&house).await, 1);
        assert_eq!(house.chart(1, 0, Range::Day, later(START, 63, 0)).await, []);
    }

    async fn the_percentile_of_an_hour_is_near_the_true_one(database: &TestDatabase) {
        let house = House::with_services(database, 1).await;
        let latencies: Vec<u64> = scattered(3, 200, 3_000_000).take(360).collect();
        let rows: Vec<_> = (0..).zip(&latencies).map(|(turn, us)| poll(1, later(START, 0, turn * 10), &[*us])).collect();
        house.insert(&rows).await;
        house.run_at(later(START, 62, 1)).await;
        let bytes = house.rollups().await.into_iter().find(|row| row.0 == HOUR_MS && row.2 == 1).unwrap().3;
        let summary = packed::unpack(&bytes).unwrap().remove(&0).unwrap();
        let mut sorted = latencies;
        sorted.sort_unstable();
        for (percent, exact) in [(50, sorted[179]), (95, sorted[341]), (99, sorted[356])] {
            let told = summary.percentile(percent).as_micros() as f64;
            assert!((told - exact as f64).abs() <= exact as f64 * PERCENTILE_ERROR, "{told} for {exact}");
        }
    }

    async fn a_run_that_is_stopped_does_nothing_more(database: &TestDatabase) {
        let house = House::with_services(database, 3).await;
        house.insert(&polls(3, 60)).await;
        let stop = CancellationToken::new();
        stop.cancel();
        house.set_time(later(START, 30 * 24 * 60, 0)).await;
        assert_eq!(house.upkeep.run_once(&stop).await.unwrap(), Done::default());
        assert_eq!(house.count("SELECT count(*) AS n FROM latency_points").await, 180, "what is not rolled up stays");
        let done = house.run_at(later(START, 30 * 24 * 60, 0)).await;
        assert_eq!((done.five_minutes, done.hours), (36, 3));
        assert_eq!(house.count("SELECT count(*) AS n FROM latency_points").await, 0, "and leaves when it is");
    }
}

async fn counted_hours(house: &House) -> u64 {
    counted(house, HOUR_MS).await
}
