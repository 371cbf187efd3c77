//! Whom a node hurts when it fails: every service that leans on it, however far.

use std::collections::{HashMap, VecDeque};

use crate::dense::Table;
use crate::snapshot::Snapshot;

/// A service that leans on a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hurt {
    /// The service.
    pub place: usize,
    /// Over how many edges it leans on the node; one when it does so itself.
    pub distance: usize,
    /// The next node on a shortest way to the node: itself when the distance is one.
    pub via: usize,
}

/// Every service that leans on a node, the nearest first. Those with a distance of more than one have
/// it only through others.
#[must_use]
pub fn of(snapshot: &Snapshot, place: usize) -> Vec<Hurt> {
    nearest(snapshot, &[place], snapshot.nodes().len())
}

/// The same for nodes that fail together, without themselves, and at most so many.
#[must_use]
pub fn nearest(snapshot: &Snapshot, places: &[usize], most: usize) -> Vec<Hurt> {
    through(snapshot, places, most, |_| true)
}

/// Of those only the ones that are unhealthy because of it: each leans on it over nothing but unhealthy
/// nodes.
#[must_use]
pub fn affected(snapshot: &Snapshot, places: &[usize], most: usize) -> Vec<Hurt> {
    through(snapshot, places, most, |place| {
        snapshot.node(place).is_some_and(|node| node.status.is_unhealthy())
    })
}

/// Whoever leans on the places over nodes that count.
fn through(
    snapshot: &Snapshot,
    places: &[usize],
    most: usize,
    counts: impl Fn(usize) -> bool,
) -> Vec<Hurt> {
    let mut is_seen = Table::<bool>::new(snapshot.nodes().len());
    for &place in places {
        is_seen.set(place, true);
    }
    let mut ahead: VecDeque<_> = places.iter().map(|&place| (place, 0_usize)).collect();
    let mut hurt = Vec::new();
    while let Some((via, distance)) = ahead.pop_front() {
        let distance = distance.saturating_add(1);
        for &place in snapshot.leaned_on_by(via) {
            if hurt.len() >= most {
                return hurt;
            }
            if !is_seen.get(place) && counts(place) {
                is_seen.set(place, true);
                hurt.push(Hurt { place, distance, via });
                ahead.push_back((place, distance));
            }
        }
    }
    hurt
}

/// A shortest way from a service to the node, both included; empty when it does not lean on it.
#[must_use]
pub fn path(hurt: &[Hurt], from: usize) -> Vec<usize> {
    let by_place: HashMap<usize, &Hurt> = hurt.iter().map(|one| (one.place, one)).collect();
    let mut path = Vec::new();
    let mut next = by_place.get(&from);
    while let Some(one) = next {
        path.push(one.place);
        if one.distance == 1 {
            path.push(one.via);
            break;
        }
        next = by_place.get(&one.via);
    }
    path
}
