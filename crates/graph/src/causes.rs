//! What is broken because of what. An unhealthy component that leans on nothing unhealthy outside
//! itself is a root cause: a node that fails by itself, or a circle of nodes that fail together. Every
//! other unhealthy node has the root causes that it reaches over unhealthy nodes.

mod masks;

use mainstay_base::Timestamp;

use self::masks::{MASK_BITS, counted, reached};
use crate::change::Key;
use crate::components::{self, Components};
use crate::snapshot::{Snapshot, services};

/// The most root causes that an unhealthy node names; it counts all of them.
pub const MOST_NAMED: usize = 5;

/// What is broken because of what.
#[derive(Debug, Clone)]
pub struct Causes {
    /// Every root cause: the one that hurts most services first.
    pub roots: Vec<Root>,
    /// What each unhealthy node is broken because of, in the order of the nodes.
    blamed: Vec<(usize, Blame)>,
}

/// A root cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// Its nodes: one, or a circle that fails together.
    pub members: Vec<usize>,
    /// Since when the first of them fails: an external thing since the first of those who find it failing
    /// now did so, however badly; a service since when it is as it is.
    pub since: Option<Timestamp>,
    /// Since when the first of them fails without a break, however badly: also a service that was degraded
    /// before it went down. Not known of the past.
    pub failing_since: Option<Timestamp>,
    /// Since when the first of them is as bad as the worst of them is.
    pub status_since: Option<Timestamp>,
    /// How many other services lean on it, however far.
    pub hurts: usize,
    /// How many of them are unhealthy because of it.
    pub affected: usize,
    /// Whether an edge to or from it says the opposite of what its end is.
    pub contradicted: bool,
}

/// What an unhealthy node is broken because of.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Blame {
    /// The first of its root causes, as places in [`Causes::roots`], at most [`MOST_NAMED`].
    pub roots: Vec<usize>,
    /// How many there are.
    pub count: usize,
}

/// Finds the root causes of everything that is unhealthy.
#[must_use]
pub fn find(snapshot: &Snapshot) -> Causes {
    find_in(snapshot, &components::find(snapshot))
}

/// The same, when the components of the whole graph are known.
#[must_use]
pub fn find_in(snapshot: &Snapshot, whole: &Components) -> Causes {
    let is_unhealthy =
        |place: usize| snapshot.node(place).is_some_and(|node| node.status.is_unhealthy());
    let failing = Components::new(snapshot.outgoing(), is_unhealthy);
    let leading = leading(snapshot, &failing);
    let mut roots: Vec<(usize, Root)> = (0..failing.len())
        .filter(|&component| leading.get(component).is_some_and(Vec::is_empty))
        .map(|component| (component, root(snapshot, failing.members(component))))
        .collect();
    let hurts = hurts(snapshot, whole, &roots);
    for ((_, root), hurts) in roots.iter_mut().zip(hurts) {
        root.hurts = hurts;
    }
    roots.sort_by_key(|(_, root)| {
        (std::cmp::Reverse(root.hurts), root.since, root.members.first().copied())
    });
    let blames = blames(&leading, &roots);
    let affected = affected(snapshot, &failing, &leading, &roots);
    for ((_, root), affected) in roots.iter_mut().zip(affected) {
        root.affected = affected;
    }
    let blamed = (0..snapshot.nodes().len())
        .filter_map(|place| Some((place, blames.get(failing.of(place)?)?.clone())))
        .collect();
    Causes { roots: roots.into_iter().map(|(_, root)| root).collect(), blamed }
}

impl Causes {
    /// What a node is broken because of; `None` when it is not unhealthy.
    #[must_use]
    pub fn blame(&self, place: usize) -> Option<&Blame> {
        let found = self.blamed.binary_search_by_key(&place, |(place, _)| *place).ok()?;
        self.blamed.get(found).map(|(_, blame)| blame)
    }
}

/// For each failing component the other failing components that it leans on.
fn leading(snapshot: &Snapshot, failing: &Components) -> Vec<Vec<usize>> {
    let of = |component: usize| {
        let mut others: Vec<usize> = failing
            .members(component)
            .iter()
            .flat_map(|&member| snapshot.leans_on(member))
            .filter_map(|&next| failing.of(next))
            .filter(|&next| next != component)
            .collect();
        others.sort_unstable();
        others.dedup();
        others
    };
    (0..failing.len()).map(of).collect()
}

