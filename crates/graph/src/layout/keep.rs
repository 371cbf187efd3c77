//! Draws a graph that is drawn already: everybody stays who can.

use std::collections::HashMap;

use super::row::Row;
use super::{Place, layers};
use crate::components::Components;
use crate::snapshot::Snapshot;

/// Draws a graph of which most nodes stand somewhere. Who is new, or must move, gets the free row of its
/// layer that is nearest to the middle of its neighbours, and squeezes nobody.
pub(super) fn draw(
    snapshot: &Snapshot,
    components: &Components,
    stood: &[Option<Place>],
) -> Vec<Place> {
    let layers = layers::kept(snapshot, components, stood);
    let mut rows: HashMap<i32, Row> = HashMap::new();
    let mut places: Vec<Option<Place>> = Vec::with_capacity(layers.len());
    for (stood, &layer) in stood.iter().zip(&layers) {
        // Two that stand on one place can't both stay: the first does.
        let stays =
            stood.filter(|place| place.y == layer && rows.entry(layer).or_default().take(place.x));
        places.push(stays);
    }
    let mut middles: Vec<Option<i32>> =
        places.iter().zip(stood).map(|(place, stood)| Some((*place).or(*stood)?.x)).collect();
    for (node, &y) in layers.iter().enumerate() {
        if places.get(node).copied().flatten().is_some() {
            continue;
        }
        let wanted = middle(snapshot, &middles, node)
            .or_else(|| middles.get(node).copied().flatten())
            .unwrap_or_default();
        let x = rows.entry(y).or_default().take_nearest(wanted);
        if let (Some(place), Some(middle)) = (places.get_mut(node), middles.get_mut(node)) {
            (*place, *middle) = (Some(Place { x, y }), Some(x));
        }
    }
    places.into_iter().flatten().collect()
}

/// The middle of the neighbours that stand somewhere.
fn middle(snapshot: &Snapshot, middles: &[Option<i32>], node: usize) -> Option<i32> {
    let neighbours = snapshot.leans_on(node).iter().chain(snapshot.leaned_on_by(node));
    let mut all: Vec<i32> =
        neighbours.filter_map(|&other| middles.get(other).copied().flatten()).collect();
    let at = all.len().checked_sub(1)? / 2;
    Some(*all.select_nth_unstable(at).1)
}
