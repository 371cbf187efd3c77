//! Services, their dependencies and aliases on both databases.
#![cfg(test)]

mod boards;
mod desired;
mod edits;
mod house;
mod names;
mod recorded;
mod rings;
mod shows;
mod skew;
mod watches;
