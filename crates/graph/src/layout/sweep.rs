//! Draws a graph as a whole: layers by the longest way, the order in each layer by a few sweeps that
//! bring every node near the middle of its neighbours.

use std::collections::BTreeMap;

use super::row::SPACING;
use super::{Place, layers};
use crate::components::Components;
use crate::snapshot::Snapshot;

/// How often the layers are put in order, down and up in turn.
const SWEEPS: usize = 6;

/// Parts of a slot that middles are counted in: whole numbers give the same drawing on every machine.
const PARTS: i64 = 1_024;

/// Draws a graph of which nobody stands yet.
pub(super) fn draw(snapshot: &Snapshot, components: &Components) -> Vec<Place> {
    let layers = layers::longest(snapshot, components);
    let mut rows: BTreeMap<i32, Vec<usize>> = BTreeMap::new();
    for (node, &layer) in layers.iter().enumerate() {
        rows.entry(layer).or_default().push(node);
    }
    let mut places: Vec<Place> = layers.iter().map(|&y| Place { x: 0, y }).collect();
    rows.values().for_each(|row| spread(row, &mut places));
    for sweep in 0..SWEEPS {
        if sweep % 2 == 0 {
            rows.values_mut().for_each(|row| order(row, &mut places, Way::Down, snapshot));
        } else {
            rows.values_mut().rev().for_each(|row| order(row, &mut places, Way::Up, snapshot));
        }
    }
    places
}

#[derive(Debug, Clone, Copy)]
enum Way {
    Down,
    Up,
}

/// Puts a layer in the order of the middles of who leans on it, or of what it leans on.
fn order(row: &mut [usize], places: &mut [Place], way: Way, snapshot: &Snapshot) {
    row.sort_by_cached_key(|&node| {
        let neighbours = match way {
            Way::Down => snapshot.leaned_on_by(node),
            Way::Up => snapshot.leans_on(node),
        };
        let own = places.get(node).map_or(0, |place| i64::from(place.x));
        (middle(neighbours, places).unwrap_or(own.saturating_mul(PARTS)), own)
    });
    spread(row, places);
}

fn middle(neighbours: &[usize], places: &[Place]) -> Option<i64> {
    let sum = neighbours
        .iter()
        .filter_map(|&other| places.get(other))
        .fold(0_i64, |sum, place| sum.saturating_add(place.x.into()));
    let count = i64::try_from(neighbours.len()).ok()?;
    sum.saturating_mul(PARTS).checked_div(count)
}

/// Gives the nodes of a layer their slots, in their order, around the middle.
fn spread(row: &[usize], places: &mut [Place]) {
    let width = i32::try_from(row.len()).unwrap_or(i32::MAX);
    let mut x = -(width / 2).saturating_mul(SPACING);
    for &node in row {
        if let Some(place) = places.get_mut(node) {
            place.x = x;
        }
        x = x.saturating_add(SPACING);
    }
}
