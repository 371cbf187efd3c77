//! What leans on itself in a circle: strongly connected components, by Tarjan's way, without
//! recursion, so that neither a long chain nor a huge circle overflows the stack.

use crate::dense::{Lists, Table};
use crate::snapshot::Snapshot;

/// The components of a graph. They are numbered so that a component leans only on components of
/// lower numbers.
#[derive(Debug, Clone)]
pub struct Components {
    of: Table<usize>,
    members: Lists,
}

/// The components of the whole graph.
#[must_use]
pub fn find(snapshot: &Snapshot) -> Components {
    Components::new(snapshot.outgoing(), |_| true)
}

/// The components of more than one node, in the order of their first member, each in the order of its
/// nodes.
#[must_use]
pub fn cycles(components: &Components) -> Vec<&[usize]> {
    let mut cycles: Vec<_> = (0..components.len())
        .map(|component| components.members(component))
        .filter(|members| members.len() > 1)
        .collect();
    cycles.sort_unstable_by_key(|members| members.first().copied());
    cycles
}

impl Components {
    /// The components of the nodes that are `within`, by the arrows between them. Every other node is
    /// in none.
    pub(crate) fn new(arrows: &Lists, within: impl Fn(usize) -> bool) -> Self {
        let mut search = Search::new(arrows.len());
        for node in 0..arrows.len() {
            if within(node) && !search.is_seen(node) {
                search.from(node, arrows, &within);
            }
        }
        let numbered = (0..arrows.len()).filter_map(|node| search.found(node).map(|of| (of, node)));
        let members = Lists::new(search.components, numbered);
        Self { of: search.of, members }
    }

    /// The components of nodes by what each leans on, as places among them.
    #[must_use]
    pub fn among(leans_on: &[Vec<usize>]) -> Self {
        let arrows = leans_on.iter().enumerate();
        let arrows = arrows.flat_map(|(node, next)| next.iter().map(move |&next| (node, next)));
        let inside = arrows.filter(|&(_, next)| next < leans_on.len());
        Self::new(&Lists::new(leans_on.len(), inside), |_| true)
    }

    /// The component of a node; `None` for one that was left out.
    #[must_use]
    pub fn of(&self, node: usize) -> Option<usize> {
        self.of.get(node).checked_sub(1)
    }

    /// The nodes of a component.
    #[must_use]
    pub fn members(&self, component: usize) -> &[usize] {
        self.members.of(component)
    }

    /// How many components there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A search under way. Numbers begin with one: zero is what was not seen.
struct Search {
    order: Table<usize>,
    low: Table<usize>,
    of: Table<usize>,
    /// Nodes that are in no component yet.
    open: Vec<usize>,
    /// The way from the first node to where the search is, with how many arrows were followed.
    path: Vec<(usize, usize)>,
    seen: usize,
    components: usize,
}

impl Search {
    fn new(len: usize) -> Self {
        Self {
            order: Table::new(len),
            low: Table::new(len),
            of: Table::new(len),
            open: Vec::new(),
            path: Vec::new(),
            seen: 0,
            components: 0,
        }
    }

    fn is_seen(&self, node: usize) -> bool {
        self.order.get(node) > 0
    }

    fn found(&self, node: usize) -> Option<usize> {
        self.of.get(node).checked_sub(1)
    }

    fn from(&mut self, first: usize, arrows: &Lists, within: &impl Fn(usize) -> bool) {
        self.enter(first);
        while let Some((node, followed)) = self.path.pop() {
            let Some(&next) = arrows.of(node).get(followed) else {
                self.leave(node);
                continue;
            };
            self.path.push((node, followed.saturating_add(1)));
            if !within(next) {
                continue;
            }
            if !self.is_seen(next) {
                self.enter(next);
            } else if self.found(next).is_none() {
                self.lower(node, self.order.get(next));
            }
        }
    }

    fn enter(&mut self, node: usize) {
        self.seen = self.seen.saturating_add(1);
        self.order.set(node, self.seen);
        self.low.set(node, self.seen);
        self.open.push(node);
        self.path.push((node, 0));
    }

    fn leave(&mut self, node: usize) {
        let low = self.low.get(node);
        if low == self.order.get(node) {
            self.components = self.components.saturating_add(1);
            while let Some(member) = self.open.pop() {
                self.of.set(member, self.components);
                if member == node {
                    break;
                }
            }
        }
        if let Some(&(parent, _)) = self.path.last() {
            self.lower(parent, low);
        }
    }

    fn lower(&mut self, node: usize, to: usize) {
        self.low.set(node, self.low.get(node).min(to));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(len: usize, arrows: &[(usize, usize)]) -> Components {
        Components::new(&Lists::new(len, arrows.iter().copied()), |_| true)
    }

    #[test]
    fn a_circle_is_one_component_and_leans_only_on_lower_ones() {
        let found = of(5, &[(0, 1), (1, 2), (2, 1), (2, 3), (4, 0)]);
        assert_eq!(found.len(), 4);
        assert_eq!(found.of(1), found.of(2));
        assert_eq!(cycles(&found), [&[1, 2]]);
        assert!(
            found.of(3) < found.of(1) && found.of(1) < found.of(0) && found.of(0) < found.of(4)
        );
    }

    #[test]
    fn what_is_left_out_is_in_no_component() {
        let arrows = Lists::new(3, [(0, 1), (1, 2), (2, 0)].into_iter());
        let found = Components::new(&arrows, |node| node != 1);
        assert_eq!((found.len(), found.of(1)), (2, None));
        assert!(cycles(&found).is_empty());
    }

    #[test]
    fn a_huge_circle_and_a_long_chain_need_no_stack() {
        let len = 100_000;
        let chain: Vec<_> = (1..len).map(|node| (node - 1, node)).collect();
        assert_eq!(of(len, &chain).len(), len);
        let circle: Vec<_> = (0..len).map(|node| (node, (node + 1) % len)).collect();
        let found = of(len, &circle);
        assert_eq!((found.len(), found.members(0).len()), (1, len));
    }
}
