//! All SQL of instances and their shards.

pub(super) mod instances;
pub(super) mod leases;
pub(crate) mod patience;
pub(super) mod requests;
