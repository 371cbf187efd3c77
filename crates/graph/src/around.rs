//! What stands near a node: what it leans on and who leans on it, each so many edges far.

use std::collections::VecDeque;

use crate::dense::Table;
use crate::snapshot::Snapshot;

/// The most nodes of a neighbourhood.
pub const MOST_NODES: usize = 2_000;

/// What stands near a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Around {
    /// The nodes, in their order.
    pub places: Vec<usize>,
    /// Whether there would be more.
    pub is_cut: bool,
}

/// The node itself, what it leans on and who leans on it, both up to `depth` edges far. The farthest
/// are left out when there are more than `most`.
#[must_use]
pub fn find(snapshot: &Snapshot, place: usize, depth: usize, most: usize) -> Around {
    let len = snapshot.nodes().len();
    let mut search = Search {
        is_seen_below: Table::new(len),
        is_seen_above: Table::new(len),
        places: Vec::new(),
        ahead: VecDeque::new(),
        most,
        is_cut: false,
    };
    if place < len {
        search.see(place, 0, Way::Down);
        search.see(place, 0, Way::Up);
    }
    while let Some((place, distance, way)) = search.ahead.pop_front() {
        if distance < depth {
            let next = match way {
                Way::Down => snapshot.leans_on(place),
                Way::Up => snapshot.leaned_on_by(place),
            };
            next.iter().for_each(|&next| search.see(next, distance.saturating_add(1), way));
        }
    }
    search.places.sort_unstable();
    Around { places: search.places, is_cut: search.is_cut }
}

#[derive(Debug, Clone, Copy)]
enum Way {
    Down,
    Up,
}

/// A search under way. What stands on a circle is seen from both sides.
struct Search {
    is_seen_below: Table<bool>,
    is_seen_above: Table<bool>,
    places: Vec<usize>,
    ahead: VecDeque<(usize, usize, Way)>,
    most: usize,
    is_cut: bool,
}

impl Search {
    fn see(&mut self, place: usize, distance: usize, way: Way) {
        let is_new = !self.is_seen_below.get(place) && !self.is_seen_above.get(place);
        let is_seen = match way {
            Way::Down => &mut self.is_seen_below,
            Way::Up => &mut self.is_seen_above,
        };
        if is_seen.get(place) {
            return;
        }
        if is_new && self.places.len() >= self.most {
            self.is_cut = true;
            return;
        }
        is_seen.set(place, true);
        if is_new {
            self.places.push(place);
        }
        self.ahead.push_back((place, distance, way));
    }
}
