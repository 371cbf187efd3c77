//! The slots of one layer: which are taken, and which free one is nearest.

use std::collections::{HashMap, HashSet};

/// Every second slot stays free: edges pass there, and what is drawn does not touch its neighbours.
pub(super) const SPACING: i32 = 2;

/// The slots of one layer, by rows of [`SPACING`] slots. Neighbouring rows that are taken are skipped in
/// one step, so that thousands who want the same slot do not look at each other's.
#[derive(Debug, Default)]
pub(super) struct Row {
    taken: HashSet<i32>,
    /// For each row that is taken, a row to its right that may be free.
    right: HashMap<i32, i32>,
    /// For each row that is taken, a row to its left that may be free.
    left: HashMap<i32, i32>,
}

impl Row {
    /// Takes a slot, unless somebody has it. One between two rows leaves room in neither.
    pub(super) fn take(&mut self, slot: i32) -> bool {
        if !self.taken.insert(slot) {
            return false;
        }
        let row = slot.div_euclid(SPACING);
        self.fill(row);
        if slot.rem_euclid(SPACING) != 0 {
            self.fill(row.saturating_add(1));
        }
        true
    }

    /// Takes the slot of the free row that is nearest to `wanted`; of two, the right one.
    pub(super) fn take_nearest(&mut self, wanted: i32) -> i32 {
        let wanted = wanted.div_euclid(SPACING);
        let right = free(&mut self.right, wanted);
        let left = free(&mut self.left, wanted);
        let row = if wanted.abs_diff(left) < wanted.abs_diff(right) { left } else { right };
        let slot = row.saturating_mul(SPACING);
        self.take(slot);
        slot
    }

    fn fill(&mut self, row: i32) {
        self.right.entry(row).or_insert_with(|| row.saturating_add(1));
        self.left.entry(row).or_insert_with(|| row.saturating_sub(1));
    }
}

/// The first free row from `row` on; everybody on the way then knows it.
fn free(next: &mut HashMap<i32, i32>, row: i32) -> i32 {
    let mut found = row;
    while let Some(&after) = next.get(&found) {
        if after == found {
            break;
        }
        found = after;
    }
    let mut at = row;
    while let Some(after) = next.get_mut(&at) {
        let there = std::mem::replace(after, found);
        if there == at || there == found {
            break;
        }
        at = there;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_free_row_is_taken_and_of_two_the_right_one() {
        let mut row = Row::default();
        assert!(row.take(3) && row.take(4) && !row.take(4));
        let taken: Vec<i32> = (0..5).map(|_| row.take_nearest(4)).collect();
        assert_eq!(taken, [6, 8, 0, 10, -2]);
    }

    #[test]
    fn thousands_who_want_the_same_slot_all_find_one() {
        let mut row = Row::default();
        let mut taken: Vec<i32> = (0..100_001).map(|_| row.take_nearest(0)).collect();
        taken.sort_unstable();
        assert_eq!(taken, (-50_000..=50_000).map(|row| row * SPACING).collect::<Vec<_>>());
    }
}
