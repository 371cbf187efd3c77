//! The slots of one layer: which are taken, and which free one is nearest.

use std::collections::HashMap;

/// The slots of one layer. Neighbouring slots that are taken are skipped in one step, so that thousands
/// who want the same slot do not look at each other's.
#[derive(Debug, Default)]
pub(super) struct Row {
    /// For each taken slot, a slot to its right that may be free.
    right: HashMap<i32, i32>,
    /// For each taken slot, a slot to its left that may be free.
    left: HashMap<i32, i32>,
}

impl Row {
    /// Takes a slot, unless somebody has it.
    pub(super) fn take(&mut self, slot: i32) -> bool {
        if self.right.contains_key(&slot) {
            return false;
        }
        self.right.insert(slot, slot.saturating_add(1));
        self.left.insert(slot, slot.saturating_sub(1));
        true
    }

    /// Takes the free slot that is nearest to `wanted`; of two, the right one.
    pub(super) fn take_nearest(&mut self, wanted: i32) -> i32 {
        let right = free(&mut self.right, wanted);
        let left = free(&mut self.left, wanted);
        let slot = if wanted.abs_diff(left) < wanted.abs_diff(right) { left } else { right };
        self.take(slot);
        slot
    }
}

/// The first free slot from `slot` on; everybody on the way then knows it.
fn free(next: &mut HashMap<i32, i32>, slot: i32) -> i32 {
    let mut found = slot;
    while let Some(&after) = next.get(&found) {
        if after == found {
            break;
        }
        found = after;
    }
    let mut at = slot;
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
    fn the_nearest_free_slot_is_taken_and_of_two_the_right_one() {
        let mut row = Row::default();
        assert!(row.take(3) && row.take(4) && !row.take(4));
        let taken: Vec<i32> = (0..5).map(|_| row.take_nearest(4)).collect();
        assert_eq!(taken, [5, 6, 2, 7, 1]);
    }

    #[test]
    fn thousands_who_want_the_same_slot_all_find_one() {
        let mut row = Row::default();
        let mut taken: Vec<i32> = (0..100_001).map(|_| row.take_nearest(0)).collect();
        taken.sort_unstable();
        assert_eq!(taken, (-50_000..=50_000).collect::<Vec<_>>());
    }
}
