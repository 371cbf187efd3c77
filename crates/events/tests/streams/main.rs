//! The streams on both databases.

mod following;
mod house;
mod resuming;
mod writing;
