use super::*;
use DependencyStatus::{Degraded, Down, Healthy, Skipped, Unknown};

const HOUR: i64 = 3_600_000;
const NOW: i64 = 1_000 * 24 * HOUR;

/// So many hours ago.
fn ago(hours: i64) -> Timestamp {
    Timestamp::from_millis(NOW - hours * HOUR)
}

fn story(
    born: i64,
    known: i64,
    initial: DependencyStatus,
    turns: &[(i64, DependencyStatus)],
) -> Story {
    let turns = turns.iter().map(|(hours, status)| (ago(*hours), *status)).collect();
    Story { born: ago(born), known_since: ago(known), initial, turns }
}

/// Hours healthy, degraded, down, unknown, skipped and absent of the last day, and the two shares.
fn day(story: &Story) -> ([i64; 6], Option<f64>, Option<f64>) {
    let told = Uptime::of(story, Timestamp::from_millis(NOW));
    for window in &told.windows {
        let all = window.healthy_ms
            + window.degraded_ms
            + window.down_ms
            + window.unknown_ms
            + window.skipped_ms
            + window.absent_ms;
        assert_eq!(all, window.to.as_millis() - window.from.as_millis(), "{window:?}");
    }
    let day = told.windows[0];
    let hours = [
        day.healthy_ms,
        day.degraded_ms,
        day.down_ms,
        day.unknown_ms,
        day.skipped_ms,
        day.absent_ms,
    ];
    (hours.map(|millis| millis / HOUR), day.uptime, day.unknown)
}

#[test]
fn time_is_counted_by_how_it_was_and_what_is_not_known_is_neither_up_nor_down() {
    let always = 24 * 100;
    for (case, story, hours, uptime, unknown) in [
        (
            "nothing ever changed",
            story(always, always, Healthy, &[]),
            [24, 0, 0, 0, 0, 0],
            Some(1.0),
            0.0,
        ),
        (
            "down for six hours",
            story(always, always, Healthy, &[(12, Down), (6, Healthy)]),
            [18, 0, 6, 0, 0, 0],
            Some(0.75),
            0.0,
        ),
        (
            "degraded is not up",
            story(always, always, Degraded, &[(12, Healthy)]),
            [12, 12, 0, 0, 0, 0],
            Some(0.5),
            0.0,
        ),
        (
            "while Mainstay was off nobody knows",
            story(always, always, Healthy, &[(18, Unknown), (6, Healthy)]),
            [12, 0, 0, 12, 0, 0],
            Some(1.0),
            0.5,
        ),
        (
            "known only of half a day",
            story(always, 12, Healthy, &[]),
            [12, 0, 0, 12, 0, 0],
            Some(1.0),
            0.5,
        ),
        (
            "made six hours ago, polled an hour later",
            story(6, always, Unknown, &[(5, Healthy)]),
            [5, 0, 0, 1, 0, 18],
            Some(1.0),
            1.0 / 6.0,
        ),
        (
            "left out of the judgement",
            story(always, always, Healthy, &[(12, Skipped)]),
            [12, 0, 0, 0, 12, 0],
            Some(1.0),
            0.0,
        ),
        ("never polled", story(always, always, Unknown, &[]), [0, 0, 0, 24, 0, 0], None, 1.0),
        (
            "changes from before the window say how it began",
            story(always, always, Healthy, &[(50, Down), (30, Degraded)]),
            [0, 24, 0, 0, 0, 0],
            Some(0.0),
            0.0,
        ),
        (
            "removed at last: from then on nobody knows",
            story(always, always, Healthy, &[(1, Unknown)]),
            [23, 0, 0, 1, 0, 0],
            Some(1.0),
            1.0 / 24.0,
        ),
    ] {
        assert_eq!(day(&story), (hours, uptime, Some(unknown)), "{case}");
    }
}

#[test]
fn a_change_that_a_clock_dated_back_takes_no_time_twice() {
    let story = story(2_400, 2_400, Healthy, &[(6, Down), (8, Healthy), (4, Down), (3, Healthy)]);
    let (hours, ..) = day(&story);
    assert_eq!(hours, [23, 0, 1, 0, 0, 0]);
}

#[test]
fn what_is_not_there_yet_has_no_share_of_anything() {
    let (hours, uptime, unknown) = day(&story(0, 2_400, Unknown, &[]));
    assert_eq!((hours, uptime, unknown), ([0, 0, 0, 0, 0, 24], None, None));
}

#[test]
fn every_span_ends_now() {
    let told = Uptime::of(&story(24 * 40, 24 * 100, Healthy, &[(24 * 10, Down)]), ago(0));
    let names: Vec<_> = told.windows.iter().map(|one| (one.window, one.uptime)).collect();
    let month = 20.0 / 30.0;
    assert_eq!(
        names,
        [("24h", Some(0.0)), ("7d", Some(0.0)), ("30d", Some(month)), ("90d", Some(0.75))]
    );
    assert_eq!(told.windows[3].absent_ms, 50 * 24 * HOUR);
    assert_eq!(told.known_since, ago(24 * 40));
}
