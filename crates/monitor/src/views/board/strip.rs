//! How services were over the last day, in cells of equal length. Pure.

use mainstay_base::{Id, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use crate::status::ServiceStatus;

/// The most services whose strips are asked for at once.
pub const MAX_STRIPS: usize = 100;
/// The cells of a strip.
pub const CELLS: usize = 60;
/// The length of a cell: all of them are a day.
pub const CELL_MS: i64 = 24 * 60_000;
const _: () = assert!(60 * CELL_MS == 24 * 3_600_000 && CELLS == 60);

/// The strips of some services.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Strips {
    /// When the first cell begins.
    #[schema(value_type = String, format = DateTime)]
    pub from: Timestamp,
    /// How long each cell is. The last one is not over yet.
    #[schema(example = 1_440_000)]
    pub cell_ms: i64,
    /// When the first hour of the latencies begins.
    #[schema(value_type = String, format = DateTime)]
    pub hours_from: Timestamp,
    /// One for each service that there is, in the order in which they were asked for.
    pub items: Vec<Strip>,
}

/// How a service was.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Strip {
    /// The service.
    #[schema(value_type = String)]
    pub id: Id,
    /// The worst that it was in each cell, oldest first: down, degraded, unknown, healthy. `null` while
    /// it was not there yet.
    pub cells: Vec<Option<ServiceStatus>>,
    /// What 95 of 100 checks of the slowest thing that it leans on did not exceed in each hour, oldest first;
    /// `null` without any.
    pub p95_ms: Vec<Option<f64>>,
}

/// Changes of one kind within one cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::views) struct Turns {
    pub(in crate::views) cell: usize,
    pub(in crate::views) before: ServiceStatus,
    pub(in crate::views) after: ServiceStatus,
    /// The number of the first of them, and of the last.
    pub(in crate::views) first: i64,
    pub(in crate::views) last: i64,
}

/// What is known of a service beside its changes.
#[derive(Debug, Clone, Copy)]
pub(in crate::views) struct Now {
    pub(in crate::views) created_at: Timestamp,
    /// What is recorded of it.
    pub(in crate::views) status: ServiceStatus,
    /// Since when nobody polls it, if that is not recorded yet.
    pub(in crate::views) overdue_since: Option<Timestamp>,
}

/// When the first cell begins of a strip that ends with the cell of `now`.
pub(in crate::views) fn begin(now: Timestamp) -> Timestamp {
    let end = now.as_millis().div_euclid(CELL_MS).saturating_add(1).saturating_mul(CELL_MS);
    let length = CELL_MS.saturating_mul(i64::try_from(CELLS).unwrap_or_default());
    Timestamp::from_millis(end.saturating_sub(length))
}

/// The cells of a service, by its changes since `from`.
pub(in crate::views) fn cells(
    from: Timestamp,
    now: Now,
    turns: &[Turns],
) -> Vec<Option<ServiceStatus>> {
    let first = turns.iter().min_by_key(|turn| turn.first);
    let mut held = first.map_or(now.status, |turn| turn.before);
    let mut cells = Vec::with_capacity(CELLS);
    let born = cell_of(from, now.created_at);
    let overdue = now.overdue_since.map(|at| cell_of(from, at));
    let mut highest = i64::MIN;
    for index in 0..CELLS {
        if born.is_some_and(|born| index < born) {
            cells.push(None);
            continue;
        }
        // What is dated after a change with a higher number never held.
        let here = || turns.iter().filter(|turn| turn.cell == index && turn.last > highest);
        // In the cell in which it came to be there was nothing before its first change.
        let held_before = (born != Some(index)).then_some(held);
        let mut worst = here().map(|turn| turn.after).chain(held_before).min_by_key(severity);
        if let Some(last) = here().max_by_key(|turn| turn.last) {
            (held, highest) = (last.after, last.last);
        }
        worst = worst.or(Some(held));
        if overdue.is_some_and(|since| since.is_none_or(|since| index >= since)) {
            let unknown = Some(ServiceStatus::Unknown);
            let is_over = overdue.flatten().is_none_or(|since| index > since);
            worst = if is_over {
                unknown
            } else {
                worst.into_iter().chain(unknown).min_by_key(severity)
            };
        }
        cells.push(worst);
    }
    cells
}

/// The cell of a moment; `None` before the first.
fn cell_of(from: Timestamp, at: Timestamp) -> Option<usize> {
    usize::try_from(at.as_millis().saturating_sub(from.as_millis()).div_euclid(CELL_MS)).ok()
}

