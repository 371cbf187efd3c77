//! Where nodes are drawn, in examples.

use mainstay_graph::Status::Healthy;
use mainstay_graph::{Change, Key, Place, Places, layout};

use crate::house::{arrows, dependency, service};

fn at(places: &Places, number: i64) -> Place {
    places[&Key::Service(number)]
}

#[test]
fn a_new_graph_has_layers_by_the_longest_way() {
    let snapshot = arrows(&[Healthy; 4], &[(0, 1), (1, 2), (0, 2), (3, 2)]).snapshot();
    let places = layout::place(&snapshot, &Places::new());
    assert_eq!((1..=4).map(|number| at(&places, number).y).collect::<Vec<_>>(), [0, 1, 2, 0]);
}

#[test]
fn the_nodes_of_a_circle_share_a_layer() {
    let snapshot = arrows(&[Healthy; 4], &[(0, 1), (1, 2), (2, 1), (2, 3)]).snapshot();
    let places = layout::place(&snapshot, &Places::new());
    assert_eq!((1..=4).map(|number| at(&places, number).y).collect::<Vec<_>>(), [0, 1, 1, 2]);
}

#[test]
fn who_comes_to_lean_on_the_top_stands_above_it_and_nobody_moves() {
    let mut graph = arrows(&[Healthy; 3], &[(0, 1), (1, 2)]);
    let before = layout::place(&graph.snapshot(), &Places::new());
    for (number, leans_on) in [(4, "s1"), (5, "s4")] {
        graph.apply(Change::Service(service(number, &format!("s{number}"), Healthy)));
        let dependency = dependency(number * 100, leans_on, Healthy);
        graph.apply(Change::Dependency { service: number, dependency });
    }
    let after = layout::place(&graph.snapshot(), &before);
    assert_eq!((at(&after, 4).y, at(&after, 5).y), (-1, -2));
    assert_eq!(at(&after, 4).x, at(&after, 1).x, "right above what it leans on");
    assert!(before.iter().all(|(key, place)| after[key] == *place));
}

#[test]
fn who_would_point_up_moves_down_with_what_is_below_and_nobody_else() {
    let mut graph = arrows(&[Healthy; 5], &[(0, 1), (2, 3)]);
    let before = layout::place(&graph.snapshot(), &Places::new());
    // 2 leans on 3 now: 3 and 4 have to go down.
    let dependency = dependency(77, "s3", Healthy);
    graph.apply(Change::Dependency { service: 2, dependency });
    let after = layout::place(&graph.snapshot(), &before);
    assert_eq!((1..=5).map(|number| at(&after, number).y).collect::<Vec<_>>(), [0, 1, 2, 3, 0]);
    for number in [1, 2, 5] {
        assert_eq!(at(&after, number), at(&before, number));
    }
}

#[test]
fn a_circle_that_closes_moves_nobody() {
    let mut graph = arrows(&[Healthy; 3], &[(0, 1), (1, 2)]);
    let before = layout::place(&graph.snapshot(), &Places::new());
    graph.apply(Change::Dependency { service: 3, dependency: dependency(77, "s1", Healthy) });
    assert_eq!(layout::place(&graph.snapshot(), &before), before);
}

#[test]
fn two_who_stand_on_one_place_do_not_both_stay() {
    let snapshot = arrows(&[Healthy; 2], &[]).snapshot();
    let here = Place { x: 3, y: 0 };
    let previous = Places::from([(Key::Service(1), here), (Key::Service(2), here)]);
    let places = layout::place(&snapshot, &previous);
    assert_eq!((at(&places, 1), at(&places, 2)), (here, Place { x: 0, y: 0 }));
}

#[test]
fn who_comes_later_stands_as_far_from_its_neighbours_as_all_others() {
    // A star: everybody new wants the middle of its layer.
    let arms: Vec<(usize, usize)> = (1..8).map(|arm| (0, arm)).collect();
    let mut graph = arrows(&[Healthy; 8], &arms);
    let before = layout::place(&graph.snapshot(), &Places::new());
    for number in 1..=6 {
        let dependency = dependency(500 + number, &format!("thing {number}"), Healthy);
        graph.apply(Change::Dependency { service: 1, dependency });
    }
    let after = layout::place(&graph.snapshot(), &before);
    assert!(before.iter().all(|(key, place)| after[key] == *place), "nobody moves");
    let mut slots: Vec<i32> =
        after.values().filter(|place| place.y == 1).map(|place| place.x).collect();
    slots.sort_unstable();
    assert_eq!(slots.len(), 13);
    assert!(slots.windows(2).all(|pair| pair[1] - pair[0] == 2), "{slots:?}");
}

#[test]
fn a_graph_that_is_mostly_not_drawn_is_drawn_anew() {
    let snapshot = arrows(&[Healthy; 5], &[(0, 1)]).snapshot();
    let previous = Places::from([(Key::Service(1), Place { x: 500, y: 500 })]);
    assert_eq!(layout::place(&snapshot, &previous), layout::place(&snapshot, &Places::new()));
}

#[test]
fn neighbours_stand_near_each_other() {
    // Two stars whose arms alternate by number: drawn, the arms of each stand together.
    let arms: Vec<(usize, usize)> = (0..20).map(|arm| (arm % 2, arm + 2)).collect();
    let snapshot = arrows(&[Healthy; 22], &arms).snapshot();
    let places = layout::place(&snapshot, &Places::new());
    let mut arms: Vec<(i32, i64)> =
        (3..=22).map(|number| (at(&places, number).x, number % 2)).collect();
    arms.sort_unstable();
    let turns = arms.windows(2).filter(|pair| pair[0].1 != pair[1].1).count();
    assert_eq!(turns, 1, "{arms:?}");
}
