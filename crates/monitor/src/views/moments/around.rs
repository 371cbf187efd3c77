//! What the graph knows of those that changed: what they lean on, what others say of them, and what they
//! fail because of. Pure.

use std::collections::{HashMap, HashSet};

use mainstay_base::Id;
use mainstay_graph::{Key, Status};

use crate::graph::Picture;
use crate::graph::show;
use crate::graph::view::GraphNodeKind;
use crate::names::compared;

/// What the graph knows now, by the name as it is compared.
pub(super) type Around = HashMap<String, NodeNow>;

/// A node as it is now.
#[derive(Debug, Clone)]
pub(super) struct NodeNow {
    pub(super) id: String,
    pub(super) kind: GraphNodeKind,
    pub(super) name: String,
    pub(super) status: Status,
    /// The names of what it leans on, as they are compared.
    pub(super) leans_on: Vec<String>,
    /// What each service says of it that is no service itself.
    pub(super) said: Vec<(Id, Status)>,
    /// The first root cause of it, if it does not fail by itself.
    pub(super) because: Option<String>,
}

/// What is known of those of these names.
pub(super) fn of(picture: &Picture, keys: &HashSet<String>) -> Around {
    let snapshot = &picture.snapshot;
    let named = snapshot.nodes().iter().enumerate().filter_map(|(place, node)| {
        let key = compared(&node.name);
        keys.contains(&key).then_some((place, node, key))
    });
    let mut around = Around::new();
    for (place, node, key) in named {
        let leans_on = snapshot.leans_on(place).iter().filter_map(|&next| snapshot.node(next));
        let (kind, said) = match node.key {
            Key::Service(_) => (GraphNodeKind::Service, Vec::new()),
            Key::External(_) => {
                let said = snapshot.edges_to(place);
                let said =
                    said.filter_map(|edge| Some((snapshot.node(edge.from)?.id?, edge.status)));
                (GraphNodeKind::External, said.collect())
            }
        };
        let now = NodeNow {
            id: show::id(node),
            kind,
            name: node.name.to_string(),
            status: node.status,
            leans_on: leans_on.map(|next| compared(&next.name)).collect(),
            said,
            because: because(picture, place),
        };
        // Services come first: whoever leans on one of its name leans on it.
        around.entry(key).or_insert(now);
    }
    around
}

fn because(picture: &Picture, place: usize) -> Option<String> {
    let root = *picture.causes.blame(place)?.roots.first()?;
    let members = &picture.causes.roots.get(root)?.members;
    let first = picture.snapshot.node(*members.first()?)?;
    (!members.contains(&place)).then(|| first.name.to_string())
}
