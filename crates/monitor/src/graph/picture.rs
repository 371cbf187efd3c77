//! What follows from one version of the graph.

use std::sync::Arc;

use mainstay_graph::components::{self, Components};
use mainstay_graph::{Causes, Graph, Places, Snapshot, causes, layout};

/// A graph with everything that is shown of it. It is made of a graph value, wherever that comes from.
#[derive(Debug)]
pub struct Picture {
    /// Nodes and edges.
    pub snapshot: Snapshot,
    /// What leans on itself in a circle.
    pub components: Components,
    /// What is broken because of what.
    pub causes: Causes,
    /// Where nodes are drawn.
    pub places: Arc<Places>,
}

impl Picture {
    /// The picture of a graph, with every node where it stands in `previous` if it may stay there.
    #[must_use]
    pub fn of(graph: &Graph, previous: &Places) -> Self {
        let snapshot = graph.snapshot();
        let components = components::find(&snapshot);
        let places = Arc::new(layout::place_in(&snapshot, &components, previous));
        Self::with(snapshot, components, places)
    }

    /// The same, when the components and the places are known.
    pub(super) fn with(snapshot: Snapshot, components: Components, places: Arc<Places>) -> Self {
        let causes = causes::find_in(&snapshot, &components);
        Self { snapshot, components, causes, places }
    }
}
