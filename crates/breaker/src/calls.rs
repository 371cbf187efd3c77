//! Counts calls without a lock: one cell until threads get in each other's way, then one for each.

use std::thread;

#[cfg(any(mainstay_loom, mainstay_shuttle))]
use crate::sync::thread_number;
use crate::sync::{AtomicU64, IS_CHECKED, OnceLock, Ordering};

/// How often threads must meet within [`CALLS`] before they get cells of their own.
const MEETINGS_TO_SPREAD: u32 = if IS_CHECKED { 0 } else { 16 };
/// So many calls of one cell: threads that meet less often than that do not need more memory.
const CALLS: u64 = 1_024;
/// The bits in which meetings are counted; the others say within which calls.
const MEETINGS_BITS: u32 = 8;
const MAX_CELLS: usize = if IS_CHECKED { 2 } else { 32 };

/// Calls that were let through, and those of them that succeeded without anybody noticing.
#[derive(Debug)]
pub(crate) struct Cells {
    entered: AtomicU64,
    succeeded: AtomicU64,
}

/// Cells for threads that got in each other's way.
#[derive(Debug)]
pub(crate) struct Spread {
    /// How often threads have met lately, and within which calls.
    meetings: AtomicU64,
    cells: OnceLock<Box<[Padded]>>,
}

/// Two cache lines, as processors fetch them in pairs.
#[derive(Debug)]
#[repr(align(128))]
struct Padded(Cells);

impl Cells {
    pub(crate) fn new() -> Self {
        Self { entered: AtomicU64::new(0), succeeded: AtomicU64::new(0) }
    }

    /// Counts a call that is let through. Says how many there were before, and whether another
    /// thread was here at the same time.
    #[inline]
    pub(crate) fn enter(&self) -> (u64, bool) {
        let before = self.entered.load(Ordering::Relaxed);
        let next = before.wrapping_add(1);
        match self.entered.compare_exchange(before, next, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(before) => (before, false),
            Err(_) => (self.entered.fetch_add(1, Ordering::Relaxed), true),
        }
    }

    #[inline]
    pub(crate) fn succeed(&self) {
        // Whoever sees this success sees its admission too.
        self.succeeded.fetch_add(1, Ordering::Release);
    }

    pub(crate) fn entered(&self) -> u64 {
        self.entered.load(Ordering::Relaxed)
    }

    pub(crate) fn succeeded(&self) -> u64 {
        self.succeeded.load(Ordering::Acquire)
    }
}

impl Spread {
    pub(crate) fn new() -> Self {
        Self { meetings: AtomicU64::new(0), cells: OnceLock::new() }
    }

    /// This thread's cells, if threads have got their own.
    #[inline]
    pub(crate) fn mine(&self) -> Option<&Cells> {
        let cells = self.cells.get()?;
        // The number of cells is a power of two.
        let place = thread_number() & (cells.len() - 1);
        cells.get(place).map(|padded| &padded.0)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Cells> {
        self.cells.get().into_iter().flatten().map(|padded| &padded.0)
    }

    /// Two threads met in one cell, at the call with this number. A meeting that is missed because
    /// others meet at the same time is made up for by the next.
    #[cold]
    pub(crate) fn met(&self, number: u64) {
        let now = (number / CALLS) << MEETINGS_BITS;
        let lately = self.meetings.load(Ordering::Relaxed);
        let meetings =
            if lately >> MEETINGS_BITS == now >> MEETINGS_BITS { lately - now } else { 0 };
        if meetings >= MEETINGS_TO_SPREAD.into() {
            self.cells.get_or_init(spread);
        } else {
            self.meetings.store(now + meetings + 1, Ordering::Relaxed);
        }
    }
}

fn spread() -> Box<[Padded]> {
    let threads = thread::available_parallelism().map_or(2, usize::from);
    let cells = threads.next_power_of_two().clamp(2, MAX_CELLS);
    (0..cells).map(|_| Padded(Cells::new())).collect()
}

/// A small number for each thread, so that neighbours get different cells.
#[cfg(not(any(mainstay_loom, mainstay_shuttle)))]
#[inline]
fn thread_number() -> usize {
    use std::cell::Cell;
    use std::sync::atomic::AtomicUsize;

    static NEXT: AtomicUsize = AtomicUsize::new(1);
    thread_local!(static NUMBER: Cell<usize> = const { Cell::new(0) });
    // A thread that is being torn down shares the first cell.
    NUMBER
        .try_with(|number| {
            if number.get() == 0 {
                number.set(NEXT.fetch_add(1, Ordering::Relaxed));
            }
            number.get()
        })
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_meet_often_get_cells_of_their_own() {
        let spread = Spread::new();
        (0..MEETINGS_TO_SPREAD).for_each(|number| spread.met(number.into()));
        assert!(spread.mine().is_none(), "they have not met often");
        spread.met(MEETINGS_TO_SPREAD.into());
        spread.mine().unwrap().enter();
        let other = thread::scope(|scope| {
            scope.spawn(|| std::ptr::from_ref(spread.mine().unwrap()) as usize).join().unwrap()
        });
        assert_ne!(other, std::ptr::from_ref(spread.mine().unwrap()) as usize);
        assert_eq!(spread.all().map(Cells::entered).sum::<u64>(), 1);
    }

    #[test]
    fn threads_that_meet_now_and_then_share_a_cell_for_good() {
        let spread = Spread::new();
        for number in 0..100_000 {
            spread.met(number * CALLS / u64::from(MEETINGS_TO_SPREAD));
        }
        assert!(spread.mine().is_none());
    }

    #[test]
    fn threads_that_begin_to_meet_often_after_years_get_cells_of_their_own() {
        let spread = Spread::new();
        let years = u64::MAX / 2;
        (0..10 * u64::from(MEETINGS_TO_SPREAD)).for_each(|number| spread.met(years + number));
        assert!(spread.mine().is_some());
    }
}
