//! The layer of each node: below everything that leans on it.

use crate::components::Components;
use crate::layout::Place;
use crate::snapshot::Snapshot;

/// The layer of a node that nothing tells where to stand.
const FIRST: i32 = 0;

/// The layer of each node of a graph that is not drawn yet: the longest way from whatever nobody leans
/// on. The nodes of a circle share one.
pub(super) fn longest(snapshot: &Snapshot, components: &Components) -> Vec<i32> {
    let nobody = vec![None; snapshot.nodes().len()];
    let mut layers = Layers::new(snapshot, components, &nobody);
    layers.descend(|_| FIRST);
    layers.found
}

/// The layer of each node of a graph that is drawn: as it was, unless an edge would point the wrong way.
/// Who is new stands above what it leans on and below who leans on it, if there is room.
pub(super) fn kept(
    snapshot: &Snapshot,
    components: &Components,
    stood: &[Option<Place>],
) -> Vec<i32> {
    let mut layers = Layers::new(snapshot, components, stood);
    let above = layers.above();
    layers.descend(|component| above.get(component).copied().flatten().unwrap_or(FIRST));
    layers.found
}

struct Layers<'a> {
    snapshot: &'a Snapshot,
    components: &'a Components,
    stood: &'a [Option<Place>],
    found: Vec<i32>,
}

impl<'a> Layers<'a> {
    fn new(snapshot: &'a Snapshot, components: &'a Components, stood: &'a [Option<Place>]) -> Self {
        Self { snapshot, components, stood, found: vec![FIRST; snapshot.nodes().len()] }
    }

    /// For each component of which no node stands yet, the lowest layer that is above everything it
    /// leans on.
    fn above(&self) -> Vec<Option<i32>> {
        let mut above: Vec<Option<i32>> = Vec::with_capacity(self.components.len());
        for component in 0..self.components.len() {
            let members = self.components.members(component);
            let next = members.iter().flat_map(|&member| self.snapshot.leans_on(member));
            let top = next.filter(|&&next| self.components.of(next) != Some(component)).filter_map(
                |&next| {
                    let new = || above.get(self.components.of(next)?).copied().flatten();
                    self.stood_at(next).or_else(new)
                },
            );
            above.push(top.min().map(|top| top.saturating_sub(1)));
        }
        above
    }

    /// Gives every node its layer, those that nobody leans on first. `first` is where a component
    /// stands of which no node stands yet and on which nobody leans.
    fn descend(&mut self, first: impl Fn(usize) -> i32) {
        for component in (0..self.components.len()).rev() {
            let members = self.components.members(component);
            let least: Vec<Option<i32>> =
                members.iter().map(|&member| self.below(component, member)).collect();
            let together = members.iter().filter_map(|&member| self.stood_at(member)).min();
            let together = together
                .or_else(|| least.iter().flatten().max().copied())
                .unwrap_or_else(|| first(component));
            for (&member, least) in members.iter().zip(least) {
                let wanted = self.stood_at(member).unwrap_or(together);
                let layer = least.map_or(wanted, |least| wanted.max(least));
                if let Some(found) = self.found.get_mut(member) {
                    *found = layer;
                }
            }
        }
    }

    /// The highest layer that is below everything outside its component that leans on a node.
    fn below(&self, component: usize, node: usize) -> Option<i32> {
        let over = self.snapshot.leaned_on_by(node).iter();
        let over = over.filter(|&&over| self.components.of(over) != Some(component));
        let lowest = over.filter_map(|&over| self.found.get(over)).max()?;
        Some(lowest.saturating_add(1))
    }

    fn stood_at(&self, node: usize) -> Option<i32> {
        self.stood.get(node).copied().flatten().map(|place| place.y)
    }
}
