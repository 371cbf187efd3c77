//! The streams on both databases.

mod connections;
mod following;
mod house;
mod instances;
mod keeping;
mod resuming;
mod writing;
