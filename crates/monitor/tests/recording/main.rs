//! What results leave behind, on both databases.
#![cfg(test)]

mod batches;
mod bounds;
mod errors;
mod failures;
mod fences;
mod house;
mod reports;
mod trouble;
