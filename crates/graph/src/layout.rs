//! Where nodes are drawn: in layers, so that every edge points down, except between nodes that lean on
//! each other in a circle.
//!
//! A drawing that people know is worth more than a better one: whoever stands keeps its place unless an
//! edge would point the wrong way. Only a graph that is not drawn yet, or mostly not, is drawn as a
//! whole.

mod keep;
mod layers;
mod row;
mod sweep;

use std::collections::BTreeMap;

use crate::change::Key;
use crate::components::{self, Components};
use crate::snapshot::Snapshot;

/// A place on the grid. Edges point to a greater `y`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Place {
    /// The slot in its layer.
    pub x: i32,
    /// The layer.
    pub y: i32,
}

/// Where each node is drawn.
pub type Places = BTreeMap<Key, Place>;

/// Draws a graph, with every node where it stood in `previous` if it may stay there.
#[must_use]
pub fn place(snapshot: &Snapshot, previous: &Places) -> Places {
    place_in(snapshot, &components::find(snapshot), previous)
}

/// The same, when the components of the whole graph are known.
#[must_use]
pub fn place_in(snapshot: &Snapshot, components: &Components, previous: &Places) -> Places {
    let stood: Vec<Option<Place>> =
        snapshot.nodes().iter().map(|node| previous.get(&node.key).copied()).collect();
    let known = stood.iter().flatten().count();
    let places = if known.saturating_mul(2) < stood.len() || known == 0 {
        sweep::draw(snapshot, components)
    } else {
        keep::draw(snapshot, components, &stood)
    };
    snapshot.nodes().iter().map(|node| node.key.clone()).zip(places).collect()
}
