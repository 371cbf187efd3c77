//! All SQL of the graph.

pub(super) mod dismissals;
pub(super) mod drawing;
pub(super) mod load;
