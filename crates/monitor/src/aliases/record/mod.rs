//! All SQL of aliases and links.

pub(super) mod links;
pub(super) mod names;
pub(super) mod rewrite;