fn root(snapshot: &Snapshot, members: &[usize]) -> Root {
    let nodes = || members.iter().filter_map(|&member| snapshot.node(member));
    let since = members.iter().filter_map(|&member| since(snapshot, member)).min();
    let failing_since = nodes().filter_map(|node| node.failing_since).min();
    let worst = nodes().map(|node| node.status).max();
    let as_bad = nodes().filter(|node| Some(node.status) == worst);
    let status_since = as_bad.filter_map(|node| node.since).min();
    let said = members.iter().flat_map(|&member| snapshot.edges_of(member));
    let heard = members.iter().flat_map(|&member| snapshot.edges_to(member));
    let contradicted = said.chain(heard).any(|edge| edge.contradicts);
    Root {
        members: members.to_vec(),
        since,
        failing_since,
        status_since,
        hurts: 0,
        affected: 0,
        contradicted,
    }
}

fn since(snapshot: &Snapshot, place: usize) -> Option<Timestamp> {
    let node = snapshot.node(place)?;
    match node.key {
        Key::Service(_) => node.since,
        Key::External(_) => {
            let failing = snapshot.edges_to(place).filter(|edge| edge.status.is_unhealthy());
            failing.filter_map(|edge| edge.since).min()
        }
    }
}

/// How many services outside each root reach it over the whole graph.
fn hurts(snapshot: &Snapshot, whole: &Components, roots: &[(usize, Root)]) -> Vec<usize> {
    let leading: Vec<Vec<usize>> = (0..whole.len())
        .map(|component| {
            let members = whole.members(component).iter();
            let next = members.flat_map(|&member| snapshot.leans_on(member));
            let mut next: Vec<usize> = next.filter_map(|&next| whole.of(next)).collect();
            next.sort_unstable();
            next.dedup();
            next.retain(|&next| next != component);
            next
        })
        .collect();
    let mut hurts = Vec::with_capacity(roots.len());
    for chunk in roots.chunks(MASK_BITS) {
        // A root is a part of one component of the whole graph: whoever reaches the one reaches the other.
        let marks = chunk.iter().filter_map(|(_, root)| whole.of(root.members.first().copied()?));
        let masks = reached(&leading, marks);
        let of_services =
            services(snapshot).filter_map(|place| masks.get(whole.of(place)?).copied());
        let counts = counted(of_services);
        for ((_, root), count) in chunk.iter().zip(counts) {
            hurts.push(count.saturating_sub(own_services(snapshot, root)));
        }
    }
    hurts
}

/// How many services outside each root reach it over nothing but unhealthy nodes.
fn affected(
    snapshot: &Snapshot,
    failing: &Components,
    leading: &[Vec<usize>],
    roots: &[(usize, Root)],
) -> Vec<usize> {
    let mut affected = Vec::with_capacity(roots.len());
    for chunk in roots.chunks(MASK_BITS) {
        let masks = reached(leading, chunk.iter().map(|&(component, _)| component));
        let of_services =
            services(snapshot).filter_map(|place| masks.get(failing.of(place)?).copied());
        let counts = counted(of_services);
        for ((_, root), count) in chunk.iter().zip(counts) {
            affected.push(count.saturating_sub(own_services(snapshot, root)));
        }
    }
    affected
}

fn own_services(snapshot: &Snapshot, root: &Root) -> usize {
    root.members.iter().filter(|member| services(snapshot).contains(member)).count()
}

/// What each failing component is broken because of: the roots in their order.
fn blames(leading: &[Vec<usize>], roots: &[(usize, Root)]) -> Vec<Blame> {
    let mut blames = vec![Blame::default(); leading.len()];
    for (chunk, first) in roots.chunks(MASK_BITS).zip((0..).step_by(MASK_BITS)) {
        let masks = reached(leading, chunk.iter().map(|&(component, _)| component));
        for (blame, mask) in blames.iter_mut().zip(masks) {
            let count = usize::try_from(mask.count_ones()).unwrap_or(MASK_BITS);
            blame.count = blame.count.saturating_add(count);
            let room = MOST_NAMED.saturating_sub(blame.roots.len());
            let bits = (0..chunk.len()).filter(|bit| mask & (1 << bit) != 0).take(room);
            blame.roots.extend(bits.map(|bit| bit.saturating_add(first)));
        }
    }
    blames
}