/// The worst comes first. What is not known is worse than what is fine: it may hide anything.
const fn severity(status: &ServiceStatus) -> u8 {
    match status {
        ServiceStatus::Down => 0,
        ServiceStatus::Degraded => 1,
        ServiceStatus::Unknown => 2,
        ServiceStatus::Healthy => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ServiceStatus::{Degraded, Down, Healthy, Unknown};

    const FROM: Timestamp = Timestamp::from_millis(1_000 * CELL_MS);

    fn at(cell: i64) -> Timestamp {
        Timestamp::from_millis(FROM.as_millis() + cell * CELL_MS + 5)
    }

    fn turn(cell: usize, number: i64, before: ServiceStatus, after: ServiceStatus) -> Turns {
        Turns { cell, before, after, first: number, last: number }
    }

    fn now(created: i64, status: ServiceStatus) -> Now {
        Now { created_at: at(created), status, overdue_since: None }
    }

    /// Runs of equal cells, as (length, status).
    fn runs(now: Now, turns: &[Turns]) -> Vec<(usize, Option<ServiceStatus>)> {
        let cells = cells(FROM, now, turns);
        assert_eq!(cells.len(), CELLS);
        let runs = cells.chunk_by(|one, other| one == other);
        runs.map(|run| (run.len(), run.first().copied().flatten())).collect()
    }

    #[test]
    fn a_strip_ends_with_the_cell_that_is_not_over() {
        for now in [0, 1, CELL_MS - 1, CELL_MS, 1_794_776_400_007] {
            let from = begin(Timestamp::from_millis(now)).as_millis();
            let end = from + 60 * CELL_MS;
            assert_eq!(from % CELL_MS, 0);
            assert!(now < end && end - now <= CELL_MS, "{now}");
        }
    }

    #[test]
    fn a_cell_shows_the_worst_and_the_next_one_what_was_left() {
        assert_eq!(runs(now(-9, Healthy), &[]), [(60, Some(Healthy))]);
        let turns = [
            turn(10, 1, Healthy, Down),
            turn(10, 2, Down, Degraded),
            turn(20, 3, Degraded, Healthy),
        ];
        let expected = [(10, Healthy), (1, Down), (10, Degraded), (39, Healthy)];
        assert_eq!(runs(now(-9, Healthy), &turns), expected.map(|(n, status)| (n, Some(status))));
        // However often it went to and fro.
        let flapping = [
            Turns { cell: 3, before: Healthy, after: Down, first: 1, last: 9 },
            Turns { cell: 3, before: Down, after: Healthy, first: 2, last: 10 },
        ];
        let expected = [(3, Healthy), (1, Down), (56, Healthy)];
        assert_eq!(
            runs(now(-9, Healthy), &flapping),
            expected.map(|(n, status)| (n, Some(status)))
        );
    }

    #[test]
    fn what_is_not_known_is_told_apart_from_what_is_fine_and_from_what_is_broken() {
        let turns = [
            turn(5, 1, Healthy, Unknown),
            turn(7, 2, Unknown, Healthy),
            turn(9, 3, Healthy, Down),
            turn(9, 4, Down, Unknown),
        ];
        let expected = [(5, Healthy), (3, Unknown), (1, Healthy), (1, Down), (50, Unknown)];
        assert_eq!(runs(now(-9, Unknown), &turns), expected.map(|(n, status)| (n, Some(status))));
    }

    #[test]
    fn what_is_dated_after_a_change_with_a_higher_number_is_not_shown() {
        // Nobody had polled it, it seemed; then came results that had waited.
        let turns =
            [turn(20, 1, Healthy, Unknown), turn(10, 2, Unknown, Down), turn(12, 3, Down, Healthy)];
        let expected = [(10, Healthy), (3, Down), (47, Healthy)];
        assert_eq!(runs(now(-9, Healthy), &turns), expected.map(|(n, status)| (n, Some(status))));
    }

    #[test]
    fn before_it_was_there_a_service_has_no_cells() {
        let turns = [turn(30, 1, Unknown, Healthy)];
        let expected = [(30, None), (30, Some(Healthy))];
        assert_eq!(runs(now(30, Healthy), &turns), expected);
        assert_eq!(runs(now(59, Unknown), &[]), [(59, None), (1, Some(Unknown))]);
    }

    #[test]
    fn who_is_not_polled_any_more_is_unknown_from_then_on() {
        let overdue = Now { overdue_since: Some(at(58)), ..now(-9, Healthy) };
        assert_eq!(runs(overdue, &[]), [(58, Some(Healthy)), (2, Some(Unknown))]);
        let broken = Now { overdue_since: Some(at(58)), ..now(-9, Down) };
        assert_eq!(runs(broken, &[]), [(59, Some(Down)), (1, Some(Unknown))]);
        let long_ago = Now { overdue_since: Some(at(-1)), ..now(-9, Healthy) };
        assert_eq!(runs(long_ago, &[]), [(60, Some(Unknown))]);
    }
}
