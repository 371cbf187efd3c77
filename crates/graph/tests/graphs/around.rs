//! What stands near a node.

use mainstay_graph::Status::Healthy;
use mainstay_graph::around;

use crate::house::arrows;

#[test]
fn both_directions_are_followed_as_far_as_asked() {
    // 0 → 1 → 2 → 3 → 4, and 5 → 3: beside the way, not on it.
    let snapshot = arrows(&[Healthy; 6], &[(0, 1), (1, 2), (2, 3), (3, 4), (5, 3)]).snapshot();
    for (depth, expected) in
        [(0, &[2_usize] as &[_]), (1, &[1, 2, 3]), (2, &[0, 1, 2, 3, 4]), (9, &[0, 1, 2, 3, 4])]
    {
        let found = around::find(&snapshot, 2, depth, 100);
        assert_eq!((found.places.as_slice(), found.is_cut), (expected, false), "{depth}");
    }
    assert!(around::find(&snapshot, 99, 1, 100).places.is_empty());
}

#[test]
fn a_circle_is_seen_from_both_sides() {
    let snapshot = arrows(&[Healthy; 3], &[(0, 1), (1, 0), (2, 1)]).snapshot();
    assert_eq!(around::find(&snapshot, 0, 2, 100).places, [0, 1, 2]);
}

#[test]
fn the_farthest_are_left_out() {
    let snapshot = arrows(&[Healthy; 5], &[(0, 1), (1, 2), (2, 3), (3, 4)]).snapshot();
    let found = around::find(&snapshot, 0, 9, 3);
    assert_eq!((found.places, found.is_cut), (vec![0, 1, 2], true));
}
