//! The graph of an instance, kept true on both databases.
#![cfg(test)]

mod bells;
mod decisions;
mod drawings;
mod edits;
mod house;
mod now;
mod recorded;
mod shown;
mod trouble;
