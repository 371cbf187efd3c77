//! The streams on both databases.
#![cfg(test)]

mod away;
mod bells;
mod connections;
mod following;
mod house;
mod instances;
mod keeping;
mod property;
mod resuming;
mod writing;
