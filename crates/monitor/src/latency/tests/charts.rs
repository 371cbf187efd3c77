//! Charts of whatever is kept.

use std::time::Duration;

use mainstay_testkit::clock::START;
use mainstay_testkit::each_database;

use super::house::{House, later, poll, scattered};
use crate::latency::chart::MAX_POLLS;
use crate::latency::{Bucket, Range};

const MINUTE: Duration = Duration::from_mins(1);
const DAY_MINUTES: u64 = 24 * 60;

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn total(chart: &[Bucket]) -> u64 {
    chart.iter().map(|bucket| bucket.count).sum()
}

each_database! {
    async fn a_step_tells_of_its_own_polls_and_an_empty_one_is_absent(database: &TestDatabase) {
        let house = House::with_services(database, 2).await;
        let rows = [
            poll(1, later(START, 0, 0), &[9_000, 1_000]),
            poll(1, later(START, 0, 59), &[9_000, 3_000]),
            poll(1, later(START, 2, 0), &[9_000, 5_000]),
            poll(1, later(START, 3, 0), &[9_000]),
            poll(2, later(START, 0, 0), &[0, 7_000]),
        ];
        house.insert(&rows).await;
        let chart = house.chart(1, 1, Range::Hour, later(START, 30, 0)).await;
        let first = Bucket { start: START, count: 2, min: ms(1), avg: ms(2), max: ms(3), p95: ms(3) };
        assert_eq!(chart[0], Bucket { p95: chart[0].p95, ..first });
        assert!((Duration::from_micros(2_850)..=ms(3)).contains(&chart[0].p95));
        let second = Bucket { start: START.plus(2 * MINUTE), count: 1, min: ms(5), avg: ms(5), max: ms(5), p95: ms(5) };
        assert_eq!(chart[1..], [second]);
        assert_eq!(house.chart(2, 0, Range::Hour, later(START, 30, 0)).await, []);
        assert_eq!(house.chart(3, 0, Range::Month, later(START, 30, 0)).await, []);
    }

    async fn a_chart_begins_at_its_range_and_ends_now(database: &TestDatabase) {
        let house = House::with_services(database, 1).await;
        let rows: Vec<_> = (0..3 * 60).map(|minute| poll(1, later(START, minute, 1), &[1_000])).collect();
        house.insert(&rows).await;
        let now = later(START, 2 * 60, 30);
        let chart = house.chart(1, 0, Range::Hour, now).await;
        assert_eq!(chart.len(), 60);
        assert_eq!(chart[0].start, later(START, 61, 0));
        assert_eq!(chart[59].start, later(START, 120, 0));
        assert_eq!(total(&house.chart(1, 0, Range::SixHours, now).await), 123, "the step of now is whole");
    }

    async fn rolling_up_changes_no_chart(database: &TestDatabase) {
        let house = House::with_services(database, 3).await;
        let mut latencies = scattered(5, 1_000, 700_000);
        let rows: Vec<_> = (0..10 * 60).flat_map(|minute| {
            [1, 2, 3].map(|service| poll(service, later(START, minute, 20), &[latencies.next().unwrap()]))
        }).collect();
        house.insert(&rows).await;
        let now = later(START, 10 * 60 + 1, 0);
        let ranges = [Range::Hour, Range::SixHours, Range::Day, Range::Week, Range::Month];
        let mut before = Vec::new();
        for range in ranges {
            before.push(house.chart(2, 0, range, now).await);
        }
        assert_eq!(before.iter().map(|chart| total(chart)).collect::<Vec<_>>(), [58, 357, 600, 600, 600]);
        house.run_at(now).await;
        for (range, before) in ranges.into_iter().zip(before) {
            assert_eq!(house.chart(2, 0, range, now).await, before, "{range:?}");
        }
    }

    async fn a_month_is_made_of_hours_five_minutes_and_polls(database: &TestDatabase) {
        let house = House::with_services(database, 1).await;
        // Polls of two days, each rolled up when it was over, and of today.
        for day in [0, 20] {
            let polls = (0..8).map(|turn| poll(1, later(START, day * DAY_MINUTES + turn * 180, 0), &[2_000 + day]));
            house.insert(&polls.collect::<Vec<_>>()).await;
            house.run_at(later(START, (day + 1) * DAY_MINUTES + 3, 0)).await;
        }
        let now = later(START, 23 * DAY_MINUTES + 68, 0);
        let fresh = [0, 61, 67].map(|minute| poll(1, later(START, 23 * DAY_MINUTES + minute, 0), &[90_000]));
        house.insert(&fresh).await;
        house.run_at(now).await;
        assert_eq!(house.column("SELECT at AS n FROM latency_points ORDER BY at").await, fresh.map(|row| row.at.as_millis()));
        let month = house.chart(1, 0, Range::Month, now).await;
        assert_eq!(month.iter().map(|bucket| bucket.count).collect::<Vec<_>>(), [2, 2, 2, 2, 2, 2, 2, 2, 3]);
        assert_eq!((month[0].start, month[0].max, month[8].max), (START, ms(2), ms(90)));
        assert_eq!(month[7].p95, Duration::from_micros(2_020));
        let week = house.chart(1, 0, Range::Week, now).await;
        assert_eq!((week.len(), total(&week)), (8 + 2, 8 + 3));
        assert_eq!(house.chart(1, 0, Range::Hour, now).await.len(), 2);
    }

    async fn a_chart_reads_so_many_polls_and_no_more(database: &TestDatabase) {
        let house = House::with_services(database, 1).await;
        let rows: Vec<_> = (0..MAX_POLLS + 500).map(|turn| {
            poll(1, START.plus(ms(u64::try_from(turn).unwrap())), &[1_000])
        }).collect();
        house.insert(&rows).await;
        let chart = house.chart(1, 0, Range::Day, later(START, 1, 0)).await;
        assert_eq!(total(&chart), u64::try_from(MAX_POLLS).unwrap());
    }
}
